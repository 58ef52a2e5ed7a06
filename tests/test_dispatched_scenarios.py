"""Scenarios with a manager of MultiKueue and its workers: files, playback, generation, comparison and shrinking."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kueue_dra_differential import dispatched
from kueue_dra_differential.generate import batches
from kueue_dra_differential.oracle import Oracle, OutcomeKind
from kueue_dra_differential.shrink import shrunk
from kueue_dra_fixtures.builders import NamedTemplate, a_job, a_template, gpu
from kueue_dra_fixtures.lab.clusters import of_checks
from kueue_dra_fixtures.manifests import KUEUE, a_cluster_queue, a_group, a_job_manifest, an_object, finished
from kueue_dra_fixtures.multikueue import NAMESPACE, a_check, a_cluster, a_namespace
from kueue_dra_fixtures.profiles import a_configuration
from kueue_dra_ref.api.multikueue import MANAGED_BY
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.reference.replay import answers
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.scenarios.diff import difference
from kueue_dra_ref.scenarios.files import scenarios
from kueue_dra_ref.scenarios.playback import replayed_together
from kueue_dra_ref.scenarios.scenario import Observation, Scenario, WorkerCluster, as_document
from kueue_dra_ref.target import Manifest, Ref
from tests.commands import kueue_dra

KUEUE_0_19 = behaviour("kueue-0.19.2")
CONFIGURATION = a_configuration(KUEUE_0_19)
META = {"name": "j", "namespace": "ns"}
JOB = {"apiVersion": "batch/v1", "kind": "Job", **META}
TEMPLATE = a_template(gpu()).manifest("t", "ns")
WORK = a_job_manifest(a_job(claims=[NamedTemplate(name="t")]), META, "lq", {})


def queues(cards: int, **spec: Any) -> list[Manifest]:
    """Write the queue of one cluster with its quota, and what is before it."""
    local = {"clusterQueue": "cq"}
    return [
        a_namespace("ns"),
        an_object("ResourceFlavor", "fl"),
        a_cluster_queue("cq", [a_group({"fl": {"whole-gpus": cards}})], **spec),
        {
            "apiVersion": KUEUE,
            "kind": "LocalQueue",
            "metadata": {"name": "lq", "namespace": "ns"},
            "spec": local,
        },
    ]


def connections() -> Iterator[Manifest]:
    """Write the connection to each worker, and the check."""
    for name in ("worker1", "worker2"):
        yield {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": name, "namespace": NAMESPACE},
            "stringData": {"kubeconfig": name},
        }
        yield a_cluster(name, name)
    yield an_object("MultiKueueConfig", "config", clusters=["worker1", "worker2"])
    yield a_check("check", "config")


def a_fleet(*steps: dict[str, Any]) -> Scenario:
    """A manager and two workers, of which the second alone has quota, then some steps."""
    own = [*connections(), *queues(2, admissionChecksStrategy=of_checks(["check"]))]
    parts = {"worker1": {"apply": queues(0)}, "worker2": {"apply": queues(1)}}
    worker = WorkerCluster(configuration=CONFIGURATION, inventory=())
    return Scenario(
        name="fleet",
        configuration=CONFIGURATION,
        inventory=(),
        steps=({"apply": own, "workers": parts}, *steps),
        workers={"worker1": worker, "worker2": worker},
    )


def everywhere(*own: Manifest) -> dict[str, Any]:
    """Apply the template on each cluster, and something on the manager."""
    on_workers = {"apply": [TEMPLATE]}
    return {"apply": [TEMPLATE, *own], "workers": {"worker1": on_workers, "worker2": on_workers}}


def shown(*steps: dict[str, Any]) -> list[Observation]:
    """What is observed after each step."""
    return list(answers(a_fleet(*steps), KUEUE_0_19))[1:]


def report(status: dict[str, Any]) -> dict[str, Any]:
    """The copy of the Job reports a status on each worker that runs it."""
    part = {"report": [{**JOB, "status": status}]}
    return {"workers": {"worker1": part, "worker2": part}}


def test_an_observation_has_what_is_dispatched_and_each_worker() -> None:
    """The manager names the cluster; the copy has no hash in its name."""
    (seen,) = shown(everywhere(WORK))

    assert seen["dispatched"]["j"] == {"cluster": "worker2", "nominated": [], "finished": "", "active": True}
    assert seen["connections"]["worker1"] == {"status": "True", "reason": "Active"}
    assert seen["work"]["j"]["managedBy"] == "kueue.x-k8s.io/multikueue"
    first, second = seen["workers"]["worker1"], seen["workers"]["worker2"]
    assert (first["workloads"], first["work"]) == ({}, {})
    assert second["workloads"]["job-j"]["Admitted"]["status"] == "True"
    assert second["work"]["j"]["suspended"] is False


def test_the_copy_that_runs_reports_its_status() -> None:
    """It completes, on whichever worker it is, and so does the work on the manager."""
    before, active, done = shown(everywhere(WORK), report({"active": 1}), report(finished(WORK)["status"]))

    assert before["work"]["j"]["counts"] == {}
    assert active["work"]["j"]["counts"] == {"active": 1}
    assert done["work"]["j"]["conditions"] == ["Complete", "SuccessCriteriaMet"]
    assert done["dispatched"]["j"]["finished"] == "Succeeded"
    assert done["workers"]["worker2"]["work"] == {}


def test_suspended_work_reports_nothing_but_that_no_pod_is_active() -> None:
    """On the manager alone, where no worker has quota for it."""
    three = a_job_manifest(a_job(pods=3, claims=[NamedTemplate(name="t")]), META, "lq", {})
    before, after = shown(everywhere(three), {"report": [{**JOB, "status": {"active": 1}}]})

    assert after["work"] == before["work"]


def test_a_touch_on_a_worker_is_one_of_the_copy() -> None:
    """It finds a template that came late; a touch of work that is not there changes nothing."""
    late = {"worker2": {"apply": [TEMPLATE], "touch": [JOB]}}
    missing = {"worker2": {"touch": [{**JOB, "name": "none"}]}}
    before, same, after = shown({"apply": [TEMPLATE, WORK]}, {"workers": missing}, {"workers": late})

    assert before["dispatched"]["j"]["cluster"] == same["dispatched"]["j"]["cluster"] == ""
    assert after["dispatched"]["j"]["cluster"] == "worker2"


def test_a_copy_is_deactivated_on_its_worker() -> None:
    """The manager notices its eviction, and makes it again; on the manager, the Workload itself is deactivated."""
    meta = {"name": "job-j-00000", "namespace": "ns"}
    off = [{"apiVersion": KUEUE, "kind": "Workload", "metadata": meta, "spec": {"active": False}}]
    before, evicted, inactive = shown(everywhere(WORK), {"workers": {"worker2": {"change": off}}}, {"change": off})

    assert before["checks"]["j"]["check"]["retryCount"] is None
    assert evicted["checks"]["j"]["check"]["retryCount"] == 1
    assert evicted["workers"]["worker2"]["workloads"]["job-j"]["Admitted"]["status"] == "True"
    assert inactive["dispatched"]["j"]["active"] is False
    assert inactive["workers"]["worker2"]["workloads"] == {}


def test_the_check_of_a_worker_is_answered_for_the_copy() -> None:
    """By the name of the work, though the copy belongs to none yet."""
    check = {
        "apiVersion": KUEUE,
        "kind": "AdmissionCheck",
        "metadata": {"name": "own"},
        "spec": {"controllerName": "example.com/own"},
        "status": {"conditions": [{"type": "Active", "status": "True", "reason": "Test"}]},
    }
    own = {"workers": {"worker2": {"apply": [check, *queues(1, admissionChecksStrategy=of_checks(["own"]))[2:3]]}}}
    ready = {"workers": {"worker2": {"answer": [{**JOB, "check": "own", "state": "Ready"}]}}}
    _, before, after = shown(own, everywhere(WORK), ready)

    assert before["workers"]["worker2"]["checks"]["job-j"]["own"]["state"] == "Pending"
    assert before["dispatched"]["j"]["cluster"] == ""
    assert after["dispatched"]["j"]["cluster"] == "worker2"


def test_a_worker_that_rejects_an_object_says_so() -> None:
    """In its own part of the observation, once."""
    wrong = {"workers": {"worker1": {"apply": queues(-1)[2:3]}}}
    first, second = shown(wrong, {"apply": []})

    (rejected,) = first["workers"]["worker1"]["rejected"]
    assert rejected["name"] == "cq"
    assert "rejected" not in first
    assert "rejected" not in second["workers"]["worker1"]


def test_the_kueue_of_a_worker_restarts_with_another_mapping() -> None:
    """Its Kueue then counts the class as another resource."""
    other = a_configuration(KUEUE_0_19, {"cards": ["gpu.example.com"]})
    _, after = shown({"workers": {"worker2": {"restart": [other]}}}, everywhere(WORK))

    assert after["dispatched"]["j"]["cluster"] == ""
    assert after["workers"]["worker2"]["workloads"]["job-j"]["QuotaReserved"]["status"] == "False"


def test_a_scenario_with_workers_is_a_file(tmp_path: Path) -> None:
    """What is read is what was written, and replay compares it."""
    scenario = a_fleet(everywhere(WORK))
    recorded = replace(scenario, kueue="0.19.2", recorded=tuple(answers(scenario, KUEUE_0_19)))
    file = tmp_path / "fleet.jsonl"
    file.write_text(json.dumps(as_document(recorded)), encoding="utf-8")

    (read,) = scenarios(file)
    found = kueue_dra("replay", "--check", str(file))

    assert read == recorded
    assert (found.exit_code, "2 of 2 steps agree" in found.output) == (0, True), found.output


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param(
            {"steps": [{"workers": {"worker1": {"apply": []}}}]},
            "spec.steps[0].workers: found a step for workers; expected spec.workers: worker1 and worker2",
            id="no-workers",
        ),
        pytest.param(
            {"workers": {"worker1": {}}, "steps": []},
            'spec.workers: found ["worker1"]; expected worker1 and worker2',
            id="one-worker",
        ),
        pytest.param(
            {"workers": {"worker1": {}, "worker3": {}}, "steps": []},
            "spec.workers.worker3: found an unknown field; expected a known field (did you mean worker",
            id="another-worker",
        ),
        pytest.param(
            {"workers": {"worker1": {}, "worker2": {}}, "steps": [{"workers": {"worker2": {"aply": []}}}]},
            "spec.steps[0].workers.worker2.aply: found an unknown field; expected a known field (did you mean apply?)",
            id="verb",
        ),
        pytest.param(
            {
                "workers": {"worker1": {}, "worker2": {}},
                "steps": [{"workers": {"worker2": {"report": [JOB]}}}],
            },
            "spec.steps[0].workers.worker2.report[0].status: found null; expected an object",
            id="no-status",
        ),
        pytest.param(
            {"workers": {"worker1": {"inventory": [{"kind": "Job"}]}, "worker2": {}}, "steps": []},
            "spec.workers.worker1.inventory[0].apiVersion: found null; expected a string",
            id="inventory",
        ),
    ],
)
def test_wrong_workers_are_named(tmp_path: Path, spec: dict[str, Any], expected: str) -> None:
    """With their place and what was expected."""
    file = tmp_path / "s.jsonl"
    file.write_text(json.dumps({"kind": "Scenario", "metadata": {"name": "s"}, "spec": spec}), encoding="utf-8")

    found = kueue_dra("replay", str(file))

    assert found.exit_code == 2
    assert expected in found.output


def drawn(number: int, count: int, release: Behaviour = KUEUE_0_19) -> Iterator[Scenario]:
    """Generate scenarios with workers."""
    for batch in batches(of=4, behaviour=release, number=number, count=count, wanted=["multikueue"]):
        yield from batch


@pytest.mark.parametrize(("name", "number"), [("kueue-0.14.0", 3), ("kueue-0.19.2", 2)])
def test_generated_scenarios_with_workers_reach_what_a_manager_decides(name: str, number: int) -> None:
    """Work runs on either worker, waits, ends, and is evicted; workers are lost; templates are missing."""
    release = behaviour(name)
    missing = {
        '"cluster": "mk1',
        '"cluster": "mk2',
        '"finished": "Succeeded"',
        '"status": "False", "reason": "Bad',
        '"Evicted": {"status": "True"',
        "ResourceClaimTemplate",
        '"state": "Pending"',
        '"counts": {"active": 1}',
        '"active": false',
    }
    for scenario in drawn(number, 6, release):
        printed = json.dumps([*answers(scenario, release)])
        missing = {each for each in missing if each not in printed}
        if not missing:
            break

    assert not missing


def test_no_generated_scenario_depends_on_which_of_two_workers_is_first() -> None:
    """Names in another order decide between copies of one second; without a difference, none is by chance."""
    for scenario in drawn(5, 1):
        turned = json.loads(json.dumps(scenario.steps).replace("mk1-", "mk3-"))
        ours = [each["workers"] for each in answers(scenario, KUEUE_0_19)]
        others = [each["workers"] for each in answers(replace(scenario, steps=tuple(turned)), KUEUE_0_19)]

        assert difference(json.loads(json.dumps(others).replace("mk3-", "mk1-")), ours, "workers") is None


def test_work_has_names_that_no_other_scenario_of_a_batch_has() -> None:
    """A change of a Workload is found by the part of its name before the hash."""
    (batch,) = batches(of=4, behaviour=KUEUE_0_19, number=8, count=1, wanted=["multikueue"])
    names = []
    for scenario in batch:
        applied = [each for step in scenario.steps for each in step.get("apply", ())]
        names.append({each["metadata"]["name"] for each in applied if each["kind"] in MANAGED_BY})

    assert sum(map(bool, names)) > 1
    assert len(set.union(*names)) == sum(map(len, names))


def test_scenarios_with_workers_beside_each_other_are_decided_as_if_alone() -> None:
    """On the reference; a run relies on the same for real Kueues."""
    (batch,) = batches(of=4, behaviour=KUEUE_0_19, number=8, count=1, wanted=["multikueue"])
    together = zip(*replayed_together(batch, ReferenceTarget(KUEUE_0_19)), strict=True)

    for scenario, seen in zip(batch, together, strict=True):
        assert difference([*seen], [*answers(scenario, KUEUE_0_19)], "steps") is None


@pytest.fixture
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clusters in memory show the same at once."""
    monkeypatch.setattr(dispatched, "STEADY", 0.0)


@pytest.mark.usefixtures("_at_once")
@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        pytest.param("", OutcomeKind.AGREES, id="none"),
        pytest.param("other_copies_go", OutcomeKind.DIFFERS, id="copies"),
        pytest.param("copies_go_when_finished", OutcomeKind.DIFFERS, id="end"),
    ],
)
def test_a_reference_without_a_rule_of_multikueue_differs(rule: str, expected: OutcomeKind) -> None:
    """The clusters are those of a reference with every rule."""
    blind = KUEUE_0_19.without(rule) if rule else KUEUE_0_19
    oracle = Oracle(target=ReferenceTarget(KUEUE_0_19), behaviour=blind, kueue="0.19.2")
    scenario = a_fleet(everywhere(WORK), report(finished(WORK)["status"]), {"apply": []})

    (found,) = oracle.compare((scenario,))

    assert found.kind is expected
    assert len(found.scenario.recorded) == len(scenario.steps)


class LateTarget(ReferenceTarget):
    """A reference that shows Workloads of workers only after some looks."""

    looks = 0
    late = 3

    def list(self, api_version: str, kind: str, namespace: str = "") -> Sequence[Manifest]:
        """Give nothing at first."""
        found = super().list(api_version, kind, namespace)
        if kind != "Workload" or self.looks >= self.late:
            return found
        self.looks += 1
        return []

    def wait(self, arrived: Callable[[], bool]) -> None:
        """Look a few times."""
        self.settle()
        for _ in range(5):
            if arrived():
                return


@pytest.mark.usefixtures("_at_once")
def test_a_run_waits_for_what_the_reference_shows() -> None:
    """A cluster that shows it later agrees; one that never does is recorded as it is."""
    scenario = a_fleet(everywhere(WORK))
    target, never = LateTarget(KUEUE_0_19), LateTarget(KUEUE_0_19)
    never.late = 1000

    kinds = []
    for each in (target, never):
        oracle = Oracle(target=each, behaviour=KUEUE_0_19, kueue="0.19.2")
        kinds.append(oracle.alone(scenario).kind)

    assert kinds == [OutcomeKind.AGREES, OutcomeKind.DIFFERS]


@pytest.mark.usefixtures("_at_once")
def test_nothing_is_left_on_the_clusters_after_a_run() -> None:
    """The next scenarios find them empty."""
    target = ReferenceTarget(KUEUE_0_19)
    oracle = Oracle(target=target, behaviour=KUEUE_0_19, kueue="0.19.2")

    oracle.alone(a_fleet(everywhere(WORK)))

    assert target.read(Ref.of(WORK)) is None
    assert oracle.alone(a_fleet(everywhere(WORK))).kind is OutcomeKind.AGREES


def test_parts_for_workers_are_shrunk_too() -> None:
    """Objects of one worker that do not matter go; so do those of its inventory."""
    scenario = a_fleet(everywhere(WORK))
    worker = replace(scenario.workers["worker1"], inventory=(TEMPLATE,))
    scenario = replace(scenario, workers={**scenario.workers, "worker1": worker})

    found = shrunk(scenario, lambda each: '"gpu.example.com"' in json.dumps(parts(each, "worker2")))

    assert parts(found, "worker2") == [{"apply": [TEMPLATE]}]
    assert all(not any(each.values()) for each in parts(found, "worker1"))
    assert found.workers["worker1"].inventory == ()


def parts(scenario: Scenario, worker: str) -> list[Any]:
    """Give the parts of the steps for a worker."""
    return [step["workers"][worker] for step in scenario.steps if step.get("workers")]


def test_multikueue_is_asked_for_alone() -> None:
    """Other features belong to scenarios without workers."""
    found = kueue_dra("differential", "--with", "multikueue", "--with", "topology")

    assert found.exit_code == 2
    assert "--with multikueue goes with no other feature" in found.output
