"""Decisions of Kueue count before they are written, and those that it will revert do not."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from unittest.mock import Mock

import pytest

from kueue_dra_clusters.applied_objects import AppliedObjects
from kueue_dra_clusters.conditions import condition_of
from kueue_dra_clusters.controlplane import ControlPlane
from kueue_dra_clusters.fence import Fence
from kueue_dra_clusters.in_flight import InFlight
from kueue_dra_clusters.informer import InformerCache
from kueue_dra_clusters.live_target import LiveTarget
from kueue_dra_clusters.observation import Observation
from kueue_dra_clusters.waiting import limits_of
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.target import Manifest, Ref
from tests.clusters_live.late import late_writes
from tests.clusters_live.manifests import (
    CONFIGURATION,
    KUEUE,
    a_job,
    a_stored_job,
    a_template,
    a_workload,
    a_world,
    an_object,
)

REFUSAL = (
    "spec.podSets[0].template.spec.resourceClaims[0]: Internal error: failed to get claim spec for "
    'ResourceClaimTemplate {} in podset main: ResourceClaimTemplate.resource.k8s.io "{}" not found'
)


def an_admission(asked: Manifest) -> float:
    """Hold back for a second that a Workload of the case is written to hold quota."""
    return float(
        asked["namespace"] == "team"
        and is_true(asked["object"], "QuotaReserved")
        and not is_true(asked["oldObject"] or {}, "QuotaReserved")
    )


def a_first_word(asked: Manifest) -> float:
    """Delay the message of a pending Workload of the case by a second."""
    return float(
        asked["namespace"] == "team"
        and bool(condition_of(asked["object"], "QuotaReserved"))
        and not condition_of(asked["oldObject"] or {}, "QuotaReserved")
    )


@pytest.mark.live
@pytest.mark.parametrize("metered", [pytest.param(True, id="by-metrics"), pytest.param(False, id="by-the-queues")])
def test_an_admission_that_is_written_late_is_waited_for(
    target: LiveTarget, plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, metered: bool
) -> None:
    """Kueue admits at the same time as its next cycles, so the whole fence may have passed before anything shows."""
    if not metered:
        monkeypatch.setattr("kueue_dra_clusters.kueue_process.KueueProcess.metrics", lambda _: "")
    target.apply([*a_world(gpus=1), a_job("a"), a_job("b")])
    target.settle()
    with late_writes(plane.objects(limits_of({})), tmp_path, an_admission) as held:
        target.delete([Ref(api_version="batch/v1", kind="Job", name="a", namespace="team")])
        target.settle()
        found = target.list(KUEUE, "Workload", "team")

    assert held == [each["metadata"]["name"] for each in found]
    assert is_true(found[0], "Admitted")


@pytest.mark.live
def test_a_word_that_is_written_late_is_waited_for(target: LiveTarget, plane: ControlPlane, tmp_path: Path) -> None:
    """Behind the gate the Workload controller repeats the conditions of the fence's pawns: that is no cycle."""
    assert target.start(CONFIGURATION | {"featureGates": {"UnadmittedWorkloadsObservability": True}}) == ()
    target.apply([*a_world(gpus=1), a_job("a", "gpus-2"), a_job("b", "gpus-2")])
    target.settle()
    target.delete([Ref(api_version="batch/v1", kind="Job", name="b", namespace="team")])
    target.settle()
    with late_writes(plane.objects(limits_of({})), tmp_path, a_first_word) as held:
        target.apply([a_job("c", "gpus-3")])
        target.settle()
        found = target.list(KUEUE, "Workload", "team")

    assert [condition_of(each, "QuotaReserved")["reason"] for each in found] == ["ExceedsMaxQuota"] * 2
    assert held


METRICS = """
controller_runtime_active_workers{{controller="job"}} {working}
workqueue_depth{{controller="workload_controller",name="workload_controller",priority="0"}} {waiting}
kueue_reserving_active_workloads{{cluster_queue="team",replica_role="standalone"}} {held}
kueue_reserving_active_workloads{{cluster_queue="another",replica_role="standalone"}} 7
"""
WAITS = Observation(jobs=[], workloads=[a_workload(QuotaReserved="False")])


def in_flight_with_metrics(**figures: int) -> InFlight:
    """Read the queues of a Kueue with these figures, in a cluster with one ClusterQueue."""
    applied = AppliedObjects()
    applied.add(an_object(KUEUE, "ClusterQueue", "team", spec={}))
    metrics = METRICS.format(**figures)
    return InFlight(informers=Mock(InformerCache), applied=applied, fence=Mock(Fence), metrics=lambda: metrics)


@pytest.mark.parametrize(
    ("figures", "faults"),
    [
        pytest.param({"working": 0, "waiting": 0, "held": 0}, [], id="at-rest"),
        pytest.param({"working": 1, "waiting": 0, "held": 0}, ["Kueue's controller job is at work"], id="at-work"),
        pytest.param(
            {"working": 0, "waiting": 2, "held": 0},
            ["Kueue's controller workload_controller is at work"],
            id="work-waits",
        ),
        pytest.param(
            {"working": 0, "waiting": 0, "held": 1},
            ["Kueue holds quota for 1 Workloads in ClusterQueue team, 0 have the condition"],
            id="not-written",
        ),
    ],
)
def test_what_kueue_has_in_hand_is_named(figures: dict[str, int], faults: list[str]) -> None:
    """By its metrics, while a workload waits; what others hold is no matter."""
    in_flight = in_flight_with_metrics(**figures)

    assert list(in_flight.faults(WAITS)) == faults
    assert list(in_flight.faults(Observation(jobs=[], workloads=[]))) == []


@pytest.mark.parametrize(("working", "faults"), [(0, []), (1, ["Kueue's controller job is at work"])])
def test_what_is_refused_over_and_over_is_not_waited_for_forever(working: int, faults: list[str]) -> None:
    """Kueue may hold quota for a workload whose admission the API server refuses each time."""
    in_flight = in_flight_with_metrics(working=working, waiting=0, held=1)

    assert list(in_flight.faults(WAITS, for_long=True)) == faults


def rejected_too_early(manifests: Iterable[Manifest], refusal: str) -> bool:
    """Whether a Job's Workload with this rejection was rejected too early, in a cluster without Kueue."""
    applied = AppliedObjects()
    for manifest in manifests:
        applied.add(manifest)
    refused = a_workload(owner="a", QuotaReserved="False", Requeued="False")
    for each in refused["status"]["conditions"]:
        each |= {"reason": "Inadmissible", "message": refusal}
    in_flight = InFlight(informers=Mock(InformerCache), applied=applied, fence=Mock(Fence))
    return bool(list(in_flight.rejected_too_early(Observation(jobs=[a_stored_job("a")], workloads=[refused]))))


@pytest.mark.parametrize(
    ("applied", "refusal", "stands"),
    [
        pytest.param([a_template("t"), a_job("a")], REFUSAL.format("t", "t"), False, id="template-came-before"),
        pytest.param([a_job("a"), a_template("t")], REFUSAL.format("t", "t"), True, id="template-came-after"),
        pytest.param([a_template("t"), a_job("a")], REFUSAL.format("u", "u"), True, id="another-template"),
        pytest.param([a_template("t", "other"), a_job("a")], REFUSAL.format("t", "t"), True, id="another-namespace"),
        pytest.param([a_template("t"), a_job("a")], "resourceclaimtemplates is forbidden", True, id="no-permission"),
    ],
)
def test_a_refusal_for_a_template_that_was_there_does_not_stand(
    applied: list[Manifest], refusal: str, stands: bool
) -> None:
    """Kueue may observe a Job before it observes a template that was created earlier."""
    assert rejected_too_early(applied, refusal) is not stands


@pytest.mark.live
def test_a_job_that_was_refused_too_early_is_judged_anew(target: LiveTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its Workload is another one; here that one lacks the template as well, and stays."""
    target.apply([*a_world(gpus=1), a_job("a", "late")])
    target.settle()
    (refused,) = target.list(KUEUE, "Workload", "team")
    early = [True]
    monkeypatch.setattr(AppliedObjects, "precedes", lambda *_: bool(early and early.pop()))
    target.settle()
    (found,) = target.list(KUEUE, "Workload", "team")

    assert found["metadata"]["uid"] != refused["metadata"]["uid"]
    assert condition_of(found, "Requeued")["reason"] == "Inadmissible"
