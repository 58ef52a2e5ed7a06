"""MultiKueue after the start: workers that are lost and come back, evictions, and copies that are changed or gone."""

from __future__ import annotations

from typing import Any

from kueue_dra_fixtures.aging import aged
from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.lab import Job
from kueue_dra_fixtures.lab.clusters import MANAGES_JOBS
from kueue_dra_fixtures.lab.fleet import Fleet
from kueue_dra_fixtures.marks import covers, needs_workers, owns_kueue
from kueue_dra_fixtures.multikueue import waiting
from kueue_dra_fixtures.verdicts import Reason, admitted, finished, pending

pytestmark = [needs_workers, owns_kueue]
CARD = a_job(claims=[a_template(gpu())])
NONE, ONE, TWO = ({"whole-gpus": count} for count in range(3))
SOON = {"multiKueue": {"workerLostTimeout": "1s"}}


def on_the_first(fleet: Fleet) -> Job:
    """A Job that runs on the first worker; the second gets quota only then."""
    fleet.join(ONE, ONE, NONE)
    job = fleet.submit(CARD)
    fleet.expect_placed(job, admitted(ONE), admitted(ONE), None, worker=1)
    fleet.expect(lambda: fleet.runs(1, job), True)
    fleet.give_quota(2, ONE)
    return job


@covers("MK-015")
def test_a_worker_that_is_lost_for_long_evicts_the_workload(fleet: Fleet) -> None:
    """After workerLostTimeout; the lost worker still holds its quota."""
    fleet.start(**SOON)
    job = on_the_first(fleet)

    fleet.lose(1)

    fleet.expect(lambda: fleet.evictions(job), 1)
    assert fleet.reserved()[1] == "1"


@covers("MK-045")
def test_a_worker_that_is_lost_for_long_is_replaced(fleet: Fleet) -> None:
    """After workerLostTimeout the other worker runs the Job; the lost one still holds its quota."""
    fleet.start(**SOON)
    job = on_the_first(fleet)

    fleet.lose(1)

    fleet.expect_placed(job, admitted(ONE), admitted(ONE), admitted(ONE), worker=2)
    fleet.expect(fleet.reserved, ["1", "1", "1"])


@covers("MK-042")
def test_a_job_without_a_manager_runs_twice_when_its_worker_is_lost(fleet: Fleet) -> None:
    """Its check stays Pending, so it is dispatched again; the manager goes on naming the first worker."""
    fleet.start(switched={MANAGES_JOBS: False})
    fleet.join(ONE, ONE, NONE)
    job = fleet.submit(CARD)
    fleet.expect_placed(job, waiting(ONE, fleet.check), admitted(ONE), None, worker=1)
    fleet.expect(lambda: fleet.runs(1, job), True)
    fleet.give_quota(2, ONE)

    fleet.lose(1)
    fleet.expect(fleet.check_condition, ("True", f"Inactive clusters: [{fleet.name(1)}]"))
    fleet.manager.prefer(job, 5)

    fleet.expect_placed(job, waiting(ONE, fleet.check), admitted(ONE), admitted(ONE), worker=1)
    fleet.expect(lambda: [fleet.runs(1, job), fleet.runs(2, job)], [True, True])
    assert fleet.nominated(job) == []


@covers("MK-015")
def test_a_worker_that_is_lost_for_a_moment_keeps_the_job(fleet: Fleet) -> None:
    """The default is a quarter of an hour: until then the workload stays admitted."""
    job = on_the_first(fleet)

    fleet.lose(1)
    inactive = f"Inactive clusters: [{fleet.name(1)}]"
    fleet.expect(fleet.check_condition, ("True", inactive))
    fleet.reconnect(1)

    fleet.expect(fleet.check_condition, ("True", "The admission check is active"))
    fleet.expect_placed(job, admitted(ONE), admitted(ONE), None, worker=1)
    assert fleet.evictions(job) == 0


@covers("MK-040", "MK-005", "MK-045")
def test_a_worker_that_comes_back_takes_the_job_back(fleet: Fleet) -> None:
    """Its copy was admitted first: that on the other worker is deleted, and the status still names that worker."""
    fleet.start(**SOON)
    job = on_the_first(fleet)
    fleet.lose(1)
    fleet.expect_placed(job, admitted(ONE), admitted(ONE), admitted(ONE), worker=2)
    fleet.expect(lambda: fleet.runs(2, job), True)

    fleet.reconnect(1)

    fleet.expect_placed(job, admitted(ONE), admitted(ONE), None, worker=2)
    fleet.expect(lambda: fleet.works(job), [True, False])


def deleted_while_lost(fleet: Fleet, gc_interval: str) -> Job:
    """A job that is deleted while its worker is lost, whose copy therefore stays."""
    fleet.start(multiKueue={"gcInterval": gc_interval})
    job = on_the_first(fleet)
    fleet.lose(1)
    fleet.expect(fleet.check_condition, ("True", f"Inactive clusters: [{fleet.name(1)}]"))
    fleet.delete(job)
    fleet.expect(lambda: fleet.left(job), [0, 1, 0])
    return job


@covers("MK-020")
def test_the_copy_of_a_deleted_job_goes_when_the_worker_is_back(fleet: Fleet) -> None:
    """The manager looks for such copies every gcInterval; until then the worker holds its quota."""
    job = deleted_while_lost(fleet, "1s")

    fleet.reconnect(1)

    fleet.expect(lambda: fleet.left(job), [0, 0, 0])
    fleet.expect(fleet.reserved, ["0", "0", "0"])


@covers("MK-020")
def test_without_collection_the_copy_of_a_deleted_job_stays(fleet: Fleet) -> None:
    """A gcInterval of 0 turns the search off."""
    job = deleted_while_lost(fleet, "0s")

    fleet.reconnect(1)

    fleet.expect(fleet.check_condition, ("True", "The admission check is active"))
    fleet.expect_never(lambda: fleet.left(job) != [0, 1, 0])


@covers("MK-013")
def test_an_eviction_on_the_worker_evicts_the_workload(fleet: Fleet) -> None:
    """The queue of the worker is drained: the manager tries again."""
    job = on_the_first(fleet)

    fleet.drain(1)

    fleet.expect(lambda: fleet.evictions(job), 1)


@covers("MK-047")
def test_a_copy_gets_the_priority_of_its_workload(fleet: Fleet) -> None:
    """Another WorkloadPriorityClass: the copy is the same one as before."""
    job, before = a_copy_of_low_priority(fleet)

    fleet.manager.prefer(job, 5)

    fleet.expect(lambda: fleet.copy_priority(1, job), 5)
    assert fleet.copy_uid(1, job) == before


@covers("MK-048")
def test_a_copy_is_made_again_for_another_priority(fleet: Fleet) -> None:
    """Another WorkloadPriorityClass: the copy is another one than before."""
    job, before = a_copy_of_low_priority(fleet)

    fleet.manager.prefer(job, 5)

    fleet.expect(lambda: fleet.copy_priority(1, job), 5)
    assert fleet.copy_uid(1, job) != before


def a_copy_of_low_priority(fleet: Fleet) -> tuple[Job, str]:
    """A Job whose copies wait for quota, and the UID of the first one."""
    fleet.join(ONE, NONE, NONE)
    job = fleet.submit(a_job(claims=[a_template(gpu())], priority=1))
    fleet.expect(lambda: fleet.copy_priority(1, job), 1)
    return job, fleet.copy_uid(1, job)


@covers("MK-043")
def test_a_cluster_that_is_added_gets_a_copy(fleet: Fleet) -> None:
    """It runs the Job, because the first worker has no quota."""
    fleet.join(ONE, NONE, ONE, clusters=[fleet.name(1)])
    job = fleet.submit(CARD)
    fleet.expect(lambda: fleet.left(job), [1, 1, 0])

    fleet.use(*fleet.names)

    fleet.expect_placed(job, admitted(ONE), None, admitted(ONE), worker=2)


@covers("MK-039")
def test_a_cluster_that_is_added_gets_no_copy(fleet: Fleet) -> None:
    """The first worker has no quota, and the Job goes on waiting there."""
    fleet.join(ONE, NONE, ONE, clusters=[fleet.name(1)])
    job = fleet.submit(CARD)
    fleet.expect_placed(job, waiting(ONE, fleet.check), pending(Reason.NEVER_FITS), None)
    fleet.expect_never(lambda: fleet.left(job) != [1, 1, 0])

    fleet.use(*fleet.names)

    fleet.expect_never(lambda: fleet.left(job) != [1, 1, 0])


@covers("MK-050")
def test_the_job_of_a_cluster_that_is_taken_out_runs_twice(fleet: Fleet) -> None:
    """The other worker runs it at once; the copy that ran is not deleted, and holds its quota."""
    job = on_the_first(fleet)

    fleet.use(fleet.name(2))

    fleet.expect_placed(job, admitted(ONE), admitted(ONE), admitted(ONE), worker=2)
    fleet.expect(lambda: [fleet.runs(1, job), fleet.runs(2, job)], [True, True])
    fleet.expect(fleet.reserved, ["1", "1", "1"])
    assert fleet.evictions(job) == 1


@covers("MK-051")
def test_the_job_of_a_cluster_that_is_taken_out_runs_on(fleet: Fleet) -> None:
    """The default of workerLostTimeout is a quarter of an hour."""
    job = on_the_first(fleet)

    fleet.use(fleet.name(2))

    fleet.expect_never(lambda: fleet.evictions(job) > 0)
    fleet.expect_placed(job, admitted(ONE), admitted(ONE), None, worker=1)


@covers("MK-051")
def test_the_job_of_a_cluster_that_is_taken_out_is_evicted_later(fleet: Fleet) -> None:
    """Its check has been Ready for workerLostTimeout; the manager looks again when something changes."""
    fleet.start(**SOON)
    job = on_the_first(fleet)

    fleet.use(fleet.name(2))
    fleet.report(1, job, active=1)

    fleet.expect(lambda: fleet.evictions(job), 1)


@covers("MK-051")
def test_the_job_of_a_cluster_that_is_taken_out_runs_on_when_the_manager_looks(fleet: Fleet) -> None:
    """A change on the worker is seen before workerLostTimeout has passed."""
    job = on_the_first(fleet)

    fleet.use(fleet.name(2))
    fleet.report(1, job, active=1)

    fleet.expect_never(lambda: fleet.evictions(job) > 0)
    fleet.expect_placed(job, admitted(ONE), admitted(ONE), None, worker=1)


@covers("MK-044", "MK-017")
def test_an_eviction_on_the_worker_sends_the_job_elsewhere(fleet: Fleet) -> None:
    """The queue of the worker is drained: the manager tries again, and the other worker runs the Job."""
    job = on_the_first(fleet)

    fleet.drain(1)

    fleet.expect_placed(job, admitted(ONE), None, admitted(ONE), worker=2)
    fleet.expect(fleet.reserved, ["1", "0", "1"])
    assert fleet.evictions(job) == 1


@covers("MK-041")
def test_the_eviction_names_the_worker(fleet: Fleet) -> None:
    """The message of the check is that of the eviction."""
    job = on_the_first(fleet)

    fleet.drain(1)

    fleet.expect(lambda: fleet.evictions(job), 1)
    assert "Workload evicted on worker cluster" in fleet.manager.message(job, "Evicted")


@covers("MK-029")
def test_an_eviction_on_the_worker_counts_as_a_loss(fleet: Fleet) -> None:
    """The workload is evicted after workerLostTimeout."""
    fleet.start(**SOON)
    job = on_the_first(fleet)

    fleet.drain(1)

    fleet.expect(lambda: fleet.evictions(job), 1)


@covers("MK-037")
def test_an_eviction_on_the_manager_leaves_the_copy(fleet: Fleet) -> None:
    """It runs on, and both clusters hold their quota while the Job on the manager shows pods that run."""
    job = on_the_first(fleet)
    fleet.report(1, job, active=1)
    fleet.expect(lambda: fleet.job_status(job).get("active"), 1)

    fleet.drain(0)

    fleet.expect(lambda: fleet.evictions(job), 1)
    fleet.expect_never(lambda: not fleet.runs(1, job))
    assert fleet.reserved() == ["1", "1", "0"]


@covers("MK-058")
def test_a_workload_of_a_lost_worker_is_dispatched_nowhere_else(fleet: Fleet) -> None:
    """Another client sets its check to Pending, as if it had no worker yet."""
    job = on_the_first(fleet)
    fleet.lose(1)

    (check,) = fleet.manager.checks(job)
    fleet.manager.answer_check(job, check, "Pending")

    fleet.expect_never(lambda: fleet.copy(2, job) is not None)
    assert fleet.reserved() == ["1", "1", "0"]


@covers("MK-025")
def test_without_workers_a_workload_stays_where_it_is(fleet: Fleet) -> None:
    """Both are lost for longer than workerLostTimeout: the workload stays admitted, and its worker takes it back."""
    fleet.start(**SOON)
    job = on_the_first(fleet)

    fleet.lose(1)
    fleet.lose(2)

    fleet.expect(fleet.are_active, ["AdmissionCheckInactive", "Ready", "Ready"])
    fleet.expect_never(lambda: fleet.evictions(job) > 0)
    fleet.reconnect(1)
    fleet.expect_placed(job, admitted(ONE), admitted(ONE), None, worker=1)
    assert fleet.evictions(job) == 0


@covers("MK-025")
def test_a_job_that_is_deleted_without_workers_goes_with_the_first_that_is_back(fleet: Fleet) -> None:
    """Its copies are deleted at once, and not by the next search of gcInterval."""
    job = on_the_first(fleet)
    fleet.lose(1)
    fleet.lose(2)
    fleet.expect(fleet.are_active, ["AdmissionCheckInactive", "Ready", "Ready"])
    fleet.delete(job)
    fleet.expect(lambda: fleet.left(job), [0, 1, 0])

    fleet.reconnect(1)

    fleet.expect(lambda: fleet.left(job), [0, 0, 0])


@covers("MK-038")
def test_without_workers_a_workload_is_evicted(fleet: Fleet) -> None:
    """Both are lost for longer than workerLostTimeout."""
    fleet.start(**SOON)
    job = on_the_first(fleet)

    fleet.lose(1)
    fleet.lose(2)

    fleet.expect(lambda: fleet.evictions(job), 1)
    fleet.expect(fleet.reserved, ["0", "1", "0"])


@covers("MK-031")
def test_the_copy_of_a_job_goes_without_its_workload(fleet: Fleet) -> None:
    """A client deletes the Workload on the worker; the manager evicts its own, and gives it no new quota."""
    job = evicted_without_its_copy(fleet)

    fleet.expect(lambda: fleet.left(job), [1, 0, 0])
    fleet.expect(lambda: fleet.works(job), [False, False])


def evicted_without_its_copy(fleet: Fleet) -> Job:
    """A Job whose copy of the Workload is gone from the first worker, while the queue of the manager is on hold."""
    fleet.start(**SOON)
    job = on_the_first(fleet)
    fleet.hold(0)
    fleet.delete_copy(1, job)
    fleet.expect(lambda: fleet.evictions(job), 1)
    return job


@covers("MK-014")
def test_a_copy_that_is_gone_evicts_the_workload(fleet: Fleet) -> None:
    """A client deletes it on its worker; up to 0.18 workerLostTimeout has to pass first."""
    fleet.start(**SOON)
    job = on_the_first(fleet)

    fleet.delete_copy(1, job)

    fleet.expect(lambda: fleet.evictions(job), 1)


@covers("MK-046")
def test_a_copy_that_is_gone_is_made_again(fleet: Fleet) -> None:
    """A client deletes it on its worker; 0.18 waits for workerLostTimeout first."""
    fleet.start(**SOON)
    fleet.join(ONE, ONE, NONE)
    job = fleet.submit(CARD)
    fleet.expect_placed(job, admitted(ONE), admitted(ONE), None, worker=1)
    fleet.expect(lambda: fleet.runs(1, job), True)

    fleet.delete_copy(1, job)

    fleet.expect(lambda: fleet.evictions(job), 1)
    fleet.expect_placed(job, admitted(ONE), admitted(ONE), None, worker=1)
    fleet.expect(lambda: fleet.runs(1, job), True)


def out_of_sync(fleet: Fleet) -> Job:
    """A Job of two pods that runs on the first worker, where a client takes one of them away."""
    fleet.join(TWO, TWO, NONE)
    job = fleet.submit(a_job(pods=2, claims=[a_template(gpu())]))
    fleet.expect_placed(job, admitted(TWO), admitted(TWO), None, worker=1)
    fleet.expect(lambda: fleet.runs(1, job), True)
    fleet.hold(0)
    fleet.resize(1, job, 1)
    return job


@covers("MK-054", "MK-056")
def test_a_copy_that_is_out_of_sync_ends_the_workload(fleet: Fleet) -> None:
    """All quota is free; the Job is not suspended, and shows no end."""
    job = out_of_sync(fleet)

    fleet.expect_placed(job, finished("OutOfSync"), None, None, worker=1)
    fleet.expect(fleet.reserved, ["0", "0", "0"])
    assert not fleet.is_suspended(job)
    assert "conditions" not in fleet.job_status(job)


@covers("MK-055", "MK-056")
def test_a_copy_that_is_out_of_sync_evicts_the_workload(fleet: Fleet) -> None:
    """The queue of the manager is on hold meanwhile; then a new copy runs the Job with both pods."""
    job = out_of_sync(fleet)

    fleet.expect(lambda: fleet.evictions(job), 1)
    fleet.expect(lambda: fleet.left(job), [1, 0, 0])
    fleet.expect(fleet.reserved, ["0", "0", "0"])
    assert f'"{fleet.name(1)}" is out of sync with its user job' in fleet.manager.message(job, "Evicted")

    fleet.resume(0)

    fleet.expect_placed(job, admitted(TWO), admitted(TWO), None, worker=1)
    fleet.expect(lambda: fleet.runs(1, job), True)


@covers("MK-016")
def test_a_copy_that_differs_is_made_again(fleet: Fleet) -> None:
    """A client deactivates it on its worker."""
    fleet.join(ONE, NONE, NONE)
    job = fleet.submit(CARD)
    without = pending(Reason.NEVER_FITS)
    fleet.expect_placed(job, waiting(ONE, fleet.check), without, without)

    fleet.deactivate_copy(1, job)

    fleet.expect(lambda: fleet.is_copy_active(1, job), True)
    fleet.expect_placed(job, waiting(ONE, fleet.check), without, without)


@covers("MK-017", "MK-009")
def test_an_eviction_on_the_manager_evicts_the_copy(fleet: Fleet) -> None:
    """A deactivated workload holds no quota; that on the manager is held until the pods are gone."""
    job = on_the_first(fleet)
    fleet.report(1, job, active=1)
    fleet.expect(lambda: fleet.job_status(job).get("active"), 1)

    fleet.drain(0)

    reason = "DeactivatedDueToEvictedOnManagerCluster"
    fleet.expect(lambda: fleet.copy_condition(1, job, "Evicted"), ("True", reason))
    fleet.expect(lambda: fleet.runs(1, job), False)
    fleet.expect(fleet.reserved, ["1", "0", "0"])

    fleet.report(1, job, active=0)

    fleet.expect(lambda: fleet.left(job), [1, 0, 0])
    fleet.expect(fleet.reserved, ["0", "0", "0"])


def waiting_for_pods(fleet: Fleet) -> Job:
    """A Job that runs on the first worker; the manager waits for its pods for ten minutes, and then backs off."""
    section: dict[str, Any] = {"timeout": "10m", "blockAdmission": False}
    if next(iter(fleet.manager.behaviour.versions)).endswith("/v1beta1"):
        section["enable"] = True
    fleet.start(waitForPodsReady={**section, "requeuingStrategy": {"backoffBaseSeconds": 3600}})
    return on_the_first(fleet)


@covers("MK-057", "READY-001", "READY-002")
def test_the_manager_waits_for_the_pods_of_the_worker(fleet: Fleet) -> None:
    """They are ready when the copy of the Job says so."""
    job = waiting_for_pods(fleet)
    fleet.report(1, job, active=1)
    fleet.expect(lambda: fleet.job_status(job).get("active"), 1)
    fleet.expect(lambda: fleet.manager.pods_ready(job), ("False", "WaitForStart"))

    fleet.report(1, job, active=1, ready=1)

    fleet.expect(lambda: fleet.manager.pods_ready(job), ("True", "Started"))


@covers("MK-057", "READY-005", "READY-009")
def test_pods_of_the_worker_that_are_not_ready_evict_the_workload(fleet: Fleet) -> None:
    """Its copies are deleted, and the other worker gets none before the backoff ends."""
    job = waiting_for_pods(fleet)

    aged(fleet.manager, job, 660)

    fleet.expect(lambda: fleet.manager.evictions(job), [("PodsReadyTimeout", "WaitForStart", 1)])
    fleet.expect(lambda: fleet.left(job), [1, 0, 0])
    fleet.expect(lambda: fleet.works(job), [False, False])
    fleet.expect(fleet.reserved, ["0", "0", "0"])
    assert fleet.manager.requeues(job) == 1


@covers("MK-019")
def test_with_the_gate_off_no_check_is_active(fleet: Fleet) -> None:
    """No controller answers for the check, so the queue of the manager admits nothing."""
    fleet.start(switched={"MultiKueue": False})
    fleet.join(ONE, ONE, ONE)

    fleet.expect(fleet.are_active, ["AdmissionCheckInactive", "Ready", "Ready"])
    assert fleet.check_condition() == ("", "")
