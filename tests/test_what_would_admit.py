"""``explain NAME`` of a pending workload: its place, the holders of the quota, and what would admit it."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from kueue_dra_ref.target import Manifest
from tests.clusters_live.manifests import KUEUE, a_job, a_template, a_world, an_object
from tests.commands import kueue_dra
from tests.test_running_cluster import CONFIGURATION, a_dump


def _ask(objects: list[Manifest], *arguments: str) -> Any:
    return kueue_dra("explain", "-f", "-", *arguments, stdin=yaml.safe_dump_all([*objects, CONFIGURATION]))


def _facts(objects: list[Manifest], name: str, *arguments: str) -> Any:
    result = _ask(objects, name, "-o", "json", *arguments)
    assert result.exit_code == 0, result.stderr
    (found,) = json.loads(result.stdout)
    return found


def _raises(found: Any) -> list[list[tuple[str, ...]]]:
    """Give each alternative as object, field, resource, amount before and after."""
    keys = ("kind", "name", "field", "flavor", "resource", "from", "to")
    return [[tuple(each[key] for key in keys) for each in raised["quotas"]] for raised in found["wouldAdmit"]["raises"]]


def _ends(found: Any) -> list[list[str]]:
    return [[each["job"] for each in ends["workloads"]] for ends in found["wouldAdmit"]["ends"]]


def _nominal(before: str, after: str, *, queue: str = "team", flavor: str = "team-flavor") -> tuple[str, ...]:
    return ("ClusterQueue", queue, "nominalQuota", flavor, "whole-gpus", before, after)


def _with_priority(job: Manifest, priority: int) -> tuple[Manifest, Manifest]:
    name = f"p{priority}"
    job["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = name
    return an_object(KUEUE, "WorkloadPriorityClass", name, value=priority), job


def test_one_job_of_a_cluster_lacks_one_device() -> None:
    """The quota that is raised, the workload that ends, and the place in the queue."""
    result = _ask(a_dump(), "job/alpha")

    assert result.exit_code == 0
    assert "it is number 1 of 1 pending workload in ClusterQueue team (BestEffortFIFO)" in result.stdout
    raised = (
        "it would be admitted if nominalQuota of whole-gpus in flavor team-flavor of ClusterQueue team is raised by 1"
    )
    assert f"{raised}, from 2 to 3" in result.stdout
    assert "it would be admitted if Job team/zeta (Workload odd) ends" in result.stdout


def test_the_json_has_the_same_facts() -> None:
    """Place, holders and what would admit it are fields."""
    found = _facts(a_dump(), "alpha")

    assert found["place"] == {
        "clusterQueue": "team",
        "queueingStrategy": "BestEffortFIFO",
        "position": 1,
        "pending": 1,
        "before": [],
    }
    (holder,) = found["holders"]
    assert (holder["job"], holder["amount"], holder["nominal"]) == ("zeta", "2", "2")
    assert _raises(found) == [[_nominal("2", "3")]]
    assert _ends(found) == [["zeta"]]


def test_a_job_that_may_have_fewer_pods_needs_quota_for_the_fewest() -> None:
    """Of its three pods one is enough; the raise is the smallest that admits it."""
    job = a_job("some", "gpus-1")
    job["spec"] |= {"parallelism": 3, "completions": 3}
    job["metadata"]["annotations"] = {"kueue.x-k8s.io/job-min-parallelism": "1"}
    world = [*a_world(gpus=2), a_job("holder", "gpus-2"), job]

    found = _facts(world, "some")

    assert _raises(found) == [[_nominal("2", "3")]]


def test_the_queue_before_it_takes_what_is_raised_first() -> None:
    """One device more is admitted to the older Job, so that three more are needed for the second one."""
    world = [*a_world(gpus=2), a_job("holder", "gpus-2"), a_job("older", "gpus-2"), a_job("newer", "gpus-1")]
    strict = [*a_world(gpus=2, strategy="StrictFIFO"), *world[-3:]]

    best_effort, found = _facts(world, "newer"), _facts(strict, "newer")

    assert _raises(best_effort) == [[_nominal("2", "3")]]
    assert _raises(found) == [[_nominal("2", "5")]]
    (before,) = found["place"]["before"]
    assert before["job"] == "older"
    assert before["why"].startswith("priority 0 as well, and created earlier")
    assert [each["job"] for each in found["holders"]] == ["holder"]
    assert _ends(found) == []


def test_a_higher_priority_is_before_it() -> None:
    """The place names the priorities, and each of those before it has to be admitted too."""
    first = _with_priority(a_job("first", "gpus-1"), 7)
    world = [*a_world(gpus=2), a_job("holder", "gpus-2"), a_job("mine", "gpus-1"), *first]

    found = _facts(world, "mine")

    assert found["place"]["position"] == 2
    assert found["place"]["before"][0]["why"] == "priority 7, higher than 0"
    assert _raises(found) == [[_nominal("2", "4")]]


def test_ends_are_the_smallest_set() -> None:
    """One Job holds two devices, two hold one each: three are needed."""
    holders = [a_job("big", "gpus-2"), a_job("small", "gpus-1"), a_job("tiny", "gpus-1")]
    world = [*a_world(gpus=4), *holders, a_job("mine", "gpus-3")]

    found = _facts(world, "mine")

    assert _ends(found) == [["big", "small"], ["big", "tiny"]]
    assert all(each["smallest"] for each in found["wouldAdmit"]["ends"])


def test_a_request_beyond_the_quota_needs_more_quota_and_no_end() -> None:
    """Three devices never fit into two."""
    found = _facts([*a_world(gpus=2), a_job("holder"), a_job("mine", "gpus-3")], "mine")

    assert _raises(found) == [[_nominal("2", "4")]]
    assert _ends(found) == []


def test_two_resources_are_raised_together() -> None:
    """Both the processors and the devices are short."""
    world = a_world(gpus=1)
    queue = next(each for each in world if each["kind"] == "ClusterQueue")
    queue["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"] = "1500m"

    found = _facts([*world, a_job("holder"), a_job("mine")], "mine")

    cpu = ("ClusterQueue", "team", "nominalQuota", "team-flavor", "cpu", "1500m", "2")
    assert _raises(found) == [[cpu, _nominal("1", "2")]]


def _cohort(*queues: tuple[str, Manifest], nominal: int | None = None) -> list[Manifest]:
    """Give ClusterQueues of one cohort, each with the quota of its devices, and a LocalQueue of its name."""
    flavor = an_object(KUEUE, "ResourceFlavor", "f", spec={})
    objects = [an_object("v1", "Namespace", "team"), flavor]
    objects += [a_template(f"gpus-{count}", count=count) for count in (1, 2, 3)]
    for name, quota in queues:
        spec = {"namespaceSelector": {}, "cohortName": "all", "resourceGroups": _groups(quota)}
        objects.append(an_object(KUEUE, "ClusterQueue", name, spec=spec))
        objects.append(an_object(KUEUE, "LocalQueue", name, "team", spec={"clusterQueue": name}))
    if nominal is not None:
        objects.append(an_object(KUEUE, "Cohort", "all", spec={"resourceGroups": _groups({"nominalQuota": nominal})}))
    return objects


def _groups(quota: Manifest) -> list[Manifest]:
    resources = [{"name": "cpu", "nominalQuota": 100}, {"name": "whole-gpus", **quota}]
    return [{"coveredResources": ["cpu", "whole-gpus"], "flavors": [{"name": "f", "resources": resources}]}]


def test_a_borrowing_limit_that_bounds_it_is_an_alternative() -> None:
    """The cohort has unused quota; the limit forbids to borrow it."""
    world = _cohort(("a", {"nominalQuota": 1, "borrowingLimit": 0}), ("b", {"nominalQuota": 2}))

    found = _facts([*world, a_job("holder", queue="a"), a_job("mine", queue="a")], "mine")

    limit = ("ClusterQueue", "a", "borrowingLimit", "f", "whole-gpus", "0", "1")
    assert _raises(found) == [[_nominal("1", "2", queue="a", flavor="f")], [limit]]


def test_quota_of_the_cohort_and_of_the_queue_are_alternatives() -> None:
    """All quota of the tree is in use, also by a Job of another ClusterQueue."""
    world = _cohort(("a", {"nominalQuota": 0}), ("b", {"nominalQuota": 1}), nominal=1)

    found = _facts([*world, a_job("one", queue="b"), a_job("two", queue="b"), a_job("mine", queue="a")], "mine")

    cohort = ("Cohort", "all", "nominalQuota", "f", "whole-gpus", "1", "2")
    assert _raises(found) == [[_nominal("0", "1", queue="a", flavor="f")], [cohort]]
    assert _ends(found) == [["one"], ["two"]]


def test_a_lending_limit_that_keeps_unused_quota_is_an_alternative() -> None:
    """The other ClusterQueue has two unused devices and lends none."""
    world = _cohort(("a", {"nominalQuota": 0}), ("b", {"nominalQuota": 2, "lendingLimit": 0}))

    found = _facts([*world, a_job("mine", queue="a")], "mine")

    lending = ("ClusterQueue", "b", "lendingLimit", "f", "whole-gpus", "0", "1")
    assert _raises(found) == [[_nominal("0", "1", queue="a", flavor="f")], [lending]]


def test_each_flavor_is_an_alternative_unless_the_pods_do_not_fit_it() -> None:
    """Three flavors: one is tainted, so that its quota does not help."""
    world = a_world(gpus=0)
    queue = next(each for each in world if each["kind"] == "ClusterQueue")
    (flavor,) = queue["spec"]["resourceGroups"][0]["flavors"]
    taint = {"key": "k", "value": "v", "effect": "NoSchedule"}
    for name, spec in (("tainted", {"nodeTaints": [taint]}), ("other", {})):
        queue["spec"]["resourceGroups"][0]["flavors"].append({**flavor, "name": name})
        world.append(an_object(KUEUE, "ResourceFlavor", name, spec=spec))

    found = _facts([*world, a_job("mine")], "mine")

    assert _raises(found) == [[_nominal("0", "1")], [_nominal("0", "1", flavor="other")]]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        pytest.param("stopped", "ClusterQueue team is not active: ", id="stopped-queue"),
        pytest.param("template", "no-such", id="no-template"),
        pytest.param("class", "other.example.com", id="unmapped-class"),
        pytest.param("local", "LocalQueue", id="no-local-queue"),
        pytest.param("selector", "doesn't match ClusterQueue selector", id="namespace"),
        pytest.param("uncovered", "whole-gpus unavailable in ClusterQueue", id="uncovered"),
    ],
)
def test_the_reason_is_given_where_no_quota_helps(change: str, why: str) -> None:
    """No raise is named, and the reason is that of the queue, class or template."""
    world = a_world(gpus=1)
    queue = next(each for each in world if each["kind"] == "ClusterQueue")
    job = a_job("mine")
    match change:
        case "stopped":
            queue["spec"]["stopPolicy"] = "Hold"
        case "template":
            job = a_job("mine", "no-such")
        case "class":
            world.append(a_template("other", device_class="other.example.com"))
            job = a_job("mine", "other")
        case "local":
            job = a_job("mine", queue="nowhere")
        case "selector":
            queue["spec"]["namespaceSelector"] = {"matchLabels": {"a": "b"}}
        case "uncovered":
            group = queue["spec"]["resourceGroups"][0]
            group["coveredResources"] = ["cpu"]
            group["flavors"][0]["resources"] = group["flavors"][0]["resources"][:1]

    found = _facts([*world, job], "mine", "--allow-missing")

    assert _raises(found) == []
    assert why in found["wouldAdmit"]["noQuotaHelps"]
    assert any(step["text"].startswith("no higher quota admits it: ") for step in found["steps"])


def test_an_admitted_workload_has_no_such_steps() -> None:
    """It holds quota."""
    found = _facts(a_dump(), "zeta")

    assert "wouldAdmit" not in found
    assert "place" not in found


@pytest.mark.parametrize("name", ["alpha-x7k2p", "pod/alpha-x7k2p", "po/alpha-0-x7k2p", "team/alpha-x7k2p"])
def test_a_pod_is_named_as_kubectl_shows_it(name: str) -> None:
    """Its name begins with that of its Job."""
    assert _facts(a_dump(), name)["job"] == "alpha"


def test_names_that_no_object_or_several_have_are_one_line() -> None:
    """The line has the near names, or those that match."""
    several = [*a_world(), *a_world("other"), a_job("same"), a_job("same", namespace="other")]

    unknown, ambiguous = _ask(a_dump(), "alhpa"), _ask(several, "same")

    assert (unknown.exit_code, ambiguous.exit_code) == (2, 2)
    assert "found no Job or Workload alhpa; known: team/alpha, team/zeta" in unknown.stderr
    (line,) = ambiguous.stderr.splitlines()
    assert line.startswith("several Jobs or Workloads match same: other/same (workload/job-same-")
    assert _ask(several, "other/same").exit_code == 0


def test_close_names_are_suggested_among_many() -> None:
    """More names than a line takes."""
    jobs = [a_job(f"train-{index}") for index in range(9)] + [a_job("notebook")]

    result = _ask([*a_world(), *jobs], "notbook")

    assert result.stderr.strip() == "found no Job or Workload notbook; did you mean team/notebook?"


def _preempting(*jobs: Manifest) -> list[Manifest]:
    world = a_world(gpus=2)
    queue = next(each for each in world if each["kind"] == "ClusterQueue")
    queue["spec"]["preemption"] = {"withinClusterQueue": "LowerPriority"}
    return [*world, *jobs]


def test_a_raise_preempts_no_workload_if_a_larger_one_does_not_have_to() -> None:
    """With one device more it would preempt the low one; with two it preempts none."""
    high = _with_priority(a_job("high", "gpus-1"), 200)
    middle = _with_priority(a_job("mine", "gpus-2"), 100)

    found = _facts(_preempting(*high, a_job("low", "gpus-1"), *middle), "mine")

    assert _raises(found) == [[_nominal("2", "4")]]
    assert found["wouldAdmit"]["raises"][0]["preempted"] == []


def test_a_raise_names_what_it_would_preempt() -> None:
    """The workload before it is admitted first, by preemption of a lower one."""
    high = _with_priority(a_job("high", "gpus-3"), 200)
    cluster = _preempting(a_job("low", "gpus-2"), *high, a_job("mine"))

    found = _facts(cluster, "mine")

    assert _raises(found) == [[_nominal("2", "4")]]
    assert [each["job"] for each in found["wouldAdmit"]["raises"][0]["preempted"]] == ["low"]
    assert any("from 2 to 4; it would preempt Job team/low (Workload" in step["text"] for step in found["steps"])
