"""What the devices of a Workload charge: what its admission says, or what would be charged before there is one.

No counterpart: explanations of the simulation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from kueue_dra_ref.api.pods import printed, units
from kueue_dra_ref.api.quantities import parse
from kueue_dra_ref.api.workloads import workload_of
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.target import Manifest
from kueue_dra_ref.workload.dra_resources import DRAResources


def charged_devices(target: ReferenceTarget, workload: Manifest) -> Mapping[str, str]:
    """Give what the claims of all pods of a Workload charge, by resource, as Kueue prints it."""
    meta = workload["metadata"]
    derived = target.derivation(meta["namespace"], meta["name"])
    if derived is None or target.manager is None:
        return {}
    kueue = target.manager.kueue
    resources = _resources(derived)
    admitted = admitted_devices(kueue, workload, resources)
    if admitted is not None:
        return admitted
    return _requested(kueue, workload)


def _resources(derived: DRAResources) -> set[str]:
    """Give the resources that claims charge, or may charge."""
    resources: set[str] = set()
    for charges in (*derived.charges.values(), *derived.shared.values()):
        for charged in charges:
            choices = derived.choices.get(charged, (charged,))
            resources.update(choices)
    return resources


def admitted_devices(
    kueue: Kueue, workload: Manifest, resources: Collection[str]
) -> Mapping[str, str] | None:
    """Give what an admission charges of some resources; None without an admission."""
    admission = (workload.get("status") or {}).get("admission")
    if not admission:
        return None
    total: dict[str, int] = {}
    for assignment in admission.get("podSetAssignments") or ():
        usage = assignment.get("resourceUsage") or {}
        for resource in usage:
            if resource in resources:
                text = str(usage[resource])
                amount = units(resource, parse(text))
                before = total.get(resource, 0)
                total[resource] = before + amount
    return _printed(kueue, total)


def _requested(kueue: Kueue, workload: Manifest) -> Mapping[str, str]:
    """Give what would be charged, without the resources that the ClusterQueue ignores."""
    meta = workload["metadata"]
    key = (meta["namespace"], meta["name"])
    derived = kueue.derivations[key]
    total: dict[str, int] = {}
    for pod_set in workload_of(workload).pod_sets:
        per_pod = derived.charges.get(pod_set.name, {})
        once = derived.shared.get(pod_set.name, {})
        _add(total, per_pod, pod_set.count)
        _add(total, once, 1)
    for resource in list(_ignored(kueue, workload, total)):
        del total[resource]
    return _printed(kueue, total)


def _add(total: dict[str, int], counts: Mapping[str, int], times: int) -> None:
    for resource, count in counts.items():
        devices = parse(count * times)
        before = total.get(resource, 0)
        total[resource] = before + units(resource, devices)


def _ignored(
    kueue: Kueue, workload: Manifest, resources: Mapping[str, int]
) -> Iterator[str]:
    """Give the resources that the quota of the ClusterQueue does not have, if Kueue ignores them."""
    strategy = kueue.configuration.quota_check_strategy
    _, managed = kueue.queue_of(workload)
    if managed is None or not kueue.behaviour.assigning.ignore_undeclared(strategy):
        return
    queue = kueue.informers.queue(managed.cluster_queue)
    for resource in resources:
        if queue is not None and queue.group_of(resource) is None:
            yield resource


def _printed(kueue: Kueue, amounts: Mapping[str, int]) -> Mapping[str, str]:
    return {
        name: printed(name, amounts[name], kueue.in_bytes) for name in sorted(amounts)
    }
