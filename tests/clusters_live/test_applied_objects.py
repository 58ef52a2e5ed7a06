"""The record of what a live target applied."""

from __future__ import annotations

import pytest

from kueue_dra_clusters.applied_objects import AppliedObjects
from kueue_dra_ref.target import Manifest, Ref
from tests.clusters_live.manifests import KUEUE, a_job, a_world, an_object


def a_record(*more: Manifest) -> AppliedObjects:
    """Record the small scenario and some more."""
    applied = AppliedObjects()
    for manifest in (*a_world(), *more):
        applied.add(manifest)
    return applied


def test_an_object_is_the_same_in_every_version() -> None:
    """An object that was applied as v1beta2 is known as v1beta1 too."""
    assert Ref(api_version="kueue.x-k8s.io/v1beta1", kind="ClusterQueue", name="team") in a_record()


def test_jobs_of_one_cluster_queue_wait_in_one_line() -> None:
    """Two LocalQueues of one ClusterQueue are one line."""
    other = an_object(KUEUE, "LocalQueue", "other", "team", spec={"clusterQueue": "team"})
    applied = a_record(other)

    assert applied.tree_of(a_job("a")) == applied.tree_of(a_job("b", queue="other")) == "queue team"


@pytest.mark.parametrize("field", ["cohort", "cohortName"])
def test_jobs_of_one_cohort_tree_wait_in_one_line(field: str) -> None:
    """The line is the outermost cohort, in the spelling of either version."""
    queue = an_object(KUEUE, "ClusterQueue", "team", spec={field: "inner"})
    inner = an_object(KUEUE, "Cohort", "inner", spec={"parentName": "outer"})

    assert a_record(queue, inner).tree_of(a_job("a")) == "cohort outer"


@pytest.mark.parametrize(("cohort", "nested"), [("inner", True), ("outer", False), ("", False)])
def test_a_queue_is_nested_in_a_cohort_below_another(cohort: str, nested: bool) -> None:
    """A ClusterQueue in the outermost cohort, or in none, is not."""
    queue = an_object(KUEUE, "ClusterQueue", "team", spec={"cohortName": cohort})
    inner = an_object(KUEUE, "Cohort", "inner", spec={"parentName": "outer"})

    assert a_record(queue, inner).is_nested("team") is nested


def test_cohorts_in_a_circle_have_a_line_all_the_same() -> None:
    """A cycle ends the search."""
    queue = an_object(KUEUE, "ClusterQueue", "team", spec={"cohortName": "a"})
    circle = [
        an_object(KUEUE, "Cohort", "a", spec={"parentName": "b"}),
        an_object(KUEUE, "Cohort", "b", spec={"parentName": "a"}),
    ]

    assert a_record(queue, *circle).tree_of(a_job("x")).startswith("cohort ")


def test_a_job_without_a_queue_waits_in_no_line() -> None:
    """Kueue does not manage it."""
    job = a_job("a")
    del job["metadata"]["labels"]

    assert a_record().tree_of(job) == ""


def test_namespaces_are_those_made_and_those_used() -> None:
    """Both are looked at."""
    assert a_record(an_object("v1", "ConfigMap", "c", "elsewhere")).namespaces == ["elsewhere", "team"]


@pytest.mark.parametrize(
    "written",
    [
        an_object(KUEUE, "ClusterQueue", "team", spec={}),
        an_object(KUEUE, "LocalQueue", "other", "team", spec={"clusterQueue": "team"}),
        an_object(KUEUE, "ResourceFlavor", "team-flavor", spec={}),
    ],
    ids=["the queue", "its LocalQueue", "a flavor"],
)
def test_what_a_queue_counts_depends_on_what_was_written(written: Manifest) -> None:
    """Its own spec, its LocalQueues and what it names."""
    applied = a_record()
    before = applied.surroundings(["team"])
    applied.add(written)

    assert applied.surroundings(["team"]) != before


def test_what_was_written_once_more_as_it_was_is_nothing_new() -> None:
    """To count queues again would be a change for Kueue where there was none; what stands there is still known."""
    applied, again = a_record(), an_object(KUEUE, "LocalQueue", "main", "team", spec={"clusterQueue": "team"})
    applied.add(again)
    before = applied.surroundings(["team"])
    applied.add(again, changed=False)
    found = an_object(KUEUE, "ClusterQueue", "found", spec={})
    applied.add(found, changed=False)

    assert applied.surroundings(["team"]) == before
    assert Ref.of(found) in applied
    assert "found" in applied.surroundings(["found"])


@pytest.mark.parametrize(
    "written",
    [a_job("a"), an_object("v1", "Namespace", "other"), an_object(KUEUE, "ClusterQueue", "other", spec={})],
    ids=["work", "a namespace", "a stranger"],
)
def test_what_a_queue_counts_does_not_depend_on_everything(written: Manifest) -> None:
    """Work is looked at by itself, and a queue outside the cohort changes nothing."""
    applied = a_record()
    before = applied.surroundings(["team"])
    applied.add(written)

    assert applied.surroundings(["team"]) == before


def test_what_a_queue_counts_depends_on_its_cohort() -> None:
    """Another queue of the same tree, and the tree itself."""
    queue = an_object(KUEUE, "ClusterQueue", "team", spec={"cohortName": "inner"})
    inner = an_object(KUEUE, "Cohort", "inner", spec={"parentName": "outer"})
    applied = a_record(queue, inner)
    before = applied.surroundings(["team"])
    applied.add(an_object(KUEUE, "ClusterQueue", "other", spec={"cohortName": "outer"}))
    beside = applied.surroundings(["team"])
    applied.forget(Ref.of(inner))

    assert before != beside != applied.surroundings(["team"])
