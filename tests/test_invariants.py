"""Each invariant can fail: a consistent state, one changed figure, and the name of the invariant."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from kueue_dra_fixtures.case_audit import AuditedTarget
from kueue_dra_fixtures.cluster_state import ClusterState
from kueue_dra_fixtures.invariants import LAWS, InvariantViolated, violations
from kueue_dra_fixtures.manifests import with_spec
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.target import Audit, Manifest
from tests.clusters_live.manifests import CONFIGURATION, a_job, a_world

METRICS = """\
# HELP kueue_pending_workloads The number of pending workloads
kueue_pending_workloads{cluster_queue="team",status="active"} 1
kueue_pending_workloads{cluster_queue="team",status="inadmissible"} 0
kueue_reserving_active_workloads{cluster_queue="team"} 1
kueue_admitted_active_workloads{cluster_queue="team"} 1
kueue_cluster_queue_resource_usage{cluster_queue="team",cohort="",flavor="team-flavor",resource="cpu"} 1
kueue_cluster_queue_resource_usage{cluster_queue="team",cohort="",flavor="team-flavor",resource="whole-gpus"} 2
kueue_cluster_queue_resource_reservation{cluster_queue="team",flavor="team-flavor",resource="cpu"} 1
kueue_cluster_queue_resource_reservation{cluster_queue="team",flavor="team-flavor",resource="whole-gpus"} 2
"""
"""The status of the consistent state, as Kueue shows it."""
GIVEN = [{"kind": "Configuration", **CONFIGURATION}, *a_world()]

Change = Callable[[dict[str, Manifest]], object]


@pytest.fixture
def sound() -> list[Manifest]:
    """Make two Jobs: one runs on two GPUs, and one waits for as many."""
    target = ReferenceTarget(behaviour("kueue-0.19.2"))
    target.start(CONFIGURATION)
    target.apply([*a_world(), a_job("runs", "gpus-2"), a_job("waits", "gpus-2")])
    target.settle()
    seen: list[Manifest] = []

    def look(objects: Sequence[Manifest], _: str) -> list[str]:
        seen.extend(copy.deepcopy(list(objects)))
        return []

    target.audit(look)
    return seen


def _by_name(objects: list[Manifest]) -> dict[str, Manifest]:
    """Name the objects of the consistent state for the changes."""
    owners = {each["metadata"]["ownerReferences"][0]["name"]: each for each in objects if each["kind"] == "Workload"}
    jobs = {f"job {each['metadata']['name']}": each for each in objects if each["kind"] == "Job"}
    return owners | jobs | {each["kind"]: each for each in objects if each["kind"].endswith("Queue")}


def _assignment(world: dict[str, Manifest]) -> dict[str, Any]:
    found: dict[str, Any] = world["runs"]["status"]["admission"]["podSetAssignments"][0]
    return found


def _gpus(queue: Manifest, key: str) -> dict[str, Any]:
    resources = queue["status"][key][0]["resources"]
    found: dict[str, Any] = next(each for each in resources if each["name"] == "whole-gpus")
    return found


CHANGES: dict[str, tuple[Change, str]] = {
    "reserved-more-than-charged": (
        lambda world: _gpus(world["ClusterQueue"], "flavorsReservation").update(total="3"),
        "charges are reservations: ClusterQueue team, flavor team-flavor, resource whole-gpus: "
        "status.flavorsReservation is 3, but its Workloads hold 2",
    ),
    "used-less-than-charged": (
        lambda world: _gpus(world["LocalQueue"], "flavorsUsage").update(total="1"),
        "charges are usage: LocalQueue team/main, flavor team-flavor, resource whole-gpus: "
        "status.flavorsUsage is 1, but its Workloads hold 2",
    ),
    "one-counted-twice": (
        lambda world: world["ClusterQueue"]["status"].update(admittedWorkloads=2),
        "holders are counted: ClusterQueue team: status.admittedWorkloads is 2, but 1 Workloads are",
    ),
    "one-forgotten": (
        lambda world: world["ClusterQueue"]["status"].update(pendingWorkloads=0),
        "waiting are counted: ClusterQueue team: status.pendingWorkloads is 0, but 1 Workloads wait",
    ),
    "one-let-loose": (
        lambda world: world["job waits"]["spec"].update(suspend=False),
        "nothing runs unreserved: Job team/waits: it is not suspended, but no quota is reserved for it",
    ),
    "more-than-asked": (
        lambda world: _assignment(world)["resourceUsage"].update({"whole-gpus": "3"}),
        "resource whole-gpus: charged are 3, but asked for were 2",
    ),
    "something-else-than-asked": (
        lambda world: _assignment(world)["resourceUsage"].update({"shared-gpus": "1"}),
        "resource shared-gpus: charged are 1, but asked for were 0",
    ),
}


def test_a_sound_world_keeps_every_law(sound: list[Manifest]) -> None:
    """The decisions of the reference cause no message, nor do metrics that agree."""
    assert violations(ClusterState(objects=sound, given=GIVEN, metrics=METRICS)) == []


@pytest.mark.parametrize(("change", "words"), CHANGES.values(), ids=CHANGES)
def test_a_figure_that_does_not_add_up_is_named(sound: list[Manifest], change: Change, words: str) -> None:
    """The message has the invariant, the queue, the resource and both figures."""
    change(_by_name(sound))

    assert any(words in str(each) for each in violations(ClusterState(objects=sound, given=GIVEN)))


def test_metrics_that_say_otherwise_are_named(sound: list[Manifest]) -> None:
    """A metric is held against the status of its queue."""
    metrics = METRICS.replace('resource="whole-gpus"} 2', 'resource="whole-gpus"} 4', 1)
    messages = [str(each) for each in violations(ClusterState(objects=sound, given=GIVEN, metrics=metrics))]

    assert messages == [
        "metrics agree: ClusterQueue team, flavor team-flavor, resource whole-gpus: "
        "kueue_cluster_queue_resource_usage is 4, but status.flavorsUsage is 2"
    ]


@pytest.mark.parametrize("gone", [False, True])
def test_the_gauge_of_what_waits_may_stay_once_a_local_queue_is_gone(sound: list[Manifest], gone: bool) -> None:
    """Kueue leaves it as it was then; while the LocalQueue is there it has to be right."""
    metrics = METRICS.replace('status="active"} 1', 'status="active"} 7')
    objects = [each for each in sound if not gone or each["kind"] != "LocalQueue"]
    messages = [
        each
        for each in violations(ClusterState(objects=objects, given=GIVEN, metrics=metrics))
        if "metrics" in each.law
    ]

    assert bool(messages) is not gone


def test_the_gauge_of_what_waits_may_stay_once_a_local_queue_was_stopped(sound: list[Manifest]) -> None:
    """Kueue does not correct it when the LocalQueue runs again and the pending workload is gone."""
    metrics = METRICS.replace('status="active"} 1', 'status="active"} 7')
    stopped = [with_spec(each, stopPolicy="Hold") for each in sound if each["kind"] == "LocalQueue"]

    assert violations(ClusterState(objects=sound, given=[*GIVEN, *stopped], metrics=metrics)) == []


def test_every_law_is_seen_to_fail(sound: list[Manifest]) -> None:
    """No law is there that nothing could break."""
    broken = set()
    for change, _ in CHANGES.values():
        world = copy.deepcopy(sound)
        change(_by_name(world))
        broken |= {each.law for each in violations(ClusterState(objects=world, given=GIVEN))}

    assert len(broken | {"metrics agree"}) == len(LAWS)


def test_a_case_in_a_world_at_odds_fails() -> None:
    """The check of a target that charges nothing fails at the end."""

    class Dishonest(ReferenceTarget):
        def audit(self, check: Audit) -> list[str]:
            """Show a state with a charge too many."""
            objects = copy.deepcopy([*self.store.every("ClusterQueue"), *self.store.every("Workload")])
            objects[0]["status"]["reservingWorkloads"] = 7
            return [*check(objects, "")]

    target = AuditedTarget(Dishonest(behaviour("kueue-0.19.2")))
    target.start(CONFIGURATION)
    target.apply([*a_world(), a_job("runs", "gpus-2")])

    with pytest.raises(
        InvariantViolated, match=r"ClusterQueue team: status.reservingWorkloads is 7, but 1 Workloads are"
    ):
        target.check_invariants()
    target.check_invariants("holders are counted")  # a case may be excused from one law
