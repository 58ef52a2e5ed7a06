"""Replays scenarios on any target, step by step, alone or several at once, and observes the result."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.admission_checks import ADMISSION_CHECK, check_states
from kueue_dra_ref.api.elastic_work import in_chain
from kueue_dra_ref.api.job_kinds import POD, owner_of
from kueue_dra_ref.api.pod_owners import POD_OWNERS, group_of_workload
from kueue_dra_ref.api.queued_pods import is_of_group
from kueue_dra_ref.api.topologies import TOPOLOGY
from kueue_dra_ref.api.topology_assignment import assignment_of
from kueue_dra_ref.api.variants import is_variant
from kueue_dra_ref.scenarios.changes import changed
from kueue_dra_ref.scenarios.check_answers import answered
from kueue_dra_ref.scenarios.renaming import renamed
from kueue_dra_ref.scenarios.roll_out import in_turns, reported, rolled_out, state_of
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
_POD_KINDS = frozenset({POD.name, *POD_OWNERS})
_CHECK_FIELDS = ("state", "message", "retryCount")
CONDITIONS = ("QuotaReserved", "Admitted", "Requeued", "Evicted", "Preempted")
"""The types of conditions that each observation has."""


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
        for refs, step in zip(known, steps, strict=True):
            refs |= _applied(step)
        state = ObservedState.by(target, pods=any(map(has_pods, known)))
        observations = []
        for refs, step in zip(known, steps, strict=True):
            written = shared | _applied(step) | _answered(step)
            own = [each for each in rejected if _is_of(each.ref, written, refs)]
            observation = observed(state, refs, own)
            observations.append({**observation, **mark})
        yield observations
        rejected = []


def _is_of(rejected: Ref, written: set[Ref], refs: set[Ref]) -> bool:
    """Whether a scenario wrote an object, or made the pod by rolling out."""
    if rejected.kind == POD.name:
        return rejected.namespace in _namespaces(refs)
    return rejected in written


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
    manifests = (*(step.get("apply") or ()), *(step.get("change") or ()))
    return _refs(manifests)


def _answered(step: Step) -> set[Ref]:
    answers = step.get("answer") or ()
    return _refs(answers)


def _refs(manifests: Iterable[Manifest]) -> set[Ref]:
    return set(map(Ref.of, manifests))


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedState:
    """The workloads and queues of a target at one moment, listed once for any number of scenarios."""

    workloads: Sequence[Manifest]
    queues: Mapping[str, Manifest]
    pods: Sequence[Manifest] = ()

    @classmethod
    def by(cls, target: Target, *, pods: bool = False) -> ObservedState:
        """List the objects of a settled target; ``pods`` is whether there may be any."""
        queues = target.list(KUEUE, "ClusterQueue")
        return cls(
            workloads=target.list(KUEUE, "Workload"),
            queues={each["metadata"]["name"]: each for each in queues},
            pods=target.list("v1", POD.name) if pods else (),
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
        if has_pods(seen):
            found["pods"] = _pods(state, namespaces)
        if _names(ADMISSION_CHECK, seen):
            found["checks"] = _checks(state, namespaces)
        if _names(TOPOLOGY, seen):
            found["places"] = _places(state, namespaces)
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
    found: Observation = {}
    for each in _in_namespaces(state, namespaces):
        _add(found, _owner(each), _workload(each.get("status") or {}))
    return found


def _checks(state: ObservedState, namespaces: set[str]) -> Observation:
    """Give the states of the admission checks of each workload that has some."""
    found: Observation = {}
    for each in _in_namespaces(state, namespaces):
        states = {}
        for check in check_states(each):
            shown = {field: check.get(field) for field in _CHECK_FIELDS}
            states[check["name"]] = shown
        if states:
            _add(found, _owner(each), states)
    return found


def _places(state: ObservedState, namespaces: set[str]) -> Observation:
    """Give the number of pods in each topology domain, by pod set, of each workload that is placed."""
    found: Observation = {}
    for each in _in_namespaces(state, namespaces):
        admission = (each.get("status") or {}).get("admission") or {}
        placed = {}
        for pod_set in admission.get("podSetAssignments") or ():
            if assignment := pod_set.get("topologyAssignment"):
                domains = assignment_of(assignment).domains
                counts = {"/".join(values): count for values, count in domains}
                placed[pod_set["name"]] = counts
        if placed:
            _add(found, _owner(each), placed)
    return found


def by_name(
    state: ObservedState,
    refs: Collection[Ref],
    show: Callable[[Manifest], Observation],
) -> Observation:
    """Show each Workload of the namespaces of some objects, by the name that observations have for it."""
    found: Observation = {}
    for each in _in_namespaces(state, _namespaces(refs)):
        _add(found, _owner(each), show(each))
    return found


def _in_namespaces(state: ObservedState, namespaces: set[str]) -> Iterator[Manifest]:
    """Give the Workloads of some namespaces, those of elastic work in their order."""
    for each in in_chain(state.workloads):
        if each["metadata"]["namespace"] in namespaces:
            yield each


def _add(found: Observation, name: str, workload: Observation) -> None:
    """Add the observation of a Workload; of elastic work the newest has its name, and those before it a number."""
    if name in found:
        before = sum(each.startswith(f"{name}/") for each in found)
        found[f"{name}/{before + 1}"] = found[name]
    found[name] = workload


def _pods(state: ObservedState, namespaces: set[str]) -> Observation:
    found = {}
    for each in state.pods:
        meta = each["metadata"]
        if meta["namespace"] in namespaces:
            found[meta["name"]] = state_of(each)
    return found


def has_pods(refs: Iterable[Ref]) -> bool:
    """Whether some objects are pods, or make pods that Kueue queues."""
    return any(ref.kind in _POD_KINDS for ref in refs)


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
    applied = renamed(target, _merged(steps, "apply"))
    rejected = list(target.apply(applied))
    changes = renamed(target, _merged(steps, "change"))
    rejected += target.apply(changed(target, changes))
    deleted = renamed(target, _merged(steps, "delete"))
    touched = renamed(target, _merged(steps, "touch"))
    target.delete(map(Ref.of, deleted))
    target.touch(map(Ref.of, touched))
    return [
        *rejected,
        *_through_pods(steps, target),
        *_by_checks(steps, target),
    ]


def _through_pods(steps: Sequence[Step], target: Target) -> list[Rejection]:
    """Act as what makes pods and what runs them, once Kueue has marked the objects of the step."""
    owners = _merged(steps, "rollOut")
    reports = _merged(steps, "report")
    if owners or reports:
        settled(target)
    rejected = rolled_out(target, map(Ref.of, owners)) if owners else []
    reported(target, reports)
    return rejected


def _by_checks(steps: Sequence[Step], target: Target) -> list[Rejection]:
    """Act as the controllers of admission checks, once everything before has settled."""
    answers = in_turns([step.get("answer") or () for step in steps])
    if not answers:
        return []
    settled(target)
    return answered(target, answers)


def _merged(steps: Sequence[Step], verb: str) -> list[Manifest]:
    """Give the objects of one verb in a step of all scenarios, each object once: the first ones of all come first."""
    found = {}
    for each in in_turns([step.get(verb) or () for step in steps]):
        found[Ref.of(each)] = each
    return list(found.values())


def _owner(workload: Manifest) -> str:
    """Name the Job or the group of pods of a workload, or else the workload; a variant without the hash of a UID."""
    if group := group_of_workload(workload):
        return group
    owner = None if is_of_group(workload) else owner_of(workload)
    if owner:
        return owner[1]
    name = str(workload["metadata"]["name"])
    return name.rpartition("-")[0] if is_variant(workload) else name


def _workload(status: dict[str, Any]) -> Observation:
    conditions = {}
    for each in status.get("conditions") or ():
        conditions[each["type"]] = each
    found: Observation = {}
    for kind in CONDITIONS:
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
