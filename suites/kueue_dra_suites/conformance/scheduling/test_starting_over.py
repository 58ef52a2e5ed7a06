"""A preemptor whose victims have yet to give their quota back (Kueue 0.19, scheduler)."""

from __future__ import annotations

from kueue_dra_fixtures.builders import a_job, a_pod_set, a_template, a_workload, gpu
from kueue_dra_fixtures.cohorts import a_cohort
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import admitted

FAIR = ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]
FUNGIBILITY = {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"}
PREEMPTION = {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "LowerPriority"}


@owns_kueue
@covers("PREEMPT-044")
def test_a_preemptor_starts_over_before_its_victims_give_back(lab: Lab) -> None:
    """A preemptor with victims in the second flavor goes back to the first, and takes its first victim once more.

    There are five victims, so that the last of them releases its quota long after the next cycle.
    """
    lab.start(fair_sharing=FAIR)
    cohort, second = a_cohort(lab), lab.flavor("second")
    cohort.queue({"whole-gpus": 6}, {second: {"whole-gpus": 6}})
    mine = cohort.queue(
        {"cpu": 5, "whole-gpus": 2},
        {second: {"cpu": 5, "whole-gpus": 1}},
        flavorFungibility=FUNGIBILITY,
        preemption=PREEMPTION,
    )
    theirs = cohort.queue({"cpu": 2}, {second: {"cpu": 2}})
    mine.submit(a_job(priority=10, claims=[a_template(gpu(2))]))
    reclaimed = theirs.submit(a_job(priority=50, cpu="7"))
    mine.submit(a_job(priority=10, cpu="2"))
    moved = [mine.submit(a_job(cpu="1")) for _ in range(5)]
    job = mine.submit(a_job(priority=100, cpu="5", claims=[a_template(gpu(6))]))

    assert lab.verdict(job) == admitted({"cpu": "5", "whole-gpus": 6})
    assert lab.preemptions(reclaimed) > max(lab.preemptions(each) for each in moved)


@owns_kueue
@covers("PREEMPT-045")
def test_who_has_just_been_admitted_is_not_preempted(lab: Lab) -> None:
    """With fewer pods the preemptor need not borrow, with more it has to let its victim go first."""
    lab.start(fair_sharing=FAIR)
    cohort = a_cohort(lab)
    theirs, mine = cohort.queue({"cpu": 3}), cohort.queue({"cpu": 3}, preemption={"reclaimWithinCohort": "Any"})
    victim = theirs.submit(a_job(pods=2, cpu="2"))
    job = mine.submit(a_workload(a_pod_set("first", cpu="1"), a_pod_set("more", pods=3, least=1, cpu="2")))

    assert lab.condition(victim, "Evicted") == ("False", "QuotaReserved")
    assert lab.admission(job) is None
