"""Kinds of work: when their quota is free for others again (Kueue, integrations)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import a_job, a_pod_set, a_template, gpu, work_of
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, finished, pending
from kueue_dra_ref.verdict import Verdict
from kueue_dra_suites.conformance.kinds.rows import ENDING, SEVERAL

pytestmark = owns_kueue

POLICY = {"withinClusterQueue": "LowerPriority"}


@covers("WORK-003", "QUEUE-007")
@pytest.mark.parametrize("kind", ENDING)
def test_completed_work_frees_its_quota(lab: Lab, kind: str) -> None:
    """Its Workload is finished, and the next one is admitted."""
    queue = lab.queue({"whole-gpus": 4})
    first = queue.submit(work_of(kind, a_pod_set("workers", pods=2, claims=[a_template(gpu(2))])))
    second = queue.submit(a_job(claims=[a_template(gpu())]))
    assert lab.verdict(second) == pending(Reason.NO_QUOTA)

    lab.finish(first)

    assert lab.verdict(first) == finished("Succeeded")
    assert lab.verdict(second) == admitted({"whole-gpus": 1})


@pytest.mark.parametrize("kind", SEVERAL)
def test_deleted_work_frees_its_quota(lab: Lab, kind: str) -> None:
    """Its Workload goes with it."""
    queue = lab.queue({"whole-gpus": 4})
    first = queue.submit(work_of(kind, a_pod_set("workers", pods=2, claims=[a_template(gpu(2))])))
    second = queue.submit(work_of(kind, a_pod_set("workers", claims=[a_template(gpu())])))
    assert lab.verdict(second) == pending(Reason.NO_QUOTA)

    lab.delete(first)

    assert lab.verdict(second) == admitted({"whole-gpus": 1})
    assert not lab.is_suspended(second)


@covers("STATUS-024")
@pytest.mark.parametrize("kind", SEVERAL)
def test_preempted_work_is_suspended_again(lab: Lab, kind: str) -> None:
    """It waits for quota, and starts again when the other is gone."""
    queue = lab.queue({"whole-gpus": 4}, preemption=POLICY)
    low = queue.submit(work_of(kind, a_pod_set("workers", pods=2, claims=[a_template(gpu(2))])))
    high = queue.submit(a_job(claims=[a_template(gpu())], priority=5))

    assert lab.verdict(high) == admitted({"whole-gpus": 1})
    assert lab.verdict(low) == pending(Reason.NO_QUOTA)
    assert lab.is_suspended(low)

    lab.finish(high)

    assert lab.verdict(low) == admitted({"whole-gpus": 4})
    assert not lab.is_suspended(low)


@covers("STATUS-026")
@pytest.mark.parametrize(
    ("active", "holds"),
    [
        pytest.param(1, True, id="a-job-is-active"),
        pytest.param(0, False, id="none-is-active"),
    ],
)
def test_evicted_work_keeps_its_quota_while_pods_run(lab: Lab, active: int, holds: bool) -> None:
    """The quota of an evicted JobSet is free once none of its Jobs is active."""
    queue = lab.queue({"whole-gpus": 2})
    job = queue.submit(work_of("JobSet", a_pod_set("workers", claims=[a_template(gpu(2))])))
    lab.report(job, replicatedJobsStatus=[_replicated("workers", active=active)])

    lab.activate(job, False)

    assert lab.is_suspended(job)
    assert (lab.admission(job) is not None) is holds


@covers("WORK-004")
@pytest.mark.parametrize(
    ("succeeded", "verdict", "reclaimable"),
    [
        pytest.param(0, pending(Reason.NO_QUOTA), [], id="none"),
        pytest.param(1, admitted({"whole-gpus": 4}), [{"name": "workers", "count": 2}], id="one-of-two"),
        pytest.param(2, admitted({"whole-gpus": 4}), [{"name": "workers", "count": 4}], id="both"),
        pytest.param(3, pending(Reason.NO_QUOTA), [], id="more-than-there-are"),
    ],
)
def test_succeeded_replicas_free_the_quota_of_their_pods(
    lab: Lab, succeeded: int, verdict: Verdict, reclaimable: list[dict[str, Any]]
) -> None:
    """Each Job of a replicated job that succeeded frees the devices of all its pods; others keep theirs."""
    queue = lab.queue({"whole-gpus": 9})
    leader = a_pod_set("leader", claims=[a_template(gpu(1))])
    workers = a_pod_set("workers", pods=4, claims=[a_template(gpu(2))])
    held = queue.submit(work_of("JobSet", leader, workers))
    job = queue.submit(a_job(claims=[a_template(gpu(4))]))

    lab.report(held, replicatedJobsStatus=[_replicated("leader"), _replicated("workers", succeeded=succeeded)])

    assert lab.verdict(job) == verdict
    assert lab.workload(held)["status"].get("reclaimablePods", []) == reclaimable


@covers("PARTIAL-017")
@pytest.mark.parametrize(
    ("left", "stops"),
    [
        pytest.param(2, True, id="as-many"),
        pytest.param(1, False, id="fewer"),
        pytest.param(0, False, id="none-any-more"),
    ],
)
def test_work_with_fewer_reclaimable_pods_is_not_stopped(lab: Lab, left: int, stops: bool) -> None:
    """A JobSet that starts again has fewer Jobs that succeeded; it keeps its quota until as many have."""
    queue = lab.queue({"whole-gpus": 4})
    job = queue.submit(work_of("JobSet", a_pod_set("workers", pods=4, claims=[a_template(gpu())])))
    lab.report(job, replicatedJobsStatus=[_replicated("workers", succeeded=2)])
    lab.report(job, replicatedJobsStatus=[_replicated("workers", succeeded=left)])

    lab.activate(job, False)

    assert lab.is_suspended(job) is stops
    assert (lab.admission(job) is None) is stops
    assert lab.workload(job)["status"]["reclaimablePods"] == [{"name": "workers", "count": 4}]

    lab.report(job, replicatedJobsStatus=[_replicated("workers", succeeded=2)])
    assert lab.is_suspended(job)


@covers("PARTIAL-017", "WORK-003")
def test_work_with_fewer_reclaimable_pods_can_finish(lab: Lab) -> None:
    """Its Workload is finished as that of any JobSet."""
    queue = lab.queue({"whole-gpus": 4})
    job = queue.submit(work_of("JobSet", a_pod_set("workers", pods=4, claims=[a_template(gpu())])))
    lab.report(job, replicatedJobsStatus=[_replicated("workers", succeeded=2)])
    lab.report(job, replicatedJobsStatus=[_replicated("workers", succeeded=1)])

    lab.finish(job)

    assert lab.verdict(job) == finished("Succeeded")


def _replicated(name: str, **counts: int) -> dict[str, Any]:
    """The status of a replicated job."""
    none = dict.fromkeys(("active", "failed", "ready", "succeeded", "suspended"), 0)
    return {"name": name, **none, **counts}
