"""How a running cluster stands, for explanations: which workloads hold quota, and what the cluster decided otherwise.

No counterpart: explanations of the simulation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from kueue_dra_ref.api.conditions import condition, is_true, message_of
from kueue_dra_ref.api.job_kinds import owner_of
from kueue_dra_ref.api.pods import printed, units
from kueue_dra_ref.api.quantities import parse
from kueue_dra_ref.api.workloads import workload_of
from kueue_dra_ref.cache.snapshot import ReservedWorkload
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.explain.step import Step
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.model.resource_node import FlavorResource
from kueue_dra_ref.simulation.charged_devices import admitted_devices
from kueue_dra_ref.simulation.explanation import Explanation, explained
from kueue_dra_ref.simulation.run import SimulationResult
from kueue_dra_ref.simulation.workload_ends import queues_that_share
from kueue_dra_ref.target import Manifest
from kueue_dra_ref.verdict import verdict

_LACKING = re.compile(r"for (\S+) in flavor (\S+?)(?=[,;.]|\s|$)")
"""The resource and the flavor that a message about quota names."""
_SHOWN = 5
"""How many workloads that hold quota an explanation names."""


def explanations(
    result: SimulationResult, *, is_changed: bool = False
) -> list[Explanation]:
    """Explain every Workload of a simulation; of a running cluster also how the cluster stands.

    After a change (``is_changed``) the decisions of the cluster are not compared with those of the reference.
    """
    found = [(each, explained(result.target, each)) for each in result.workloads]
    manager = result.target.manager
    if not result.restored or manager is None:
        return [explanation for _, explanation in found]
    stored = {} if is_changed else result.stored
    return [_with_state(manager.kueue, stored, *each) for each in found]


def _with_state(
    kueue: Kueue, given: Mapping[Key, Manifest], workload: Manifest, found: Explanation
) -> Explanation:
    """Add to an explanation which workloads hold the quota, and what the cluster decided otherwise."""
    if is_true(workload, "QuotaReserved"):
        state = _holding(kueue, workload)
        devices = found.devices or _admitted_devices(kueue, workload)
        found = replace(found, devices=devices)
    else:
        state = holder_steps(kueue, found)
    key = (found.namespace, found.workload)
    differences = _difference(given.get(key), workload)
    return replace(found, steps=(*found.steps, *state, *differences))


def _holding(kueue: Kueue, workload: Manifest) -> Iterator[Step]:
    """Say what quota a workload holds."""
    meta = workload["metadata"]
    key = (meta["namespace"], meta["name"])
    admission = workload["status"]["admission"]
    queue = admission["clusterQueue"]
    for reserved in kueue.usage.reservations(queue):
        if reserved.key == key:
            yield from _held(kueue, reserved)


def _held(kueue: Kueue, reserved: ReservedWorkload) -> Iterator[Step]:
    for wanted in sorted(reserved.amounts):
        amount = _amount(kueue, reserved, wanted)
        yield _step(f"it holds {amount}")


def _admitted_devices(kueue: Kueue, workload: Manifest) -> Mapping[str, str]:
    """Give what an admission charges for devices; Kueue does not read the claims of an admitted workload again."""
    if not workload_of(workload).claims:
        return {}
    mapped = {each.name for each in kueue.configuration.mappings}
    return admitted_devices(kueue, workload, mapped) or {}


def _units(resource: str, written: object) -> int:
    text = str(written)
    quantity = parse(text)
    return units(resource, quantity)


def holder_steps(kueue: Kueue, found: Explanation) -> Iterator[Step]:
    """Say which workloads hold the quota that the message of a pending workload names."""
    for wanted in lacking_in(found.message):
        for text in holder_texts(kueue, found.cluster_queue, wanted):
            yield _step(text)


def lacking_in(message: str) -> list[FlavorResource]:
    """Give the flavors and resources that a message about quota names."""
    lacking = _LACKING.findall(message)
    return [(flavor, resource) for resource, flavor in dict.fromkeys(lacking)]


def holder_texts(
    kueue: Kueue, cluster_queue: str, wanted: FlavorResource
) -> Iterator[str]:
    """Name the workloads that hold a resource in a flavor, with the amounts."""
    holders = holders_of(kueue, cluster_queue, wanted)
    for reserved in holders[:_SHOWN]:
        amount = _amount(kueue, reserved, wanted)
        name = workload_title(kueue, reserved.key)
        yield f"{name} holds {amount}"
    more = len(holders) - _SHOWN
    if more > 0:
        flavor, resource = wanted
        yield f"{more} more workloads hold {resource} in flavor {flavor}"


def holders_of(
    kueue: Kueue, cluster_queue: str, wanted: FlavorResource
) -> list[ReservedWorkload]:
    """Give the reservations of a resource in a flavor, the largest first."""
    holders = []
    for queue in queues_that_share(kueue, cluster_queue):
        for reserved in kueue.usage.reservations(queue):
            if reserved.amounts.get(wanted):
                holders.append(reserved)
    holders.sort(key=lambda each: each.key)
    holders.sort(key=lambda each: each.amounts[wanted], reverse=True)
    return holders


def workload_title(kueue: Kueue, key: Key) -> str:
    """Name a workload as kubectl shows it, its Job first."""
    namespace, name = key
    found = kueue.store.get("Workload", key)
    owner = owner_of(found) if found else None
    if owner:
        kind, job = owner
        return f"{kind} {namespace}/{job} (Workload {name})"
    return f"Workload {namespace}/{name}"


def _amount(kueue: Kueue, reserved: ReservedWorkload, wanted: FlavorResource) -> str:
    """Print what a workload holds of the nominal quota of its ClusterQueue."""
    flavor, resource = wanted
    amount = reserved.amounts[wanted]
    held = printed(resource, amount, kueue.in_bytes)
    queue = reserved.cluster_queue
    nominal = nominal_quota(kueue, queue, wanted)
    return f"{held} of {nominal} {resource} in flavor {flavor} of ClusterQueue {queue}"


def nominal_quota(kueue: Kueue, cluster_queue: str, wanted: FlavorResource) -> str:
    """Print the nominal quota of a ClusterQueue for a resource in a flavor."""
    flavor, resource = wanted
    for quotas in _flavor_quotas(kueue, cluster_queue):
        if quotas["name"] != flavor:
            continue
        for each in quotas["resources"]:
            if each["name"] == resource:
                amount = _units(resource, each["nominalQuota"])
                return printed(resource, amount, kueue.in_bytes)
    return "0"


def _flavor_quotas(kueue: Kueue, cluster_queue: str) -> Iterator[Manifest]:
    queue = kueue.store.find("ClusterQueue", cluster_queue)
    if queue is None:
        return
    for group in queue["spec"].get("resourceGroups") or ():
        yield from group["flavors"]


def difference(stored: Manifest | None, workload: Manifest) -> tuple[str, str] | None:
    """Give the decision of a cluster and that of the reference; None if they are the same."""
    if stored is None:
        return None
    theirs = _decision(stored)
    ours = _decision(workload)
    return None if theirs == ours else (theirs, ours)


def _difference(stored: Manifest | None, workload: Manifest) -> Iterator[Step]:
    """Say that a cluster decided otherwise, with what both say."""
    found = difference(stored, workload)
    if found:
        theirs, ours = found
        yield _step(
            f"the cluster differs: it says {theirs}; the reference derives {ours}, "
            "as if Kueue evaluated the workload now"
        )


def as_in_cluster(given: Mapping[Key, Manifest], found: Explanation) -> Explanation:
    """Give an explanation with the verdict and the message of the cluster, where the workload waits there.

    Kueue evaluates a pending workload again only after some changes, so what it says may be of an earlier moment, or
    nothing yet.
    """
    stored = given.get((found.namespace, found.workload))
    if stored is None or is_true(stored, "QuotaReserved"):
        return found
    if is_true(stored, "Finished"):
        return found
    message = message_of(stored, "QuotaReserved")
    return replace(found, verdict=verdict(stored), message=message)


def _decision(workload: Manifest) -> str:
    """Print the QuotaReserved condition of a Workload; of one that holds quota only that it does."""
    found = condition(workload, "QuotaReserved")
    if found is None:
        return "nothing about QuotaReserved"
    if found["status"] == "True":
        return "QuotaReserved=True"
    status = found["status"]
    reason = found.get("reason", "")
    message = found.get("message", "")
    return f'QuotaReserved={status}, {reason}: "{message}"'


def _step(text: str) -> Step:
    return Step(requirements=(), text=text)
