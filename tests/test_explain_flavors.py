"""``kueue-dra explain`` flavor by flavor: what bounds it in a cohort, why the search goes on, what is preferred."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_ref.rules.flavorassigner.flavor_fungibility import (
    is_preferred,
    no_preemption_candidates_last,
    try_next_when_no_candidates,
    when_can_borrow_try_next_flavor,
    when_can_preempt_try_next_flavor,
)
from tests.contended import a_cohort, a_job, a_queue, a_world, of, steps

LOWER = {"withinClusterQueue": "LowerPriority"}
NEXT = {"whenCanBorrow": "TryNextFlavor", "whenCanPreempt": "TryNextFlavor"}
KEPT = "flavor a, gpus: not lent because of lending limits: "
Parts = tuple[list[dict[str, Any]], ...]

TREE = (a_cohort("root", nominalQuota=1), a_cohort("right", "root", nominalQuota=4, lendingLimit=2))
LEAVES = (a_queue("q", of(1), cohort="left"), a_queue("r", of(1), cohort="right"))
LEFT, BOUNDED = a_cohort("left", "root", nominalQuota=1), a_cohort("left", "root", nominalQuota=1, borrowingLimit=1)


@pytest.mark.parametrize(
    ("manifests", "used", "asked", "expected"),
    [
        pytest.param(
            (a_queue("q", of(1, borrowing=1), cohort="c"), a_queue("r", of(4), cohort="c")),
            1,
            2,
            [
                "flavor a, gpus: at most 1 available: "
                "ClusterQueue q has a quota of 1 and a borrowingLimit of 1   [COHORT-003]"
            ],
            id="borrowing-limit",
        ),
        pytest.param(
            (a_queue("q", of(1, borrowing=1), cohort="c"), a_queue("r", of(4), cohort="c")),
            1,
            3,
            [
                "flavor a, gpus: at most 2 can ever be available: "
                "ClusterQueue q has a quota of 1 and a borrowingLimit of 1   [COHORT-003]"
            ],
            id="borrowing-limit-for-good",
        ),
        pytest.param(
            (a_queue("q", of(1), cohort="c"), a_queue("r", of(4, lending=1), cohort="c")),
            1,
            2,
            [
                "flavor a, gpus: at most 1 available: Cohort c has a quota of 2, 1 of it in use   [COHORT-001]",
                f"{KEPT}3 of ClusterQueue r   [COHORT-004]",
            ],
            id="lending-limit",
        ),
        pytest.param(
            (a_queue("q", of(1), cohort="c"), a_queue("r", of(4, lending=1), cohort="c")),
            1,
            3,
            [
                "flavor a, gpus: at most 2 can ever be available: Cohort c has a quota of 2   [COHORT-001]",
                f"{KEPT}3 of ClusterQueue r   [COHORT-004]",
            ],
            id="lending-limit-for-good",
        ),
        pytest.param(
            (a_queue("q", of(1), cohort="c"), a_queue("r", of(1), cohort="c")),
            2,
            1,
            ["flavor a, gpus: at most 0 available: Cohort c has a quota of 2, 2 of it in use   [COHORT-001]"],
            id="all-in-use",
        ),
        pytest.param(
            (*TREE, BOUNDED, *LEAVES),
            1,
            3,
            [
                "flavor a, gpus: at most 2 available: "
                "Cohort left has a quota of 2 and a borrowingLimit of 1   [COHORT-007]"
            ],
            id="limit-of-a-cohort",
        ),
        pytest.param(
            (*TREE, LEFT, *LEAVES),
            3,
            3,
            [
                "flavor a, gpus: at most 2 available: Cohort root has a quota of 5, 3 of it in use   "
                "[COHORT-001, COHORT-005]",
                f"{KEPT}3 of Cohort right   [COHORT-007]",
            ],
            id="root-of-a-tree",
        ),
        pytest.param((a_queue("q", of(1)),), 1, 1, [], id="no-cohort"),
    ],
)
def test_what_bounds_an_amount_is_told(manifests: Parts, used: int, asked: int, expected: list[str]) -> None:
    """The limit or the level of the tree that decided, and what others keep to themselves."""
    found = steps(a_world(*manifests, a_job("one", "q", used), a_job("new", "q", asked)), "new")

    assert [step for step in found if step.startswith("flavor a, gpus: ")] == expected


def test_what_others_hold_is_no_reason_for_never() -> None:
    """A workload that must not preempt gets another message than one that never fits."""
    manifests = a_world(
        a_queue("q", of(1), cohort="c"), a_queue("r", of(2), cohort="c"), a_job("one", "q", 3), a_job("new", "q", 2)
    )

    assert steps(manifests, "new")[0] == (
        "flavor a: gpus 2 of 0 available: does not fit now, and preemption is not allowed   [QUOTA-002]"
    )


def test_the_search_is_told_flavor_by_flavor() -> None:
    """Why it goes on behind a flavor, and which ones it does not come to."""
    manifests = a_world(a_queue("q", of(1), of(1), of(1)), a_job("one", "q"), a_job("new", "q"))

    assert steps(manifests, "new") == [
        "flavor a: gpus 1 of 0 available: does not fit now   [QUOTA-002]",
        "to free gpus in flavor a: no candidates in ClusterQueue q: withinClusterQueue is Never   [PREEMPT-004]",
        f"flavor a: try the next flavor: {try_next_when_no_candidates.sentence}   [PREEMPT-022]",
        "flavor b: gpus 1 of 1 available: fits   [QUOTA-001]",
        "not tried: flavor c   [QUOTA-007]",
        "quota is reserved; admitted   [STATUS-005, STATUS-006]",
    ]


@pytest.mark.parametrize(
    ("preference", "expected"),
    [
        pytest.param({}, f"flavor b is preferred to flavor a: {is_preferred.sentence}   [PREEMPT-021]", id="borrow"),
        pytest.param(
            {"preference": "PreemptionOverBorrowing"},
            f"flavor a is preferred to flavor b: {is_preferred.sentence}   [PREEMPT-021]",
            id="preempt",
        ),
    ],
)
def test_the_preferred_flavor_is_told(preference: dict[str, str], expected: str) -> None:
    """Of one that needs preemption and one that is borrowed."""
    manifests = a_world(
        a_queue("q", of(1), of(0), cohort="c", preemption=LOWER, flavorFungibility={**NEXT, **preference}),
        a_queue("r", of(0), of(3), cohort="c"),
        a_job("one", "q"),
        a_job("new", "q", priority=2),
    )

    found = steps(manifests, "new")

    assert f"flavor a: try the next flavor: {when_can_preempt_try_next_flavor.sentence}   [PREEMPT-020]" in found
    assert expected in found


def test_a_flavor_that_nobody_frees_comes_last() -> None:
    """The step compares it with the flavor that has preemption candidates."""
    manifests = a_world(
        a_queue("q", of(1), of(1), preemption=LOWER),
        a_job("one", "q", priority=3),
        a_job("two", "q"),
        a_job("new", "q", priority=2),
    )

    expected = f"flavor b is preferred to flavor a: {no_preemption_candidates_last.sentence}   [PREEMPT-029]"
    assert expected in steps(manifests, "new")


def test_flavors_that_are_alike_are_told() -> None:
    """The first of two that have to be borrowed alike is taken."""
    manifests = a_world(
        a_queue("q", of(0), of(0), cohort="c", flavorFungibility=NEXT),
        a_queue("r", of(3), of(3), cohort="c"),
        a_job("new", "q"),
    )

    assert steps(manifests, "new") == [
        "flavor a: gpus 1 of 3 available: fits with borrowing   [QUOTA-001]",
        f"flavor a: try the next flavor: {when_can_borrow_try_next_flavor.sentence}   [COHORT-010]",
        "flavor b: gpus 1 of 3 available: fits with borrowing   [QUOTA-001]",
        "flavor a is preferred to flavor b: both rank equally, and it is listed first   [PREEMPT-029, PREEMPT-021]",
        "quota is reserved; admitted   [STATUS-005, STATUS-006]",
    ]
