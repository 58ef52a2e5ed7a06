"""Reasons of waiting among queues of a cohort, with UnadmittedWorkloadsObservability on (Kueue 0.19, scheduler)."""

from __future__ import annotations

from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.cohorts import a_cohort
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible, pending

pytestmark = owns_kueue

OBSERVED = {"UnadmittedWorkloadsObservability": True}


@covers("OBSERVE-003")
def test_what_another_takes_in_the_same_moment_is_waited_for(lab: Lab) -> None:
    """Devices that would fit, but that the head of another queue keeps for itself, come back one day."""
    lab.start(gates=OBSERVED)
    cohort = a_cohort(lab)
    owner = cohort.queue({"whole-gpus": 2}, queueingStrategy="StrictFIFO")
    borrower = cohort.queue({"whole-gpus": 0})
    borrower.submit(a_job(claims=[a_template(gpu())]))
    waiting = owner.submit(a_job(claims=[a_template(gpu(2))]))
    late = borrower.submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(late) == pending(Reason.OUTRUN)
    assert lab.condition(late, "QuotaReserved") == ("False", "WaitingForQuota")
    assert lab.condition(waiting, "QuotaReserved") == ("False", "WaitingForQuota")


@covers("OBSERVE-007")
def test_a_loop_of_cohorts_suspends(lab: Lab) -> None:
    """The scheduler finds the ClusterQueue inactive, where the Workload controller finds nothing wrong."""
    lab.start(gates=OBSERVED)
    cohort = a_cohort(lab)
    queue = cohort.queue({"whole-gpus": 1})
    cohort.write(parent=cohort.below().name)
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    assert lab.condition(job, "QuotaReserved") == ("False", "Suspended")
    assert lab.verdict(job) == inadmissible(Reason.QUEUE_STOPPED)

    cohort.write()

    assert lab.verdict(job) == admitted({"whole-gpus": 1})
