"""Heads of several queues in one scheduling cycle: their order, and the heads that do not fit (Kueue 0.19)."""

from __future__ import annotations

import re

import pytest

from kueue_dra_fixtures.builders import a_job, a_pod_set, a_template, a_workload, gpu
from kueue_dra_fixtures.cohorts import Cohort, a_cohort
from kueue_dra_fixtures.lab import Job, Lab
from kueue_dra_fixtures.manifests import a_quota
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import Reason, admitted, pending
from kueue_dra_ref.verdict import Verdict


@covers("COHORT-013")
def test_who_does_not_borrow_goes_first(lab: Lab) -> None:
    """Released quota goes to its own queue, though the borrower is older and has a higher priority."""
    cohort = a_cohort(lab)
    borrower, owner = cohort.queue({"whole-gpus": 0}), cohort.queue({"whole-gpus": 1})
    first = borrower.submit(a_job(claims=[a_template(gpu())]))
    borrowing = borrower.submit(a_job(priority=10, claims=[a_template(gpu())]))
    owning = owner.submit(a_job(claims=[a_template(gpu())]))

    lab.delete(first)

    assert lab.verdict(owning) == admitted({"whole-gpus": 1})
    assert lab.admission(borrowing) is None


@covers("COHORT-013")
@pytest.mark.parametrize(
    "empty",
    [pytest.param(2, id="two-empty-cohorts-below"), pytest.param(1, id="one-is-as-flat", marks=covers("COHORT-015"))],
)
def test_who_borrows_in_the_flatter_cohort_goes_first(lab: Lab, empty: int) -> None:
    """Each could borrow within its cohort, but only one device is left in the tree; the older one is in the deeper."""
    root = a_cohort(lab)
    flat, deep = root.below(), root.below()
    lowest = deep
    for _ in range(empty):
        lowest = lowest.below()
    for cohort in (flat, deep):
        cohort.queue({"whole-gpus": 1})
    borrower = root.queue({"whole-gpus": 0})
    blocking, _ = (borrower.submit(a_job(claims=[a_template(gpu())])) for _ in range(2))
    older, younger = (
        cohort.queue({"whole-gpus": 0}).submit(a_job(claims=[a_template(gpu())])) for cohort in (deep, flat)
    )

    lab.delete(blocking)

    first, second = (older, younger) if empty == 1 else (younger, older)
    assert lab.verdict(first) == admitted({"whole-gpus": 1})
    assert lab.admission(second) is None


@covers("COHORT-014", "COHORT-016")
def test_the_higher_priority_goes_first_among_queues(lab: Lab) -> None:
    """Of two borrowers, the one with the higher priority gets the released quota; the other stays pending."""
    cohort = a_cohort(lab)
    lender = cohort.queue({"whole-gpus": 1})
    first = lender.submit(a_job(claims=[a_template(gpu())]))
    low = cohort.queue({"whole-gpus": 0}).submit(a_job(priority=1, claims=[a_template(gpu())]))
    high = cohort.queue({"whole-gpus": 0}).submit(a_job(priority=10, claims=[a_template(gpu())]))

    lab.delete(first)

    assert lab.verdict(high) == admitted({"whole-gpus": 1})
    assert lab.admission(low) is None


@covers("COHORT-015", "COHORT-016")
@pytest.mark.parametrize("first", [pytest.param(0, id="in-the-first-queue"), pytest.param(1, id="in-the-second-queue")])
def test_the_older_goes_first_among_queues(lab: Lab, first: int) -> None:
    """Of two borrowers with equal priority, the one created first gets the released quota."""
    cohort = a_cohort(lab)
    lender = cohort.queue({"whole-gpus": 1})
    blocking = lender.submit(a_job(claims=[a_template(gpu())]))
    queues = cohort.queue({"whole-gpus": 0}), cohort.queue({"whole-gpus": 0})
    older = queues[first].submit(a_job(claims=[a_template(gpu())]))
    younger = queues[1 - first].submit(a_job(claims=[a_template(gpu())]))

    lab.delete(blocking)

    assert lab.verdict(older) == admitted({"whole-gpus": 1})
    assert lab.admission(younger) is None


def flavors_in_message(lab: Lab, job: Job) -> list[str]:
    """The flavors in the message of a pending workload."""
    return re.findall(r"flavor ([^,]+),", lab.message(job))


@covers("COHORT-011")
def test_who_loses_a_flavor_goes_on_with_the_next(lab: Lab) -> None:
    """The message of a workload that loses a cycle lists the flavors behind the one that it lost."""
    cohort = a_cohort(lab)
    behind = lab.flavor("behind")
    lender = cohort.queue({"whole-gpus": 1}, {behind: {"whole-gpus": 0}})
    first = lender.submit(a_job(claims=[a_template(gpu())]))
    winner = cohort.queue({"whole-gpus": 0}, {behind: {"whole-gpus": 0}}).submit(a_job(claims=[a_template(gpu())]))
    loser = cohort.queue({"whole-gpus": 0}, {behind: {"whole-gpus": 0}}).submit(a_job(claims=[a_template(gpu())]))
    assert cohort.flavor in lab.message(loser)

    lab.delete(first)

    assert lab.verdict(winner) == admitted({"whole-gpus": 1})
    assert flavors_in_message(lab, loser) == [behind]


@covers("COHORT-021")
def test_who_loses_a_flavor_begins_again(lab: Lab) -> None:
    """The message of a workload that loses a cycle lists all flavors, the lost one too, with new amounts."""
    cohort = a_cohort(lab)
    behind = lab.flavor("behind")
    lender = cohort.queue({"whole-gpus": 2}, {behind: {"whole-gpus": 0}})
    first = lender.submit(a_job(claims=[a_template(gpu(2))]))
    cohort.queue({"whole-gpus": 0}, {behind: {"whole-gpus": 0}}).submit(a_job(claims=[a_template(gpu())]))
    loser = cohort.queue({"whole-gpus": 0}, {behind: {"whole-gpus": 0}}).submit(a_job(claims=[a_template(gpu(2))]))

    lab.delete(first)

    assert set(flavors_in_message(lab, loser)) == {cohort.flavor, behind}


@covers("COHORT-022")
def test_who_waits_for_one_group_goes_on_with_the_flavors_of_another(lab: Lab) -> None:
    """A flavor that would do is left behind, and so is what CPU is short of; the last word is of the next flavor."""
    cpu, does, too_small = lab.flavor("cpu"), lab.flavor("does"), lab.flavor("too-small")
    queue = lab.queue(groups=[{cpu: {"cpu": 1}}, {does: {"whole-gpus": 2}}])
    queue.submit(a_job(requests={"cpu": "1"}))
    waiting = queue.submit(a_job(requests={"cpu": "1"}, claims=[a_template(gpu(2))]))
    assert flavors_in_message(lab, waiting) == [cpu]

    queue.regroup({cpu: {"cpu": 1}}, {does: {"whole-gpus": 2}, too_small: {"whole-gpus": 1}})

    assert flavors_in_message(lab, waiting) == [too_small]


@covers("COHORT-022")
@pytest.mark.parametrize(
    "tried",
    [
        pytest.param(False, id="goes-on", marks=covers("COHORT-026")),
        pytest.param(True, id="starts-over", marks=covers("COHORT-027")),
    ],
)
def test_the_search_of_a_head_after_quota_is_released(lab: Lab, tried: bool) -> None:
    """Its pod sets lack CPU, and try the flavors of GPUs in turn; if both begin at the first, they end together.

    More urgent work that never fits comes between two attempts, which changes nothing.
    """
    cpu, others = lab.flavor("cpu"), {lab.flavor(each): {"whole-gpus": 4} for each in ("first", "second")}
    queue = lab.queue(groups=[{cpu: {"cpu": 3}}, others], preemption={"withinClusterQueue": "LowerPriority"})
    one, two = a_template(gpu()), a_template(gpu(2))
    queue.submit(a_job(requests={"cpu": "2"}, claims=[two]))
    job = queue.submit(a_job(requests={"cpu": "1"}, claims=[one]))
    queue.submit(a_workload(*(a_pod_set(each, cpu="1", claims=[one]) for each in ("first", "main"))))
    behind = queue.submit(a_job(requests={"cpu": "2"}, claims=[two]))
    assert lab.condition(behind, "QuotaReserved") is None

    lab.delete(job)
    queue.submit(a_job(priority=10, requests={"cpu": "4"}))

    assert (lab.condition(behind, "QuotaReserved") is not None) is tried


@covers("PREEMPT-018")
def test_who_cannot_reclaim_keeps_others_from_its_quota(lab: Lab) -> None:
    """The head of a StrictFIFO queue that waits for what it lent does not lend any more of it."""
    cohort = a_cohort(lab)
    owner = cohort.queue({"whole-gpus": 2}, queueingStrategy="StrictFIFO")
    borrower = cohort.queue({"whole-gpus": 0})
    borrower.submit(a_job(claims=[a_template(gpu())]))
    waiting = owner.submit(a_job(claims=[a_template(gpu(2))]))
    late = borrower.submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(waiting) == pending(Reason.NO_QUOTA)
    assert lab.verdict(late) == pending(Reason.OUTRUN)


@covers("PREEMPT-018")
@pytest.mark.parametrize(
    ("policy", "verdict"),
    [
        pytest.param({}, pending(Reason.OUTRUN), id="cannot-reclaim"),
        pytest.param({"reclaimWithinCohort": "Any"}, admitted({"whole-gpus": 1}), id="can-always-reclaim"),
    ],
)
def test_who_would_borrow_keeps_others_from_what_is_free(lab: Lab, policy: dict[str, str], verdict: Verdict) -> None:
    """Unless its queue can reclaim what it lends from any workload."""
    cohort = a_cohort(lab)
    cohort.queue({"whole-gpus": 2}).submit(a_job(claims=[a_template(gpu(2))]))
    owner = cohort.queue({"whole-gpus": 2}, queueingStrategy="StrictFIFO", preemption=policy)
    owner.submit(a_job(claims=[a_template(gpu())]))
    waiting = owner.submit(a_job(claims=[a_template(gpu(2))]))
    late = cohort.queue({"whole-gpus": 0}).submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(waiting) == pending(Reason.NO_QUOTA)
    assert lab.verdict(late) == verdict


@covers("PREEMPT-018")
@pytest.mark.parametrize(
    ("limit", "verdict"),
    [
        pytest.param(3, pending(Reason.OUTRUN), id="both-that-are-free"),
        pytest.param(2, admitted({"whole-gpus": 1}), id="one-up-to-its-limit"),
    ],
)
def test_who_would_borrow_keeps_no_more_than_its_limit(lab: Lab, limit: int, verdict: Verdict) -> None:
    """The head of a StrictFIFO queue that borrows one device waits for three, of which two are free."""
    cohort = a_cohort(lab)
    cohort.queue({"whole-gpus": 4}).submit(a_job(claims=[a_template(gpu())]))
    owner = cohort.queue({"whole-gpus": a_quota(3, borrow=limit)}, queueingStrategy="StrictFIFO")
    owner.submit(a_job(claims=[a_template(gpu(4))]))
    waiting = owner.submit(a_job(claims=[a_template(gpu(3))]))
    late = cohort.queue({"whole-gpus": 0}).submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(waiting) == pending(Reason.NO_QUOTA)
    assert lab.verdict(late) == verdict


def a_head_that_can_preempt_for_each_resource_alone(cohort: Cohort) -> tuple[Job, Job]:
    """The Job that has three devices of a queue with two, and a head that gets these, or lent cores, but not both."""
    policy = {"reclaimWithinCohort": "LowerPriority", "withinClusterQueue": "LowerPriority"}
    owner = cohort.queue({"cpu": 4, "whole-gpus": 2}, queueingStrategy="StrictFIFO", preemption=policy)
    cohort.queue({"cpu": 0, "whole-gpus": 0}).submit(a_job(priority=5, cpu="4"))
    user = owner.submit(a_job(priority=5, claims=[a_template(gpu(3))]))
    return user, owner.submit(a_job(priority=10, cpu="4", claims=[a_template(gpu(2))]))


@covers("PREEMPT-018")
def test_who_uses_its_quota_already_keeps_nothing_from_others(lab: Lab) -> None:
    """The queue of the head uses more devices than it has, so that two borrowers share the free one."""
    cohort = a_cohort(lab)
    lender = cohort.queue({"whole-gpus": 2})
    queues = [cohort.queue({"whole-gpus": 0}) for _ in range(2)]
    blocking = lender.submit(a_job(claims=[a_template(gpu())]))
    _, waiting = a_head_that_can_preempt_for_each_resource_alone(cohort)
    first, second = [queue.submit(a_job(priority=1, claims=[a_template(gpu())])) for queue in queues]

    lab.delete(blocking)

    assert lab.verdict(waiting) == pending(Reason.NO_QUOTA)
    assert lab.verdict(first) == admitted({"whole-gpus": 1})
    assert lab.admission(second) is None


@covers("PREEMPT-018")
def test_who_uses_more_than_its_quota_gives_all_of_it_back(lab: Lab) -> None:
    """A queue without a free device reclaims three from the queue of the head, which keeps none of them."""
    cohort = a_cohort(lab)
    lender = cohort.queue({"whole-gpus": 4}, preemption={"reclaimWithinCohort": "LowerPriority"})
    cohort.queue({"whole-gpus": 0}).submit(a_job(priority=20, claims=[a_template(gpu(3))]))
    user, waiting = a_head_that_can_preempt_for_each_resource_alone(cohort)
    assert lab.verdict(waiting) == pending(Reason.NO_QUOTA)

    lender.submit(a_job(priority=10, claims=[a_template(gpu(3))]))

    assert lab.condition(user, "Preempted") == ("True", "InCohortReclamation")


@covers("PREEMPT-018")
def test_who_cannot_preempt_to_borrow_keeps_others_from_what_it_needs(lab: Lab) -> None:
    """The head of a StrictFIFO queue without quota waits for three devices; no workload borrows one of the free two."""
    cohort = a_cohort(lab)
    cohort.queue({"whole-gpus": 4}).submit(a_job(claims=[a_template(gpu(2))]))
    policy = {"reclaimWithinCohort": "LowerPriority", "borrowWithinCohort": {"policy": "LowerPriority"}}
    head = cohort.queue({"whole-gpus": 0}, queueingStrategy="StrictFIFO", preemption=policy)
    waiting = head.submit(a_job(claims=[a_template(gpu(3))]))
    late = cohort.queue({"whole-gpus": 0}).submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(waiting) == pending(Reason.NO_QUOTA)
    assert lab.verdict(late) == pending(Reason.OUTRUN)


@covers("PREEMPT-017")
def test_a_victim_serves_one_preemptor(lab: Lab) -> None:
    """While a victim still runs for one preemptor, another preemptor of the same victim has to wait."""
    cohort = a_cohort(lab)
    policy = {"reclaimWithinCohort": "Any"}
    one, other = cohort.queue({"whole-gpus": 1}, preemption=policy), cohort.queue({"whole-gpus": 1}, preemption=policy)
    victim = cohort.queue({"whole-gpus": 0}).submit(a_job(claims=[a_template(gpu(2))]))
    lab.run(victim, pods=1)
    first, second = one.submit(a_job(claims=[a_template(gpu())])), other.submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(first) == pending(Reason.NO_QUOTA)
    assert lab.verdict(second) == pending(Reason.OUTRUN)

    lab.run(victim, pods=0)

    assert lab.verdict(first) == admitted({"whole-gpus": 1})
    assert lab.verdict(second) == admitted({"whole-gpus": 1})
