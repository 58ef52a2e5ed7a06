"""Borrowing in one cohort: lenders, borrowers and limits (Proposal: quota management and borrowing)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.cohorts import a_cohort
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.manifests import a_quota
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import Reason, admitted, pending
from kueue_dra_ref.verdict import Verdict


@covers("COHORT-001", "COHORT-020")
@pytest.mark.parametrize(
    ("asked", "verdict"),
    [
        pytest.param(2, admitted({"whole-gpus": 2}), id="less-than-both-have"),
        pytest.param(3, admitted({"whole-gpus": 3}), id="all-that-both-have"),
        pytest.param(4, pending(Reason.NEVER_FITS), id="more-than-both-have"),
    ],
)
def test_what_another_queue_does_not_use_is_there_to_borrow(lab: Lab, asked: int, verdict: Verdict) -> None:
    """A workload gets devices beyond the nominal quota of its queue, up to what the cohort has."""
    cohort = a_cohort(lab)
    cohort.queue({"whole-gpus": 2})
    queue = cohort.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_template(gpu(asked))]))

    assert lab.verdict(job) == verdict


@covers("COHORT-002")
def test_queues_of_different_cohorts_do_not_share(lab: Lab) -> None:
    """A queue has nothing from a cohort that it does not name, though both use one flavor."""
    cohort = a_cohort(lab)
    cohort.queue({"whole-gpus": 2})
    queue = lab.queue(groups=[{cohort.flavor: {"whole-gpus": 1}}], cohortName=a_cohort(lab).name)
    job = queue.submit(a_job(claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == pending(Reason.NEVER_FITS)


@covers("COHORT-002")
def test_a_queue_without_a_cohort_has_what_it_has(lab: Lab) -> None:
    """A queue that names no cohort does not borrow."""
    cohort = a_cohort(lab)
    cohort.queue({"whole-gpus": 2})
    queue = lab.queue(groups=[{cohort.flavor: {"whole-gpus": 1}}])
    job = queue.submit(a_job(claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == pending(Reason.NEVER_FITS)


@covers("COHORT-003", "COHORT-020")
@pytest.mark.parametrize(
    ("asked", "verdict"),
    [
        pytest.param(2, admitted({"whole-gpus": 2}), id="within-the-limit"),
        pytest.param(3, pending(Reason.NEVER_FITS), id="one-beyond-the-limit"),
    ],
)
def test_a_queue_borrows_up_to_its_limit(lab: Lab, asked: int, verdict: Verdict) -> None:
    """A workload cannot use quota of the cohort beyond the borrowing limit."""
    cohort = a_cohort(lab)
    cohort.queue({"whole-gpus": 4})
    queue = cohort.queue({"whole-gpus": a_quota(1, borrow=1)})
    job = queue.submit(a_job(claims=[a_template(gpu(asked))]))

    assert lab.verdict(job) == verdict


@covers("COHORT-004", "COHORT-020")
@pytest.mark.parametrize(
    ("asked", "verdict"),
    [
        pytest.param(2, admitted({"whole-gpus": 2}), id="what-is-lent"),
        pytest.param(3, pending(Reason.NEVER_FITS), id="one-of-what-is-kept"),
    ],
)
def test_a_queue_lends_up_to_its_limit(lab: Lab, asked: int, verdict: Verdict) -> None:
    """Other ClusterQueues cannot use quota that a ClusterQueue does not lend."""
    cohort = a_cohort(lab)
    cohort.queue({"whole-gpus": a_quota(4, lend=1)})
    queue = cohort.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_template(gpu(asked))]))

    assert lab.verdict(job) == verdict


@covers("COHORT-004")
def test_what_a_queue_keeps_is_there_for_its_own_workloads(lab: Lab) -> None:
    """The quota that is not lent is available, however much others have borrowed."""
    cohort = a_cohort(lab)
    lender = cohort.queue({"whole-gpus": a_quota(3, lend=1)})
    borrower = cohort.queue({"whole-gpus": 0})
    borrower.submit(a_job(claims=[a_template(gpu(1))]))
    job = lender.submit(a_job(claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@covers("COHORT-001")
def test_what_is_lent_is_not_there_for_its_owner_meanwhile(lab: Lab) -> None:
    """Without a policy to reclaim it, a queue waits for what it lent, and gets it when it comes back."""
    cohort = a_cohort(lab)
    lender, borrower = cohort.queue({"whole-gpus": 2}), cohort.queue({"whole-gpus": 0})
    lent = borrower.submit(a_job(claims=[a_template(gpu(1))]))
    job = lender.submit(a_job(claims=[a_template(gpu(2))]))
    assert lab.verdict(job) == pending(Reason.NO_QUOTA)

    lab.delete(lent)

    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@covers("COHORT-019")
def test_a_release_in_one_queue_lets_another_queue_borrow(lab: Lab) -> None:
    """Kueue retries the pending workloads of the whole cohort."""
    cohort = a_cohort(lab)
    lender, borrower = cohort.queue({"whole-gpus": 1}), cohort.queue({"whole-gpus": 0})
    first = lender.submit(a_job(claims=[a_template(gpu(1))]))
    job = borrower.submit(a_job(claims=[a_template(gpu(1))]))
    assert lab.verdict(job) == pending(Reason.NO_QUOTA)

    lab.delete(first)

    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@covers("COHORT-012")
def test_devices_are_borrowed_under_their_own_resource(lab: Lab) -> None:
    """Quota of the cohort for another mapping does not help."""
    cohort = a_cohort(lab)
    cohort.queue({"whole-gpus": 0, "shared-gpus": 8})
    queue = cohort.queue({"whole-gpus": 1, "shared-gpus": 1})
    job = queue.submit(a_job(claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == pending(Reason.NEVER_FITS)


@covers("COHORT-009")
def test_the_status_says_what_is_borrowed(lab: Lab) -> None:
    """Only what goes beyond the nominal quota is borrowed."""
    cohort = a_cohort(lab)
    lender, borrower = cohort.queue({"whole-gpus": 4}), cohort.queue({"whole-gpus": 1})
    lender.submit(a_job(claims=[a_template(gpu(1))]))
    borrower.submit(a_job(claims=[a_template(gpu(3))]))

    assert borrower.figures.borrowed == {cohort.flavor: {"whole-gpus": "2"}}
    assert lender.figures.borrowed == {cohort.flavor: {"whole-gpus": "0"}}


@covers("COHORT-009")
def test_without_a_cohort_nothing_is_borrowed(lab: Lab) -> None:
    """A workload keeps what it has when its ClusterQueue gets less quota."""
    flavor = lab.flavor()
    queue = lab.queue(groups=[{flavor: {"whole-gpus": 2}}])
    job = queue.submit(a_job(claims=[a_template(gpu(2))]))

    queue.regroup({flavor: {"whole-gpus": 1}})

    assert lab.verdict(job) == admitted({"whole-gpus": 2})
    assert queue.figures.borrowed == {flavor: {"whole-gpus": "0"}}
