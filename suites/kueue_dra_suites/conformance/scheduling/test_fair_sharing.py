"""Fair sharing: the order by shares, and the preemption that shares allow (Kueue 0.19 with fairSharing configured)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.cohorts import a_cohort
from kueue_dra_fixtures.lab import Job, Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, pending
from kueue_dra_ref.verdict import Verdict

pytestmark = owns_kueue

FINAL, INITIAL = "LessThanOrEqualToFinalShare", "LessThanInitialShare"
ANY = {"reclaimWithinCohort": "Any"}


@covers("FAIR-002")
@pytest.mark.parametrize("weight", [pytest.param("1", id="weighted"), pytest.param("0", id="without-weight")])
def test_the_smaller_share_goes_first(lab: Lab, weight: str) -> None:
    """Of two borrowers, the one that has borrowed less gets the released quota, though it is younger."""
    lab.start(fair_sharing=[FINAL, INITIAL])
    cohort = a_cohort(lab)
    lender, greedy = cohort.queue({"whole-gpus": 4}), cohort.queue({"whole-gpus": 0}, fairSharing={"weight": weight})
    modest = cohort.queue({"whole-gpus": 0}, fairSharing={"weight": weight})
    greedy.submit(a_job(claims=[a_template(gpu(2))]))
    blocking = lender.submit(a_job(claims=[a_template(gpu(2))]))
    more = greedy.submit(a_job(claims=[a_template(gpu(2))]))
    first = modest.submit(a_job(claims=[a_template(gpu(2))]))

    lab.delete(blocking)

    assert lab.verdict(first) == admitted({"whole-gpus": 2})
    assert lab.admission(more) is None


@covers("FAIR-002")
def test_a_share_without_weight_is_the_largest(lab: Lab) -> None:
    """A queue of weight 0 waits for one that borrows more, though its own Job is older."""
    lab.start(fair_sharing=[FINAL, INITIAL])
    cohort = a_cohort(lab)
    lender, greedy = cohort.queue({"whole-gpus": 4}), cohort.queue({"whole-gpus": 0})
    weightless = cohort.queue({"whole-gpus": 0}, fairSharing={"weight": "0"})
    greedy.submit(a_job(claims=[a_template(gpu(2))]))
    blocking = lender.submit(a_job(claims=[a_template(gpu(2))]))
    older = weightless.submit(a_job(claims=[a_template(gpu(2))]))
    more = greedy.submit(a_job(claims=[a_template(gpu(2))]))

    lab.delete(blocking)

    assert lab.verdict(more) == admitted({"whole-gpus": 2})
    assert lab.admission(older) is None


def an_owner_and_a_borrower(lab: Lab, cpu: str = "", **asked: Any) -> tuple[Job, Job]:
    """Two Jobs that wait for one device: of a queue that owns one but borrows much cpu, and of one that borrows it.

    The one that borrows the device may ask for cpu of its own.
    """
    lab.start(fair_sharing=[FINAL, INITIAL])
    cohort = a_cohort(lab)
    lender = cohort.queue({"whole-gpus": 3, "cpu": 10})
    owner, borrower = cohort.queue({"whole-gpus": 1, "cpu": 0}), cohort.queue({"whole-gpus": 0, "cpu": cpu or 0})
    lender.submit(a_job(claims=[a_template(gpu(3))]))
    owner.submit(a_job(cpu="8"))
    blocking = borrower.submit(a_job(claims=[a_template(gpu())]))
    borrowing = borrower.submit(a_job(cpu=cpu, claims=[a_template(gpu())]))
    owning = owner.submit(a_job(claims=[a_template(gpu())], **asked))

    lab.delete(blocking)
    return owning, borrowing


@covers("FAIR-001")
def test_who_does_not_borrow_what_it_asks_for_goes_first(lab: Lab) -> None:
    """A queue gets its own devices before a borrower, though it has borrowed much of something else."""
    owning, borrowing = an_owner_and_a_borrower(lab)

    assert lab.verdict(owning) == admitted({"whole-gpus": 1})
    assert lab.admission(borrowing) is None


@covers("FAIR-001")
def test_who_borrows_only_some_of_what_it_asks_for_waits(lab: Lab) -> None:
    """Its cpu is its own, and its device is not."""
    owning, borrowing = an_owner_and_a_borrower(lab, cpu="1")

    assert lab.verdict(owning) == admitted({"whole-gpus": 1})
    assert lab.admission(borrowing) is None


@covers("FAIR-001", "FAIR-013")
def test_who_asks_for_none_of_what_it_borrows_goes_first(lab: Lab) -> None:
    """A Job that says that it asks for no cpu gets its queue's own device before a borrower."""
    owning, borrowing = an_owner_and_a_borrower(lab, requests={"cpu": "0"})

    assert lab.verdict(owning) == admitted({"cpu": "0", "whole-gpus": 1})
    assert lab.admission(borrowing) is None


@covers("FAIR-011")
def test_the_smaller_share_goes_even_before_who_borrows_nothing(lab: Lab) -> None:
    """A queue that has borrowed much of something else waits for its own devices behind a borrower."""
    owning, borrowing = an_owner_and_a_borrower(lab)

    assert lab.verdict(borrowing) == admitted({"whole-gpus": 1})
    assert lab.admission(owning) is None


def an_owner_and_a_neighbour(lab: Lab) -> tuple[Job, Job]:
    """Two Jobs that wait for one device: of a queue that owns it, and, more urgent, of one that borrows it nearby."""
    lab.start(fair_sharing=[FINAL, INITIAL])
    cohort = a_cohort(lab)
    near = cohort.below()
    near.queue({"whole-gpus": 4})
    owner, guest = cohort.queue({"whole-gpus": 4}), cohort.queue({"whole-gpus": 0})
    neighbour = near.queue({"whole-gpus": 0})
    guest.submit(a_job(claims=[a_template(gpu(7))]))
    blocking = guest.submit(a_job(claims=[a_template(gpu())]))
    owning = owner.submit(a_job(claims=[a_template(gpu())]))
    borrowing = neighbour.submit(a_job(priority=10, claims=[a_template(gpu())]))

    lab.delete(blocking)
    return owning, borrowing


@covers("FAIR-012")
def test_who_borrows_nearby_waits_for_who_does_not(lab: Lab) -> None:
    """A queue that borrows inside its own cohort, which has enough, waits for one outside that borrows nothing."""
    owning, borrowing = an_owner_and_a_neighbour(lab)

    assert lab.verdict(owning) == admitted({"whole-gpus": 1})
    assert lab.admission(borrowing) is None


@covers("FAIR-013")
def test_who_borrows_nearby_borrows_nothing_from_outside(lab: Lab) -> None:
    """A queue that borrows inside its own cohort, which has enough, goes before one outside that is less urgent."""
    owning, borrowing = an_owner_and_a_neighbour(lab)

    assert lab.verdict(borrowing) == admitted({"whole-gpus": 1})
    assert lab.admission(owning) is None


@covers("FAIR-008")
def test_the_higher_priority_goes_first_among_equal_shares(lab: Lab) -> None:
    """Of two workloads that borrow equally, the one with the higher priority gets the released quota."""
    lab.start(fair_sharing=[FINAL, INITIAL])
    cohort = a_cohort(lab)
    blocking = cohort.queue({"whole-gpus": 1}).submit(a_job(claims=[a_template(gpu())]))
    low = cohort.queue({"whole-gpus": 0}).submit(a_job(priority=1, claims=[a_template(gpu())]))
    high = cohort.queue({"whole-gpus": 0}).submit(a_job(priority=10, claims=[a_template(gpu())]))

    lab.delete(blocking)

    assert lab.verdict(high) == admitted({"whole-gpus": 1})
    assert lab.admission(low) is None


@covers("FAIR-009")
@pytest.mark.parametrize("first", [pytest.param(0, id="in-the-first-queue"), pytest.param(1, id="in-the-second-queue")])
def test_the_older_goes_first_among_equal_shares(lab: Lab, first: int) -> None:
    """Of two workloads that borrow equally, with equal priority, the older gets the released quota."""
    lab.start(fair_sharing=[FINAL, INITIAL])
    cohort = a_cohort(lab)
    blocking = cohort.queue({"whole-gpus": 1}).submit(a_job(claims=[a_template(gpu())]))
    queues = cohort.queue({"whole-gpus": 0}), cohort.queue({"whole-gpus": 0})
    older = queues[first].submit(a_job(claims=[a_template(gpu())]))
    younger = queues[1 - first].submit(a_job(claims=[a_template(gpu())]))

    lab.delete(blocking)

    assert lab.verdict(older) == admitted({"whole-gpus": 1})
    assert lab.admission(younger) is None


@covers("FAIR-003")
def test_nominal_quota_is_taken_back_whatever_the_shares_are(lab: Lab) -> None:
    """A queue that has borrowed much of something else still reclaims its own devices."""
    lab.start(fair_sharing=[FINAL, INITIAL])
    cohort = a_cohort(lab)
    cohort.queue({"whole-gpus": 3, "cpu": 10}).submit(a_job(claims=[a_template(gpu(3))]))
    owner = cohort.queue({"whole-gpus": 1, "cpu": 0}, preemption=ANY)
    owner.submit(a_job(cpu="8"))
    victim = cohort.queue({"whole-gpus": 0, "cpu": 0}).submit(a_job(claims=[a_template(gpu())]))
    job = owner.submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(job) == admitted({"whole-gpus": 1})
    assert lab.condition(victim, "Preempted") == ("True", "InCohortReclamation")


@covers("FAIR-004", "PREEMPT-009")
def test_who_borrows_nothing_any_more_gives_nothing_back(lab: Lab) -> None:
    """With one Job less, the borrower is within its quota: that does not suffice, so it keeps all three."""
    lab.start(fair_sharing=[FINAL, INITIAL])
    cohort = a_cohort(lab)
    owner = cohort.queue({"whole-gpus": 2}, preemption={"reclaimWithinCohort": "LowerPriority"})
    cohort.queue({"whole-gpus": 1}).submit(a_job(priority=9, claims=[a_template(gpu(2))]))
    borrower = cohort.queue({"whole-gpus": 2})
    borrowing = [borrower.submit(a_job(claims=[a_template(gpu())])) for _ in range(3)]
    job = owner.submit(a_job(priority=5, claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == pending(Reason.NO_QUOTA)
    assert [lab.verdict(each) for each in borrowing] == [admitted({"whole-gpus": 1})] * 3


@covers("FAIR-004", "PREEMPT-004")
def test_who_reclaims_takes_nothing_from_itself(lab: Lab) -> None:
    """A queue that borrows has no workload of its own to preempt, if only reclaiming is allowed."""
    lab.start(fair_sharing=[FINAL, INITIAL])
    cohort = a_cohort(lab)
    cohort.queue({"whole-gpus": 1})
    queue = cohort.queue({"whole-gpus": 1}, preemption=ANY)
    borrowing = queue.submit(a_job(claims=[a_template(gpu(2))]))
    job = queue.submit(a_job(priority=9, claims=[a_template(gpu())]))

    assert lab.verdict(job) == pending(Reason.NO_QUOTA)
    assert lab.verdict(borrowing) == admitted({"whole-gpus": 2})


@covers("FAIR-010")
def test_nominal_quota_is_taken_back_as_far_as_the_shares_allow(lab: Lab) -> None:
    """A queue that has borrowed much of something else does not get its own devices back."""
    lab.start(fair_sharing=[FINAL, INITIAL])
    cohort = a_cohort(lab)
    cohort.queue({"whole-gpus": 3, "cpu": 10}).submit(a_job(claims=[a_template(gpu(3))]))
    owner = cohort.queue({"whole-gpus": 1, "cpu": 0}, preemption=ANY)
    owner.submit(a_job(cpu="8"))
    borrower = cohort.queue({"whole-gpus": 0, "cpu": 0}).submit(a_job(claims=[a_template(gpu())]))
    job = owner.submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(job) == pending(Reason.NO_QUOTA)
    assert lab.verdict(borrower) == admitted({"whole-gpus": 1})


def what_a_cohort_cannot_lend_any_more(lab: Lab) -> tuple[Job, Job]:
    """The borrower of four devices below a cohort that may borrow nothing by now, and their owner's Job that waits."""
    lab.start(fair_sharing=[FINAL, INITIAL])
    cohort = a_cohort(lab)
    inner = cohort.below({"whole-gpus": 0})
    owner, guest = cohort.queue({"whole-gpus": 4}, preemption=ANY), inner.queue({"whole-gpus": 0})
    borrower = guest.submit(a_job(claims=[a_template(gpu(4))]))
    assert lab.verdict(borrower) == admitted({"whole-gpus": 4})

    inner.write(parent=cohort.name, quota={"whole-gpus": {"nominalQuota": 0, "borrowingLimit": 0}})
    return borrower, owner.submit(a_job(claims=[a_template(gpu(2))]))


@covers("FAIR-014")
def test_what_a_cohort_cannot_lend_any_more_is_kept(lab: Lab) -> None:
    """A queue keeps what it borrowed once its cohort may not borrow it any more: its share is zero then."""
    borrower, job = what_a_cohort_cannot_lend_any_more(lab)

    assert lab.verdict(job) == pending(Reason.NO_QUOTA)
    assert lab.verdict(borrower) == admitted({"whole-gpus": 4})


@covers("FAIR-015")
def test_what_a_cohort_cannot_lend_any_more_is_given_back(lab: Lab) -> None:
    """A ClusterQueue releases what it borrowed, though its cohort may not borrow it any more."""
    borrower, job = what_a_cohort_cannot_lend_any_more(lab)

    assert lab.verdict(job) == admitted({"whole-gpus": 2})
    assert lab.condition(borrower, "Preempted") == ("True", "InCohortReclamation")


@covers("FAIR-004", "FAIR-005", "FAIR-006")
@pytest.mark.parametrize(
    ("strategies", "held", "verdict"),
    [
        pytest.param([FINAL], 1, admitted({"whole-gpus": 1}), id="as-much-as-the-other-keeps"),
        pytest.param([FINAL], 2, pending(Reason.NO_QUOTA), id="more-than-the-other-keeps"),
        pytest.param([INITIAL], 2, admitted({"whole-gpus": 1}), id="less-than-the-other-had"),
        pytest.param([FINAL, INITIAL], 2, admitted({"whole-gpus": 1}), id="by-the-second-strategy"),
    ],
)
def test_shares_decide_who_preempts(lab: Lab, strategies: list[str], held: int, verdict: Verdict) -> None:
    """A borrower takes a workload from one that borrows two devices if its own share does not become unfair by it."""
    lab.start(fair_sharing=strategies)
    cohort = a_cohort(lab)
    cohort.queue({"whole-gpus": 2})
    other = cohort.queue({"whole-gpus": 0})
    other.submit(a_job(claims=[a_template(gpu(held))]))
    other.submit(a_job(claims=[a_template(gpu())]))
    job = cohort.queue({"whole-gpus": 0}, preemption=ANY).submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(job) == verdict


@covers("FAIR-003")
def test_a_queue_that_borrows_cpu_takes_no_device_back(lab: Lab) -> None:
    """It is short of both, and its share is the largest."""
    lab.start(fair_sharing=[FINAL, INITIAL])
    cohort = a_cohort(lab)
    cohort.queue({"whole-gpus": 6, "cpu": 4}).submit(a_job(claims=[a_template(gpu(6))]))
    owner = cohort.queue({"whole-gpus": 2, "cpu": 0}, preemption=ANY)
    owner.submit(a_job(cpu="3"))
    borrower = cohort.queue({"whole-gpus": 0, "cpu": 0}).submit(a_job(cpu="1", claims=[a_template(gpu(2))]))
    job = owner.submit(a_job(cpu="1", claims=[a_template(gpu())]))

    assert lab.verdict(job) == pending(Reason.NO_QUOTA)
    assert lab.preemptions(borrower) == 0


@covers("FAIR-006")
def test_an_equal_share_is_no_reason_to_preempt(lab: Lab) -> None:
    """By its initial share, a borrower keeps what the other would have as much of."""
    lab.start(fair_sharing=[INITIAL])
    cohort = a_cohort(lab)
    cohort.queue({"whole-gpus": 1})
    cohort.queue({"whole-gpus": 0}).submit(a_job(claims=[a_template(gpu())]))
    job = cohort.queue({"whole-gpus": 0}, preemption=ANY).submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(job) == pending(Reason.NO_QUOTA)


@covers("FAIR-004", "PREEMPT-024")
def test_a_victim_is_told_that_shares_were_unfair(lab: Lab) -> None:
    """The reason is fair sharing."""
    lab.start(fair_sharing=[INITIAL])
    cohort = a_cohort(lab)
    cohort.queue({"whole-gpus": 2})
    victim = cohort.queue({"whole-gpus": 0}).submit(a_job(claims=[a_template(gpu(2))]))
    cohort.queue({"whole-gpus": 0}, preemption=ANY).submit(a_job(claims=[a_template(gpu())]))

    assert lab.condition(victim, "Preempted") == ("True", "InCohortFairSharing")


@covers("FAIR-007")
@pytest.mark.parametrize(
    ("weight", "share"),
    [
        pytest.param("1", 334, id="a-third-rounded-up"),
        pytest.param("2", 167, id="halved-by-weight"),
        pytest.param("0", 9223372036854775807, id="infinite-without-weight"),
    ],
)
def test_the_status_shows_the_share(lab: Lab, weight: str, share: int) -> None:
    """A queue that has borrowed one of three devices has a third of a share of 1000, divided by its weight."""
    lab.start(fair_sharing=[FINAL])
    cohort = a_cohort(lab)
    cohort.queue({"whole-gpus": 3})
    queue = cohort.queue({"whole-gpus": 0}, fairSharing={"weight": weight})
    queue.submit(a_job(claims=[a_template(gpu())]))

    assert queue.figures.share == share


@covers("FAIR-007")
@pytest.mark.parametrize("weight", [pytest.param("1", id="weighted"), pytest.param("0", id="without-weight")])
def test_who_borrows_nothing_has_no_share(lab: Lab, weight: str) -> None:
    """A queue that uses its own devices only has a share of 0, even without weight."""
    lab.start(fair_sharing=[FINAL])
    cohort = a_cohort(lab)
    cohort.queue({"whole-gpus": 3})
    queue = cohort.queue({"whole-gpus": 1}, fairSharing={"weight": weight})
    queue.submit(a_job(claims=[a_template(gpu())]))

    assert queue.figures.share == 0


@covers("FAIR-003")
def test_of_equal_shares_that_of_a_cohort_gives_way(lab: Lab) -> None:
    """A queue and a cohort next to it borrow as much as each other: the cohort loses a workload."""
    lab.start(fair_sharing=[FINAL, INITIAL])
    root = a_cohort(lab)
    owner, near = root.queue({"whole-gpus": 4}, preemption=ANY), root.queue({"whole-gpus": 0})
    inside = root.below().queue({"whole-gpus": 0})
    kept = near.submit(a_job(claims=[a_template(gpu(2))]))
    lost = inside.submit(a_job(claims=[a_template(gpu(2))]))
    job = owner.submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(job) == admitted({"whole-gpus": 1})
    assert lab.condition(lost, "Preempted") == ("True", "InCohortReclamation")
    assert lab.verdict(kept) == admitted({"whole-gpus": 2})


@covers("FAIR-004", "PREEMPT-015")
def test_of_equal_shares_that_with_the_lowest_priority_gives_way(lab: Lab) -> None:
    """Of two queues that borrow as much, one has the least urgent Job, though its other Job is the most urgent."""
    lab.start(fair_sharing=[FINAL, INITIAL])
    cohort = a_cohort(lab)
    owner = cohort.queue({"whole-gpus": 4}, preemption=ANY)
    far, near = (cohort.queue({"whole-gpus": 0}) for _ in range(2))
    victims = [far.submit(a_job(priority=each, claims=[a_template(gpu())])) for each in (5, 1)]
    others = [near.submit(a_job(priority=each, claims=[a_template(gpu())])) for each in (3, 4)]
    job = owner.submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(job) == admitted({"whole-gpus": 1})
    assert [lab.preemptions(each) for each in (*victims, *others)] == [0, 1, 0, 0]


@covers("FAIR-004", "PREEMPT-014")
def test_of_equal_shares_that_of_another_queue_gives_way(lab: Lab) -> None:
    """A queue would take from its own Job as well; the other queue borrows as much cpu as it would borrow devices."""
    lab.start(fair_sharing=[FINAL, INITIAL])
    cohort = a_cohort(lab)
    cohort.queue({"whole-gpus": 4, "cpu": 4}).submit(a_job(claims=[a_template(gpu(2))]))
    near = cohort.queue({"whole-gpus": 0, "cpu": 0}, preemption={**ANY, "withinClusterQueue": "LowerPriority"})
    far = cohort.queue({"whole-gpus": 0, "cpu": 0})
    far.submit(a_job(cpu="2"))
    lost = far.submit(a_job(claims=[a_template(gpu())]))
    kept = near.submit(a_job(claims=[a_template(gpu())]))
    job = near.submit(a_job(priority=5, claims=[a_template(gpu())]))

    assert lab.verdict(job) == admitted({"whole-gpus": 1})
    assert [lab.preemptions(each) for each in (lost, kept)] == [1, 0]


@covers("FAIR-004")
def test_a_cohort_within_its_quota_gives_back_to_its_own_queue(lab: Lab) -> None:
    """A queue takes back from a neighbor of its cohort, which lends nothing to anybody else."""
    lab.start(fair_sharing=[FINAL, INITIAL])
    root = a_cohort(lab)
    root.queue({"whole-gpus": 0})
    cohort = root.below()
    owner, neighbour = cohort.queue({"whole-gpus": 1}, preemption=ANY), cohort.queue({"whole-gpus": 0})
    borrower = neighbour.submit(a_job(claims=[a_template(gpu())]))
    job = owner.submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(job) == admitted({"whole-gpus": 1})
    assert lab.preemptions(borrower) == 1
