"""Preemption in a cohort: taking back what was lent, and preempting while borrowing (Kueue 0.19)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.cohorts import a_cohort
from kueue_dra_fixtures.lab import Job, Lab, Queue
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import Reason, admitted, pending
from kueue_dra_ref.verdict import Verdict

LOWER, ANY = {"reclaimWithinCohort": "LowerPriority"}, {"reclaimWithinCohort": "Any"}


BORROWING = {**LOWER, "borrowWithinCohort": {"policy": "LowerPriority"}}
BORROWING_ANY = {**ANY, "borrowWithinCohort": {"policy": "LowerPriority"}}


@covers("PREEMPT-006", "PREEMPT-007")
@pytest.mark.parametrize(
    ("policy", "priority", "verdict"),
    [
        pytest.param(LOWER, 11, admitted({"whole-gpus": 1}), id="from-lower-priorities"),
        pytest.param(LOWER, 10, pending(Reason.NO_QUOTA), id="not-from-equal-ones"),
        pytest.param(ANY, 10, admitted({"whole-gpus": 1}), id="from-equal-ones-with-any"),
        pytest.param(ANY, 1, admitted({"whole-gpus": 1}), id="from-higher-ones-with-any"),
        pytest.param({}, 11, pending(Reason.NO_QUOTA), id="not-without-a-policy"),
    ],
)
def test_what_was_lent_is_taken_back(lab: Lab, policy: dict[str, str], priority: int, verdict: Verdict) -> None:
    """A queue reclaims its nominal quota from borrowers, as far as its policy goes."""
    cohort = a_cohort(lab)
    owner = cohort.queue({"whole-gpus": 1}, preemption=policy)
    lent = cohort.queue({"whole-gpus": 0}).submit(a_job(priority=10, claims=[a_template(gpu())]))
    assert lab.verdict(lent) == admitted({"whole-gpus": 1})

    job = owner.submit(a_job(priority=priority, claims=[a_template(gpu())]))

    assert lab.verdict(job) == verdict


def an_owner_of_cpu_that_borrows_memory(lab: Lab) -> tuple[Queue, Job]:
    """A queue that uses one of its four cores and all of a lender's memory, and the lender's Job that uses the rest."""
    cohort = a_cohort(lab)
    owner = cohort.queue({"cpu": 4, "memory": "1Gi"}, preemption=ANY)
    lender = cohort.queue({"cpu": 2, "memory": "4Gi"})
    owner.submit(a_job(requests={"cpu": "1", "memory": "2Gi"}))
    return owner, lender.submit(a_job(requests={"cpu": "5", "memory": "1Gi"}))


@covers("PREEMPT-037")
def test_none_of_what_is_borrowed_does_not_matter(lab: Lab) -> None:
    """A Job that asks for no memory gets its queue's own cores back, though the queue borrows memory."""
    owner, borrower = an_owner_of_cpu_that_borrows_memory(lab)
    job = owner.submit(a_job(priority=10, requests={"cpu": "2", "memory": "0"}))

    assert lab.verdict(job) == admitted({"cpu": "2", "memory": "0"})
    assert lab.condition(borrower, "Preempted") == ("True", "InCohortReclamation")


@covers("PREEMPT-038")
@pytest.mark.parametrize(
    ("requests", "verdict"),
    [
        pytest.param({"cpu": "2", "memory": "0"}, pending(Reason.NO_QUOTA), id="none"),
        pytest.param({"cpu": "2"}, admitted({"cpu": "2"}), id="not-mentioned"),
    ],
)
def test_even_none_of_what_is_borrowed_matters(lab: Lab, requests: dict[str, str], verdict: Verdict) -> None:
    """A Job that says that it asks for no memory waits for its queue's own cores while the queue borrows memory."""
    owner, _ = an_owner_of_cpu_that_borrows_memory(lab)
    job = owner.submit(a_job(priority=10, requests=requests))

    assert lab.verdict(job) == verdict


@covers("PREEMPT-023", "PREEMPT-024")
def test_a_borrower_is_told_that_it_was_reclaimed_from(lab: Lab) -> None:
    """The reason is reclamation, and the paths contain the cohort."""
    cohort = a_cohort(lab)
    owner, borrower = cohort.queue({"whole-gpus": 1}, preemption=ANY), cohort.queue({"whole-gpus": 0})
    victim = borrower.submit(a_job(claims=[a_template(gpu())]))
    owner.submit(a_job(claims=[a_template(gpu())]))

    assert lab.condition(victim, "Preempted") == ("True", "InCohortReclamation")
    assert lab.message(victim, "Preempted").endswith(
        f"due to reclamation within the cohort; preemptor path: /{cohort.name}/{owner.cluster}; "
        f"preemptee path: /{cohort.name}/{borrower.cluster}"
    )


@covers("PREEMPT-008")
def test_who_borrows_one_of_two_resources_gives_way(lab: Lab) -> None:
    """A Job needs the cores of a Job of its queue, and devices of one that borrows devices, but no cores."""
    cohort = a_cohort(lab)
    owner = cohort.queue({"cpu": 5, "whole-gpus": 2}, preemption={**ANY, "withinClusterQueue": "LowerPriority"})
    lender = cohort.queue({"cpu": 4, "whole-gpus": 2})
    owner.submit(a_job(requests={"cpu": "4"}))
    borrower = lender.submit(a_job(requests={"cpu": "4"}, claims=[a_template(gpu(4))]))
    job = owner.submit(a_job(priority=10, requests={"cpu": "3"}, claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == admitted({"cpu": "3", "whole-gpus": 2})
    assert lab.condition(borrower, "Preempted") == ("True", "InCohortReclamation")


@covers("PREEMPT-008")
def test_who_does_not_borrow_is_left_alone(lab: Lab) -> None:
    """A queue within its nominal quota loses nothing to another queue, whatever the priorities are."""
    cohort = a_cohort(lab)
    owner = cohort.queue({"whole-gpus": 1}, preemption=BORROWING_ANY)
    bystander = cohort.queue({"whole-gpus": 1}).submit(a_job(claims=[a_template(gpu())]))
    owner.submit(a_job(priority=10, claims=[a_template(gpu())]))
    job = owner.submit(a_job(priority=10, claims=[a_template(gpu())]))

    assert lab.verdict(job) == pending(Reason.NO_QUOTA)
    assert lab.verdict(bystander) == admitted({"whole-gpus": 1})
    assert lab.condition(bystander, "Preempted") is None


@covers("PREEMPT-009")
def test_reclaiming_ends_when_nothing_is_borrowed_any_more(lab: Lab) -> None:
    """Of two workloads of a borrower only the one beyond its quota is preempted."""
    cohort = a_cohort(lab)
    owner, borrower = cohort.queue({"whole-gpus": 1}, preemption=ANY), cohort.queue({"whole-gpus": 1})
    kept = borrower.submit(a_job(claims=[a_template(gpu())]))
    lost = borrower.submit(a_job(claims=[a_template(gpu())]))
    first = owner.submit(a_job(claims=[a_template(gpu())]))
    second = owner.submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(first) == admitted({"whole-gpus": 1})
    assert lab.verdict(second) == pending(Reason.NO_QUOTA)
    assert lab.verdict(kept) == admitted({"whole-gpus": 1})
    assert lab.condition(lost, "Preempted") == ("True", "InCohortReclamation")


@covers("PREEMPT-010", "PREEMPT-024")
@pytest.mark.parametrize(
    ("policy", "verdict", "ground"),
    [
        pytest.param(LOWER, pending(Reason.NO_QUOTA), None, id="reclaim-only"),
        pytest.param(
            BORROWING, admitted({"whole-gpus": 1}), ("True", "InCohortReclaimWhileBorrowing"), id="while-borrowing"
        ),
    ],
)
def test_a_borrower_preempts_a_borrower_only_where_it_is_let(
    lab: Lab, policy: dict[str, Any], verdict: Verdict, ground: tuple[str, str] | None
) -> None:
    """A workload beyond its nominal quota takes from another borrower only with borrowWithinCohort."""
    cohort = a_cohort(lab)
    cohort.queue({"whole-gpus": 1})
    victim = cohort.queue({"whole-gpus": 0}).submit(a_job(claims=[a_template(gpu())]))
    job = cohort.queue({"whole-gpus": 0}, preemption=policy).submit(a_job(priority=10, claims=[a_template(gpu())]))

    assert lab.verdict(job) == verdict
    assert lab.condition(victim, "Preempted") == ground


@covers("PREEMPT-011")
def test_a_borrower_preempts_lower_priorities_only(lab: Lab) -> None:
    """Even where any priority may be reclaimed from, a borrower takes nothing from an equal."""
    cohort = a_cohort(lab)
    cohort.queue({"whole-gpus": 1})
    equal = cohort.queue({"whole-gpus": 0}).submit(a_job(priority=10, claims=[a_template(gpu())]))
    borrower = cohort.queue({"whole-gpus": 0}, preemption=BORROWING_ANY)
    job = borrower.submit(a_job(priority=10, claims=[a_template(gpu())]))

    assert lab.verdict(job) == pending(Reason.NO_QUOTA)
    assert lab.verdict(equal) == admitted({"whole-gpus": 1})
    assert lab.condition(equal, "Preempted") is None


@covers("PREEMPT-012")
@pytest.mark.parametrize(
    ("threshold", "verdict"),
    [
        pytest.param(4, pending(Reason.NO_QUOTA), id="below-the-victim"),
        pytest.param(5, admitted({"whole-gpus": 1}), id="at-the-victim"),
    ],
)
def test_a_threshold_protects_from_borrowers(lab: Lab, threshold: int, verdict: Verdict) -> None:
    """A priority above the threshold is not preempted for a borrower."""
    cohort = a_cohort(lab)
    cohort.queue({"whole-gpus": 1})
    cohort.queue({"whole-gpus": 0}).submit(a_job(priority=5, claims=[a_template(gpu())]))
    policy = {**LOWER, "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": threshold}}
    borrower = cohort.queue({"whole-gpus": 0}, preemption=policy)
    job = borrower.submit(a_job(priority=10, claims=[a_template(gpu())]))

    assert lab.verdict(job) == verdict


@covers("PREEMPT-014")
def test_other_queues_give_back_before_the_own(lab: Lab) -> None:
    """Before a queue preempts its own workload, it takes from another borrower, though that has a higher priority."""
    cohort = a_cohort(lab)
    cohort.queue({"whole-gpus": 2})
    queue = cohort.queue({"whole-gpus": 0}, preemption={**BORROWING, "withinClusterQueue": "LowerPriority"})
    other = cohort.queue({"whole-gpus": 0}).submit(a_job(priority=5, claims=[a_template(gpu())]))
    own = queue.submit(a_job(priority=1, claims=[a_template(gpu())]))
    job = queue.submit(a_job(priority=10, claims=[a_template(gpu())]))

    assert lab.verdict(job) == admitted({"whole-gpus": 1})
    assert lab.condition(other, "Preempted") == ("True", "InCohortReclaimWhileBorrowing")
    assert lab.condition(own, "Preempted") is None


@covers("PREEMPT-014", "PREEMPT-010")
def test_other_queues_give_back_before_the_own_where_borrowing_would_do(lab: Lab) -> None:
    """A queue below its quota takes back what it lent and one own device; with two of its own it would not need to."""
    cohort = a_cohort(lab)
    queue = cohort.queue({"whole-gpus": 4}, preemption={**LOWER, "withinClusterQueue": "LowerPriority"})
    other = cohort.queue({"whole-gpus": 2})
    own = [queue.submit(a_job(priority=1, claims=[a_template(gpu())])) for _ in range(3)]
    theirs = [other.submit(a_job(priority=5, claims=[a_template(gpu())])) for _ in range(3)]
    job = queue.submit(a_job(priority=10, claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == admitted({"whole-gpus": 2})
    assert [lab.admission(each) is not None for each in own].count(True) == 2
    assert lab.condition(theirs[-1], "Preempted") == ("True", "InCohortReclamation")


@covers("PREEMPT-007")
def test_who_is_stopped_keeps_what_it_borrowed(lab: Lab) -> None:
    """Nothing is reclaimed from a queue on hold, though its workload runs on."""
    cohort = a_cohort(lab)
    owner, borrower = cohort.queue({"whole-gpus": 1}, preemption=ANY), cohort.queue({"whole-gpus": 0})
    lent = borrower.submit(a_job(claims=[a_template(gpu())]))
    borrower.change(stopPolicy="Hold")
    job = owner.submit(a_job(priority=10, claims=[a_template(gpu())]))

    assert lab.verdict(job) == pending(Reason.NO_QUOTA)
    assert lab.verdict(lent) == admitted({"whole-gpus": 1})

    borrower.change(stopPolicy="None")

    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@covers("PREEMPT-010", "PREEMPT-014")
def test_who_borrows_all_the_same_preempts_its_own(lab: Lab) -> None:
    """A queue below its quota needs more than that for a Job: its own Job goes, and the other borrower stays."""
    cohort = a_cohort(lab)
    cohort.queue({"whole-gpus": 2})
    queue = cohort.queue({"whole-gpus": 3}, preemption={**LOWER, "withinClusterQueue": "LowerPriority"})
    queue.submit(a_job(priority=20, claims=[a_template(gpu())]))
    own = queue.submit(a_job(priority=1, claims=[a_template(gpu())]))
    other = cohort.queue({"whole-gpus": 0}).submit(a_job(priority=5, claims=[a_template(gpu())]))
    job = queue.submit(a_job(priority=10, claims=[a_template(gpu(3))]))

    assert lab.verdict(job) == admitted({"whole-gpus": 3})
    assert lab.condition(own, "Preempted") == ("True", "InClusterQueue")
    assert lab.verdict(other) == admitted({"whole-gpus": 1})


@covers("PREEMPT-010")
@pytest.mark.parametrize(
    ("devices", "verdict"),
    [
        pytest.param(1, pending(Reason.NO_QUOTA), id="all-of-its-quota"),
        pytest.param(2, admitted({"cpu": "2", "whole-gpus": 2}), id="less-than-its-quota"),
    ],
)
def test_who_uses_all_of_one_quota_does_not_take_back_another(lab: Lab, devices: int, verdict: Verdict) -> None:
    """A queue has lent its cores, and uses one of its devices, which a Job needs as well as the cores."""
    cohort = a_cohort(lab)
    quota = {"cpu": 2, "whole-gpus": devices}
    queue = cohort.queue(quota, preemption={**LOWER, "withinClusterQueue": "LowerPriority"})
    borrower = cohort.queue({"cpu": 0, "whole-gpus": 0}).submit(a_job(requests={"cpu": "2"}))
    queue.submit(a_job(requests={"cpu": "0"}, claims=[a_template(gpu())]))
    job = queue.submit(a_job(priority=10, requests={"cpu": "2"}, claims=[a_template(gpu(devices))]))

    assert lab.verdict(job) == verdict
    assert (lab.condition(borrower, "Preempted") is None) == (devices == 1)
