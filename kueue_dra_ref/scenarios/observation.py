"""Observes the Workloads, queues and work of a cluster after a step of a scenario."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.admission_checks import ADMISSION_CHECK, check_states
from kueue_dra_ref.api.conditions import condition
from kueue_dra_ref.api.elastic_work import in_chain
from kueue_dra_ref.api.job_kinds import JOB_KINDS, POD, owner_of
from kueue_dra_ref.api.multikueue import is_from_manager
from kueue_dra_ref.api.pod_owners import POD_OWNERS, group_of_workload
from kueue_dra_ref.api.pods_ready import PODS_READY, WAIT_FOR_PODS_READY
from kueue_dra_ref.api.queued_pods import is_of_group
from kueue_dra_ref.api.retention import SECTION as RETENTION
from kueue_dra_ref.api.topologies import TOPOLOGY
from kueue_dra_ref.api.topology_assignment import assignment_of
from kueue_dra_ref.api.variants import (
    BLOCKED,
    CONCURRENT,
    gate_opened,
    is_parent,
    is_variant,
    variant_state,
)
from kueue_dra_ref.api.workloads import admission_of
from kueue_dra_ref.scenarios.families import PARENTS, VARIANTS
from kueue_dra_ref.scenarios.roll_out import state_of
from kueue_dra_ref.scenarios.scenario import Observation
from kueue_dra_ref.target import Manifest, Ref, Rejection, Target

KUEUE = "kueue.x-k8s.io/v1beta2"
_POD_KINDS = frozenset({POD.name, *POD_OWNERS})
_CHECK_FIELDS = ("state", "message", "retryCount")
CONDITIONS = ("QuotaReserved", "Admitted", "Requeued", "Evicted", "Preempted")
"""The types of conditions that each observation has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedState:
    """The workloads and queues of a target at one moment, listed once for any number of scenarios."""

    workloads: Sequence[Manifest]
    queues: Mapping[str, Manifest]
    pods: Sequence[Manifest] = ()
    waits: bool = False
    """Whether the Configuration says how Kueue waits for pods."""
    varied: bool = False
    """Whether Workloads may have variants."""
    work: Collection[Ref] | None = None
    """The work that is there, if the Configuration says when Kueue deletes it."""

    @classmethod
    def by(
        cls,
        target: Target,
        *,
        pods: bool = False,
        configuration: Mapping[str, Any] | None = None,
        refs: Collection[Ref] = (),
    ) -> ObservedState:
        """List the objects of a settled target; ``pods`` is whether there may be any.

        If Kueue deletes work by its ``configuration``, list the work among ``refs`` as well.
        """
        queues = target.list(KUEUE, "ClusterQueue")
        written = configuration or {}
        return cls(
            workloads=target.list(KUEUE, "Workload"),
            queues={each["metadata"]["name"]: each for each in queues},
            pods=target.list("v1", POD.name) if pods else (),
            waits=WAIT_FOR_PODS_READY in written,
            varied=bool((written.get("featureGates") or {}).get(CONCURRENT)),
            work=_work_among(target, refs) if RETENTION in written else None,
        )


def observed(
    state: ObservedState, seen: Collection[Ref], rejected: Iterable[Rejection] = ()
) -> Observation:
    """Observe the namespaces and queues that a scenario created."""
    found: Observation = {}
    queues = _names("ClusterQueue", seen)
    if queues:
        found["workloads"] = by_name(state, seen, _workload)
        found["clusterQueues"] = _queues(state, queues)
        if has_pods(seen):
            found["pods"] = _pods(state, namespaces_of(seen))
        if _names(ADMISSION_CHECK, seen):
            found["checks"] = by_name(state, seen, _checks)
        if _names(TOPOLOGY, seen):
            found["places"] = by_name(state, seen, _places)
        found |= _by_configuration(state, seen)
    refused = [_rejection(each) for each in rejected]
    if refused:
        found["rejected"] = refused
    return found


def _by_configuration(state: ObservedState, seen: Collection[Ref]) -> Observation:
    """Observe what the Configuration of Kueue makes it write or delete."""
    found: Observation = {}
    if state.waits:
        found["podsReady"] = by_name(state, seen, _pods_ready)
    if state.varied:
        found[PARENTS] = sorted(by_name(state, seen, _parent))
        found[VARIANTS] = by_name(state, seen, _variant)
    if state.work is not None:
        there = {ref for ref in seen if ref in state.work}
        found["kept"] = sorted(f"{ref.kind}/{ref.name}" for ref in there)
    return found


def _work_among(target: Target, refs: Collection[Ref]) -> set[Ref]:
    """Name the work among some objects that is there, pods aside."""
    kinds = {(ref.api_version, ref.kind) for ref in refs if ref.kind in JOB_KINDS}
    found: set[Ref] = set()
    for api_version, kind in kinds - {("v1", POD.name)}:
        found.update(map(Ref.of, target.list(api_version, kind)))
    return found


def _pods_ready(workload: Manifest) -> Observation:
    """Give the condition PodsReady of a Workload; empty without it."""
    found = condition(workload, PODS_READY)
    return _condition(found) if found else {}


def _parent(workload: Manifest) -> Observation:
    """Say that a Workload has variants; empty for any other Workload."""
    return {"parent": True} if is_parent(workload) else {}


def _variant(workload: Manifest) -> Observation:
    """Give the state of a variant, and what its preemption gate does; empty for any other Workload."""
    if not is_variant(workload):
        return {}
    blocked = condition(workload, BLOCKED)
    return {
        "state": variant_state(workload),
        "gate": "Open" if gate_opened(workload) else "Closed",
        BLOCKED: _condition(blocked) if blocked else None,
    }


def _names(kind: str, refs: Iterable[Ref]) -> set[str]:
    return {ref.name for ref in refs if ref.kind == kind}


def namespaces_of(refs: Collection[Ref]) -> set[str]:
    """Name the namespaces that a scenario creates, or writes to: a cluster has the one named default already."""
    used = {ref.namespace for ref in refs if ref.namespace}
    return used | _names("Namespace", refs)


def _checks(workload: Manifest) -> Observation:
    """Give the states of the admission checks of a Workload, by name."""
    states = {}
    for check in check_states(workload):
        shown = {field: check.get(field) for field in _CHECK_FIELDS}
        states[check["name"]] = shown
    return states


def _places(workload: Manifest) -> Observation:
    """Give the number of pods in each topology domain, by pod set; empty for a Workload that is not placed."""
    placed = {}
    for pod_set in admission_of(workload).get("podSetAssignments") or ():
        if assignment := pod_set.get("topologyAssignment"):
            domains = assignment_of(assignment).domains
            counts = {"/".join(values): count for values, count in domains}
            placed[pod_set["name"]] = counts
    return placed


def by_name(
    state: ObservedState,
    refs: Collection[Ref],
    show: Callable[[Manifest], Observation],
) -> Observation:
    """Show each Workload of the namespaces of some objects that has something to show, by its name in observations."""
    found: Observation = {}
    for each in _in_namespaces(state, namespaces_of(refs)):
        if shown := show(each):
            _add(found, _owner(each), shown)
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


def _owner(workload: Manifest) -> str:
    """Name the Job or the group of pods of a workload, or else the workload.

    A variant, and a copy on a worker, have their name without the hash of a UID.
    """
    if is_from_manager(workload):
        return str(workload["metadata"]["name"]).rpartition("-")[0]
    if group := group_of_workload(workload):
        return group
    owner = None if is_of_group(workload) else owner_of(workload)
    if owner:
        return owner[1]
    name = str(workload["metadata"]["name"])
    return name.rpartition("-")[0] if is_variant(workload) else name


def _workload(workload: Manifest) -> Observation:
    status = workload.get("status") or {}
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
