"""WaitForPodsReady: admitted work has to get its pods ready in time (Kueue, waitForPodsReady; text silent)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from kueue_dra_fixtures.aging import aged
from kueue_dra_fixtures.builders import Work, a_job, a_template, gpu
from kueue_dra_fixtures.lab import Job, Lab, Queue
from kueue_dra_fixtures.manifests import STARTED, marked
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.profiles import a_configuration
from kueue_dra_fixtures.verdicts import admitted, evicted
from kueue_dra_ref.api.conditions import condition
from kueue_dra_ref.api.execution_time import LIMIT_LABEL

pytestmark = owns_kueue

CARD = a_job(claims=[a_template(gpu())])
CARDS = a_job(pods=2, claims=[a_template(gpu())])
CPU = a_job(pods=2, cpu="1")
KINDS = [pytest.param(CARDS, id="devices"), pytest.param(CPU, id="ordinary")]
FIRST = "config.kueue.x-k8s.io/v1beta1"


def wait_for_pods(
    lab: Lab, *, base: int = 3600, limit: int | None = None, more: dict[str, Any] | None = None, **section: Any
) -> None:
    """Run a Kueue that waits for pods, for ten minutes and without blocking unless ``section`` says otherwise."""
    strategy: dict[str, Any] = {"backoffBaseSeconds": base}
    if limit is not None:
        strategy["backoffLimitCount"] = limit
    strategy |= section.pop("strategy", {})
    section = {"timeout": "10m", "blockAdmission": False, "requeuingStrategy": strategy, **section}
    if next(iter(lab.behaviour.versions)) == FIRST:
        section["enable"] = True
    lab.start(waitForPodsReady=section, **(more or {}))


def small(lab: Lab, quota: int = 2, **spec: Any) -> Queue:
    """A queue of some cards and two cpus."""
    return lab.queue({"whole-gpus": quota, "cpu": 2}, **spec)


def recovering(lab: Lab, queue: Queue, seconds: int) -> Job:
    """Submit work that had ready pods and lost them some seconds ago."""
    job = queue.submit(CARDS)
    lab.run_ready(job, pods=2, ready=2)
    lab.run_ready(job, pods=0, ready=0)
    aged(lab, job, seconds, "PodsReady")
    return job


@covers("READY-001")
@pytest.mark.parametrize("quota", [pytest.param(2, id="admitted"), pytest.param(1, id="pending")])
def test_pods_are_not_ready_at_first(lab: Lab, quota: int) -> None:
    """Whether or not the workload is admitted."""
    wait_for_pods(lab)
    job = small(lab, quota).submit(CARDS)

    assert lab.pods_ready(job) == ("False", "WaitForStart")
    assert lab.message(job, "PodsReady") == "Not all pods are ready or succeeded"
    assert lab.is_suspended(job) is (quota == 1)


@covers("READY-001")
def test_work_that_runs_already_waits_for_its_pods(lab: Lab) -> None:
    """It was admitted by a Kueue that did not wait for pods."""
    gate = "DisableWaitForPodsReady"
    lab.start(switched={gate: True} if gate in lab.behaviour.gates.table else {})
    job = small(lab).submit(CARDS)
    assert lab.pods_ready(job) is None

    wait_for_pods(lab)

    assert lab.pods_ready(job) == ("False", "WaitForStart")
    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@covers("READY-002", "READY-001")
@pytest.mark.parametrize(
    ("status", "reported"),
    [
        pytest.param({"active": 2, "ready": 1}, ("False", "WaitForStart"), id="one-of-two"),
        pytest.param({"active": 2, "ready": 2}, ("True", "Started"), id="all"),
        pytest.param(
            {"active": 1, "ready": 1, "succeeded": 1, "startTime": STARTED}, ("True", "Started"), id="one-has-succeeded"
        ),
        pytest.param({"active": 2}, ("False", "WaitForStart"), id="none"),
    ],
)
def test_all_pods_have_to_be_ready(lab: Lab, status: dict[str, Any], reported: tuple[str, str]) -> None:
    """A pod that has succeeded counts."""
    wait_for_pods(lab)
    job = small(lab).submit(CARDS)

    lab.report(job, **status)

    assert lab.pods_ready(job) == reported


@covers("READY-003", "READY-004")
def test_lost_pods_recover(lab: Lab) -> None:
    """The devices stay charged meanwhile."""
    wait_for_pods(lab)
    job = small(lab).submit(CARDS)
    lab.run_ready(job, pods=2, ready=2)

    lab.run_ready(job, pods=2, ready=1)
    assert lab.pods_ready(job) == ("False", "WaitForRecovery")
    assert lab.message(job, "PodsReady") == "At least one pod has failed, waiting for recovery"
    assert lab.verdict(job) == admitted({"whole-gpus": 2})

    lab.run_ready(job, pods=2, ready=2)
    assert lab.pods_ready(job) == ("True", "Recovered")
    assert lab.message(job, "PodsReady") == "All pods reached readiness and the workload is running"


@covers("READY-005", "READY-009")
@pytest.mark.parametrize("work", KINDS)
def test_the_timeout_evicts(lab: Lab, work: Work) -> None:
    """The workload releases its quota, and backs off."""
    wait_for_pods(lab, timeout="1s")
    queue = small(lab)
    job = queue.submit(work)

    name = lab.workload(job)["metadata"]["name"]
    assert lab.verdict(job) == evicted("PodsReadyTimeout")
    assert lab.message(job, "Evicted") == f"Exceeded the PodsReady timeout {queue.namespace}/{name}"
    assert lab.evictions(job) == [("PodsReadyTimeout", "WaitForStart", 1)]
    assert lab.condition(job, "Requeued") == ("False", "PodsReadyTimeout")
    assert lab.admission(job) is None
    assert lab.is_suspended(job)
    assert queue.figures.counts.reserving == 0
    assert lab.requeues(job) == 1


@covers("READY-005")
def test_evicted_work_has_no_timeout(lab: Lab) -> None:
    """It stops already, and keeps its reason; it does not back off."""
    wait_for_pods(lab)
    queue = small(lab)
    job = queue.submit(CARDS)
    lab.run_ready(job, pods=2, ready=1)
    queue.change(stopPolicy="HoldAndDrain")

    aged(lab, job, 660)

    assert lab.condition(job, "Evicted") == ("True", "ClusterQueueStopped")
    assert lab.condition(job, "Admitted") == ("True", "Admitted")
    assert "requeueState" not in lab.workload(job)["status"]


@covers("EXEC-002")
def test_work_that_waits_for_its_pods_has_a_maximum_execution_time(lab: Lab) -> None:
    """That is over before the timeout."""
    wait_for_pods(lab, timeout="1h")
    queue = small(lab)
    job = lab.submit_manifest(marked(lab.written(CARDS, queue), {LIMIT_LABEL: "600"}))

    aged(lab, job, 600)

    assert lab.condition(job, "Evicted") == ("True", "DeactivatedDueToMaximumExecutionTimeExceeded")


@covers("READY-005")
def test_ready_pods_stop_the_timeout(lab: Lab) -> None:
    """They were ready before its end."""
    wait_for_pods(lab)
    job = small(lab).submit(CARDS)
    lab.run_ready(job, pods=2, ready=2)

    aged(lab, job, 660)

    assert lab.pods_ready(job) == ("True", "Started")
    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@covers("READY-006", "READY-009", "READY-001")
def test_lost_pods_give_their_devices_to_others(lab: Lab) -> None:
    """The next workload is admitted when the recoveryTimeout is over."""
    wait_for_pods(lab, recoveryTimeout="1s")
    queue = small(lab)
    job = queue.submit(CARDS)
    other = queue.submit(CARDS)
    lab.run_ready(job, pods=2, ready=2)

    lab.run_ready(job, pods=0, ready=0)

    assert lab.verdict(job) == evicted("PodsReadyTimeout")
    assert lab.evictions(job) == [("PodsReadyTimeout", "WaitForRecovery", 1)]
    assert lab.pods_ready(job) == ("False", "WaitForStart")
    assert lab.verdict(other) == admitted({"whole-gpus": 2})


@covers("READY-006", "READY-009")
def test_devices_are_held_until_the_pods_are_gone(lab: Lab) -> None:
    """Pods that still run keep the quota of an evicted workload."""
    wait_for_pods(lab, recoveryTimeout="1s")
    queue = small(lab)
    job = queue.submit(CARDS)
    other = queue.submit(CARDS)
    lab.run_ready(job, pods=2, ready=2)

    lab.run_ready(job, pods=2, ready=1)
    assert lab.condition(job, "Evicted") == ("True", "PodsReadyTimeout")
    assert lab.is_suspended(job)
    assert lab.admission(job) is not None
    assert lab.admission(other) is None

    lab.run_ready(job, pods=0, ready=0)
    assert lab.admission(job) is None
    assert lab.verdict(other) == admitted({"whole-gpus": 2})


@covers("READY-007")
@pytest.mark.parametrize(
    ("seconds", "kept"), [pytest.param(540, True, id="nine-minutes"), pytest.param(630, False, id="over-ten-minutes")]
)
def test_recovery_has_the_timeout_of_the_start(lab: Lab, seconds: int, kept: bool) -> None:
    """Of ten minutes, without a timeout of its own."""
    wait_for_pods(lab)
    job = recovering(lab, small(lab), seconds)

    assert lab.evictions(job) == ([] if kept else [("PodsReadyTimeout", "WaitForRecovery", 1)])
    assert (lab.admission(job) is not None) is kept


@covers("READY-023")
def test_recovery_has_no_timeout(lab: Lab) -> None:
    """Without a timeout of its own, up to 0.15."""
    wait_for_pods(lab)
    job = recovering(lab, small(lab), 36000)

    assert lab.pods_ready(job) == ("False", "WaitForRecovery")
    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@covers("READY-008")
def test_a_recovery_timeout_of_zero_never_ends(lab: Lab) -> None:
    """The devices stay with the workload that lost its pods."""
    wait_for_pods(lab, recoveryTimeout="0s")
    job = recovering(lab, small(lab), 36000)

    assert lab.pods_ready(job) == ("False", "WaitForRecovery")
    assert lab.verdict(job) == admitted({"whole-gpus": 2})


def backoff(lab: Lab, job: Job) -> float:
    """The seconds from the eviction of a job to the time at which it is tried again."""
    workload = lab.workload(job)
    found = condition(workload, "Evicted")
    assert found is not None
    until = workload["status"]["requeueState"]["requeueAt"]
    passed = datetime.fromisoformat(until) - datetime.fromisoformat(found["lastTransitionTime"])
    return passed.total_seconds()


@covers("READY-009")
@pytest.mark.parametrize(
    ("requeues", "strategy", "seconds"),
    [
        pytest.param(0, {}, 600, id="first"),
        pytest.param(3, {}, 4800, id="fourth"),
        pytest.param(1, {"backoffMaxSeconds": 1000}, 1000, id="at-most", marks=covers("READY-010")),
        pytest.param(3, {"backoffMaxSeconds": 5000}, 4800, id="below-the-most", marks=covers("READY-010")),
        pytest.param(0, {"backoffMaxSeconds": 100}, 600, id="first-above-the-most", marks=covers("READY-026")),
        pytest.param(0, {"backoffMaxSeconds": 100}, 100, id="first-at-most", marks=covers("READY-027")),
        pytest.param(1, {"backoffMaxSeconds": 0}, 1200, id="no-most", marks=covers("READY-028")),
        pytest.param(100, {"backoffMaxSeconds": 0}, 4611686018, id="half-of-all-time", marks=covers("READY-028")),
    ],
)
def test_the_backoff_doubles(lab: Lab, requeues: int, strategy: dict[str, int], seconds: int) -> None:
    """Up to a maximum, and by chance a ten-thousandth more; the number of evictions so far is in the status."""
    wait_for_pods(lab, timeout="1s", base=600, strategy={"backoffMaxSeconds": 9000, **strategy})
    queue = small(lab, local={"stopPolicy": "Hold"})
    job = queue.submit(CARDS)
    if requeues:
        lab.write_status(job, requeueState={"count": requeues})

    queue.change_local(stopPolicy="None")

    assert lab.requeues(job) == requeues + 1
    assert seconds - 1 <= backoff(lab, job) <= seconds * 1.0001 + 2


@covers("READY-011")
def test_the_limit_deactivates(lab: Lab) -> None:
    """With a limit of zero at the first timeout; the devices are free."""
    wait_for_pods(lab, timeout="1s", limit=0)
    queue = small(lab)
    job = queue.submit(CARDS)

    assert lab.workload(job)["spec"]["active"] is False
    assert lab.verdict(job) == evicted("DeactivatedDueToRequeuingLimitExceeded")
    why = "The workload is deactivated due to exceeding the maximum number of re-queuing retries"
    assert lab.message(job, "Evicted") == why
    assert lab.evictions(job) == [("Deactivated", "RequeuingLimitExceeded", 1)]
    assert lab.requeues(job) == 0
    assert lab.admission(job) is None
    assert queue.figures.counts.reserving == 0


@covers("READY-011", "READY-009")
@pytest.mark.parametrize("work", [pytest.param(CPU, id="ordinary")])
def test_a_requeued_workload_reaches_the_limit(lab: Lab, work: Work) -> None:
    """It is tried again once, and then deactivated."""
    wait_for_pods(lab, timeout="1s", base=1, limit=1)
    job = small(lab).submit(work)

    reached = [("PodsReadyTimeout", "WaitForStart", 1), ("Deactivated", "RequeuingLimitExceeded", 1)]
    assert lab.evictions(job) == reached
    assert lab.verdict(job) == evicted("DeactivatedDueToRequeuingLimitExceeded")
    assert lab.admission(job) is None


@covers("READY-021", "READY-009")
def test_devices_are_charged_again_after_the_backoff(lab: Lab) -> None:
    """They went to another workload meanwhile, and come back when it is finished."""
    wait_for_pods(lab, recoveryTimeout="1s", base=1)
    queue = small(lab)
    job, other = queue.submit(CARDS), queue.submit(CARDS)
    lab.run_ready(job, pods=2, ready=2)
    lab.run_ready(job, pods=0, ready=0)
    assert lab.verdict(other) == admitted({"whole-gpus": 2})
    assert lab.admission(job) is None

    lab.finish(other)

    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@covers("READY-038")
def test_a_new_local_queue_ends_a_backoff(lab: Lab) -> None:
    """Of work without devices; the LocalQueue has the name of the one that was deleted."""
    wait_for_pods(lab, recoveryTimeout="1s")
    queue = small(lab)
    job = queue.submit(CPU)
    lab.run_ready(job, pods=2, ready=2)
    lab.run_ready(job, pods=0, ready=0)
    assert lab.verdict(job) == evicted("PodsReadyTimeout")

    queue.delete_local()
    lab.local_queue(queue.cluster, queue.namespace, name=queue.local)

    assert lab.verdict(job) == admitted({"cpu": 2})


@covers("READY-022")
def test_devices_are_not_tried_again_after_the_backoff(lab: Lab) -> None:
    """Another workload that finishes in the queue is what gets them tried."""
    wait_for_pods(lab, timeout="1s", base=1, limit=1)
    queue = small(lab)
    job = queue.submit(CARDS)

    assert lab.evictions(job) == [("PodsReadyTimeout", "WaitForStart", 1)]
    assert lab.condition(job, "Requeued") == ("False", "PodsReadyTimeout")
    assert lab.admission(job) is None


@covers("READY-011")
def test_a_deactivated_workload_does_not_back_off(lab: Lab) -> None:
    """Its status has no time of a next attempt any more."""
    wait_for_pods(lab, timeout="1s")
    job = small(lab).submit(CARDS)
    assert lab.requeues(job) == 1

    lab.activate(job, False)

    assert "requeueState" not in lab.workload(job)["status"]
    assert lab.condition(job, "Evicted") == ("True", "PodsReadyTimeout")


BLOCKED = "waiting for all admitted workloads to be in PodsReady condition"


@covers("READY-012", "READY-013", "READY-015")
@pytest.mark.parametrize("work", KINDS)
@pytest.mark.parametrize("shared", [pytest.param(True, id="same-queue"), pytest.param(False, id="other-queue")])
def test_one_workload_after_another(lab: Lab, work: Work, shared: bool) -> None:
    """Devices are free, and are not given out before the pods of the first workload are ready."""
    wait_for_pods(lab, blockAdmission=True)
    queue = lab.queue({"whole-gpus": 4, "cpu": 4})
    first = queue.submit(CARDS)
    second = (queue if shared else small(lab)).submit(work)

    assert lab.admission(first) is not None
    assert lab.admission(second) is None
    assert lab.condition(second, "QuotaReserved") == ("False", "Waiting")
    assert lab.message(second) == BLOCKED

    lab.run_ready(first, pods=2, ready=2)

    assert lab.admission(second) is not None
    assert not lab.is_suspended(second)


@covers("READY-012")
@pytest.mark.parametrize(
    "work", [pytest.param(a_job(pods=3, claims=[a_template(gpu())]), id="never-fits"), pytest.param(CARDS, id="full")]
)
def test_work_that_does_not_fit_does_not_wait_for_pods(lab: Lab, work: Work) -> None:
    """It is pending for its quota."""
    wait_for_pods(lab, blockAdmission=True)
    queue = small(lab)
    queue.submit(CARDS)
    other = queue.submit(work)

    assert lab.condition(other, "QuotaReserved") == ("False", "Pending")
    assert lab.message(other).startswith("couldn't assign flavors to pod set main: insufficient")


@covers("READY-012")
def test_a_reservation_that_waits_for_checks_blocks(lab: Lab) -> None:
    """Its pods cannot be ready before it is admitted."""
    wait_for_pods(lab, blockAdmission=True)
    check = lab.admission_check()
    checks = {"admissionChecksStrategy": {"admissionChecks": [{"name": check}]}}
    first = small(lab, 2, **checks).submit(CARDS)
    second = small(lab).submit(CARDS)

    assert lab.condition(first, "QuotaReserved") == ("True", "QuotaReserved")
    assert lab.message(second) == BLOCKED


@covers("READY-012")
def test_finished_work_does_not_block(lab: Lab) -> None:
    """The next workload is admitted when the first is finished."""
    wait_for_pods(lab, blockAdmission=True)
    queue = lab.queue({"whole-gpus": 4})
    first, second = queue.submit(CARDS), queue.submit(CARDS)
    assert lab.message(second) == BLOCKED

    lab.finish(first)

    assert lab.verdict(second) == admitted({"whole-gpus": 2})


@covers("READY-012", "READY-006")
def test_lost_pods_block_again(lab: Lab) -> None:
    """Pods that are not ready any more block work that comes later."""
    wait_for_pods(lab, blockAdmission=True)
    queue = lab.queue({"whole-gpus": 4})
    first = queue.submit(CARDS)
    lab.run_ready(first, pods=2, ready=2)
    lab.run_ready(first, pods=2, ready=1)

    second = queue.submit(CARDS)

    assert lab.message(second) == BLOCKED


@covers("READY-012")
def test_an_evicted_workload_does_not_block(lab: Lab) -> None:
    """The timeout ends the wait of others."""
    wait_for_pods(lab, blockAdmission=True, recoveryTimeout="1s")
    queue = lab.queue({"whole-gpus": 4})
    first = queue.submit(CARDS)
    lab.run_ready(first, pods=2, ready=2)
    lab.run_ready(first, pods=0, ready=0)

    second = queue.submit(CARDS)

    assert lab.verdict(first) == evicted("PodsReadyTimeout")
    assert lab.verdict(second) == admitted({"whole-gpus": 2})


@covers("READY-014")
def test_the_reason_of_waiting_work_is_observed(lab: Lab) -> None:
    """Admitted is False as well."""
    more = {"switched": {"UnadmittedWorkloadsObservability": True}}
    wait_for_pods(lab, blockAdmission=True, more=more)
    queue = lab.queue({"whole-gpus": 4})
    queue.submit(CARDS)
    second = queue.submit(CARDS)

    assert lab.condition(second, "QuotaReserved") == ("False", "WaitingForPodsReady")
    assert lab.message(second) == BLOCKED


@covers("READY-015", "READY-012")
def test_waiting_work_is_admitted_although_its_quota_is_gone(lab: Lab) -> None:
    """What was decided before the wait holds after it."""
    wait_for_pods(lab, blockAdmission=True)
    flavor = lab.flavor()
    queue = lab.queue(groups=[{flavor: {"whole-gpus": 4}}])
    first, second = queue.submit(CARDS), queue.submit(CARDS)
    assert lab.message(second) == BLOCKED

    queue.regroup({flavor: {"whole-gpus": 0}})
    lab.run_ready(first, pods=2, ready=2)

    assert lab.verdict(second) == admitted({"whole-gpus": 2})
    assert queue.figures.reserved == {flavor: {"whole-gpus": "4"}}


@covers("READY-015")
def test_nothing_overtakes_waiting_work(lab: Lab) -> None:
    """Not even work of a higher priority gets the last devices."""
    wait_for_pods(lab, blockAdmission=True)
    queue = lab.queue({"whole-gpus": 4})
    first, second = queue.submit(CARDS), queue.submit(CARDS)
    urgent = queue.submit(a_job(priority=10, pods=2, claims=[a_template(gpu())]))

    lab.run_ready(first, pods=2, ready=2)

    assert lab.verdict(second) == admitted({"whole-gpus": 2})
    assert lab.admission(urgent) is None


@covers("READY-015")
@pytest.mark.parametrize("deleted", [pytest.param(False, id="pods-are-ready"), pytest.param(True, id="job-is-deleted")])
def test_nothing_overtakes_deactivated_work(lab: Lab, deleted: bool) -> None:
    """The wait does not end when the workload that waits is deactivated."""
    wait_for_pods(lab, blockAdmission=True)
    queue = lab.queue({"whole-gpus": 4})
    first, second = queue.submit(CARDS), queue.submit(CARDS)
    assert lab.message(second) == BLOCKED

    lab.activate(second, False)
    third = queue.submit(CARDS)
    assert lab.condition(third, "QuotaReserved") is None

    if deleted:
        lab.delete(first)
    else:
        lab.run_ready(first, pods=2, ready=2)
    assert lab.verdict(third) == admitted({"whole-gpus": 2})


@covers("READY-015")
def test_work_that_is_deleted_while_it_waits_gets_nothing(lab: Lab) -> None:
    """Kueue goes on to admit it once the pods are ready, and finds that it is gone."""
    wait_for_pods(lab, blockAdmission=True)
    queue = lab.queue({"whole-gpus": 4})
    first, second = queue.submit(CARDS), queue.submit(CARDS)
    assert lab.message(second) == BLOCKED

    lab.delete(second)
    lab.run_ready(first, pods=2, ready=2)

    assert lab.verdict(first) == admitted({"whole-gpus": 2})
    assert queue.figures.counts.reserving == 1


@covers("READY-012")
def test_waiting_work_is_reported_once(lab: Lab) -> None:
    """What another controller says of it later stays, although it waits on."""
    wait_for_pods(lab, blockAdmission=True)
    queue = lab.queue({"whole-gpus": 2, "cpu": 2})
    queue.submit(CARDS)
    second = queue.submit(CPU)
    assert lab.message(second) == BLOCKED

    queue.change_local(stopPolicy="Hold")

    assert lab.condition(second, "QuotaReserved") == ("False", "Inadmissible")
    assert lab.message(second) == f"LocalQueue {queue.local} is inactive"


@covers("READY-016", "READY-017")
@pytest.mark.parametrize(
    ("timestamp", "next_one"),
    [
        pytest.param("Eviction", "other", id="eviction", marks=covers("READY-016")),
        pytest.param("Creation", "evicted", id="creation", marks=covers("READY-017")),
    ],
)
def test_the_order_of_requeued_work(lab: Lab, timestamp: str, next_one: str) -> None:
    """Of an evicted workload and one that was created before the eviction."""
    wait_for_pods(lab, recoveryTimeout="1s", base=1, strategy={"timestamp": timestamp})
    queue = small(lab)
    job, other = queue.submit(CPU), queue.submit(CPU)
    lab.run_ready(job, pods=2, ready=2)
    queue.change(stopPolicy="Hold")
    lab.run_ready(job, pods=0, ready=0)
    assert lab.evictions(job) == [("PodsReadyTimeout", "WaitForRecovery", 1)]

    queue.change(stopPolicy="None")

    got = {name: lab.admission(each) is not None for name, each in (("evicted", job), ("other", other))}
    assert got == {"evicted": next_one == "evicted", "other": next_one == "other"}


@covers("READY-018", "READY-012")
def test_the_first_version_blocks_by_default(lab: Lab) -> None:
    """It needs nothing but its field enable."""
    lab.start(apiVersion=FIRST, waitForPodsReady={"enable": True})
    queue = lab.queue({"whole-gpus": 4})
    queue.submit(CARDS)
    second = queue.submit(CARDS)

    assert lab.message(second) == BLOCKED


@covers("READY-018")
@pytest.mark.parametrize("section", [pytest.param({"enable": False}, id="off"), pytest.param({}, id="not-set")])
def test_the_first_version_needs_its_field(lab: Lab, section: dict[str, bool]) -> None:
    """Otherwise PodsReady is not written."""
    lab.start(apiVersion=FIRST, waitForPodsReady={"timeout": "1s", **section})
    job = small(lab).submit(CARDS)

    assert lab.pods_ready(job) is None
    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@covers("READY-018", "READY-005")
@pytest.mark.parametrize(
    ("seconds", "kept"), [pytest.param(240, True, id="four-minutes"), pytest.param(330, False, id="over-five-minutes")]
)
def test_the_first_version_waits_for_five_minutes(lab: Lab, seconds: int, kept: bool) -> None:
    """Since the admission, without a timeout of its own."""
    lab.start(apiVersion=FIRST, waitForPodsReady={"enable": True, "blockAdmission": False})
    job = small(lab).submit(CARDS)

    aged(lab, job, seconds)

    assert (lab.admission(job) is not None) is kept
    assert lab.requeues(job) == (0 if kept else 1)


@covers("READY-019")
def test_the_second_version_does_not_block_by_default(lab: Lab) -> None:
    """PodsReady is written."""
    lab.start(waitForPodsReady={"timeout": "10m"})
    queue = lab.queue({"whole-gpus": 4})
    first, second = queue.submit(CARDS), queue.submit(CARDS)

    assert lab.pods_ready(first) == ("False", "WaitForStart")
    assert lab.verdict(second) == admitted({"whole-gpus": 2})


@covers("READY-019")
def test_pods_are_not_waited_for_by_default(lab: Lab) -> None:
    """Without waitForPodsReady, up to 0.18."""
    lab.start()
    job = small(lab).submit(CARDS)

    assert lab.pods_ready(job) is None


@covers("READY-020")
@pytest.mark.parametrize(
    "settings",
    [pytest.param({}, id="no-section"), pytest.param({"waitForPodsReady": {"timeout": "10m"}}, id="section")],
)
@pytest.mark.parametrize(
    ("gates", "reported"),
    [
        pytest.param({}, ("False", "WaitForStart"), id="gate-off"),
        pytest.param({"DisableWaitForPodsReady": True}, None, id="gate-on"),
    ],
)
def test_pods_are_waited_for_by_default(
    lab: Lab, settings: dict[str, Any], gates: dict[str, bool], reported: tuple[str, str] | None
) -> None:
    """Without blocking; a gate switches it off."""
    lab.start(switched=gates, **settings)
    queue = lab.queue({"whole-gpus": 4})
    first, second = queue.submit(CARDS), queue.submit(CARDS)

    assert lab.pods_ready(first) == reported
    assert lab.verdict(second) == admitted({"whole-gpus": 2})


@covers("READY-020", "READY-005")
@pytest.mark.parametrize(
    ("seconds", "kept"), [pytest.param(1700, True, id="not-yet"), pytest.param(1830, False, id="over-thirty-minutes")]
)
@pytest.mark.parametrize(
    "settings",
    [pytest.param({}, id="no-section"), pytest.param({"waitForPodsReady": {"timeout": "0s"}}, id="timeout-0")],
)
def test_thirty_minutes_by_default(lab: Lab, settings: dict[str, Any], seconds: int, kept: bool) -> None:
    """Since the admission; the devices are released then."""
    lab.start(**settings)
    job = small(lab).submit(CARDS)

    aged(lab, job, seconds)

    assert (lab.admission(job) is not None) is kept
    assert lab.requeues(job) == (0 if kept else 1)


@covers("READY-032")
def test_a_timeout_of_zero_is_over_at_once(lab: Lab) -> None:
    """The workload is evicted when it is admitted."""
    wait_for_pods(lab, timeout="0s")
    job = small(lab).submit(CARDS)

    assert lab.evictions(job) == [("PodsReadyTimeout", "WaitForStart", 1)]
    assert lab.admission(job) is None


TIMED = {"timeout": "10m"}


def fault(lab: Lab, **section: Any) -> str:
    """Give the field of waitForPodsReady, and the error of it, for which Kueue does not start; empty if it starts."""
    if next(iter(lab.behaviour.versions)) == FIRST:
        section.setdefault("enable", True)
    found = lab.refusal_text(a_configuration(lab.behaviour, waitForPodsReady=section))
    return found.removeprefix("waitForPodsReady.")


@covers("READY-029")
@pytest.mark.parametrize(
    ("section", "found"),
    [
        pytest.param({"timeout": "-1s"}, "timeout: Invalid value: ", id="timeout"),
        pytest.param({"recoveryTimeout": "-1s"}, "recoveryTimeout: Invalid value: ", id="recovery"),
        pytest.param({"recoveryTimeout": "0s"}, "", id="recovery-0"),
    ],
)
def test_times_are_not_negative(lab: Lab, section: dict[str, Any], found: str) -> None:
    """Kueue names the field, and does not start."""
    shown = fault(lab, **{**TIMED, **section})

    assert shown.startswith(found) if found else shown == ""


@covers("READY-029")
@pytest.mark.parametrize(
    ("strategy", "found"),
    [
        pytest.param(
            {"timestamp": "Never"},
            'timestamp: Unsupported value: "Never": supported values: "Creation", "Eviction"',
            id="timestamp",
        ),
        pytest.param({"timestamp": "Creation"}, "", id="known-timestamp"),
        pytest.param(
            {"backoffLimitCount": -1},
            "backoffLimitCount: Invalid value: -1: must be greater than or equal to 0",
            id="limit",
        ),
        pytest.param(
            {"backoffBaseSeconds": -2},
            "backoffBaseSeconds: Invalid value: -2: must be greater than or equal to 0",
            id="base",
        ),
        pytest.param(
            {"backoffMaxSeconds": -3},
            "backoffMaxSeconds: Invalid value: -3: must be greater than or equal to 0",
            id="most",
        ),
        pytest.param({"backoffLimitCount": 0, "backoffBaseSeconds": 0, "backoffMaxSeconds": 0}, "", id="zero"),
    ],
)
def test_the_strategy_is_valid(lab: Lab, strategy: dict[str, Any], found: str) -> None:
    """Kueue names the field, and does not start."""
    shown = fault(lab, **TIMED, requeuingStrategy=strategy)

    assert shown == (f"requeuingStrategy.{found}" if found else "")


@covers("READY-029", "READY-018")
def test_a_section_that_is_not_enabled_is_not_validated(lab: Lab) -> None:
    """Of the first version."""
    section = {"enable": False, "timeout": "-1s", "requeuingStrategy": {"backoffBaseSeconds": -1}}
    first = a_configuration(lab.behaviour, apiVersion=FIRST, waitForPodsReady=section)

    assert lab.refusal_text(first) == ""


@covers("READY-029", "READY-020")
def test_a_section_is_not_validated_while_the_gate_is_on(lab: Lab) -> None:
    """DisableWaitForPodsReady."""
    section = {"timeout": "-1s", "requeuingStrategy": {"timestamp": "Never"}}
    switched = {"DisableWaitForPodsReady": True}
    configuration = a_configuration(lab.behaviour, switched=switched, waitForPodsReady=section)

    assert lab.refusal_text(configuration) == ""


MISSING = "timeout: Required value: must be specified"


@covers("READY-030")
@pytest.mark.parametrize(
    ("section", "found"),
    [
        pytest.param({}, MISSING, id="none"),
        pytest.param({"timeout": "0s"}, MISSING, id="zero"),
        pytest.param({"timeout": "1s"}, "", id="a-second"),
    ],
)
def test_the_second_version_needs_a_timeout(lab: Lab, section: dict[str, Any], found: str) -> None:
    """Up to 0.18."""
    assert fault(lab, **section) == found


@covers("READY-031")
@pytest.mark.parametrize(
    ("section", "found"),
    [
        pytest.param({"timeout": "0s"}, f"waitForPodsReady.{MISSING}", id="zero"),
        pytest.param({}, "", id="default"),
    ],
)
def test_the_timeout_of_the_first_version_is_not_zero(lab: Lab, section: dict[str, Any], found: str) -> None:
    """It has a default."""
    section = {"enable": True, **section}
    first = a_configuration(lab.behaviour, apiVersion=FIRST, waitForPodsReady=section)

    assert lab.refusal_text(first) == found
