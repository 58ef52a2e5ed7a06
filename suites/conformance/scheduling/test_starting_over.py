"""A preemptor whose victims have yet to give their quota back (Kueue 0.19, scheduler)."""

from __future__ import annotations

from fixtures.builders import a_job, a_template, gpu
from fixtures.cohorts import a_cohort
from fixtures.lab import Lab
from fixtures.marks import covers, owns_kueue
from fixtures.verdicts import admitted

FAIR = ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]
FUNGIBILITY = {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"}
PREEMPTION = {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}


@owns_kueue
@covers("PREEMPT-044")
def test_a_preemptor_starts_over_before_its_victims_give_back(lab: Lab) -> None:
    """One that has taken a victim in the second flavor goes back to the first, and takes another one there."""
    lab.start(fair_sharing=FAIR)
    cohort, second = a_cohort(lab), lab.flavor("second")
    cohort.queue({"whole-gpus": 6}, {second: {"whole-gpus": 2}})
    mine = cohort.queue(
        {"cpu": 3, "whole-gpus": 2},
        {second: {"cpu": 3, "whole-gpus": 1}},
        flavorFungibility=FUNGIBILITY,
        preemption=PREEMPTION,
    )
    theirs = cohort.queue({"cpu": 3}, {second: {"cpu": 3}})
    mine.submit(a_job(priority=10, claims=[a_template(gpu(2))]))
    reclaimed = theirs.submit(a_job(priority=100, cpu="6"))
    moved = mine.submit(a_job(cpu="4"))
    job = mine.submit(a_job(priority=100, cpu="3", claims=[a_template(gpu(3))]))

    assert lab.verdict(job) == admitted({"cpu": "3", "whole-gpus": 3})
    assert lab.flavors(job) == {"main": {"cpu": second, "whole-gpus": second}}
    assert lab.flavors(moved) == {"main": {"cpu": cohort.flavor}}
    assert lab.condition(reclaimed, "Preempted") == ("True", "InCohortReclamation")
