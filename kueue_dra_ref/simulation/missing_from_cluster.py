"""What a dump of a running cluster lacks although it matters, each with the kubectl command that prints it.

No counterpart: notes of the simulation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from kueue_dra_ref.api.workloads import admission_of
from kueue_dra_ref.explain.step import listed
from kueue_dra_ref.simulation.run import SimulationResult, unknown_namespaces

_PLURALS = {
    "ResourceClaimTemplate": "resourceclaimtemplates -A",
    "WorkloadPriorityClass": "workloadpriorityclasses",
    "PriorityClass": "priorityclasses",
    "LocalQueue": "localqueues -A",
    "ClusterQueue": "clusterqueues",
    "ResourceFlavor": "resourceflavors",
}
_CONFIGURATION = "configmap kueue-manager-config -n kueue-system"
_SHOWN = 5
"""How many names a note shows."""


def missing_from_cluster(
    result: SimulationResult, *, has_configuration: bool
) -> Iterator[str]:
    """Say once for each kind what the documents of a running cluster lack."""
    namespaces = unknown_namespaces(result.restored)
    if namespaces:
        yield _note("Namespace", namespaces, "namespaces")
    if not has_configuration and result.ask_for_devices:
        yield f"no Configuration, so no device class is mapped: {_command(_CONFIGURATION)}"
    if result.lacks_slices:
        text = "no ResourceSlices, so no selector is checked against devices"
        yield f"{text}: {_command('resourceslices')}"
    queues = list(_queues_without_workloads(result))
    if queues:
        shown = listed(queues, _SHOWN)
        text = f"fewer Workloads than hold quota in ClusterQueue {shown}, so the rest of it is free here"
        yield f"{text}: {_command('workloads,jobs -A')}"
    yield from _unknown_names(result)


def _unknown_names(result: SimulationResult) -> Iterator[str]:
    """Say which objects restored objects name, and the dump does not have."""
    names: dict[str, dict[str, None]] = {}
    for finding in result.missing_of_cluster:
        reference = finding.reference
        if reference:
            names.setdefault(reference.kind, {})[reference.place] = None
    for kind, found in names.items():
        yield _note(kind, found, _PLURALS[kind])


def _note(kind: str, names: Iterable[str], plural: str) -> str:
    shown = listed(list(names), _SHOWN)
    return f"no {kind} {shown}: {_command(plural)}"


def _command(kinds: str) -> str:
    return f"kubectl get {kinds} -o yaml prints what the cluster has"


def _queues_without_workloads(result: SimulationResult) -> Iterator[str]:
    """Name the ClusterQueues whose status counts more reservations than Workloads of the dump have."""
    refused = {each.given.ref for each in result.refused}
    holding = _reservations(result)
    for each in result.restored:
        if each.ref.kind != "ClusterQueue" or each.ref in refused:
            continue
        status = each.manifest.get("status") or {}
        reserving = status.get("reservingWorkloads")
        if isinstance(reserving, int) and reserving > holding[each.ref.name]:
            yield each.ref.name


def _reservations(result: SimulationResult) -> Counter[str]:
    """Count the Workloads of the dump that hold quota, by ClusterQueue."""
    holding: Counter[str] = Counter()
    for workload in result.stored.values():
        holding[admission_of(workload).get("clusterQueue", "")] += 1
    return holding
