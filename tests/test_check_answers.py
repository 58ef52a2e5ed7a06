"""Scenarios in which the controllers of admission checks answer, and generated ones that have such checks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kueue_dra_differential.generate import batches
from kueue_dra_fixtures.builders import a_job, a_pod_set, a_workload
from kueue_dra_fixtures.manifests import a_job_manifest
from kueue_dra_fixtures.work_kinds import a_work_manifest
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.reference.replay import answers
from kueue_dra_ref.scenarios.diff import difference
from kueue_dra_ref.scenarios.scenario import Scenario
from tests.commands import kueue_dra
from tests.test_roll_out import QUEUES

KUEUE = "kueue.x-k8s.io/v1beta2"
KUEUE_0_19 = behaviour("kueue-0.19.2")
META = {"name": "j", "namespace": "ns"}
JOB = {"apiVersion": "batch/v1", "kind": "Job", **META}
CHECK = {
    "apiVersion": KUEUE,
    "kind": "AdmissionCheck",
    "metadata": {"name": "budget"},
    "spec": {"controllerName": "example.com/budget"},
    "status": {"conditions": [{"type": "Active", "status": "True", "reason": "Test"}]},
}


def checked_queues() -> list[dict[str, Any]]:
    """The queue of three CPUs, with an admission check."""
    found = json.loads(json.dumps(QUEUES))
    found[2]["spec"]["admissionChecksStrategy"] = {"admissionChecks": [{"name": "budget"}]}
    return [CHECK, *found]


def a_step(state: str, **fields: Any) -> dict[str, Any]:
    """The check answers for the Job."""
    return {"answer": [{**JOB, "check": "budget", "state": state, **fields}]}


def observed(*steps: dict[str, Any]) -> list[dict[str, Any]]:
    """What is observed once the Job exists, and after each step."""
    job = a_job_manifest(a_job(cpu="1"), META, "lq", {})
    applied = {"apply": [*checked_queues(), job]}
    scenario = Scenario(name="s", configuration={}, inventory=(), steps=(applied, *steps))
    return list(answers(scenario, KUEUE_0_19))


def test_a_check_that_is_ready_admits() -> None:
    """The state is part of the observation, by the name of the Job."""
    before, after = observed(a_step("Ready", message="go"))

    assert before["checks"] == {"j": {"budget": {"state": "Pending", "message": "", "retryCount": None}}}
    assert before["workloads"]["j"].get("Admitted") is None
    assert after["checks"]["j"]["budget"] == {"state": "Ready", "message": "go", "retryCount": None}
    assert after["workloads"]["j"]["Admitted"]["status"] == "True"


def test_a_check_that_retries_counts() -> None:
    """The eviction has reset it."""
    _, after = observed(a_step("Retry"))

    assert after["checks"]["j"]["budget"]["state"] == "Pending"
    assert after["checks"]["j"]["budget"]["retryCount"] == 1


def test_a_check_that_is_not_listed_has_nothing_to_answer() -> None:
    """Neither for work that does not exist."""
    elsewhere = {"answer": [{**JOB, "name": "none", "check": "budget", "state": "Ready"}]}
    other = {"answer": [{**JOB, "check": "licences", "state": "Ready"}]}
    before, *after = observed(elsewhere, other)

    assert after == [before, before]


def test_a_workload_is_answered_by_its_name() -> None:
    """One that no Job owns."""
    workload = a_work_manifest(a_workload(a_pod_set("main", cpu="1")), META, "lq", {})
    answer = {"apiVersion": KUEUE, "kind": "Workload", **META, "check": "budget", "state": "Ready"}
    steps = ({"apply": [*checked_queues(), workload]}, {"answer": [answer]})
    scenario = Scenario(name="s", configuration={}, inventory=(), steps=steps)
    *_, after = answers(scenario, KUEUE_0_19)

    assert after["workloads"]["j"]["Admitted"]["status"] == "True"


def test_recordings_without_checks_still_agree() -> None:
    """Earlier ones do not have them."""
    ours: dict[str, Any] = {"workloads": {}, "checks": {"j": {}}}

    assert difference(ours, {"workloads": {}}) is None
    assert difference(ours, {"workloads": {}, "checks": {}}) is not None


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        pytest.param({"state": None}, "answer[0].state: found null; expected a string", id="no-state"),
        pytest.param({"state": "Maybe"}, 'answer[0].state: found "Maybe"; expected Pending, ', id="other-state"),
        pytest.param({"check": None}, "answer[0].check: found null; expected a string", id="no-check"),
        pytest.param({"kind": "Deployment"}, 'answer[0].kind: found "Deployment"; expected ', id="no-workload"),
        pytest.param({"reason": "x"}, "answer[0].reason: found an unknown field", id="unknown"),
    ],
)
def test_wrong_answers_are_named(tmp_path: Path, changed: dict[str, Any], expected: str) -> None:
    """With their place and what was expected."""
    answer = {key: each for key, each in ({**a_step("Ready")["answer"][0], **changed}).items() if each is not None}
    scenario = {"kind": "Scenario", "metadata": {"name": "s"}, "spec": {"steps": [{"answer": [answer]}]}}
    file = tmp_path / "s.jsonl"
    file.write_text(json.dumps(scenario), encoding="utf-8")

    found = kueue_dra("replay", str(file))

    assert found.exit_code == 2
    assert f"spec.steps[0].{expected}" in found.output


def test_generated_scenarios_with_checks_reach_what_they_decide() -> None:
    """Work waits for them, is admitted, is evicted and deactivated by them; queues wait for their controllers."""
    missing = {
        '"state": "Ready"',
        '"state": "Pending"',
        "Previously: Retry",
        "DeactivatedDueToAdmissionCheck",
    }
    for batch in batches(of=4, behaviour=KUEUE_0_19, number=5, count=12, wanted=["admission-checks"]):
        printed = json.dumps([[*answers(scenario, KUEUE_0_19)] for scenario in batch])
        missing = {each for each in missing if each not in printed}
        if not missing:
            break

    assert not missing


def test_generated_scenarios_with_a_topology_reach_what_it_decides() -> None:
    """Pods are placed, or find no room on the nodes."""
    (batch,) = batches(of=4, behaviour=KUEUE_0_19, number=2, count=1, wanted=["topology"])
    printed = json.dumps([[*answers(scenario, KUEUE_0_19)] for scenario in batch])

    assert [each for each in ('"places": {"j', "allow to fit", "excluded: ") if each not in printed] == []


def test_generated_elastic_jobs_have_several_workloads() -> None:
    """A Job that runs gets a larger Workload, which waits next to it or replaces it."""
    drawn = batches(of=4, behaviour=KUEUE_0_19, number=5, count=12, wanted=["elastic-jobs"])
    seen = (one for batch in drawn for each in batch for one in answers(each, KUEUE_0_19))

    assert any("/" in name for one in seen for name in one.get("workloads", ()))


def test_usage_decides_what_generated_queues_try_next() -> None:
    """Without admission fair sharing in their Configuration, other work is admitted."""
    changed = 0
    for batch in batches(of=4, behaviour=KUEUE_0_19, number=5, count=8, wanted=["admission-fair-sharing"]):
        for each in batch:
            plain = {name: value for name, value in each.configuration.items() if name != "admissionFairSharing"}
            without = replace(each, configuration=plain)
            changed += [*answers(each, KUEUE_0_19)] != [*answers(without, KUEUE_0_19)]

    assert changed


def test_a_first_condition_that_a_real_kueue_lost_is_no_difference() -> None:
    """Only of work with checks or with PodsReady, and only if it is not there at all; its requests go with it."""
    pending = {"QuotaReserved": {"status": "False"}, "admission": None, "requests": [{"name": "main"}]}
    ours = {"workloads": {"j": pending}, "checks": {"j": {}}}
    lost = {"workloads": {"j": {"admission": None}}, "checks": {"j": {}}}
    unchecked = {**lost, "checks": {}}
    other = {"workloads": {"j": {**pending, "QuotaReserved": {"status": "True"}}}, "checks": {"j": {}}}

    waiting = {"podsReady": {"j": {"status": "False"}}}
    partly = {"workloads": {"j": {"QuotaReserved": {"status": "False"}, "admission": None}}, "checks": {"j": {}}}

    assert difference(ours, lost) is None
    assert difference({**ours, "checks": {}, **waiting}, {**unchecked, **waiting}) is None
    assert difference({**ours, "checks": {}}, unchecked) is not None
    assert difference(ours, partly) is not None
    assert difference(ours, other) is not None


def test_a_first_condition_that_a_worker_lost_is_no_difference() -> None:
    """Of a copy, and only if it is not there at all."""
    pending = {"QuotaReserved": {"status": "False"}, "admission": None}
    ours = {"workloads": {}, "workers": {"worker1": {"workloads": {"job-j": pending}}, "worker2": {}}}
    lost = {"workloads": {}, "workers": {"worker1": {"workloads": {"job-j": {"admission": None}}}, "worker2": {}}}
    gone: dict[str, Any] = {"workloads": {}, "workers": {"worker1": {"workloads": {}}, "worker2": {}}}
    other = {"QuotaReserved": {"status": "True"}, "admission": None}
    wrong = {"workloads": {}, "workers": {"worker1": {"workloads": {"job-j": other}}, "worker2": {}}}

    assert difference(ours, lost) is None
    assert difference(ours, gone) is not None
    assert difference(ours, wrong) is not None


def test_a_wanted_feature_is_in_every_scenario() -> None:
    """Without it, a seed decides."""
    found = []
    for wanted in (["admission-checks"], []):
        drawn = batches(of=2, behaviour=KUEUE_0_19, number=5, count=6, wanted=wanted)
        has = ["AdmissionCheck" in json.dumps(each.steps) for batch in drawn for each in batch]
        found.append(all(has))

    assert found == [True, False]
