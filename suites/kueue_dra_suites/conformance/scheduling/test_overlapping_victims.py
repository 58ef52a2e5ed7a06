"""Heads of one cycle that find the same victims, by a gate (Kueue 0.19 off, 0.20 on; scheduler)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.cohorts import Cohort, a_cohort
from kueue_dra_fixtures.lab import Job, Lab, Queue
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import admitted

pytestmark = owns_kueue

GATE = "RecomputeAssignmentUponPreemptionTargetsOverlap"
ANY = {"reclaimWithinCohort": "Any"}
ONE = admitted({"whole-gpus": 1})


def start(lab: Lab, *, recomputes: bool) -> None:
    """Run Kueue with the gate in a state, and with precise reasons for pending workloads."""
    lab.start(gates={"UnadmittedWorkloadsObservability": True, GATE: recomputes})


def a_head(queue: Queue, devices: int = 1) -> Job:
    """A workload that requests devices."""
    template = a_template(gpu(devices))
    return queue.submit(a_job(claims=[template]))


def a_victim(lab: Lab, queue: Queue, devices: int = 1) -> Job:
    """A workload that borrows, and whose pod still runs when it is evicted."""
    victim = a_head(queue, devices)
    lab.run(victim, pods=1)
    return victim


def is_evicted(lab: Lab, job: Job) -> bool:
    """Whether Kueue has evicted a workload."""
    evicted = lab.condition(job, "Evicted")
    return evicted is not None and evicted[0] == "True"


def owners(cohort: Cohort, number: int) -> list[Queue]:
    """Queues that reclaim the one device that each of them lends."""
    quota = {"whole-gpus": 1}
    return [cohort.queue(quota, preemption=ANY) for _ in range(number)]


@pytest.mark.parametrize(
    ("recomputes", "reason"),
    [
        pytest.param(True, "WaitingForPreemptedWorkloads", id="gate-on", marks=covers("PREEMPT-050")),
        pytest.param(False, "WaitingForQuota", id="gate-off", marks=covers("PREEMPT-053")),
    ],
)
def test_the_second_head_finds_another_victim(lab: Lab, recomputes: bool, reason: str) -> None:
    """Two heads need a device each, and both would evict the newer borrower; the older one is the next candidate."""
    start(lab, recomputes=recomputes)
    cohort = a_cohort(lab)
    one, other = owners(cohort, 2)
    borrower = cohort.queue({"whole-gpus": 0})
    older = a_victim(lab, borrower)
    newer = a_victim(lab, borrower)
    a_head(one)
    second = a_head(other)
    lab.settle()

    assert is_evicted(lab, newer)
    assert is_evicted(lab, older) == recomputes
    assert lab.condition(second, "QuotaReserved") == ("False", reason)


@pytest.mark.parametrize(
    ("recomputes", "reason", "message"),
    [
        pytest.param(
            True,
            "WaitingForPreemptedWorkloads",
            "Workload has overlapping preemption targets with another workload, "
            "but will fit after these preemptions complete",
            id="gate-on",
            marks=covers("PREEMPT-051", "OBSERVE-004"),
        ),
        pytest.param(
            False,
            "WaitingForQuota",
            "Workload has overlapping preemption targets with another workload",
            id="gate-off",
            marks=covers("PREEMPT-053", "OBSERVE-003"),
        ),
    ],
)
def test_one_victim_is_enough_for_two(lab: Lab, recomputes: bool, reason: str, message: str) -> None:
    """A victim of two devices makes room for both heads; the message of the second says whether it waits for that."""
    start(lab, recomputes=recomputes)
    cohort = a_cohort(lab)
    one, other = owners(cohort, 2)
    victim = a_victim(lab, cohort.queue({"whole-gpus": 0}), 2)
    first = a_head(one)
    second = a_head(other)

    assert lab.condition(first, "QuotaReserved") == ("False", "WaitingForPreemptedWorkloads")
    assert lab.condition(second, "QuotaReserved") == ("False", reason)
    assert lab.message(second) == message

    lab.run(victim, pods=0)

    assert lab.verdict(first) == ONE
    assert lab.verdict(second) == ONE


@covers("PREEMPT-051")
def test_what_will_fit_is_kept_from_later_heads(lab: Lab) -> None:
    """A third head finds no device of the only victim left, so it preempts no workload and waits for quota."""
    start(lab, recomputes=True)
    cohort = a_cohort(lab)
    one, other = owners(cohort, 2)
    victim = a_victim(lab, cohort.queue({"whole-gpus": 0}), 2)
    late = cohort.queue({"whole-gpus": 0})
    first = a_head(one)
    second = a_head(other)
    third = a_head(late)

    assert lab.condition(third, "QuotaReserved") == ("False", "WaitingForQuota")

    lab.run(victim, pods=0)

    assert lab.verdict(first) == ONE
    assert lab.verdict(second) == ONE
    assert lab.admission(third) is None


@covers("PREEMPT-052")
def test_an_assignment_keeps_its_flavor(lab: Lab) -> None:
    """The second head does not change to the flavor behind, though it is free of borrowers to evict; it says so."""
    start(lab, recomputes=True)
    cohort = a_cohort(lab)
    behind = lab.flavor("behind")
    more = {behind: {"whole-gpus": 1}}
    one, other = (cohort.queue({"whole-gpus": 1}, more, preemption=ANY) for _ in range(2))
    borrower = cohort.queue({"whole-gpus": 0}, {behind: {"whole-gpus": 0}})
    for _ in range(4):
        a_victim(lab, borrower)
    a_head(one)
    second = a_head(other)
    lab.settle()

    assert f"skipping flavor {behind} as it is not found in the nomination mapping" in lab.message(second)
    assert lab.message(second).endswith("Pending the preemption of 1 workload(s)")
