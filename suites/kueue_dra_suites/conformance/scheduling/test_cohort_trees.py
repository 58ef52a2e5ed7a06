"""Trees of cohorts: quota of a cohort, limits between cohorts, and what a loop of cohorts stops (Kueue 0.19)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_request, a_template, gpu
from kueue_dra_fixtures.cohorts import a_cohort
from kueue_dra_fixtures.lab import Lab, bare
from kueue_dra_fixtures.manifests import a_quota
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import Reason, admitted, pending
from kueue_dra_ref.verdict import Verdict

NIC, NICS = a_template(a_request("nic.example.com")), "example.com/nics"
RECLAIM_LOWER = {"reclaimWithinCohort": "LowerPriority"}
BORROWING_TOO = {"reclaimWithinCohort": "LowerPriority", "borrowWithinCohort": {"policy": "LowerPriority"}}


@covers("COHORT-005")
def test_a_queue_borrows_from_another_part_of_the_tree(lab: Lab) -> None:
    """Cohorts lend to each other through their parent."""
    root = a_cohort(lab)
    root.below().queue({"whole-gpus": 2})
    queue = root.below().queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_template(gpu(3))]))

    assert lab.verdict(job) == admitted({"whole-gpus": 3})


@covers("COHORT-006")
def test_the_quota_of_a_cohort_is_there_for_its_queues(lab: Lab) -> None:
    """A queue without quota lives on what its cohort has."""
    queue = a_cohort(lab, {"whole-gpus": 2}).queue({"whole-gpus": 0})
    job = queue.submit(a_job(claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@covers("COHORT-006")
def test_a_deleted_cohort_has_nothing_tried_again(lab: Lab) -> None:
    """Its quota is gone, which only a workload that is tried again shows."""
    cohort = a_cohort(lab, {"whole-gpus": 2})
    queue = cohort.queue({"whole-gpus": 0})
    queue.submit(a_job(claims=[a_template(gpu(2))]))
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    lab.remove(cohort.ref)
    lab.settle()

    assert lab.verdict(job) == pending(Reason.NO_QUOTA)


@covers("COHORT-006")
def test_a_queue_leaves_its_cohort_when_quota_is_released(lab: Lab) -> None:
    """Its cohort, which is no object, is gone before Kueue tries its workloads again; they are tried all the same."""
    queue = lab.queue({"whole-gpus": 2}, cohortName=lab.name("cohort"))
    work = a_job(claims=[a_template(gpu(2))])
    held, job = queue.submit(work), queue.submit(work)
    found = lab.read(queue.ref)
    alone = {key: value for key, value in found["spec"].items() if key not in ("cohort", "cohortName")}

    lab.remove(held.ref)
    lab.apply({**bare(found), "spec": alone})

    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@covers("COHORT-007")
@pytest.mark.parametrize(
    ("asked", "verdict"),
    [
        pytest.param(3, admitted({"whole-gpus": 3}), id="within-the-limit"),
        pytest.param(4, pending(Reason.NEVER_FITS), id="one-beyond-the-limit"),
    ],
)
def test_a_cohort_borrows_up_to_its_limit(lab: Lab, asked: int, verdict: Verdict) -> None:
    """The members of a cohort together borrow no more from the rest of the tree."""
    root = a_cohort(lab)
    root.queue({"whole-gpus": 4})
    queue = root.below({"whole-gpus": a_quota(1, borrow=1)}).queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_template(gpu(asked))]))

    assert lab.verdict(job) == verdict


@covers("COHORT-007")
@pytest.mark.parametrize(
    ("quota", "limit", "asked", "verdict"),
    [
        pytest.param(3, 1, 2, admitted({"whole-gpus": 2}), id="what-is-lent"),
        pytest.param(3, 1, 3, pending(Reason.NEVER_FITS), id="one-of-what-is-kept"),
        pytest.param(1, 3, 3, pending(Reason.NEVER_FITS), id="a-limit-beyond-the-quota"),
    ],
)
def test_a_cohort_lends_up_to_its_limit(lab: Lab, quota: int, limit: int, asked: int, verdict: Verdict) -> None:
    """Quota that a cohort does not lend stays with its members; what it does not have it cannot lend."""
    root = a_cohort(lab)
    root.below({"whole-gpus": a_quota(quota, lend=limit)}).queue({"whole-gpus": 0})
    queue = root.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_template(gpu(asked))]))

    assert lab.verdict(job) == verdict


@covers("COHORT-008")
def test_nothing_is_admitted_while_cohorts_are_their_own_ancestors(lab: Lab) -> None:
    """The workload waits, and is admitted once the loop is gone."""
    cohort = a_cohort(lab)
    queue = cohort.queue({"whole-gpus": 1})
    cohort.write(parent=cohort.below().name)
    job = queue.submit(a_job(claims=[a_template(gpu())]))
    assert lab.verdict(job) == pending(Reason.QUEUE_STOPPED)

    cohort.write()

    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@covers("COHORT-017", "COHORT-005")
def test_a_part_of_the_tree_takes_back_what_it_has(lab: Lab) -> None:
    """A queue without quota of its own reclaims what its cohort lent to the rest of the tree."""
    root = a_cohort(lab)
    near = root.below()
    near.queue({"whole-gpus": 1})
    far = root.below().queue({"whole-gpus": 0})
    borrower = far.submit(a_job(claims=[a_template(gpu())]))
    job = near.queue({"whole-gpus": 0}, preemption=RECLAIM_LOWER).submit(a_job(priority=10, claims=[a_template(gpu())]))

    assert lab.verdict(job) == admitted({"whole-gpus": 1})
    assert lab.condition(borrower, "Preempted") == ("True", "InCohortReclamation")


@covers("COHORT-017")
@pytest.mark.parametrize(
    ("borrowed", "verdict"),
    [
        pytest.param(0, admitted({"whole-gpus": 1, NICS: 1}), id="nothing-else-is-borrowed"),
        pytest.param(1, pending(Reason.NO_QUOTA), id="a-neighbor-borrows-something-else"),
    ],
)
def test_a_part_of_the_tree_takes_back_what_it_has_while_it_borrows_nothing(
    lab: Lab, borrowed: int, verdict: Verdict
) -> None:
    """A Job needs a GPU that its cohort has lent, and a NIC that its queue has; the cohort may lack NICs."""
    root = a_cohort(lab)
    near, far = root.below(), root.below()
    near.queue({"whole-gpus": 1, NICS: 0})
    far.queue({"whole-gpus": 0, NICS: 4}).submit(a_job(claims=[a_template(gpu())]))
    near.queue({"whole-gpus": 0, NICS: 0}).submit(a_job(claims=[NIC] * borrowed))
    queue = near.queue({"whole-gpus": 0, NICS: a_quota(3, lend=0)}, preemption=RECLAIM_LOWER)
    job = queue.submit(a_job(priority=10, claims=[a_template(gpu()), NIC]))

    assert lab.verdict(job) == verdict


@covers("COHORT-018")
def test_who_borrows_from_farther_away_gives_way_first(lab: Lab) -> None:
    """A neighbor of lower priority keeps its quota while a ClusterQueue outside the cohort borrows from it."""
    root = a_cohort(lab)
    near = root.below()
    near.queue({"whole-gpus": 2})
    outside = root.below().queue({"whole-gpus": 0}).submit(a_job(priority=5, claims=[a_template(gpu())]))
    neighbour = near.queue({"whole-gpus": 0}).submit(a_job(claims=[a_template(gpu())]))
    job = near.queue({"whole-gpus": 0}, preemption=BORROWING_TOO).submit(a_job(priority=10, claims=[a_template(gpu())]))

    assert lab.verdict(job) == admitted({"whole-gpus": 1})
    assert lab.condition(outside, "Preempted") == ("True", "InCohortReclamation")
    assert lab.verdict(neighbour) == admitted({"whole-gpus": 1})


@covers("COHORT-018", "PREEMPT-010")
def test_who_takes_back_from_farther_away_borrows_rather_than_preempts_its_own(lab: Lab) -> None:
    """Without the borrower outside, a neighbor and a Job of the queue itself would have to go."""
    root = a_cohort(lab)
    near = root.below()
    near.queue({"whole-gpus": 2})
    queue = near.queue({"whole-gpus": 2}, preemption={**RECLAIM_LOWER, "withinClusterQueue": "LowerPriority"})
    own = queue.submit(a_job(priority=1, claims=[a_template(gpu())]))
    neighbour = near.queue({"whole-gpus": 0}).submit(a_job(claims=[a_template(gpu())]))
    outside = root.below().queue({"whole-gpus": 0}).submit(a_job(priority=5, claims=[a_template(gpu(2))]))
    job = queue.submit(a_job(priority=10, claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == admitted({"whole-gpus": 2})
    assert lab.condition(outside, "Preempted") == ("True", "InCohortReclamation")
    assert [lab.preemptions(each) for each in (own, neighbour)] == [0, 0]


@covers("PREEMPT-009", "COHORT-017")
def test_reclaiming_ends_when_a_part_of_the_tree_borrows_nothing_any_more(lab: Lab) -> None:
    """A cohort keeps its quota, though in it a less urgent workload has borrowed that from a neighbor."""
    root = a_cohort(lab)
    owner = root.queue({"whole-gpus": 2}, preemption=RECLAIM_LOWER)
    part = root.below()
    part.queue({"whole-gpus": 1})
    inside, outside = part.queue({"whole-gpus": 0}), root.queue({"whole-gpus": 0})
    jobs = [inside.submit(a_job(priority=1, claims=[a_template(gpu())])) for _ in range(2)]
    other = outside.submit(a_job(priority=5, claims=[a_template(gpu())]))
    job = owner.submit(a_job(priority=10, claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == admitted({"whole-gpus": 2})
    assert lab.condition(other, "Preempted") == ("True", "InCohortReclamation")
    assert [lab.admission(each) is not None for each in jobs].count(True) == 1


@covers("PREEMPT-010")
@pytest.mark.parametrize(
    ("policy", "verdict"),
    [
        pytest.param(RECLAIM_LOWER, pending(Reason.NO_QUOTA), id="not-while-borrowing"),
        pytest.param(BORROWING_TOO, admitted({"whole-gpus": 1}), id="while-borrowing-too"),
    ],
)
def test_a_borrower_preempts_its_neighbours_only_where_it_is_let(
    lab: Lab, policy: dict[str, object], verdict: Verdict
) -> None:
    """A neighbour that borrows as well loses its devices to a borrower only with borrowWithinCohort."""
    root = a_cohort(lab)
    near = root.below()
    near.queue({"whole-gpus": 2})
    root.below().queue({"whole-gpus": 0}).submit(a_job(priority=20, claims=[a_template(gpu())]))
    near.queue({"whole-gpus": 0}).submit(a_job(claims=[a_template(gpu())]))
    job = near.queue({"whole-gpus": 0}, preemption=policy).submit(a_job(priority=10, claims=[a_template(gpu())]))

    assert lab.verdict(job) == verdict


@pytest.mark.parametrize(
    ("nested", "verdict"),
    [
        pytest.param(True, pending(Reason.NEVER_FITS), id="below-another-cohort", marks=covers("QUEUE-040")),
        pytest.param(False, pending(Reason.NO_QUOTA), id="of-the-outermost-cohort", marks=covers("QUEUE-041")),
    ],
)
def test_who_waits_when_a_queue_of_the_cohort_is_deleted(lab: Lab, nested: bool, verdict: Verdict) -> None:
    """The quota of the deleted queue is gone, which only a workload that is tried again shows."""
    root = a_cohort(lab)
    cohort = [root, root.below()][nested]
    lender = cohort.queue({"whole-gpus": 2})
    cohort.queue({"whole-gpus": 2}).submit(a_job(claims=[a_template(gpu(3))]))
    job = cohort.queue({"whole-gpus": 0}).submit(a_job(claims=[a_template(gpu(3))]))
    assert lab.verdict(job) == pending(Reason.NO_QUOTA)

    lender.delete()

    assert lab.verdict(job) == verdict


@pytest.mark.parametrize(
    ("nested", "more"),
    [
        pytest.param(True, 2, id="below-a-parent"),
        pytest.param(False, 1, id="in-the-root"),
    ],
)
@covers("COHORT-025")
def test_a_changed_queue_below_a_parent_has_the_tree_tried_again(lab: Lab, nested: bool, more: int) -> None:
    """The pending workload lacked one device; since then one more is used, which only its next message shows."""
    root = a_cohort(lab)
    root.write()
    cohort = root.below() if nested else root
    other = root.queue({"whole-gpus": 3})
    queue = cohort.queue({"whole-gpus": 0})
    other.submit(a_job(claims=[a_template(gpu())]))
    waiting = other.submit(a_job(claims=[a_template(gpu(3))]))
    queue.submit(a_job(claims=[a_template(gpu())]))

    queue.annotate(note="changed")

    short = f"insufficient unused quota for whole-gpus in flavor {root.flavor}, {more} more needed"
    assert lab.message(waiting) == f"couldn't assign flavors to pod set main: {short}"
