"""Scenarios in which the pods of work are made, run and end, as their controllers and the kubelet would do it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kueue_dra_fixtures.builders import a_pod_set, work_of
from kueue_dra_fixtures.pod_owners import an_owner_manifest
from kueue_dra_fixtures.work_kinds import a_work_manifest
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.reference.replay import answers
from kueue_dra_ref.scenarios.diff import difference
from kueue_dra_ref.scenarios.scenario import Scenario
from tests.commands import kueue_dra

FRAMEWORKS = ["batch/job", "pod", "deployment", "statefulset", "leaderworkerset.x-k8s.io/leaderworkerset"]
CONFIGURATION = {"integrations": {"frameworks": FRAMEWORKS}}
QUEUES: list[dict[str, Any]] = [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns"}},
    {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "f"}},
    {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": "cq"},
        "spec": {
            "namespaceSelector": {},
            "resourceGroups": [
                {
                    "coveredResources": ["cpu"],
                    "flavors": [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": 3}]}],
                }
            ],
        },
    },
    {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "LocalQueue",
        "metadata": {"name": "lq", "namespace": "ns"},
        "spec": {"clusterQueue": "cq"},
    },
]


def an_owner(kind: str, replicas: int, size: int = 1) -> dict[str, Any]:
    """Work of pods that request one CPU each."""
    meta = {"name": "w", "namespace": "ns"}
    pod = a_work_manifest(work_of("Pod", a_pod_set("main", cpu="1")), meta, "lq", {})
    return an_owner_manifest(kind, pod, replicas=replicas, size=size)


def named(obj: dict[str, Any], **more: str) -> dict[str, Any]:
    """The reference to an object."""
    meta = obj["metadata"]
    return {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "name": meta["name"], "namespace": "ns", **more}


def observed(*steps: dict[str, Any]) -> list[dict[str, Any]]:
    """What is observed after each step."""
    first = {"apply": QUEUES}
    scenario = Scenario(name="s", configuration=CONFIGURATION, inventory=(), steps=(first, *steps))
    return list(answers(scenario, behaviour("kueue-0.19.2")))[1:]


@pytest.mark.parametrize(
    ("kind", "size", "states"),
    [
        pytest.param("Deployment", 1, ["running"] * 3 + ["gated"], id="deployment"),
        pytest.param("StatefulSet", 1, ["gated"] * 4, id="statefulset"),
        pytest.param("LeaderWorkerSet", 2, ["running"] * 2 + ["gated"] * 6, id="leaderworkerset"),
    ],
)
def test_the_pods_of_work_are_made(kind: str, size: int, states: Sequence[str]) -> None:
    """Those with quota run: each by itself, all of them together, or group by group."""
    owner = an_owner(kind, 4, size)
    (seen,) = observed({"apply": [owner], "rollOut": [named(owner)]})

    assert sorted(seen["pods"].values(), reverse=True) == list(states)


def test_pods_are_made_and_deleted_as_work_is_scaled() -> None:
    """The pods that are too many go, with their Workloads and their quota."""
    owner, fewer = an_owner("Deployment", 3), an_owner("Deployment", 1)
    step = {"rollOut": [named(owner)]}
    three, one, again = observed({"apply": [owner], **step}, {"apply": [fewer], **step}, step)

    assert [len(each["pods"]) for each in (three, one, again)] == [3, 1, 1]
    assert [each["clusterQueues"]["cq"]["admitted"] for each in (three, one, again)] == [3, 1, 1]


def test_a_pod_reports_how_it_ended() -> None:
    """One that runs frees its quota for the next; a gated one has nothing to report."""
    owner = an_owner("Deployment", 4)
    first, after = observed({"apply": [owner], "rollOut": [named(owner)]}, {"report": reports(owner, "Succeeded")})

    assert sorted(first["pods"].values()) == ["gated"] + ["running"] * 3
    assert sorted(after["pods"].values()) == ["over"] * 3 + ["running"]


def reports(owner: dict[str, Any], phase: str) -> list[dict[str, Any]]:
    """Every pod of a Deployment reports a phase."""
    (seen,) = observed({"apply": [owner], "rollOut": [named(owner)]})
    return [
        {"apiVersion": "v1", "kind": "Pod", "name": name, "namespace": "ns", "phase": phase} for name in seen["pods"]
    ]


def test_deleted_work_takes_its_pods_along() -> None:
    """The garbage collector deletes them."""
    owner = an_owner("StatefulSet", 2)
    _, after = observed({"apply": [owner], "rollOut": [named(owner)]}, {"delete": [named(owner)]})

    assert after["pods"] == {}
    assert after["workloads"] == {}


def test_recordings_without_pods_still_agree() -> None:
    """Earlier ones do not have them."""
    ours = {"workloads": {}, "pods": {"a": "gated"}}

    assert difference(ours, {"workloads": {}}) is None
    assert difference(ours, {"workloads": {}, "pods": {}}) is not None


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        pytest.param(
            {"rollOut": [{"apiVersion": "batch/v1", "kind": "Job", "name": "j"}]},
            'spec.steps[0].rollOut[0].kind: found "Job"; expected Deployment or LeaderWorkerSet or StatefulSet',
            id="no-such-work",
        ),
        pytest.param(
            {"report": [{"apiVersion": "v1", "kind": "Pod", "name": "p"}]},
            "spec.steps[0].report[0].phase: found null; expected a string",
            id="no-phase",
        ),
        pytest.param(
            {"report": [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "phase": "Failed"}]},
            "spec.steps[0].report[0].status: found null; expected an object",
            id="no-pod",
        ),
    ],
)
def test_wrong_steps_are_named(tmp_path: Path, step: dict[str, Any], expected: str) -> None:
    """With their place and what was expected."""
    file = tmp_path / "s.jsonl"
    file.write_text(json.dumps({"kind": "Scenario", "spec": {"steps": [step]}}), encoding="utf-8")
    result = kueue_dra("replay", str(file))

    assert result.exit_code == 2
    assert expected in result.stderr
