"""Several flavors: whether to borrow, to preempt, or to look further (Kueue 0.19, flavorFungibility)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.cohorts import a_cohort
from kueue_dra_fixtures.lab import Job, Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, pending

LOWER = {"withinClusterQueue": "LowerPriority"}
BORROWING_TOO = {**LOWER, "reclaimWithinCohort": "LowerPriority", "borrowWithinCohort": {"policy": "LowerPriority"}}
NEXT = {"whenCanBorrow": "TryNextFlavor", "whenCanPreempt": "TryNextFlavor"}
RATHER_PREEMPT = {**NEXT, "preference": "PreemptionOverBorrowing"}
RATHER_BORROW = {**NEXT, "preference": "BorrowingOverPreemption"}


def preempting_or_borrowing(lab: Lab, fungibility: dict[str, str]) -> tuple[Job, tuple[str, str]]:
    """A Job with the two flavors of its queue: the first would need preemption, the second has to be borrowed."""
    cohort, second = a_cohort(lab), lab.flavor("second")
    cohort.queue({"whole-gpus": 0}, {second: {"whole-gpus": 1}})
    quota = {"whole-gpus": 1}, {second: {"whole-gpus": 0}}
    queue = cohort.queue(*quota, preemption=LOWER, flavorFungibility=fungibility)
    queue.submit(a_job(claims=[a_template(gpu())]))
    return queue.submit(a_job(priority=10, claims=[a_template(gpu())])), (cohort.flavor, second)


@covers("COHORT-010")
@pytest.mark.parametrize(
    ("fungibility", "place"),
    [pytest.param(None, 0, id="by-default-borrow"), pytest.param(NEXT, 1, id="look-further")],
)
def test_a_queue_borrows_or_looks_further(lab: Lab, fungibility: dict[str, str] | None, place: int) -> None:
    """A first flavor that has to be borrowed is taken, unless the queue says to try the next."""
    cohort, second = a_cohort(lab), lab.flavor("second")
    cohort.queue({"whole-gpus": 1}, {second: {"whole-gpus": 0}})
    queue = cohort.queue({"whole-gpus": 0}, {second: {"whole-gpus": 1}}, flavorFungibility=fungibility)
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    assert lab.flavors(job) == {"main": {"whole-gpus": (cohort.flavor, second)[place]}}


@covers("PREEMPT-020")
@pytest.mark.parametrize(
    ("fungibility", "place"),
    [
        pytest.param(None, 1, id="by-default-look-further"),
        pytest.param({"whenCanPreempt": "MayStopSearch"}, 0, id="preempt"),
    ],
)
def test_a_queue_preempts_or_looks_further(lab: Lab, fungibility: dict[str, str] | None, place: int) -> None:
    """Kueue skips a first flavor whose quota others would have to release, unless the search may stop there."""
    flavors = lab.flavor("first"), lab.flavor("second")
    groups = [{flavor: {"whole-gpus": 1} for flavor in flavors}]
    queue = lab.queue(groups=groups, preemption=LOWER, flavorFungibility=fungibility)
    queue.submit(a_job(claims=[a_template(gpu())]))
    job = queue.submit(a_job(priority=10, claims=[a_template(gpu())]))

    assert lab.flavors(job) == {"main": {"whole-gpus": flavors[place]}}


@pytest.mark.parametrize(
    ("fungibility", "place"),
    [
        pytest.param(NEXT, 1, id="by-default-borrow", marks=covers("PREEMPT-021")),
        pytest.param(RATHER_BORROW, 1, id="rather-borrow", marks=covers("PREEMPT-021")),
        pytest.param(RATHER_PREEMPT, 0, id="rather-preempt", marks=covers("PREEMPT-021")),
        pytest.param(NEXT, 1, id="by-default-borrow-all-the-same", marks=covers("PREEMPT-031")),
        pytest.param(RATHER_BORROW, 0, id="rather-borrow-but-preempt", marks=covers("PREEMPT-031")),
        pytest.param(RATHER_PREEMPT, 1, id="rather-preempt-but-borrow", marks=covers("PREEMPT-031")),
        pytest.param(NEXT, 1, id="borrow", marks=covers("PREEMPT-032")),
        pytest.param(RATHER_BORROW, 1, id="borrow-when-told-to", marks=covers("PREEMPT-032")),
        pytest.param(RATHER_PREEMPT, 1, id="borrow-whatever-is-told", marks=covers("PREEMPT-032")),
    ],
)
def test_a_queue_prefers_borrowing_or_preemption(lab: Lab, fungibility: dict[str, str], place: int) -> None:
    """If one flavor needs preemption and another needs borrowing, the preference decides."""
    job, flavors = preempting_or_borrowing(lab, fungibility)

    assert lab.flavors(job) == {"main": {"whole-gpus": flavors[place]}}


@owns_kueue
@covers("PREEMPT-047")
@pytest.mark.parametrize(
    ("fungibility", "place"),
    [
        pytest.param(NEXT, 0, id="borrows-last"),
        pytest.param({"whenCanPreempt": "TryNextFlavor"}, 1, id="borrows-first"),
        pytest.param(RATHER_PREEMPT, 1, id="says-what-it-prefers"),
    ],
)
def test_who_borrows_last_preempts_first(lab: Lab, fungibility: dict[str, str], place: int) -> None:
    """A queue that would rather look further than borrow gives up what it has before it borrows."""
    lab.start(switched={"FlavorFungibilityImplicitPreferenceDefault": True})
    job, flavors = preempting_or_borrowing(lab, fungibility)

    assert lab.flavors(job) == {"main": {"whole-gpus": flavors[place]}}


@pytest.mark.parametrize(
    "fungibility",
    [
        pytest.param(None, id="by-default", marks=covers("PREEMPT-022")),
        pytest.param(NEXT, id="rather-borrow", marks=covers("PREEMPT-022")),
        pytest.param(RATHER_PREEMPT, id="rather-preempt", marks=covers("PREEMPT-029")),
    ],
)
def test_a_flavor_that_nobody_frees_is_no_choice(lab: Lab, fungibility: dict[str, Any] | None) -> None:
    """A first flavor without preemption candidates loses to one where the workload borrows and preempts."""
    cohort, second = a_cohort(lab), lab.flavor("second")
    other = cohort.queue({"whole-gpus": 0}, {second: {"whole-gpus": 1}})
    quota = {"whole-gpus": 1}, {second: {"whole-gpus": 0}}
    queue = cohort.queue(*quota, preemption=BORROWING_TOO, flavorFungibility=fungibility)
    other.submit(a_job(priority=20, claims=[a_template(gpu())]))
    victim = queue.submit(a_job(priority=1, claims=[a_template(gpu())]))
    assert lab.flavors(victim) == {"main": {"whole-gpus": second}}
    job = queue.submit(a_job(priority=10, claims=[a_template(gpu())]))

    assert lab.verdict(job) == admitted({"whole-gpus": 1})
    assert lab.flavors(job) == {"main": {"whole-gpus": second}}
    assert lab.condition(victim, "Preempted") == ("True", "InClusterQueue")


@covers("PREEMPT-030")
def test_who_rather_preempts_waits_where_nobody_can_be_preempted(lab: Lab) -> None:
    """Kueue prefers its own flavor, which other workloads use, to one that it could borrow at once."""
    cohort, second = a_cohort(lab), lab.flavor("second")
    other = cohort.queue({"whole-gpus": 0}, {second: {"whole-gpus": 1}})
    quota = {"whole-gpus": 1}, {second: {"whole-gpus": 0}}
    queue = cohort.queue(*quota, preemption=BORROWING_TOO, flavorFungibility=RATHER_PREEMPT)
    holder = other.submit(a_job(priority=20, claims=[a_template(gpu())]))
    job = queue.submit(a_job(priority=1, claims=[a_template(gpu())]))
    assert lab.verdict(job) == pending(Reason.NO_QUOTA)

    lab.finish(holder)

    assert lab.flavors(job) == {"main": {"whole-gpus": cohort.flavor}}


@covers("PREEMPT-022")
def test_a_flavor_that_can_never_fit_is_no_choice(lab: Lab) -> None:
    """Kueue skips a first flavor without enough quota if another one has preemption candidates."""
    first, second = lab.flavor("first"), lab.flavor("second")
    queue = lab.queue(groups=[{first: {"whole-gpus": 0}, second: {"whole-gpus": 1}}], preemption=LOWER)
    queue.submit(a_job(priority=1, claims=[a_template(gpu())]))
    job = queue.submit(a_job(priority=10, claims=[a_template(gpu())]))

    assert lab.flavors(job) == {"main": {"whole-gpus": second}}
