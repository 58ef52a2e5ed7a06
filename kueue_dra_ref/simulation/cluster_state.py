"""How a running cluster stands, for explanations: which workloads hold quota, and what the cluster decided otherwise.

No counterpart: explanations of the simulation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from kueue_dra_ref.api.conditions import condition, is_true
from kueue_dra_ref.api.pods import printed, units
from kueue_dra_ref.api.quantities import parse
from kueue_dra_ref.api.workloads import workload_of
from kueue_dra_ref.cache.snapshot import ReservedWorkload
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.explain.step import Step
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.model.resource_node import FlavorResource
from kueue_dra_ref.simulation.explanation import Explanation, explained, job_of
from kueue_dra_ref.simulation.run import SimulationResult
from kueue_dra_ref.target import Manifest

_LACKING = re.compile(r"for (\S+) in flavor (\S+?)(?=[,;.]|\s|$)")
"""The resource and the flavor that a message about quota names."""
_SHOWN = 5
"""How many workloads that hold quota an explanation names."""


def explained_in(result: SimulationResult, workload: Manifest) -> Explanation:
    """Explain a Workload of a simulation; of a running cluster also how the cluster stands."""
    found = explained(result.target, workload)
    manager = result.target.manager
    if not result.restored or manager is None:
        return found
    kueue = manager.kueue
    steps = list(found.steps)
    devices = found.devices
    if is_true(workload, "QuotaReserved"):
        steps += _holding(kueue, workload)
        devices = devices or _admitted_devices(kueue, workload)
    else:
        steps += _holders(kueue, found)
    steps += _difference(result.stored.get((found.namespace, found.workload)), workload)
    return replace(found, steps=tuple(steps), devices=devices)


def _holding(kueue: Kueue, workload: Manifest) -> Iterator[Step]:
    """Say what quota a workload holds."""
    meta = workload["metadata"]
    key = (meta["namespace"], meta["name"])
    queue = workload["status"]["admission"]["clusterQueue"]
    for reserved in kueue.usage.reservations(queue):
        if reserved.key != key:
            continue
        for wanted in sorted(reserved.amounts):
            amount = _amount(kueue, reserved, wanted)
            yield _step(f"it holds {amount} of ClusterQueue {queue}")


def _admitted_devices(kueue: Kueue, workload: Manifest) -> Mapping[str, int]:
    """Give what an admission charges for devices; Kueue does not read the claims of an admitted workload again."""
    if not workload_of(workload).claims:
        return {}
    mapped = {each.name for each in kueue.configuration.mappings}
    total: dict[str, int] = {}
    for assignment in workload["status"]["admission"]["podSetAssignments"]:
        for resource, amount in (assignment.get("resourceUsage") or {}).items():
            if resource in mapped:
                count = units(resource, parse(str(amount)))
                total[resource] = total.get(resource, 0) + count
    return dict(sorted(total.items()))


def _holders(kueue: Kueue, found: Explanation) -> Iterator[Step]:
    """Say which workloads hold the quota that the message of a pending workload names."""
    for resource, flavor in dict.fromkeys(_LACKING.findall(found.message)):
        wanted = (flavor, resource)
        holders = []
        for queue in _queues_that_share(kueue, found.cluster_queue):
            for reserved in kueue.usage.reservations(queue):
                if reserved.amounts.get(wanted):
                    holders.append(reserved)
        holders.sort(key=lambda each: (-each.amounts[wanted], each.key))
        for reserved in holders[:_SHOWN]:
            amount = _amount(kueue, reserved, wanted)
            name = _name(kueue, reserved.key)
            yield _step(
                f"{name} holds {amount} of ClusterQueue {reserved.cluster_queue}"
            )
        if len(holders) > _SHOWN:
            more = len(holders) - _SHOWN
            yield _step(f"{more} more workloads hold {resource} in flavor {flavor}")


def _queues_that_share(kueue: Kueue, cluster_queue: str) -> list[str]:
    """Name a ClusterQueue and the others of its cohort tree."""
    hierarchy = kueue.hierarchy
    root = hierarchy.root(cluster_queue)
    members = hierarchy.members(root) if root else []
    return [cluster_queue, *(each for each in members if each != cluster_queue)]


def _name(kueue: Kueue, key: Key) -> str:
    """Name a workload as kubectl shows it, its Job first."""
    namespace, name = key
    found = kueue.store.get("Workload", key)
    job = job_of(found) if found else ""
    if job:
        return f"Job {namespace}/{job} (Workload {name})"
    return f"Workload {namespace}/{name}"


def _amount(kueue: Kueue, reserved: ReservedWorkload, wanted: FlavorResource) -> str:
    flavor, resource = wanted
    held = printed(resource, reserved.amounts[wanted], kueue.in_bytes)
    nominal = _nominal(kueue, reserved.cluster_queue, wanted)
    return f"{held} of {nominal} {resource} in flavor {flavor}"


def _nominal(kueue: Kueue, cluster_queue: str, wanted: FlavorResource) -> str:
    flavor, resource = wanted
    queue = kueue.store.find("ClusterQueue", cluster_queue) or {"spec": {}}
    for group in queue["spec"].get("resourceGroups") or ():
        for quotas in group["flavors"]:
            for each in quotas["resources"]:
                if (quotas["name"], each["name"]) == (flavor, resource):
                    amount = units(resource, parse(str(each["nominalQuota"])))
                    return printed(resource, amount, kueue.in_bytes)
    return "0"


def _difference(stored: Manifest | None, workload: Manifest) -> Iterator[Step]:
    """Say that a cluster decided otherwise, with what both say."""
    if stored is None:
        return
    theirs = _decision(stored)
    ours = _decision(workload)
    if theirs != ours:
        yield _step(
            f"the cluster differs: it says {theirs}; the reference derives {ours}"
        )


def _decision(workload: Manifest) -> str:
    """Print the QuotaReserved condition of a Workload; of one that holds quota only that it does."""
    found = condition(workload, "QuotaReserved")
    if found is None:
        return "nothing about QuotaReserved"
    if found["status"] == "True":
        return "QuotaReserved=True"
    reason, message = found.get("reason", ""), found.get("message", "")
    return f'QuotaReserved={found["status"]}, {reason}: "{message}"'


def _step(text: str) -> Step:
    return Step(requirements=(), text=text)
