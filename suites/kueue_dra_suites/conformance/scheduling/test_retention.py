"""Retention: Kueue deletes finished Workloads and deactivated work (Kueue, objectRetentionPolicies; text silent)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kueue_dra_fixtures.aging import aged
from kueue_dra_fixtures.builders import Pods, Work, a_job, a_template, a_workload, gpu
from kueue_dra_fixtures.lab import Job, Lab, Queue
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.profiles import a_configuration
from kueue_dra_fixtures.verdicts import admitted, evicted
from kueue_dra_ref.api.conditions import is_true

pytestmark = owns_kueue

CARD = a_job(claims=[a_template(gpu())])
CARDS = a_job(pods=2, claims=[a_template(gpu())])
CPU = a_job(pods=2, cpu="1")
ALONE = Pods(count=2, claims=(a_template(gpu()),))
KINDS = [pytest.param(CARDS, id="devices"), pytest.param(CPU, id="ordinary")]


def keep(lab: Lab, times: Mapping[str, str], **more: Any) -> None:
    """Run a Kueue that keeps Workloads for these times."""
    lab.start(objectRetentionPolicies={"workloads": times}, **more)


def checked(lab: Lab) -> tuple[Queue, str]:
    """A queue of two cards, all of whose workloads need an admission check, and the name of that."""
    check = lab.admission_check()
    strategy = {"admissionChecks": [{"name": check}]}
    return lab.queue({"whole-gpus": 2, "cpu": 2}, admissionChecksStrategy=strategy), check


def reject(lab: Lab, job: Job, check: str) -> None:
    """Act as the controller of a check: reject a job, so that Kueue deactivates it."""
    lab.answer_check(job, check, "Rejected", message="no")


@covers("RETAIN-001", "RETAIN-003")
@pytest.mark.parametrize("work", KINDS)
def test_a_finished_workload_is_deleted(lab: Lab, work: Work) -> None:
    """The Job stays, and gets no other Workload."""
    keep(lab, {"afterFinished": "1s"})
    queue = lab.queue({"whole-gpus": 2, "cpu": 2})
    job = queue.submit(work)

    lab.finish(job)

    assert lab.workloads(job) == []
    assert lab.is_there(job.ref)
    assert queue.figures.counts.reserving == 0


@covers("RETAIN-001", "RETAIN-002")
@pytest.mark.parametrize(
    ("times", "seconds", "kept"),
    [
        pytest.param({"afterFinished": "1h"}, 3500, True, id="before-the-hour"),
        pytest.param({"afterFinished": "1h"}, 3600, False, id="after-an-hour"),
        pytest.param({"afterFinished": "1h30m"}, 5300, True, id="minutes-count"),
        pytest.param({}, 360000, True, id="without-a-time"),
        pytest.param({"afterDeactivatedByKueue": "1s"}, 360000, True, id="another-time"),
    ],
)
def test_a_finished_workload_is_kept_for_its_time(lab: Lab, times: dict[str, str], seconds: int, kept: bool) -> None:
    """From its end on."""
    keep(lab, times)
    job = lab.queue({"whole-gpus": 2}).submit(CARDS)
    lab.finish(job)

    aged(lab, job, seconds, "Finished")

    assert len(lab.workloads(job)) == int(kept)


@covers("RETAIN-001", "RETAIN-010")
def test_a_time_of_zero_keeps_nothing(lab: Lab) -> None:
    """The Workload is deleted as soon as it is finished."""
    keep(lab, {"afterFinished": "0s"})
    job = lab.queue({"whole-gpus": 2}).submit(CARDS)

    lab.finish(job)

    assert lab.workloads(job) == []


@covers("RETAIN-001")
def test_a_finished_workload_without_work_is_deleted(lab: Lab) -> None:
    """It was created without a Job."""
    keep(lab, {"afterFinished": "1s"})
    queue = lab.queue({"whole-gpus": 2})
    job = queue.submit(a_workload(ALONE))
    assert lab.verdict(job) == admitted({"whole-gpus": 2})

    lab.end(job)

    assert not lab.is_there(job.ref)
    lab.seen.remove(job)
    assert queue.figures.counts.reserving == 0


@covers("RETAIN-003", "RETAIN-001")
def test_work_that_is_not_finished_gets_another_workload(lab: Lab) -> None:
    """Another controller had finished its Workload; it is admitted once more."""
    keep(lab, {"afterFinished": "1s"})
    queue = lab.queue({"whole-gpus": 2})
    job = queue.submit(CARDS)
    before = lab.workload(job)["metadata"]["uid"]

    lab.end(job)

    assert lab.workload(job)["metadata"]["uid"] != before
    assert lab.verdict(job) == admitted({"whole-gpus": 2})
    assert queue.figures.counts.reserving == 1


@covers("RETAIN-004", "RETAIN-001")
def test_kueue_deletes_finished_workloads_when_it_starts(lab: Lab) -> None:
    """They are older than the time that the new Configuration sets."""
    lab.start()
    queue = lab.queue({"whole-gpus": 3})
    job, other = queue.submit(CARDS), queue.submit(CARD)
    lab.finish(job)
    aged(lab, job, 60, "Finished")
    lab.finish(other)
    assert len(lab.workloads(job)) == 1

    keep(lab, {"afterFinished": "30s"})

    assert lab.workloads(job) == []
    assert len(lab.workloads(other)) == 1


@covers("RETAIN-005")
@pytest.mark.parametrize("work", KINDS)
def test_deactivated_work_is_deleted(lab: Lab, work: Work) -> None:
    """Its Workload goes with it, and the next one gets its devices."""
    keep(lab, {"afterDeactivatedByKueue": "1s"})
    queue, check = checked(lab)
    job, other = queue.submit(work), queue.submit(work)
    assert lab.admission(other) is None

    reject(lab, job, check)

    assert not lab.is_there(job.ref)
    assert lab.workloads(job) == []
    lab.seen.remove(job)
    assert lab.condition(other, "QuotaReserved") == ("True", "QuotaReserved")
    assert queue.figures.counts.reserving == 1


@covers("RETAIN-005", "RETAIN-008", "RETAIN-010")
@pytest.mark.parametrize(
    ("times", "seconds", "kept"),
    [
        pytest.param({"afterDeactivatedByKueue": "1h"}, 3500, True, id="before-the-hour"),
        pytest.param({"afterDeactivatedByKueue": "1h"}, 3600, False, id="after-an-hour"),
        pytest.param({"afterDeactivatedByKueue": "0s"}, 0, False, id="at-once"),
        pytest.param({"afterFinished": "1s"}, 360000, True, id="another-time"),
        pytest.param({}, 360000, True, id="without-a-time"),
    ],
)
def test_deactivated_work_is_kept_for_its_time(lab: Lab, times: dict[str, str], seconds: int, kept: bool) -> None:
    """From its eviction on."""
    keep(lab, times)
    queue, check = checked(lab)
    job = queue.submit(CARDS)
    reject(lab, job, check)

    if seconds:
        assert lab.verdict(job) == evicted("DeactivatedDueToAdmissionCheck")
        aged(lab, job, seconds, "Evicted")

    assert lab.is_there(job.ref) is kept
    if not kept:
        lab.seen.remove(job)
    assert queue.figures.counts.reserving == 0


@covers("RETAIN-006")
def test_work_that_a_user_deactivated_is_kept(lab: Lab) -> None:
    """However long ago that was."""
    keep(lab, {"afterDeactivatedByKueue": "1s"})
    queue = lab.queue({"whole-gpus": 2})
    job = queue.submit(CARDS)

    lab.activate(job, False)
    aged(lab, job, 3600, "Evicted")

    assert lab.verdict(job) == evicted("Deactivated")
    assert lab.is_there(job.ref)
    assert queue.figures.counts.reserving == 0


@covers("RETAIN-006", "RETAIN-005")
def test_work_that_is_active_again_is_kept(lab: Lab) -> None:
    """A user has activated it before its time was over."""
    keep(lab, {"afterDeactivatedByKueue": "1h"})
    queue, check = checked(lab)
    job = queue.submit(CARDS)
    reject(lab, job, check)

    lab.activate(job, True)
    aged(lab, job, 7200, "Evicted")

    assert lab.is_there(job.ref)
    assert lab.condition(job, "QuotaReserved") == ("True", "QuotaReserved")


@covers("RETAIN-006")
def test_work_that_is_active_again_is_kept_while_it_waits(lab: Lab) -> None:
    """It is still evicted, as others have the quota, and is kept however long that takes."""
    keep(lab, {"afterDeactivatedByKueue": "1h"})
    queue, check = checked(lab)
    job = queue.submit(CARDS)
    reject(lab, job, check)
    queue.submit(CARDS)

    lab.activate(job, True)
    aged(lab, job, 7200, "Evicted")

    assert lab.is_there(job.ref)
    assert lab.admission(job) is None
    assert lab.condition(job, "Evicted") == ("True", "DeactivatedDueToAdmissionCheck")


@covers("RETAIN-007")
def test_a_deactivated_workload_without_work_is_kept(lab: Lab) -> None:
    """There is nothing else to delete."""
    keep(lab, {"afterDeactivatedByKueue": "1s"})
    queue, check = checked(lab)
    job = queue.submit(a_workload(ALONE))

    reject(lab, job, check)
    aged(lab, job, 3600, "Evicted")

    assert lab.workload(job)["spec"]["active"] is False
    assert lab.condition(job, "Evicted") == ("True", "DeactivatedDueToAdmissionCheck")


@covers("RETAIN-011", "RETAIN-005")
def test_a_job_is_kept_until_its_pods_have_stopped(lab: Lab) -> None:
    """However long ago it was deactivated."""
    keep(lab, {"afterDeactivatedByKueue": "1h"})
    queue, check = checked(lab)
    job = queue.submit(CARDS)
    lab.answer_check(job, check, "Ready")
    lab.run(job, pods=2)
    reject(lab, job, check)
    aged(lab, job, 3600, "Evicted")
    assert lab.is_there(job.ref)
    assert lab.admission(job) is not None

    lab.run(job, pods=0)

    assert not lab.is_there(job.ref)
    lab.seen.remove(job)
    assert queue.figures.counts.reserving == 0


@covers("RETAIN-004", "RETAIN-005")
def test_kueue_deletes_deactivated_work_when_it_starts(lab: Lab) -> None:
    """It was deactivated before the new Configuration set a time."""
    lab.start()
    queue, check = checked(lab)
    job = queue.submit(CARDS)
    reject(lab, job, check)
    aged(lab, job, 60, "Evicted")
    assert lab.is_there(job.ref)

    keep(lab, {"afterDeactivatedByKueue": "30s"})

    assert not lab.is_there(job.ref)
    lab.seen.remove(job)


@covers("RETAIN-005", "READY-011")
def test_work_whose_pods_are_never_ready_is_deleted(lab: Lab) -> None:
    """It was requeued as often as it may be."""
    waiting: dict[str, Any] = {"timeout": "1s", "requeuingStrategy": {"backoffLimitCount": 0}}
    if next(iter(lab.behaviour.versions)).endswith("/v1beta1"):
        waiting["enable"] = True
    keep(lab, {"afterDeactivatedByKueue": "1s"}, waitForPodsReady=waiting)
    queue = lab.queue({"whole-gpus": 2})
    job = queue.submit(CARDS)

    assert not lab.is_there(job.ref)
    lab.seen.remove(job)
    assert queue.figures.counts.reserving == 0


@covers("RETAIN-009")
@pytest.mark.parametrize("finished", [pytest.param(True, id="finished"), pytest.param(False, id="deactivated")])
def test_everything_is_kept_while_the_gate_is_off(lab: Lab, finished: bool) -> None:
    """ObjectRetentionPolicies."""
    times = {"afterFinished": "1s", "afterDeactivatedByKueue": "1s"}
    keep(lab, times, switched={"ObjectRetentionPolicies": False})
    queue, check = checked(lab)
    job = queue.submit(CARDS)
    if finished:
        lab.answer_check(job, check, "Ready")
        lab.finish(job)
    else:
        reject(lab, job, check)
    aged(lab, job, 3600, "Finished" if finished else "Evicted")

    assert lab.is_there(job.ref)
    assert is_true(lab.workload(job), "Finished") is finished


NEGATIVE = "must be greater than or equal to 0"


@covers("RETAIN-010")
@pytest.mark.parametrize(
    ("times", "found"),
    [
        pytest.param({"afterFinished": "-1s"}, "afterFinished: Invalid value: ", id="finished"),
        pytest.param({"afterDeactivatedByKueue": "-1h"}, "afterDeactivatedByKueue: Invalid value: ", id="deactivated"),
        pytest.param({"afterFinished": "0s", "afterDeactivatedByKueue": "0s"}, "", id="zero"),
    ],
)
def test_times_are_not_negative(lab: Lab, times: dict[str, str], found: str) -> None:
    """Kueue names the field, and does not start."""
    configuration = a_configuration(lab.behaviour, objectRetentionPolicies={"workloads": times})

    shown = lab.refusal_text(configuration)

    assert shown.startswith(f"objectRetentionPolicies.workloads.{found}") if found else shown == ""
    assert NEGATIVE in shown if found else True
