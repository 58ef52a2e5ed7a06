"""Admission checks: quota is reserved first, and the checks of the ClusterQueue admit (AdmissionCheck; text silent)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from kueue_dra_fixtures.builders import Pods, Work, a_job, a_template, a_workload, gpu, work_of
from kueue_dra_fixtures.lab import Lab, Queue
from kueue_dra_fixtures.marks import IN_BOTH, covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, evicted, inadmissible, pending, unseen
from kueue_dra_ref.api.conditions import condition
from kueue_dra_ref.api.metadata import annotations_of, labels_of
from kueue_dra_ref.target import Manifest

CARDS = a_job(pods=2, claims=[a_template(gpu())])
CPU = a_job(cpu="2")


def strategy(*checks: str, **on_flavors: list[str]) -> dict[str, Any]:
    """The checks of a ClusterQueue for all flavors, and those for some."""
    rules: list[Manifest] = [{"name": name} for name in checks]
    rules += [{"name": name, "onFlavors": flavors} for name, flavors in on_flavors.items()]
    return {"admissionChecksStrategy": {"admissionChecks": rules}}


def checked(lab: Lab, *checks: str, quota: int = 2, **spec: Any) -> Queue:
    """A queue of two cards and two cpus with checks."""
    return lab.queue({"whole-gpus": quota, "cpu": 2}, **strategy(*checks), **spec)


@covers("CHECK-001", "CHECK-002", "CHECK-004")
@pytest.mark.parametrize("work", [pytest.param(CARDS, id="devices"), pytest.param(CPU, id="ordinary")])
def test_quota_is_held_until_the_check_is_ready(lab: Lab, work: Work) -> None:
    """The workload reserves its devices first; the Job starts when the check is Ready."""
    check = lab.admission_check()
    queue = checked(lab, check)
    job = queue.submit(work)

    assert lab.checks(job) == {check: "Pending"}
    assert lab.condition(job, "QuotaReserved") == ("True", "QuotaReserved")
    assert lab.condition(job, "Admitted") is None
    assert lab.is_suspended(job)
    assert queue.figures.counts.reserving == 1
    assert queue.figures.counts.admitted == 0

    lab.answer_check(job, check, "Ready")

    assert lab.condition(job, "Admitted") == ("True", "Admitted")
    assert not lab.is_suspended(job)
    assert queue.figures.counts.admitted == 1


@covers("CHECK-001")
def test_reserved_devices_are_not_used_yet(lab: Lab) -> None:
    """They count as reserved, not as used, and no other workload gets them."""
    flavor = lab.flavor()
    check = lab.admission_check()
    queue = lab.queue(groups=[{flavor: {"whole-gpus": 2}}], **strategy(check))
    queue.submit(CARDS)
    other = queue.submit(a_job(claims=[a_template(gpu())]))

    assert queue.figures.reserved == {flavor: {"whole-gpus": "2"}}
    assert queue.figures.used == {flavor: {"whole-gpus": "0"}}
    assert lab.admission(other) is None


@pytest.mark.parametrize(
    ("queueing", "goes_on"),
    [
        pytest.param("StrictFIFO", True, id="strict", marks=covers("CHECK-023")),
        pytest.param("BestEffortFIFO", True, id="best-effort", marks=covers("CHECK-024")),
        pytest.param("BestEffortFIFO", False, id="best-effort-comes-back", marks=covers("CHECK-025")),
    ],
)
def test_a_retried_workload_comes_after_those_that_wait(lab: Lab, queueing: str, goes_on: bool) -> None:
    """The next one in the queue gets the quota that it releases."""
    check = lab.admission_check()
    queue = checked(lab, check, queueingStrategy=queueing)
    first = queue.submit(CARDS)
    second = queue.submit(CARDS)
    assert (lab.admission(first) is None, lab.admission(second) is None) == (False, True)

    lab.next_second()
    lab.answer_check(first, check, "Retry")

    assert (lab.admission(first) is None, lab.admission(second) is None) == (goes_on, not goes_on)


@covers("CHECK-001", "CHECK-004")
def test_every_check_has_to_be_ready(lab: Lab) -> None:
    """One of two is not enough."""
    first, second = lab.admission_check(), lab.admission_check()
    job = checked(lab, first, second).submit(CARDS)

    lab.answer_check(job, first, "Ready")
    assert lab.is_suspended(job)

    lab.answer_check(job, second, "Ready")
    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@covers("CHECK-003")
@pytest.mark.parametrize(
    ("cards", "states"),
    [
        pytest.param(1, [], id="other-flavor"),
        pytest.param(2, ["Pending"], id="checked-flavor"),
    ],
)
def test_a_check_on_a_flavor_holds_for_its_workloads(lab: Lab, cards: int, states: list[str]) -> None:
    """The first flavor has one card, the second has a check."""
    small, large = lab.flavor(), lab.flavor()
    check = lab.admission_check()
    groups = [{small: {"whole-gpus": 1}, large: {"whole-gpus": 4}}]
    queue = lab.queue(groups=groups, **strategy(**{check: [large]}))
    job = queue.submit(a_job(pods=cards, claims=[a_template(gpu())]))

    assert list(lab.checks(job).values()) == states
    assert lab.is_suspended(job) is bool(states)


@covers("CHECK-003", "CHECK-002")
def test_a_check_on_a_flavor_beside_one_for_all(lab: Lab) -> None:
    """A workload of the other flavor has the check for all flavors alone."""
    small, large = lab.flavor(), lab.flavor()
    every, some = lab.admission_check(), lab.admission_check()
    groups = [{small: {"whole-gpus": 1}, large: {"whole-gpus": 4}}]
    queue = lab.queue(groups=groups, **strategy(every, **{some: [large]}))
    job = queue.submit(a_job(claims=[a_template(gpu())]))
    larger = queue.submit(CARDS)

    assert lab.checks(job) == {every: "Pending"}
    assert lab.checks(larger) == {every: "Pending", some: "Pending"}


@covers("CHECK-002")
def test_work_without_quota_has_the_checks_for_all_flavors(lab: Lab) -> None:
    """Up to 0.16 it has them only if each check of the ClusterQueue is for all flavors."""
    flavor = lab.flavor()
    every, some = lab.admission_check(), lab.admission_check()
    full = {"cpu": 0}
    alone = lab.queue(groups=[{lab.flavor(): full}], **strategy(every))
    mixed = lab.queue(groups=[{flavor: full, lab.flavor(): full}], **strategy(every, **{some: [flavor]}))

    assert lab.checks(alone.submit(CPU)) == {every: "Pending"}
    listed = {} if lab.behaviour.kueue in ("0.14", "0.15", "0.16") else {every: "Pending"}
    assert lab.checks(mixed.submit(CPU)) == listed


@covers("CHECK-002")
def test_a_check_that_names_every_flavor_is_for_all(lab: Lab) -> None:
    """In 0.14 only a check that names none is listed before the workload has quota."""
    flavor, check = lab.flavor(), lab.admission_check()
    queue = lab.queue(groups=[{flavor: {"cpu": 0}}], **strategy(**{check: [flavor]}))

    assert lab.checks(queue.submit(CPU)) == ({} if lab.behaviour.kueue == "0.14" else {check: "Pending"})


@covers("CHECK-003")
def test_work_without_requests_gets_no_flavor(lab: Lab) -> None:
    """So no check is for one of its flavors; up to 0.17 it has the check all the same."""
    check = lab.admission_check()
    queue = checked(lab, check)
    listed = {check: "Pending"} if lab.behaviour.kueue in ("0.14", "0.15", "0.16", "0.17") else {}

    assert lab.checks(queue.submit(a_job())) == listed


@pytest.mark.parametrize(
    "checks",
    [
        pytest.param(1, id="for-all-flavors", marks=covers("CHECK-021")),
        pytest.param(2, id="each", marks=covers("CHECK-022")),
    ],
)
def test_work_without_requests_has_checks(lab: Lab, checks: int) -> None:
    """The first check is for all flavors, the second for one of two."""
    flavor, other = lab.flavor(), lab.flavor()
    every, some = lab.admission_check(), lab.admission_check()
    of_flavors = {some: [flavor]} if checks == 2 else {}
    queue = lab.queue(groups=[{flavor: {"cpu": 2}, other: {"cpu": 2}}], **strategy(every, **of_flavors))

    assert lab.checks(queue.submit(a_job())).keys() == {every, *of_flavors}


@covers("CHECK-006", "CHECK-008", "CHECK-009")
def test_retry_gives_the_devices_back_and_tries_again(lab: Lab) -> None:
    """The check is Pending again, with its state before, and quota is reserved again."""
    check = lab.admission_check()
    queue = checked(lab, check)
    job = queue.submit(CARDS)

    lab.answer_check(job, check, "Retry", message="no nodes")

    state = lab.check_state(job, check)
    assert (state["state"], state["message"]) == ("Pending", "Reset to Pending after eviction. Previously: Retry")
    assert lab.condition(job, "Evicted") == ("False", "QuotaReserved")
    assert lab.condition(job, "QuotaReserved") == ("True", "QuotaReserved")
    assert lab.is_suspended(job)


@covers("CHECK-006")
@pytest.mark.parametrize(
    "fields", [pytest.param({}, id="no-message"), pytest.param({"message": "no nodes"}, id="message")]
)
def test_the_message_of_a_retry_names_the_checks(lab: Lab, fields: dict[str, str]) -> None:
    """The eviction of running work stays visible until its pods are gone."""
    check = lab.admission_check()
    job = checked(lab, check).submit(CARDS)
    lab.answer_check(job, check, "Ready")
    lab.run(job, pods=2)

    lab.answer_check(job, check, "Retry", **fields)

    assert lab.condition(job, "Evicted") == ("True", "AdmissionCheck")
    assert lab.message(job, "Evicted") == retried(lab, check, **fields)


def retried(lab: Lab, check: str, *, message: str = "") -> str:
    """The message of an eviction by a check."""
    if lab.behaviour.kueue in ("0.14", "0.15", "0.16", "0.17"):
        return "At least one admission check is false"
    return f'Evicted due to AdmissionCheck in Retry state: "{check}"' + (f" ({message})" if message else "")


@covers("CHECK-006", "CHECK-001")
def test_a_running_job_is_suspended_by_a_retry(lab: Lab) -> None:
    """Its quota is released when its pods are gone, then the check has to be Ready again."""
    check = lab.admission_check()
    job = checked(lab, check).submit(CARDS)
    lab.answer_check(job, check, "Ready")
    lab.run(job, pods=2)

    lab.answer_check(job, check, "Retry")
    assert lab.is_suspended(job)
    assert lab.admission(job) is not None

    lab.run(job, pods=0)
    assert lab.checks(job) == {check: "Pending"}
    assert lab.condition(job, "QuotaReserved") == ("True", "QuotaReserved")
    assert lab.is_suspended(job)


@covers("CHECK-007", "CHECK-008")
@pytest.mark.parametrize("running", [pytest.param(False, id="waiting"), pytest.param(True, id="running")])
def test_a_rejection_deactivates(lab: Lab, running: bool) -> None:
    """The workload is evicted for good, and others get its devices."""
    check = lab.admission_check()
    queue = checked(lab, check)
    job = queue.submit(CARDS)
    other = queue.submit(CARDS)
    if running:
        lab.answer_check(job, check, "Ready")

    lab.answer_check(job, check, "Rejected", message="over budget")

    assert lab.workload(job)["spec"]["active"] is False
    assert lab.condition(job, "Evicted") == ("True", "DeactivatedDueToAdmissionCheck")
    assert lab.message(job, "Evicted") == f"The workload is deactivated due to {rejected(lab, check)}"
    assert lab.admission(job) is None
    assert lab.verdict(job) == evicted("DeactivatedDueToAdmissionCheck")
    assert lab.condition(other, "QuotaReserved") == ("True", "QuotaReserved")


def rejected(lab: Lab, check: str) -> str:
    """What a message says of a rejected check with the message "over budget"."""
    if lab.behaviour.kueue in ("0.14", "0.15", "0.16", "0.17"):
        return f"Admission check(s): {check}, were rejected"
    return f'AdmissionCheck in Rejected state: "{check}" (over budget)'


@covers("CHECK-009")
def test_a_reset_check_counts_its_retries(lab: Lab) -> None:
    """Twice in state Retry is a count of two."""
    check = lab.admission_check()
    job = checked(lab, check).submit(CARDS)

    lab.answer_check(job, check, "Retry")
    assert lab.check_state(job, check)["retryCount"] == 1

    lab.answer_check(job, check, "Retry", retryCount=1)
    assert lab.check_state(job, check)["retryCount"] == 2


@covers("CHECK-009", "CHECK-006")
def test_a_reset_check_keeps_its_delay(lab: Lab) -> None:
    """A delay of no seconds evicts at once."""
    check = lab.admission_check()
    job = checked(lab, check).submit(CARDS)

    lab.answer_check(job, check, "Retry", requeueAfterSeconds=0)

    state = lab.check_state(job, check)
    assert (state["state"], state["requeueAfterSeconds"]) == ("Pending", 0)


@covers("CHECK-010")
def test_a_retry_with_a_delay_keeps_the_devices(lab: Lab) -> None:
    """Kueue evicts only when the time is over."""
    check = lab.admission_check()
    queue = checked(lab, check)
    job = queue.submit(CARDS)
    other = queue.submit(CARDS)

    lab.answer_check(job, check, "Retry", requeueAfterSeconds=600)

    assert lab.workload(job)["status"]["requeueState"]["requeueAt"]
    assert lab.condition(job, "QuotaReserved") == ("True", "QuotaReserved")
    assert lab.condition(job, "Evicted") is None
    assert lab.admission(other) is None


@covers("CHECK-010")
def test_only_a_retry_delays(lab: Lab) -> None:
    """A check in another state has requeueAfterSeconds too."""
    check = lab.admission_check()
    job = checked(lab, check).submit(CARDS)

    lab.answer_check(job, check, "Pending", requeueAfterSeconds=600)

    assert "requeueState" not in lab.workload(job)["status"]


@covers("CHECK-011", "CHECK-008")
def test_lost_quota_is_told_with_the_checks(lab: Lab) -> None:
    """An admitted workload that is evicted has neither quota nor Ready checks."""
    check = lab.admission_check()
    queue = checked(lab, check)
    job = queue.submit(CARDS)
    lab.answer_check(job, check, "Ready")

    queue.change(stopPolicy="HoldAndDrain")

    assert lab.condition(job, "Admitted") == ("False", "NoReservationUnsatisfiedChecks")
    assert lab.message(job, "Admitted") == "The workload has no reservation and not all checks ready"
    assert lab.check_state(job, check)["message"] == "Reset to Pending after eviction. Previously: Ready"


@covers("CHECK-010")
@pytest.mark.parametrize("last", [pytest.param(6000, id="last"), pytest.param(60, id="first")])
def test_the_longest_delay_counts(lab: Lab, last: int) -> None:
    """Of two checks that are retried, in whatever order they answer."""
    first, second = lab.admission_check(), lab.admission_check()
    job = checked(lab, first, second).submit(CARDS)

    lab.answer_check(job, first, "Retry", requeueAfterSeconds=600)
    lab.answer_check(job, second, "Retry", requeueAfterSeconds=last)

    longest = second if last > 600 else first
    states = {each["name"]: each for each in lab.workload(job)["status"]["admissionChecks"]}
    since = datetime.fromisoformat(states[longest]["lastTransitionTime"])
    until = datetime.fromisoformat(lab.workload(job)["status"]["requeueState"]["requeueAt"])
    assert (until - since).total_seconds() == max(600, last)


@covers("CHECK-010")
def test_a_delay_does_not_shorten_a_longer_one(lab: Lab) -> None:
    """The time until which a workload is not tried is not only that of its checks."""
    check, until = lab.admission_check(), "2099-01-01T00:00:00Z"
    job = checked(lab, check).submit(CARDS)
    lab.write_status(job, requeueState={"requeueAt": until})

    lab.answer_check(job, check, "Retry", requeueAfterSeconds=600)

    assert lab.workload(job)["status"]["requeueState"] == {"requeueAt": until}


def inactive_message(lab: Lab, queue: Queue) -> str:
    """What the status of a ClusterQueue says of why it is inactive."""
    found = condition(lab.read(queue.ref), "Active")
    assert found is not None
    return str(found["message"]).removeprefix("Can't admit new workloads: ").removesuffix(".")


@covers("CHECK-012", "CHECK-004")
def test_a_missing_check_makes_the_queue_inactive(lab: Lab) -> None:
    """Once the check is there, the workload is tried."""
    check = lab.name("check")
    queue = checked(lab, check)
    job = queue.submit(CARDS)

    assert queue.figures.active == ("False", "AdmissionCheckNotFound")
    assert inactive_message(lab, queue) == f"references missing AdmissionCheck(s): {check}"
    assert lab.admission(job) is None

    lab.admission_check(name=check)
    assert queue.figures.active == ("True", "Ready")
    assert lab.admission(job) is not None


@covers("CHECK-013")
def test_an_inactive_check_makes_the_queue_inactive(lab: Lab) -> None:
    """Also one that was active; what holds quota keeps it."""
    check = lab.admission_check()
    queue = checked(lab, check, quota=4)
    first = queue.submit(CARDS)

    lab.switch_check(check, False)
    second = queue.submit(CARDS)

    assert queue.figures.active == ("False", "AdmissionCheckInactive")
    assert inactive_message(lab, queue) == f"references inactive AdmissionCheck(s): {check}"
    assert lab.condition(first, "QuotaReserved") == ("True", "QuotaReserved")
    assert lab.admission(second) is None

    lab.switch_check(check, True)
    assert lab.admission(second) is not None


@covers("CHECK-001", "CHECK-002")
def test_a_check_that_comes_later_does_not_stop_what_runs(lab: Lab) -> None:
    """It is listed as Pending, and the workload stays admitted."""
    queue = lab.queue({"whole-gpus": 2})
    job = queue.submit(CARDS)
    check = lab.admission_check()

    queue.change(**strategy(check))

    assert lab.checks(job) == {check: "Pending"}
    assert lab.verdict(job) == admitted({"whole-gpus": 2})
    assert not lab.is_suspended(job)


@covers("CHECK-002", "CHECK-004")
def test_a_check_that_goes_admits(lab: Lab) -> None:
    """A workload that waits for its check is admitted once its ClusterQueue has none."""
    check = lab.admission_check()
    queue = checked(lab, check)
    job = queue.submit(CARDS)

    queue.change(admissionChecksStrategy=None)

    assert "admissionChecks" not in lab.workload(job)["status"]
    assert lab.verdict(job) == admitted({"whole-gpus": 2})


UPDATES = {
    "labels": {"example.com/pool": "a"},
    "annotations": {"example.com/order": "7"},
    "nodeSelector": {"example.com/zone": "b"},
    "tolerations": [{"key": "example.com/spot", "operator": "Exists", "effect": "NoSchedule"}],
}


@owns_kueue
@covers("MK-027")
def test_a_job_without_a_manager_starts(lab: Lab) -> None:
    """Only a check of MultiKueue would hold it."""
    lab.start(switched={"MultiKueueBatchJobWithManagedBy": False})
    check = lab.admission_check()
    queue = checked(lab, check)
    job = queue.submit(CARDS)

    lab.answer_check(job, check, "Ready")

    assert lab.verdict(job) == admitted({"whole-gpus": 2})
    assert not lab.is_suspended(job)


@covers("CHECK-014")
def test_pod_set_updates_reach_the_pods(lab: Lab) -> None:
    """Labels, annotations, node selector and tolerations, until the Job is suspended."""
    check = lab.admission_check()
    queue = checked(lab, check)
    job = queue.submit(CARDS)

    lab.answer_check(job, check, "Ready", podSetUpdates=[{"name": "main", **UPDATES}])
    template = lab.read(job.ref)["spec"]["template"]
    assert template["metadata"]["labels"]["example.com/pool"] == "a"
    assert template["metadata"]["annotations"]["example.com/order"] == "7"
    assert template["spec"]["nodeSelector"] == UPDATES["nodeSelector"]
    assert template["spec"]["tolerations"] == UPDATES["tolerations"]

    queue.change(stopPolicy="HoldAndDrain")
    template = lab.read(job.ref)["spec"]["template"]
    assert "example.com/pool" not in labels_of(template)
    assert "example.com/order" not in annotations_of(template)
    assert not template["spec"].get("nodeSelector")
    assert not template["spec"].get("tolerations")


@covers("CHECK-014")
def test_without_updates_pods_start_as_they_are_written(lab: Lab) -> None:
    """No field of theirs is there with nothing in it."""
    check = lab.admission_check()
    job = checked(lab, check).submit(CARDS)
    written = lab.read(job.ref)["spec"]["template"]["spec"]

    lab.answer_check(job, check, "Ready")

    assert not lab.is_suspended(job)
    assert lab.read(job.ref)["spec"]["template"]["spec"] == written


@covers("CHECK-014")
def test_contradicting_updates_finish_the_workload(lab: Lab) -> None:
    """Two checks that want different nodes cannot both have their way; the devices are free again."""
    first, second = lab.admission_check(), lab.admission_check()
    queue = checked(lab, first, second)
    job = queue.submit(CARDS)

    lab.answer_check(job, first, "Ready", podSetUpdates=[{"name": "main", "nodeSelector": {"zone": "a"}}])
    lab.answer_check(job, second, "Ready", podSetUpdates=[{"name": "main", "nodeSelector": {"zone": "b"}}])

    conflict = "conflict for nodeSelector: conflict for key=zone, value1=a, value2=b"
    assert lab.condition(job, "Finished") == ("True", "FailedToStart")
    message = f'in admission check "{second}": invalid admission check PodSetUpdate: {conflict}'
    assert lab.message(job, "Finished") == message


@covers("CHECK-019")
def test_a_ready_check_keeps_its_updates(lab: Lab) -> None:
    """It may change them only in addition to its state."""
    check = lab.admission_check()
    job = checked(lab, check, quota=4).submit(CARDS)
    lab.answer_check(job, check, "Ready", podSetUpdates=[{"name": "main", "nodeSelector": {"zone": "a"}}])

    other = [{"name": "main", "nodeSelector": {"zone": "b"}}]
    answer = {"name": check, "state": "Ready", "podSetUpdates": other}
    changed = {**lab.workload(job), "status": {"admissionChecks": [answer]}}
    shown = '[{"name":"main","nodeSelector":{"zone":"b"}}]'
    denied = f"status.admissionChecks[0].podSetUpdates: Invalid value: {shown}: field is immutable"
    assert lab.denied(changed).endswith(denied)

    lab.answer_check(job, check, "Pending")
    lab.answer_check(job, check, "Ready", podSetUpdates=other)
    assert lab.check_state(job, check)["podSetUpdates"] == other


@covers("CHECK-015")
def test_a_check_in_use_stays(lab: Lab) -> None:
    """Work of its queue still waits for it."""
    check = lab.admission_check()
    queue = checked(lab, check)

    lab.remove(lab.check_ref(check))
    job = queue.submit(CARDS)

    assert lab.is_there(lab.check_ref(check))
    assert queue.figures.active == ("True", "Ready")
    assert lab.checks(job) == {check: "Pending"}


@covers("CHECK-015", "CHECK-018")
def test_a_check_goes_when_no_queue_names_it(lab: Lab) -> None:
    """The ClusterQueue drops it."""
    check = lab.admission_check()
    queue = checked(lab, check)
    lab.remove(lab.check_ref(check))

    queue.change(admissionChecksStrategy=None)

    assert not lab.is_there(lab.check_ref(check))


@covers("CHECK-016")
def test_a_check_on_a_flavor_of_another_queue_is_denied(lab: Lab) -> None:
    """The webhook names the flavors that the ClusterQueue has."""
    flavor = lab.flavor()
    queue = lab.queue(groups=[{flavor: {"whole-gpus": 1}}])
    written = lab.read(queue.ref)
    changed = {**written, "spec": {**written["spec"], **strategy(**{"budget": ["elsewhere"]})}}

    place = "spec.admissionChecksStrategy.admissionChecks[0].onFlavors[0]"
    assert lab.denied(changed).endswith(f'{place}: Unsupported value: "elsewhere": supported values: "{flavor}"')


@covers("CHECK-001", "CHECK-008")
def test_what_waits_for_its_check_can_be_preempted(lab: Lab) -> None:
    """It loses its devices without ever having run."""
    check = lab.admission_check()
    queue = checked(lab, check, preemption={"withinClusterQueue": "LowerPriority"})
    low = queue.submit(CARDS)

    high = queue.submit(work_of("Job", CARDS.pod_sets[0], priority=1000))

    assert lab.condition(low, "Preempted") == ("True", "InClusterQueue")
    assert lab.admission(low) is None
    assert lab.checks(low) == {check: "Pending"}
    assert lab.condition(high, "QuotaReserved") == ("True", "QuotaReserved")
    assert lab.is_suspended(high)


@owns_kueue
@covers("CHECK-005")
def test_observability_says_that_checks_are_unsatisfied(lab: Lab) -> None:
    """The condition Admitted gives the reason while the workload waits."""
    lab.start(switched={"UnadmittedWorkloadsObservability": True})
    check = lab.admission_check()
    job = checked(lab, check).submit(CARDS)

    assert lab.condition(job, "Admitted") == ("False", "UnsatisfiedAdmissionChecks")
    assert lab.message(job, "Admitted") == "The workload has not all checks ready"


@covers("CHECK-017")
@pytest.mark.parametrize("policy", ["Hold", "HoldAndDrain"])
def test_a_stopped_local_queue_takes_back_what_waits_for_a_check(lab: Lab, policy: str) -> None:
    """Also with Hold, which lets admitted work run."""
    check = lab.admission_check()
    queue = checked(lab, check)
    job = queue.submit(CARDS)

    queue.change_local(stopPolicy=policy)

    assert lab.admission(job) is None
    assert lab.verdict(job) == inadmissible(Reason.QUEUE_STOPPED)
    assert queue.figures.counts.reserving == 0

    queue.change_local(stopPolicy="None")
    assert lab.condition(job, "QuotaReserved") == ("True", "QuotaReserved")


@covers("CHECK-017")
@pytest.mark.parametrize("is_deleted", [pytest.param(True, id="deleted"), pytest.param(False, id="stopped")])
def test_a_preempted_workload_that_waits_for_a_check_loses_its_quota_with_its_queue(lab: Lab, is_deleted: bool) -> None:
    """No work is suspended for it, so the preemption alone releases nothing."""
    check = lab.admission_check()
    queue = lab.queue({"whole-gpus": 1}, **strategy(check), preemption={"withinClusterQueue": "LowerPriority"})
    job = queue.submit(a_workload(Pods(claims=(a_template(gpu()),))))
    queue.submit(a_job(priority=1, claims=[a_template(gpu())]))
    assert lab.condition(job, "Evicted") == ("True", "Preempted")
    assert lab.admission(job) is not None

    if is_deleted:
        queue.delete_local()
    else:
        queue.change_local(stopPolicy="Hold")

    words = "terminating or missing" if is_deleted else "stopped"
    assert lab.message(job, "QuotaReserved") == f"LocalQueue {queue.local_ref.name} is {words}"
    assert lab.admission(job) is None


@covers("CHECK-017")
@pytest.mark.parametrize("policy", ["Hold", "HoldAndDrain"])
def test_a_stopped_cluster_queue_takes_back_what_waits_for_a_check(lab: Lab, policy: str) -> None:
    """Work that its checks have admitted runs on with Hold."""
    check = lab.admission_check()
    queue = checked(lab, check)
    job, other = queue.submit(a_job(claims=[a_template(gpu())])), queue.submit(a_job(claims=[a_template(gpu())]))
    lab.answer_check(other, check, "Ready")

    queue.change(stopPolicy=policy)

    assert lab.admission(job) is None
    assert lab.verdict(job) == inadmissible(Reason.QUEUE_STOPPED)
    assert (lab.admission(other) is None) is (policy == "HoldAndDrain")


@covers("CHECK-017")
def test_a_deleted_cluster_queue_takes_back_what_waits_for_a_check(lab: Lab) -> None:
    """Without quota it does not have the check of its former flavor: that goes before the ClusterQueue.

    The patch that takes the check off can take the condition along; if the queue has gone by then, none is written.
    """
    flavor, other = lab.flavor(), lab.flavor()
    every, some = lab.admission_check(), lab.admission_check()
    groups = [{flavor: {"whole-gpus": 2}, other: {"whole-gpus": 2}}]
    queue = lab.queue(groups=groups, **strategy(every, **{some: [flavor]}))
    job = queue.submit(CARDS)
    assert set(lab.checks(job)) == {every, some}

    queue.delete()

    assert lab.admission(job) is None
    assert lab.verdict(job) in (inadmissible(Reason.QUEUE_STOPPED), unseen())
    assert some not in lab.checks(job)
    assert not lab.is_there(queue.ref)


@covers("QUEUE-062")
def test_counted_pods_bring_work_back_at_an_update(lab: Lab) -> None:
    """The answer of a check is such an update; only the message of the next attempt shows the failed check."""
    check = lab.admission_check()
    queue = lab.queue({"cpu": 1, "pods": 2}, **strategy(check))
    job = queue.submit(CPU)

    lab.answer_check(job, check, "Rejected")

    assert lab.verdict(job) == pending(Reason.CHECK_FAILED)


@covers("CHECK-020")
@pytest.mark.parametrize("state", ["Retry", "Rejected"])
def test_pending_work_with_a_failed_check_is_not_tried(lab: Lab, state: str) -> None:
    """Quota that is released does not reach it; once the check is Pending again, the next release does."""
    check = lab.admission_check()
    queue = checked(lab, check)
    holder, waiting = queue.submit(CARDS), queue.submit(CARDS)
    assert lab.checks(waiting) == {check: "Pending"}

    lab.answer_check(waiting, check, state)
    lab.delete(holder)
    assert lab.verdict(waiting) == pending(Reason.CHECK_FAILED)
    assert queue.figures.counts.reserving == 0

    lab.answer_check(waiting, check, "Pending")
    assert lab.admission(waiting) is None
    lab.delete(queue.submit(CPU))
    assert lab.admission(waiting) is not None


@covers("CHECK-026")
@pytest.mark.parametrize(
    ("work", "kept"),
    [
        pytest.param(a_job(pods=3, claims=[a_template(gpu())]), None, id="devices", marks=IN_BOTH),
        pytest.param(a_job(cpu="3"), ("False", "Pending"), id="ordinary"),
    ],
)
def test_moved_work_with_devices_loses_its_condition_with_its_check(
    lab: Lab, work: Work, kept: tuple[str, str] | None
) -> None:
    """It is pending in the other queue, too; without devices its condition still says so.

    The write that adds the checks may take the condition of the first attempt along; a second attempt follows it.
    """
    checks = lab.admission_check(), lab.admission_check()
    queue = checked(lab, *checks)
    other = checked(lab, checks[1], namespace=queue.namespace)
    job = queue.submit(work)
    lab.delete(queue.submit(CPU))
    assert lab.condition(job, "QuotaReserved") == ("False", "Pending")

    lab.move(job, other.local)

    assert lab.checks(job) == {checks[1]: "Pending"}
    assert other.figures.counts.pending == 1
    assert lab.condition(job, "QuotaReserved") == kept
