"""Generated scenarios in which Kueue waits for pods, deletes what is over, or has variants of work."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from kueue_dra_differential import pods_ready, variants
from kueue_dra_differential.config_settings import switched_on
from kueue_dra_differential.events import Ready
from kueue_dra_differential.generate import batches
from kueue_dra_differential.oracle import Oracle, OutcomeKind
from kueue_dra_fixtures.builders import a_job
from kueue_dra_fixtures.manifests import a_job_manifest, finished
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.reference.replay import answers
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.scenarios.diff import difference
from kueue_dra_ref.scenarios.scenario import Observation, Scenario
from tests.test_roll_out import QUEUES

KUEUE_0_19 = behaviour("kueue-0.19.2")
META = {"name": "j", "namespace": "ns"}
JOB = {"apiVersion": "batch/v1", "kind": "Job", **META}
WAITING = {"timeout": pods_ready.FAR, "blockAdmission": False}


def seen_with(feature: str, count: int) -> Iterator[str]:
    """What the reference shows in some batches of scenarios with a feature, as text."""
    for batch in batches(of=4, behaviour=KUEUE_0_19, number=5, count=count, wanted=[feature]):
        for each in batch:
            yield json.dumps([*answers(each, KUEUE_0_19)])


def not_seen(feature: str, *words: str) -> list[str]:
    """Of some words, those that the scenarios of a feature never show."""
    missing = set(words)
    for text in seen_with(feature, 24):
        missing = {each for each in missing if each not in text}
        if not missing:
            break
    return sorted(missing)


def test_pods_of_generated_jobs_become_ready_and_are_lost() -> None:
    """Work waits for them, too, where admission is blocked."""
    reasons = ("WaitForStart", "Started", "WaitForRecovery", "Recovered")
    blocked = "waiting for all admitted workloads to be in PodsReady condition"

    assert not_seen("wait-for-pods-ready", *reasons, blocked) == []


def test_generated_variants_migrate_and_wait() -> None:
    """Some are given up."""
    words = ("FlavorMigration", "VariantEvicted", '"inactive"', '"pending"', '"finished"')

    assert not_seen("concurrent-admission", *words) == []


def test_generated_gates_are_opened() -> None:
    """One of two, or both; to add one is refused."""
    words = ("gated by: example.com/budget,example.com/images", "can only remove gates, not add new ones", '"Admitted"')

    assert not_seen("admission-gates", *words) == []


@pytest.mark.parametrize(
    ("feature", "section"),
    [
        pytest.param("wait-for-pods-ready", "waitForPodsReady", id="wait-for-pods-ready"),
        pytest.param("retention", "objectRetentionPolicies", id="retention"),
    ],
)
def test_a_wanted_section_is_in_every_configuration(feature: str, section: str) -> None:
    """And in none without the feature."""
    found = []
    for wanted in ([feature], []):
        drawn = batches(of=1, behaviour=KUEUE_0_19, number=5, count=6, wanted=wanted)
        found.append({section in each.configuration for batch in drawn for each in batch})

    assert found == [{True}, {False}]


def is_changed_by_retention(scenario: Scenario) -> bool:
    """Whether a Kueue that keeps everything shows something else."""
    everything = {**scenario.configuration, "objectRetentionPolicies": {"workloads": {}}}
    kept = replace(scenario, configuration=everything)
    return [*answers(scenario, KUEUE_0_19)] != [*answers(kept, KUEUE_0_19)]


def test_what_is_over_is_deleted_in_generated_scenarios() -> None:
    """With another section of the Configuration more is kept."""
    drawn = batches(of=4, behaviour=KUEUE_0_19, number=5, count=12, wanted=["retention"])

    assert any(is_changed_by_retention(each) for batch in drawn for each in batch)


def observed(configuration: dict[str, Any], *steps: dict[str, Any]) -> list[Observation]:
    """What is observed once a Job exists, and after each step."""
    job = a_job_manifest(a_job(pods=2, cpu="1"), META, "lq", {})
    applied = {"apply": [*QUEUES, job]}
    scenario = Scenario(name="s", configuration=configuration, inventory=(), steps=(applied, *steps))
    return list(answers(scenario, KUEUE_0_19))


def ready(active: int, count: int) -> dict[str, Any]:
    """The Job reports so many active and ready pods."""
    return {"report": [{**JOB, "status": {"active": active, "ready": count}}]}


def test_the_condition_of_pods_is_observed() -> None:
    """By the name of the Job, if the Configuration says how Kueue waits."""
    before, after, lost = observed({"waitForPodsReady": WAITING}, ready(2, 2), ready(0, 0))
    (unsaid,) = observed({})

    reasons = [each["podsReady"]["j"]["reason"] for each in (before, after, lost)]
    assert reasons == ["WaitForStart", "Started", "WaitForRecovery"]
    assert "podsReady" not in unsaid


def test_what_is_left_of_finished_work_is_observed() -> None:
    """The Job is there without its Workload."""
    job = a_job_manifest(a_job(pods=2, cpu="1"), META, "lq", {})
    section = {"objectRetentionPolicies": {"workloads": {"afterFinished": "0s"}}}
    before, after = observed(section, {"apply": [finished(job)]})

    assert (list(before["workloads"]), before["kept"]) == (["j"], ["Job/j"])
    assert (list(after["workloads"]), after["kept"]) == ([], ["Job/j"])


def a_family(evicted: str, state: str, message: str) -> Observation:
    """Work with a variant: whether it was evicted, and the state of the variant with what that says of its quota."""
    parent = {"admission": None, "Evicted": {"status": evicted, "reason": "VariantEvicted", "message": ""}}
    told = {"admission": None, "QuotaReserved": {"status": "False", "reason": "Pending", "message": message}}
    variants = {"job-j-variant-f": {"state": state, "gate": "Closed"}}
    return {"workloads": {"j": parent, "job-j-variant-f": told}, "parents": ["j"], "variants": variants}


@pytest.mark.parametrize(
    ("theirs", "alike"),
    [
        pytest.param(a_family("False", "inactive", "a"), True, id="alike"),
        pytest.param(a_family("True", "inactive", "a"), True, id="evicted-before"),
        pytest.param(a_family("False", "inactive", "b"), True, id="tried-before-it-was-given-up"),
        pytest.param(a_family("False", "pending", "a"), False, id="another-state"),
    ],
)
def test_how_variants_came_to_be_so_is_chance(theirs: Observation, alike: bool) -> None:
    """Their states are compared, and what those say that wait."""
    ours = a_family("False", "inactive", "a")
    waiting, other = a_family("False", "pending", "a"), a_family("False", "pending", "b")

    assert (difference(ours, theirs) is None) is alike
    assert difference(waiting, other) is not None


@pytest.mark.parametrize(
    ("theirs", "alike"),
    [
        pytest.param("The variant j-variant-a-0c0de is admitted", True, id="another-hash"),
        pytest.param("The variant j-variant-b-54825 is admitted", False, id="another-flavor"),
    ],
)
def test_the_hash_of_a_variant_is_no_difference(theirs: str, alike: bool) -> None:
    """It is of the UID of its parent, which may be a Workload that no work owns."""
    ours = {"Admitted": {"message": "The variant j-variant-a-54825 is admitted"}}

    assert (difference(ours, {"Admitted": {"message": theirs}}) is None) is alike


@pytest.mark.parametrize("part", ["podsReady", "kept", "parents"])
def test_earlier_recordings_still_agree(part: str) -> None:
    """They do not have the part."""
    ours: dict[str, Any] = {"workloads": {}, part: {"j": {}}}

    assert difference(ours, {"workloads": {}}) is None
    assert difference(ours, {"workloads": {}, part: {}}) is not None


@pytest.mark.parametrize(
    ("pods", "succeeded", "missing", "expected"),
    [
        pytest.param(3, 0, 0, {"active": 3, "ready": 3, "succeeded": 0}, id="all"),
        pytest.param(3, 1, 1, {"active": 2, "ready": 1, "succeeded": 1}, id="one-is-missing"),
        pytest.param(1, 0, 2, {"active": 1, "ready": 0, "succeeded": 0}, id="no-less-than-none"),
        pytest.param(3, 1, None, {"active": 0, "ready": 0}, id="none-is-left"),
    ],
)
def test_the_status_of_pods(pods: int, succeeded: int, missing: int | None, expected: dict[str, int]) -> None:
    """Never more ready pods than active ones: an API server refuses that."""
    event = Ready(job=0, missing=missing, every=False)

    assert pods_ready.status(pods, succeeded, event) == expected


def test_scenarios_that_block_run_alone() -> None:
    """Side by side, they would wait for the pods of each other."""
    job = a_job_manifest(a_job(pods=2, cpu="1"), META, "lq", {})
    configuration = {"waitForPodsReady": {**WAITING, "blockAdmission": True}}
    scenarios = []
    for name in ("a", "b"):
        made = json.loads(json.dumps([*QUEUES, job]).replace('"ns"', f'"ns-{name}"').replace('"cq"', f'"cq-{name}"'))
        steps = ({"apply": made},)
        scenarios.append(Scenario(name=name, configuration=configuration, inventory=(), steps=steps))
    oracle = Oracle(target=ReferenceTarget(KUEUE_0_19), behaviour=KUEUE_0_19, kueue="0.19.2")

    assert [each.kind for each in oracle.compare(tuple(scenarios))] == [OutcomeKind.AGREES] * 2
    together = oracle.recorded(scenarios)
    assert [each.recorded for each in together] != [tuple(answers(each, KUEUE_0_19)) for each in scenarios]


def test_a_release_without_variants_has_none() -> None:
    """The gate is unknown there."""
    assert switched_on(variants.GATE, KUEUE_0_19) == {"ConcurrentAdmission": True}
    assert switched_on(variants.GATE, behaviour("kueue-0.17.1")) == {}
