"""Replays scenarios on any target, step by step, alone or several at once, and observes the result."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.job_kinds import owner_of
from kueue_dra_ref.api.queued_pods import is_of_group
from kueue_dra_ref.scenarios.scenario import Observation, Scenario
from kueue_dra_ref.target import (
    FieldError,
    Manifest,
    NotQuiescent,
    Ref,
    Rejection,
    Target,
)

KUEUE = "kueue.x-k8s.io/v1beta2"
_CONDITIONS = ("QuotaReserved", "Admitted", "Requeued", "Evicted", "Preempted")


Step = Mapping[str, Any]
"""One step of a scenario: the objects to apply, delete and touch."""


class ConfigurationRejected(Exception):
    """The target did not start with the scenario's configuration."""

    def __init__(self, name: str, faults: Iterable[FieldError]) -> None:
        self.faults = tuple(faults)
        details = "; ".join(map(str, self.faults))
        super().__init__(f"{name}: the configuration is refused: {details}")


def replayed(scenario: Scenario, target: Target) -> Iterator[Observation]:
    """Replay a scenario on a target and observe it after every step.

    Raises:
        ConfigurationRejected: the target does not start with a configuration.

    """
    for observations in replayed_together([scenario], target):
        yield observations[0]


def replayed_together(
    scenarios: Sequence[Scenario], target: Target
) -> Iterator[list[Observation]]:
    """Replay scenarios of one configuration and one inventory side by side, and observe each after every step.

    They share only the objects that are equal in the same step of all: their queues, cohorts and namespaces differ.
    Where one restarts Kueue with another configuration, all do.  If the target does not settle, its observations are
    marked as unsettled, as in recordings.

    Raises:
        ConfigurationRejected: the target does not start with the configuration.

    """
    first = scenarios[0]
    started(first, first.configuration, target)
    rejected = list(target.apply(first.inventory))
    shared = _refs(first.inventory)
    known: list[set[Ref]] = [set(shared) for _ in scenarios]
    all_steps = [scenario.steps for scenario in scenarios]
    for steps in zip(*all_steps, strict=True):
        for configuration in steps[0].get("restart") or ():
            started(first, configuration, target)
        rejected += ran(steps, target)
        mark = settled(target)
        state = ObservedState.by(target)
        observations = []
        for refs, step in zip(known, steps, strict=True):
            applied = _applied(step)
            refs |= applied
            written = shared | applied
            own = [each for each in rejected if each.ref in written]
            observation = observed(state, refs, own)
            observations.append({**observation, **mark})
        yield observations
        rejected = []


def known_refs(scenario: Scenario, steps: int) -> set[Ref]:
    """Name what a scenario has applied after so many steps."""
    refs = _refs(scenario.inventory)
    for step in scenario.steps[:steps]:
        refs |= _applied(step)
    return refs


def settled(target: Target) -> Observation:
    """Settle a target; give the mark of an observation for which it did not.

    Kueue may requeue a whole cohort tree after it has updated the counts of its queues, so settling comes twice.
    """
    try:
        target.settle()
        target.list(KUEUE, "ClusterQueue")
        target.settle()
    except NotQuiescent:
        return {"unsettled": True}
    return {}


def started(
    scenario: Scenario,
    configuration: Manifest,
    target: Target,
) -> None:
    """Start a target with a Configuration of a scenario.

    Raises:
        ConfigurationRejected: it does not start with it.

    """
    faults = target.start(configuration)
    if faults:
        raise ConfigurationRejected(scenario.name, faults)


def _applied(step: Step) -> set[Ref]:
    manifests = step.get("apply") or ()
    return _refs(manifests)


def _refs(manifests: Iterable[Manifest]) -> set[Ref]:
    return set(map(Ref.of, manifests))


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedState:
    """The workloads and queues of a target at one moment, listed once for any number of scenarios."""

    workloads: Sequence[Manifest]
    queues: Mapping[str, Manifest]

    @classmethod
    def by(cls, target: Target) -> ObservedState:
        """List the objects of a settled target."""
        queues = target.list(KUEUE, "ClusterQueue")
        return cls(
            workloads=target.list(KUEUE, "Workload"),
            queues={each["metadata"]["name"]: each for each in queues},
        )


def observed(
    state: ObservedState, seen: Collection[Ref], rejected: Iterable[Rejection] = ()
) -> Observation:
    """Observe the namespaces and queues that a scenario created."""
    found: Observation = {}
    queues = _names("ClusterQueue", seen)
    if queues:
        namespaces = _namespaces(seen)
        found["workloads"] = _workloads(state, namespaces)
        found["clusterQueues"] = _queues(state, queues)
    refused = [_rejection(each) for each in rejected]
    if refused:
        found["rejected"] = refused
    return found


def _names(kind: str, refs: Iterable[Ref]) -> set[str]:
    return {ref.name for ref in refs if ref.kind == kind}


def _namespaces(refs: Collection[Ref]) -> set[str]:
    """Name the namespaces that a scenario creates, or writes to: a cluster has the one named default already."""
    used = {ref.namespace for ref in refs if ref.namespace}
    return used | _names("Namespace", refs)


def _workloads(state: ObservedState, namespaces: set[str]) -> Observation:
    found = {}
    for each in state.workloads:
        if each["metadata"]["namespace"] in namespaces:
            name = _owner(each)
            found[name] = _workload(each.get("status") or {})
    return found


def _queues(state: ObservedState, names: set[str]) -> Observation:
    found = {}
    for name in sorted(names):
        queue = state.queues.get(name)
        if queue is not None:
            found[name] = _queue(queue.get("status") or {})
    return found


def _rejection(rejected: Rejection) -> Observation:
    return {
        "kind": rejected.ref.kind,
        "name": rejected.ref.name,
        "code": rejected.code,
        "message": rejected.message,
    }


def ran(steps: Sequence[Step], target: Target) -> list[Rejection]:
    """Run one step of every scenario; what several of them have in common runs once."""
    applied = _merged(steps, "apply")
    deleted = _merged(steps, "delete")
    touched = _merged(steps, "touch")
    rejected = target.apply(applied)
    target.delete(map(Ref.of, deleted))
    target.touch(map(Ref.of, touched))
    return list(rejected)


def _merged(steps: Sequence[Step], verb: str) -> list[Manifest]:
    """Give the objects of one verb in a step of all scenarios, each object once."""
    found = {}
    for step in steps:
        for each in step.get(verb) or ():
            ref = Ref.of(each)
            found[ref] = each
    return list(found.values())


def _owner(workload: Manifest) -> str:
    """Name the Job or the group of pods of a workload, or else the workload."""
    owner = None if is_of_group(workload) else owner_of(workload)
    return owner[1] if owner else str(workload["metadata"]["name"])


def _workload(status: dict[str, Any]) -> Observation:
    conditions = {}
    for each in status.get("conditions") or ():
        conditions[each["type"]] = each
    found: Observation = {}
    for kind in _CONDITIONS:
        if kind in conditions:
            found[kind] = _condition(conditions[kind])
    found["admission"] = _admission(status.get("admission"))
    requests = status.get("resourceRequests")
    if requests:
        found["requests"] = requests
    return found


def _condition(condition: dict[str, Any]) -> Observation:
    return {
        "status": condition["status"],
        "reason": condition["reason"],
        "message": condition["message"],
    }


def _admission(admission: dict[str, Any] | None) -> Observation | None:
    if admission is None:
        return None
    pod_sets = []
    for each in admission["podSetAssignments"]:
        pod_set = {
            "name": each["name"],
            "count": each["count"],
            "flavors": each.get("flavors") or {},
            "usage": each.get("resourceUsage") or {},
        }
        pod_sets.append(pod_set)
    return {"clusterQueue": admission["clusterQueue"], "podSets": pod_sets}


def _queue(status: dict[str, Any]) -> Observation:
    reservation = {}
    for flavor in status.get("flavorsReservation") or ():
        name = flavor["name"]
        reservation[name] = _amounts(flavor.get("resources") or ())
    return {
        "pending": status.get("pendingWorkloads", 0),
        "reserving": status.get("reservingWorkloads", 0),
        "admitted": status.get("admittedWorkloads", 0),
        "reservation": reservation,
    }


def _amounts(resources: Iterable[dict[str, Any]]) -> Observation:
    found = {}
    for each in resources:
        name = each["name"]
        found[name] = {
            "total": each["total"],
            "borrowed": each.get("borrowed", "0"),
        }
    return found
