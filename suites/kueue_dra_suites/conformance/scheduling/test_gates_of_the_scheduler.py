"""Feature gates that change how quota is given: lending, Cohorts, and the search for a flavor (Kueue 0.14 to 0.19)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.cohorts import a_cohort
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.manifests import a_quota
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, pending, unseen
from kueue_dra_ref.verdict import Verdict

pytestmark = owns_kueue

NO_FUNGIBILITY = {"FlavorFungibility": False}
LOWER = {"withinClusterQueue": "LowerPriority"}
BORROWING_TOO = {**LOWER, "reclaimWithinCohort": "Any", "borrowWithinCohort": {"policy": "LowerPriority"}}
NEXT = {"whenCanBorrow": "TryNextFlavor", "whenCanPreempt": "TryNextFlavor"}


@covers("COHORT-024")
def test_lending_has_no_limit(lab: Lab) -> None:
    """All that another queue does not use is there to borrow."""
    lab.start(switched={"LendingLimit": False})
    cohort = a_cohort(lab)
    cohort.queue({"whole-gpus": a_quota(2, lend=0)})
    queue = cohort.queue({"whole-gpus": 0})
    job = queue.submit(a_job(claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@covers("COHORT-024")
def test_any_lending_limit_may_be_written(lab: Lab) -> None:
    """A limit above the quota of a ClusterQueue without a cohort has no effect, so Kueue accepts it."""
    lab.start(switched={"LendingLimit": False})
    queue = lab.queue({"whole-gpus": a_quota(1, lend=2)})
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@covers("COHORT-023")
def test_the_quota_of_a_cohort_is_nobodys(lab: Lab) -> None:
    """Kueue does not read Cohort objects."""
    lab.start(switched={"HierarchicalCohorts": False})
    queue = a_cohort(lab, {"whole-gpus": 2}).queue({"whole-gpus": 0})
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(job) == pending(Reason.NEVER_FITS)


@covers("COHORT-023")
def test_a_cohort_has_no_parent(lab: Lab) -> None:
    """ClusterQueues share only with those that name the same cohort."""
    lab.start(switched={"HierarchicalCohorts": False})
    root = a_cohort(lab)
    root.queue({"whole-gpus": 2})
    below = root.below()
    below.queue({"whole-gpus": 1})
    queue = below.queue({"whole-gpus": 0})
    too_much, enough = (queue.submit(a_job(claims=[a_template(gpu(count))])) for count in (2, 1))

    assert lab.verdict(too_much) == pending(Reason.NEVER_FITS)
    assert lab.verdict(enough) == admitted({"whole-gpus": 1})


@covers("PREEMPT-046")
def test_the_first_flavor_that_fits_is_taken(lab: Lab) -> None:
    """A queue that would rather look further than borrow borrows all the same."""
    lab.start(switched=NO_FUNGIBILITY)
    cohort, second = a_cohort(lab), lab.flavor("second")
    cohort.queue({"whole-gpus": 1}, {second: {"whole-gpus": 0}})
    queue = cohort.queue({"whole-gpus": 0}, {second: {"whole-gpus": 1}}, flavorFungibility=NEXT)
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    assert lab.flavors(job) == {"main": {"whole-gpus": cohort.flavor}}


@covers("PREEMPT-046")
def test_the_search_goes_on_behind_a_flavor_that_needs_preemption(lab: Lab) -> None:
    """A queue that would stop its search to preempt takes what it can have at once."""
    lab.start(switched=NO_FUNGIBILITY)
    flavors = lab.flavor("first"), lab.flavor("second")
    groups = [{flavor: {"whole-gpus": 1} for flavor in flavors}]
    queue = lab.queue(groups=groups, preemption=LOWER, flavorFungibility={"whenCanPreempt": "MayStopSearch"})
    queue.submit(a_job(claims=[a_template(gpu())]))
    job = queue.submit(a_job(priority=10, claims=[a_template(gpu())]))

    assert lab.flavors(job) == {"main": {"whole-gpus": flavors[1]}}


@pytest.mark.parametrize(
    ("gates", "place"),
    [
        pytest.param({}, 1, id="rather-not-borrow", marks=covers("PREEMPT-021")),
        pytest.param(NO_FUNGIBILITY, 0, id="the-first", marks=covers("PREEMPT-046")),
    ],
)
def test_of_flavors_that_need_preemption_one_is_chosen(lab: Lab, gates: dict[str, bool], place: int) -> None:
    """Without fungibility, that a flavor would have to be borrowed is nothing against it."""
    lab.start(switched=gates)
    cohort, second = a_cohort(lab), lab.flavor("second")
    cohort.queue({"whole-gpus": 1}, {second: {"whole-gpus": 0}})
    quota: dict[str, Any] = {second: {"whole-gpus": 1}}
    queue = cohort.queue({"whole-gpus": 0}, quota, preemption=BORROWING_TOO)
    for _ in range(2):
        queue.submit(a_job(claims=[a_template(gpu())]))
    job = queue.submit(a_job(priority=10, claims=[a_template(gpu())]))

    assert lab.flavors(job) == {"main": {"whole-gpus": (cohort.flavor, second)[place]}}


@pytest.mark.parametrize(
    ("gates", "verdict"),
    [
        pytest.param({}, admitted({"cpu": "1"}), id="it-is-set-aside", marks=covers("QUEUE-002")),
        pytest.param(NO_FUNGIBILITY, unseen(), id="it-stays-first", marks=covers("PREEMPT-048")),
    ],
)
def test_who_found_a_flavor_is_tried_again_and_again(lab: Lab, gates: dict[str, bool], verdict: Verdict) -> None:
    """Without fungibility, no workload overtakes a head that waits for others to end."""
    lab.start(switched=gates)
    queue = lab.queue({"whole-gpus": 1, "cpu": 2})
    queue.submit(a_job(claims=[a_template(gpu())]))
    first = queue.submit(a_job(claims=[a_template(gpu())]))
    second = queue.submit(a_job(cpu="1"))

    assert lab.verdict(first) == pending(Reason.NO_QUOTA)
    assert lab.verdict(second) == verdict
