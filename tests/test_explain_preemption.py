"""``kueue-dra explain`` of a workload that preempts, or would: candidates, their order, targets not needed."""

from __future__ import annotations

import json

import pytest

from kueue_dra_ref.api.types import ClusterQueue, PreemptionPolicy
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.cache.hierarchy import Hierarchy
from kueue_dra_ref.cache.snapshot import ReservedWorkload, Snapshot
from kueue_dra_ref.model.creation_order import ordered_by
from kueue_dra_ref.rules.preemption.fair_sharing import preempt_within_nominal
from kueue_dra_ref.rules.preemption.preemption_policies import (
    borrow_within_cohort_lower_priority,
    borrow_within_cohort_max_priority_threshold,
    can_preempt_in_subtree,
    can_preempt_while_borrowing,
    can_preempt_within_nominal,
    candidate_is_borrowing,
    fill_back_workloads,
    latest_quota_reservation_first,
    lowest_priority_first,
)
from kueue_dra_ref.scheduler.preemption.context import PreemptionContext
from tests.commands import kueue_dra
from tests.contended import FINAL, INITIAL, a_job, a_queue, a_world, of, steps

LOWER = {"withinClusterQueue": "LowerPriority"}
EQUAL = {"withinClusterQueue": "LowerOrNewerEqualPriority"}
ANY = {"reclaimWithinCohort": "Any"}
BORROWING = {**ANY, "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 2}}
FREE = "to free gpus in flavor a: "
TEMPLATE = {"spec": {"containers": [{"name": "c", "image": "none"}], "restartPolicy": "Never"}}
ADMITTED = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "Workload",
    "metadata": {"name": "r1"},
    "spec": {"queueName": "r", "podSets": [{"name": "main", "count": 1, "template": TEMPLATE}]},
    "status": {
        "admission": {
            "clusterQueue": "r",
            "podSetAssignments": [
                {"name": "main", "count": 1, "flavors": {"gpus": "a"}, "resourceUsage": {"gpus": "1"}}
            ],
        },
        "conditions": [
            {
                "type": kind,
                "status": "True",
                "reason": kind,
                "message": "",
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            }
            for kind in ("QuotaReserved", "Admitted")
        ],
    },
}
"""A Workload that holds quota of the queue r."""


def found(world: str) -> list[str]:
    """Give the steps of the search for the Job called new, without the amounts to free."""
    return [step.removeprefix(FREE) for step in steps(world, "new") if step.startswith(FREE)]


def test_the_whole_story_of_a_preemption_is_told_in_order() -> None:
    """From the flavor that is short over the candidates to the victims, and then how the workload got in."""
    world = a_world(
        a_queue("q", of(4), preemption=LOWER),
        a_job("one", "q", priority=2),
        a_job("two", "q"),
        a_job("three", "q"),
        a_job("high", "q", priority=8),
        a_job("new", "q", 2, priority=5),
    )

    assert steps(world, "new") == [
        "flavor a: gpus 2 of 0 available: does not fit now, but preemption can free it   [QUOTA-002]",
        f"{FREE}high is no candidate: withinClusterQueue LowerPriority does not allow priority 5 to preempt "
        "priority 8   "
        "[PREEMPT-002, PREEMPT-003]",
        f"{FREE}candidate 1 is three of ClusterQueue q, priority 0   [PREEMPT-002]",
        f"{FREE}candidate 2 is two of ClusterQueue q, priority 0, after three: "
        f"{latest_quota_reservation_first.sentence}   [PREEMPT-002, PREEMPT-016]",
        f"{FREE}candidate 3 is one of ClusterQueue q, priority 2, after two: "
        f"{lowest_priority_first.sentence}   [PREEMPT-002, PREEMPT-015]",
        f"{FREE}after preempting three, two, the workload fits   [PREEMPT-002]",
        "preempts three of ClusterQueue q, priority 0: InClusterQueue   [PREEMPT-002]",
        "preempts two of ClusterQueue q, priority 0: InClusterQueue   [PREEMPT-002]",
        "flavor a: gpus 2 of 2 available: fits   [QUOTA-001]",
        "quota is reserved; admitted   [STATUS-005, STATUS-006]",
    ]


def test_who_is_put_back_is_told() -> None:
    """The first victim is not needed any more once the second one is found."""
    world = a_world(
        a_queue("q", of(4), preemption=LOWER),
        a_job("one", "q"),
        a_job("two", "q", 3, priority=1),
        a_job("new", "q", 3, priority=5),
    )

    assert found(world)[2:] == [
        "after preempting one, two, the workload fits   [PREEMPT-002]",
        f"one is not needed and no longer a target: {fill_back_workloads.sentence}   [PREEMPT-019]",
    ]


@pytest.mark.parametrize(
    ("spec", "other", "priority", "expected"),
    [
        pytest.param(
            {},
            0,
            1,
            "no candidates in ClusterQueue q: withinClusterQueue is Never   [PREEMPT-004]",
            id="never",
        ),
        pytest.param(
            LOWER,
            1,
            1,
            "one is no candidate: withinClusterQueue LowerPriority does not allow priority 1 to preempt priority 1 "
            "of an older workload   [PREEMPT-002, PREEMPT-003]",
            id="equal",
        ),
        pytest.param(
            EQUAL,
            2,
            1,
            "one is no candidate: withinClusterQueue LowerOrNewerEqualPriority does not allow priority 1 "
            "to preempt priority 2   [PREEMPT-002, PREEMPT-003]",
            id="higher",
        ),
    ],
)
def test_the_policy_that_protects_in_the_queue_is_told(
    spec: dict[str, str], other: int, priority: int, expected: str
) -> None:
    """With both priorities where they decide."""
    world = a_world(
        a_queue("q", of(1), preemption=spec),
        a_job("one", "q", priority=other),
        a_job("new", "q", priority=priority),
    )

    assert found(world) == [expected]


def test_an_equal_that_is_newer_is_told_so() -> None:
    """LowerPriority protects it whatever its age."""
    gpus = ("a", "gpus")
    policy = PreemptionPolicy(within="LowerPriority")
    queue = ClusterQueue(name="q", groups=(), strategy="", stop_policy="", namespace_selector=None, preemption=policy)
    snapshot = Snapshot(
        hierarchy=Hierarchy(),
        queues={},
        reserved_workloads=lambda _: (),
        flavor=lambda _: None,
        local_queue_usage=lambda _: None,
    )
    context = PreemptionContext(
        snapshot=snapshot,
        queue=queue,
        priority=0,
        created=ordered_by(1, 0),
        usage={},
        frs_need_preemption=frozenset([gpus]),
        has_room=lambda: True,
    )
    workload = ReservedWorkload(
        key=("team", "late"),
        uid="",
        cluster_queue="q",
        local_queue=("team", "q"),
        admitted=True,
        amounts={gpus: 1},
        priority=0,
        created=ordered_by(2, 0),
        evicted=False,
        reserved="",
        pod_sets=(),
        placed=(),
    )

    context.allowing(behaviour().preempting.within_cluster_queue, workload, "withinClusterQueue LowerPriority")

    assert [str(step) for step in context.trace.steps([gpus])] == [
        f"{FREE}team/late is no candidate: withinClusterQueue LowerPriority does not allow priority 0 to preempt "
        "priority 0 of a newer workload [PREEMPT-002, PREEMPT-003]"
    ]


def test_who_could_free_nothing_is_told() -> None:
    """A workload of another flavor is no candidate, whatever its priority."""
    world = a_world(
        a_queue("q", of(1), of(2), preemption=LOWER),
        a_job("one", "q", priority=3),
        a_job("two", "q", 2),
        a_job("new", "q", priority=2),
    )

    assert "two is no candidate: none of its resources is short   [PREEMPT-005]" in found(world)


def test_who_is_left_alone_in_the_cohort_is_told() -> None:
    """No candidates in the own queue, and no queue that borrows."""
    world = a_world(
        a_queue("q", of(2), cohort="c", preemption=ANY),
        a_queue("r", of(2), cohort="c"),
        a_queue("s", of(1), cohort="c"),
        a_job("r1", "r", 4),
        a_job("s1", "s"),
        a_job("new", "q"),
    )

    assert found(world) == [
        "no candidates in ClusterQueue q: withinClusterQueue is Never   [PREEMPT-004]",
        f"no candidates in ClusterQueue s: {candidate_is_borrowing.sentence}   [PREEMPT-008]",
        "candidate 1 is r1 of ClusterQueue r, priority 0   [PREEMPT-007]",
        "after preempting r1, the workload fits with borrowing   [PREEMPT-007]",
    ]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        pytest.param(
            "Never",
            "no candidates in other ClusterQueues of the cohort: reclaimWithinCohort is Never   "
            "[PREEMPT-006, PREEMPT-007]",
            id="never",
        ),
        pytest.param(
            "LowerPriority",
            "r1 is no candidate: reclaimWithinCohort LowerPriority does not allow priority 0 to preempt priority 0 "
            "of an older workload   [PREEMPT-006, PREEMPT-007]",
            id="lower",
        ),
    ],
)
def test_the_policy_that_protects_in_the_cohort_is_told(policy: str, expected: str) -> None:
    """It is that of the ClusterQueue that wants its quota back."""
    world = a_world(
        a_queue("q", of(2), cohort="c", preemption={"reclaimWithinCohort": policy}),
        a_queue("r", of(0), cohort="c"),
        a_job("r1", "r", 2),
        a_job("new", "q"),
    )

    assert found(world)[1:] == [expected]


def test_who_borrows_without_being_let_is_told() -> None:
    """None of the three grounds on which a workload may preempt at all holds."""
    world = a_world(
        a_queue("q", of(1), cohort="c", preemption=ANY),
        a_queue("r", of(2), cohort="c"),
        a_job("r1", "r", 3),
        a_job("new", "q", 2),
    )

    assert found(world) == [
        f"no preemption, because none of these conditions holds: {can_preempt_within_nominal.sentence}; "
        f"{can_preempt_in_subtree.sentence}; {can_preempt_while_borrowing.sentence}   "
        "[PREEMPT-001, COHORT-017, PREEMPT-010]"
    ]


def test_both_attempts_of_a_borrower_are_told() -> None:
    """Borrowing, priorities protect; without it, quota that is not borrowed any more."""
    world = a_world(
        a_queue("q", of(1), cohort="c", preemption=BORROWING),
        a_queue("r", of(1), cohort="c"),
        a_queue("s", of(2), cohort="c"),
        a_job("r1", "r", 2, priority=3),
        a_job("r2", "r", priority=5),
        a_job("r3", "r", priority=2),
        a_job("new", "q", 2, priority=4),
    )

    assert found(world)[5:] == [
        f"r1 is no candidate with borrowing: {borrow_within_cohort_max_priority_threshold.sentence}   [PREEMPT-012]",
        f"r2 is no candidate with borrowing: {borrow_within_cohort_lower_priority.sentence}   [PREEMPT-011]",
        "after preempting r3, the workload does not fit with borrowing   [PREEMPT-007]",
        f"r2 is no candidate without borrowing: {candidate_is_borrowing.sentence}   [PREEMPT-008, PREEMPT-009]",
        "after preempting r3, r1, the workload does not fit without borrowing   [PREEMPT-007]",
    ]


def test_many_candidates_are_counted() -> None:
    """The first ten are listed one by one."""
    others = [a_job(f"j{index}", "q") for index in range(12)]
    world = a_world(a_queue("q", of(12), preemption=LOWER), *others, a_job("new", "q", 12, priority=1))

    assert found(world)[9:] == [
        f"candidate 10 is j2 of ClusterQueue q, priority 0, after j3: {latest_quota_reservation_first.sentence}   "
        "[PREEMPT-002, PREEMPT-016]",
        "and 2 more candidates",
        "after preempting j11, j10, j9, j8, j7, j6, j5, j4, j3, j2 and 2 more, the workload fits   [PREEMPT-002]",
    ]


SHARED = (
    a_queue("q", of(0), cohort="c", preemption=ANY),
    a_queue("r", of(0), cohort="c"),
    a_queue("s", of(4), cohort="c"),
)
STAYS = [
    "ClusterQueue r is next, with the largest share: 1000",
    "LessThanOrEqualToFinalShare does not allow preempting r2 of ClusterQueue r, priority 0: "
    "preemptor share 750, target share 500 after preemption   [FAIR-005]",
    "LessThanOrEqualToFinalShare does not allow preempting r1 of ClusterQueue r, priority 0: "
    "preemptor share 750, target share 500 after preemption   [FAIR-005]",
]


@pytest.mark.parametrize(
    ("strategies", "expected"),
    [
        pytest.param([FINAL], STAYS, id="final"),
        pytest.param(
            [INITIAL],
            [
                STAYS[0],
                "LessThanInitialShare allows preempting r2 of ClusterQueue r, priority 0: "
                "preemptor share 750, target share 1000 before preemption   [FAIR-006]",
                "after preempting r2, the workload does not fit yet   [PREEMPT-007]",
                "ClusterQueue r is next, with the largest share: 500",
                "LessThanInitialShare does not allow preempting r1 of ClusterQueue r, priority 0: "
                "preemptor share 750, target share 500 before preemption   [FAIR-006]",
            ],
            id="initial",
        ),
        pytest.param(
            [FINAL, INITIAL],
            [
                *STAYS,
                "LessThanInitialShare allows preempting r2 of ClusterQueue r, priority 0: "
                "preemptor share 750, target share 1000 before preemption   [FAIR-006]",
                "after preempting r2, the workload does not fit yet   [PREEMPT-007]",
            ],
            id="both",
        ),
    ],
)
def test_the_strategy_that_decides_is_told(strategies: list[str], expected: list[str]) -> None:
    """With both shares, turn by turn."""
    world = a_world(*SHARED, a_job("r1", "r", 2), a_job("r2", "r", 2), a_job("new", "q", 3), fair=strategies)

    assert found(world)[3:] == expected


def test_what_the_shares_have_no_say_in_is_told() -> None:
    """Nominal quota is fetched back whatever the shares are."""
    world = a_world(
        a_queue("q", of(1), cohort="c", preemption=ANY),
        *SHARED[1:],
        a_job("r1", "r", 3),
        a_job("r2", "r", 2),
        a_job("new", "q"),
        fair=[FINAL],
    )

    assert found(world)[3:] == [
        "ClusterQueue r is next, with the largest share: 1000",
        f"r2 of ClusterQueue r, priority 0 is preempted: {preempt_within_nominal.sentence}   [FAIR-003]",
        "after preempting r2, the workload fits   [PREEMPT-007]",
    ]


@pytest.mark.parametrize("fair", [pytest.param([], id="classical"), pytest.param([FINAL], id="fair-sharing")])
def test_a_queue_that_is_not_active_has_no_candidates(fair: list[str]) -> None:
    """It borrows what the new Job has a right to, and its work stays."""
    world = a_world(
        a_queue("q", of(1), cohort="c", preemption=ANY),
        a_queue("r", of(0), cohort="c", stopPolicy="Hold"),
        [ADMITTED],
        a_job("new", "q"),
        fair=fair,
    )

    assert "no candidates in ClusterQueue r: it is not active" in found(world)


def test_json_carries_the_same_steps() -> None:
    """Text and requirements of each."""
    world = a_world(a_queue("q", of(1)), a_job("one", "q"), a_job("new", "q"))

    result = kueue_dra("explain", "-f", "-", "new", "-o", "json", stdin=world)

    (explained,) = json.loads(result.stdout)
    assert {
        "text": f"{FREE}no candidates in ClusterQueue q: withinClusterQueue is Never",
        "requirements": ["PREEMPT-004"],
    } in explained["steps"]
