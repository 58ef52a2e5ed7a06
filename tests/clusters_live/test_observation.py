"""The contents of a snapshot of a live cluster."""

from __future__ import annotations

import pytest

from kueue_dra_clusters.observation import Observation
from kueue_dra_clusters.queue_inconsistencies import queue_faults
from kueue_dra_ref.target import Manifest
from tests.clusters_live.manifests import KUEUE, a_stored_job, a_workload, an_object


def a_look(*workloads: Manifest, jobs: list[Manifest] | None = None) -> Observation:
    """Look at some Workloads."""
    return Observation(jobs=jobs or [], workloads=list(workloads))


def a_queue(kind: str, name: str, *, status: Manifest | None = None, seen: int = 1) -> Manifest:
    """Give a queue of generation 1 whose condition is of generation ``seen``."""
    found = an_object(
        KUEUE, kind, name, "team" if kind == "LocalQueue" else "", status={**(status or {}), "conditions": []}
    )
    found["metadata"]["generation"] = 1
    found["spec"] = {"clusterQueue": "team"} if kind == "LocalQueue" else {}
    found["status"]["conditions"] = [{"type": "Active", "status": "True", "observedGeneration": seen}]
    return found


def test_whatever_changed_is_named() -> None:
    """Names what came, went and changed, and nothing else."""
    before = a_look(a_workload("same"), a_workload("changed"), a_workload("gone"))
    after = a_look(a_workload("same"), a_workload("changed", version=2), a_workload("new"))

    assert after.moved_since(before) == ["Workload team changed", "Workload team gone", "Workload team new"]


@pytest.mark.parametrize(
    ("job", "workload", "fault"),
    [
        pytest.param(a_stored_job(), None, "Job j has no Workload", id="no-workload"),
        pytest.param(
            a_stored_job(), a_workload(owner="j", Admitted="True"), "Job j is admitted, but suspended", id="held"
        ),
        pytest.param(
            a_stored_job(suspend=False), a_workload(owner="j"), "Job j runs, but is not admitted", id="escaped"
        ),
        pytest.param(
            a_stored_job(suspend=False, Complete="True"),
            a_workload(owner="j", Admitted="True"),
            "Job j is finished, its Workload is not",
            id="done",
        ),
        pytest.param(
            a_stored_job(),
            a_workload(owner="j", QuotaReserved="True", Admitted="True", Evicted="True"),
            "Job j has no pods, but its evicted Workload keeps its quota",
            id="evicted",
        ),
    ],
)
def test_a_job_at_odds_with_its_workload_is_named(job: Manifest, workload: Manifest | None, fault: str) -> None:
    """A Job follows its Workload, and the other way round."""
    look = a_look(*([workload] if workload else []), jobs=[job])

    assert list(look.inconsistencies()) == [fault]


def deactivated(workload: Manifest) -> Manifest:
    """Give a Workload with ``spec.active`` false."""
    return workload | {"spec": workload["spec"] | {"active": False}}


def test_a_deactivated_workload_that_holds_quota_is_named() -> None:
    """Kueue evicts it; a controller that was refused its first write tries again behind the fence."""
    assert list(a_look(deactivated(a_workload(QuotaReserved="True"))).inconsistencies()) == [
        "Workload w is inactive, but not evicted"
    ]


@pytest.mark.parametrize(
    "workload",
    [
        pytest.param(a_workload(QuotaReserved="True", Evicted="True"), id="evicted"),
        pytest.param(a_workload(QuotaReserved="True", Finished="True"), id="finished"),
        pytest.param(a_workload(QuotaReserved="False"), id="waiting"),
    ],
)
def test_a_deactivated_workload_without_quota_is_at_rest(workload: Manifest) -> None:
    """Nothing is to be taken from it."""
    assert list(a_look(deactivated(workload)).inconsistencies()) == []


@pytest.mark.parametrize(
    ("job", "workload"),
    [
        pytest.param(a_stored_job(), a_workload(owner="j", QuotaReserved="False"), id="waiting"),
        pytest.param(a_stored_job(suspend=False), a_workload(owner="j", Admitted="True"), id="running"),
        pytest.param(a_stored_job(), a_workload(owner="j", Admitted="True", Evicted="True"), id="evicted"),
        pytest.param(
            a_stored_job() | {"status": {"active": 1}},
            a_workload(owner="j", QuotaReserved="True", Admitted="True", Evicted="True"),
            id="evicted-with-pods",
        ),
        pytest.param(a_stored_job(Complete="True"), a_workload(owner="j", Finished="True"), id="finished"),
    ],
)
def test_a_job_in_step_with_its_workload_is_at_rest(job: Manifest, workload: Manifest) -> None:
    """Nothing is named."""
    assert list(a_look(workload, jobs=[job]).inconsistencies()) == []


@pytest.mark.parametrize(
    ("after", "freed"),
    [
        pytest.param(a_workload(QuotaReserved="True"), False, id="kept"),
        pytest.param(a_workload(QuotaReserved="False"), True, id="lost"),
        pytest.param(a_workload(QuotaReserved="True", Finished="True"), True, id="finished"),
        pytest.param(None, True, id="deleted"),
    ],
)
def test_a_reservation_that_ends_frees_quota(after: Manifest | None, *, freed: bool) -> None:
    """A Workload that held quota before and does not now has released it."""
    before = a_look(a_workload(QuotaReserved="True"))

    assert a_look(*([after] if after else [])).freed_since(before) is freed


def test_what_has_finished_frees_its_quota_once() -> None:
    """A finished Workload keeps its reservation in the status; it frees nothing a second time."""
    done = a_workload(QuotaReserved="True", Finished="True")

    assert not a_look(done).freed_since(a_look(done))


@pytest.mark.parametrize(
    ("job", "workload", "is_in"),
    [
        pytest.param(a_stored_job(suspend=False), a_workload(owner="j", Admitted="True"), True, id="runs"),
        pytest.param(a_stored_job(), a_workload(owner="j", Admitted="True"), False, id="suspended-yet"),
        pytest.param(a_stored_job(), a_workload(owner="j", QuotaReserved="False"), False, id="waits"),
        pytest.param(
            a_stored_job(suspend=False), a_workload(owner="j", Admitted="True", Evicted="True"), False, id="evicted"
        ),
        pytest.param(a_stored_job(suspend=False), None, False, id="no-workload"),
    ],
)
def test_nothing_is_to_follow_once_all_work_runs(job: Manifest, workload: Manifest | None, *, is_in: bool) -> None:
    """Every Job has a Workload that is admitted, and runs."""
    assert a_look(*([workload] if workload else []), jobs=[job]).is_all_admitted is is_in


def test_an_eviction_between_two_looks_frees_quota() -> None:
    """Evicted and admitted again, a Workload looks as before but for its count of evictions."""
    evicted = a_workload(QuotaReserved="True")
    evicted["status"]["schedulingStats"] = {"evictions": [{"reason": "Preempted", "count": 1}]}

    assert a_look(evicted).freed_since(a_look(a_workload(QuotaReserved="True")))


def test_queues_that_count_otherwise_than_their_workloads_are_named() -> None:
    """Compares reserving and admitted counts of both kinds of queues."""
    look = a_look(a_workload("a", QuotaReserved="True", Admitted="True"), a_workload("b", QuotaReserved="True"))
    right = {"reservingWorkloads": 2, "admittedWorkloads": 1}
    cluster_queue = a_queue("ClusterQueue", "team", status={**right, "admittedWorkloads": 2})
    local_queue = a_queue("LocalQueue", "main", status=right)

    assert list(queue_faults(look, [cluster_queue], [local_queue])) == [
        "ClusterQueue team counts 2 admitted, of its Workloads 1 are"
    ]


def test_queues_do_not_count_a_deactivated_workload_whose_conditions_nothing_takes_off() -> None:
    """Kueue takes it off when it is evicted; its job would take the conditions off, and there is none."""
    gone = a_workload(QuotaReserved="True", Admitted="True", Evicted="True")
    gone["spec"]["active"] = False
    counts = {"reservingWorkloads": 0, "admittedWorkloads": 0}
    queues = [a_queue("ClusterQueue", "team", status=counts)], [a_queue("LocalQueue", "main", status=counts)]

    assert not list(queue_faults(a_look(gone), *queues))


@pytest.mark.parametrize(
    ("active", "faults"),
    [
        pytest.param("True", ["ClusterQueue team counts 2 pending, its LocalQueues 1"], id="running"),
        pytest.param("False", [], id="stopped"),
    ],
)
def test_a_local_queue_that_misses_what_its_cluster_queue_counts_as_pending_is_named(
    active: str, faults: list[str]
) -> None:
    """Kueue leaves a workload out of its LocalQueue's count while the scheduler has it in its hand."""
    cluster_queue = a_queue("ClusterQueue", "team", status={"pendingWorkloads": 2})
    here = a_queue("LocalQueue", "here", status={"pendingWorkloads": 1})
    there = a_queue("LocalQueue", "there", status={"pendingWorkloads": 5})
    there["spec"]["clusterQueue"] = "other"
    here["status"]["conditions"][0]["status"] = active

    assert list(queue_faults(a_look(), [cluster_queue], [here, there])) == faults


@pytest.mark.parametrize(
    ("active", "reason", "is_behind"),
    [
        pytest.param("True", "ClusterQueueIsInactive", True, id="admits-by-now"),
        pytest.param("False", "Ready", True, id="admits-no-more"),
        pytest.param("True", "Ready", False, id="both-admit"),
        pytest.param("False", "ClusterQueueIsInactive", False, id="neither-admits"),
        pytest.param("True", "Stopped", False, id="stopped-itself"),
    ],
)
def test_a_local_queue_that_is_behind_its_cluster_queue_is_named(active: str, reason: str, is_behind: bool) -> None:
    """It says whether its ClusterQueue can admit, and is looked at by another controller."""
    cluster_queue, local_queue = a_queue("ClusterQueue", "team"), a_queue("LocalQueue", "main")
    cluster_queue["status"]["conditions"][0]["status"] = active
    local_queue["status"]["conditions"][0]["reason"] = reason

    faults = [f"LocalQueue main has reason {reason}, its ClusterQueue does not"] if is_behind else []
    assert list(queue_faults(a_look(), [cluster_queue], [local_queue])) == faults


def test_a_queue_whose_status_is_older_than_its_spec_is_named() -> None:
    """Kueue has seen the queue once the condition is of the same generation."""
    new, seen = a_queue("LocalQueue", "new", seen=0), a_queue("LocalQueue", "seen")

    assert list(queue_faults(a_look(), [], [new, seen])) == ["LocalQueue new was not reconciled yet"]


def test_a_workload_that_kueue_said_nothing_about_is_bare() -> None:
    """Pending is what has no quota and is not done; bare is what has no condition about quota either."""
    look = a_look(
        a_workload("reported", QuotaReserved="False"), a_workload("bare"), a_workload("done", Finished="True")
    )

    assert [each["metadata"]["name"] for each in look.pending] == ["reported", "bare"]
    assert [each["metadata"]["name"] for each in look.without_conditions] == ["bare"]


def test_a_waiting_workload_that_is_not_told_of_its_activity_is_bare() -> None:
    """An inactive workload is to be evicted, and one that is active again to get a new message."""
    active = a_workload("active-again", QuotaReserved="False", Evicted="True", Requeued="False")
    active["status"]["conditions"][-1]["reason"] = "Deactivated"
    again = [deactivated(a_workload("again", QuotaReserved="False", Evicted="True"))]

    assert a_look(*again).without_conditions == []
    look = a_look(deactivated(a_workload("inactive", QuotaReserved="False")), active, *again)
    assert [each["metadata"]["name"] for each in look.without_conditions] == ["inactive", "active-again"]


def test_running_work_of_a_framework_gets_a_workload() -> None:
    """Kueue suspends it after a start with its framework, in a controller of its own kind."""
    job_set = a_stored_job("a", suspend=False) | {"kind": "JobSet", "apiVersion": "jobset.x-k8s.io/v1alpha2"}

    without = Observation(jobs=[job_set], workloads=[])
    with_it = Observation(jobs=[job_set], workloads=[], frameworks=frozenset({"jobset.x-k8s.io/jobset"}))

    assert list(without.inconsistencies()) == []
    assert list(with_it.inconsistencies()) == ["JobSet a has no Workload"]
    assert not with_it.is_all_admitted
