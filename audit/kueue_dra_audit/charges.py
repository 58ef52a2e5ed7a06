"""Charges: each admitted Workload's resourceUsage, recomputed from templates, mapping, slices and release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from kueue_dra_audit.claims import classes_of
from kueue_dra_audit.cluster import (
    AuditedCluster,
    assignments,
    explain,
    reserved_at,
    title,
)
from kueue_dra_audit.finding import Finding, Sure
from kueue_dra_ref.api.pods import printed, units
from kueue_dra_ref.api.quantities import parse
from kueue_dra_ref.api.types import ClusterQueue, PodSet, Workload
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.dra.preprocess import preprocess_dra_resources
from kueue_dra_ref.target import Manifest
from kueue_dra_ref.workload.dra_resources import DRAResources
from kueue_dra_ref.workload.total_requests import (
    TotalRequests,
    implicit_requests,
    scaled_to,
    total_requests,
)

Amounts = Mapping[str, int]
NO_CONFIGURATION = (
    "not checked: charges, and reasons of pending Workloads, as the input has no Configuration: "
    "kubectl get configmap kueue-manager-config -n kueue-system -o yaml prints it"
)
NO_QUEUE = "not checked: charges of Workloads whose ClusterQueue the input lacks"
IN_USE = "not checked: charges of Workloads that may use a ResourceClaim of another one"
REFUSED = "not checked: charges of Workloads whose claims cannot be read now"
DEFAULTED = "not checked: requests that a LimitRange or a RuntimeClass may have added"
NO_SLICES = (
    "not checked: charges that depend on devices, as the input has no ResourceSlices: "
    "kubectl get resourceslices -o yaml prints them"
)
NO_CLASSES = (
    "not checked: charges that depend on DeviceClasses, as the input has none: "
    "kubectl get deviceclasses -o yaml prints them"
)
_STALE = (
    "the mapping, or the DeviceClass of an extended resource, was changed after the admission; "
    "Kueue does not charge it again"
)
_UNCHARGED = (
    "it was admitted while {gate} was off or its class was not mapped, "
    "so its devices are not charged"
)
_EDITED = "the status was changed by hand, or Kueue charged wrongly"
_LATER = "was created or changed after the admission"
_DELETED = "it was deleted after the admission"


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSetCharge:
    """What a pod set is charged and what follows for it, in Kueue's units."""

    workload: Manifest
    assignment: Mapping[str, Any]
    pod_set: PodSet
    charged: Amounts
    expected: Amounts
    devices: Set[str]
    """The resources that follow from its devices."""

    @property
    def differing(self) -> list[str]:
        """The resources of which another amount follows."""
        names = sorted({*self.charged, *self.expected})
        return [
            name for name in names if self.charged.get(name) != self.expected.get(name)
        ]


def charges(cluster: AuditedCluster) -> Iterator[Finding]:
    """Find admitted Workloads whose charge does not follow from their templates."""
    if not cluster.dumped.has_configuration:
        cluster.notes.add(NO_CONFIGURATION)
        return
    for workload in cluster.holders:
        stored = cluster.kueue.store.get("Workload", _key(workload))
        if stored is not None:
            yield from _of_workload(cluster, workload, stored)


def _key(workload: Manifest) -> tuple[str, str]:
    meta = workload["metadata"]
    return meta["namespace"], meta["name"]


def _of_workload(
    cluster: AuditedCluster, workload: Manifest, stored: Manifest
) -> Iterator[Finding]:
    kueue = cluster.kueue
    read = kueue.informers.workload(stored)
    queue = kueue.informers.queue(workload["status"]["admission"]["clusterQueue"])
    if queue is None:
        cluster.notes.add(NO_QUEUE, title(workload))
        return
    if any(each.claim for each in read.claims) and kueue.behaviour.processing.already_charged:
        cluster.notes.add(IN_USE, title(workload))
        return
    resources = preprocess_dra_resources(kueue.behaviour, kueue.lister, read)
    if resources.refused:
        yield from _refused(cluster, workload, read, resources)
        return
    adjusted = kueue.adjusted(stored)
    requests = total_requests(
        kueue.behaviour, kueue.configuration, adjusted, resources, {}
    )
    for each in _pod_set_charges(kueue, workload, queue, requests, resources):
        yield from _compared(cluster, read, each)


def _pod_set_charges(
    kueue: Kueue,
    workload: Manifest,
    queue: ClusterQueue,
    requests: Sequence[TotalRequests],
    resources: DRAResources,
) -> Iterator[PodSetCharge]:
    """Pair each assignment with what follows for the same number of pods."""
    by_name = {each.pod_set.name: each for each in requests}
    for assignment in assignments(workload):
        whole = by_name.get(str(assignment.get("name")))
        if whole is None:
            continue
        count = assignment.get("count", whole.count)
        (scaled,) = scaled_to([whole], [count])
        implicit = implicit_requests(kueue.behaviour.assigning, queue, scaled)
        expected = _resolved({**scaled.amounts, **implicit}, assignment, resources)
        yield PodSetCharge(
            workload=workload,
            assignment=assignment,
            pod_set=whole.pod_set,
            charged=_charged(assignment),
            expected=_covered(kueue, queue, expected, assignment),
            devices=_devices(whole.pod_set.name, resources),
        )


def _resolved(
    amounts: Amounts, assignment: Mapping[str, Any], resources: DRAResources
) -> Amounts:
    """Give amounts with the resource that the flavor decides, for a class with a choice of resources."""
    flavors = assignment.get("flavors") or {}
    found = {}
    for name, amount in amounts.items():
        options = resources.choices.get(name, ())
        chosen = [each for each in options if each in flavors]
        found[chosen[0] if chosen else name] = amount
    return found


def _charged(assignment: Mapping[str, Any]) -> Amounts:
    usage = assignment.get("resourceUsage") or {}
    return {name: units(name, parse(amount)) for name, amount in usage.items()}


def _covered(
    kueue: Kueue, queue: ClusterQueue, amounts: Amounts, assignment: Mapping[str, Any]
) -> Amounts:
    """Leave out what Kueue does not charge: undeclared resources, and zeros of which the status has none."""
    strategy = kueue.configuration.quota_check_strategy
    ignores = kueue.behaviour.assigning.ignore_undeclared(strategy)
    usage = assignment.get("resourceUsage") or {}
    found = {}
    for name, amount in amounts.items():
        is_undeclared = queue.group_of(name) is None
        if name not in usage and (amount == 0 or (is_undeclared and ignores)):
            continue
        found[name] = amount
    return found


def _devices(pod_set: str, resources: DRAResources) -> Set[str]:
    names = {*resources.charges.get(pod_set, {}), *resources.shared.get(pod_set, {})}
    for name in list(names):
        names.update(resources.choices.get(name, ()))
    return names


def _compared(
    cluster: AuditedCluster, workload: Workload, charge: PodSetCharge
) -> Iterator[Finding]:
    mapped = {each.name for each in cluster.kueue.configuration.mappings}
    differing = []
    for name in charge.differing:
        if name in charge.devices | mapped or _is_explicit(charge, name):
            differing.append(name)
        else:
            cluster.notes.add(DEFAULTED, title(charge.workload))
    if not differing:
        return
    sure, cause = _cause(cluster, workload, charge, differing)
    in_bytes = cluster.kueue.in_bytes
    about_devices = charge.devices | mapped
    is_devices = any(name in about_devices for name in differing)
    yield Finding(
        requirement="COUNT-006" if is_devices else "STATUS-003",
        subject=title(charge.workload),
        field=f"resourceUsage of pod set {charge.pod_set.name}",
        says=_listed(charge.charged, differing, in_bytes),
        follows=_listed(charge.expected, differing, in_bytes),
        cause=cause,
        sure=sure,
        look=explain(charge.workload),
    )


def _listed(amounts: Amounts, names: Sequence[str], in_bytes: frozenset[str]) -> str:
    found = []
    for name in names:
        amount = amounts.get(name)
        text = "none" if amount is None else printed(name, amount, in_bytes)
        found.append(f"{name} {text}")
    return ", ".join(found)


def _is_explicit(charge: PodSetCharge, resource: str) -> bool:
    """Whether the pod template itself decides an amount, and no LimitRange or RuntimeClass may have added to it."""
    if charge.pod_set.runtime_class:
        return False
    if resource in charge.charged and resource not in charge.expected:
        # Nothing that is there requests it; a LimitRange that is gone may have.
        return resource not in ("cpu", "memory", "ephemeral-storage")
    template = _template(charge)
    containers = [*(template.get("containers") or ()), *(template.get("initContainers") or ())]
    return resource == "pods" or all(_names(each, resource) for each in containers)


def _template(charge: PodSetCharge) -> Mapping[str, Any]:
    pod_sets = charge.workload["spec"]["podSets"]
    return dict(pod_sets[charge.pod_set.index]["template"]["spec"])


def _names(container: Mapping[str, Any], resource: str) -> bool:
    resources = container.get("resources") or {}
    requests = resources.get("requests") or {}
    limits = resources.get("limits") or {}
    return resource in requests or resource in limits


def _cause(
    cluster: AuditedCluster,
    workload: Workload,
    charge: PodSetCharge,
    differing: Sequence[str],
) -> tuple[Sure, str]:
    """Say what may have led to another charge: what is newer than it, or else what it would be the charge of."""
    if newer := changed_since(cluster, charge.workload, workload):
        return newer
    devices = {name: charge.expected[name] for name in differing if name in charge.expected}
    unknown = {name: charge.charged[name] for name in differing if name in charge.charged}
    if devices and not unknown:
        gate = cluster.kueue.behaviour.integration_gate
        return Sure.CERTAIN, _UNCHARGED.format(gate=gate)
    if devices and sorted(devices.values()) == sorted(unknown.values()):
        return Sure.CERTAIN, _STALE
    mapped = {each.name for each in cluster.kueue.configuration.mappings}
    if not devices and unknown.keys().isdisjoint(mapped):
        return Sure.CERTAIN, _STALE
    return Sure.CERTAIN, _EDITED


def changed_since(
    cluster: AuditedCluster, stored: Manifest, workload: Workload
) -> tuple[Sure, str] | None:
    """Say which object that a Workload's charge follows from is newer than its quota reservation."""
    admitted = reserved_at(stored)
    lister = cluster.kueue.lister
    for claim in workload.claims:
        template = lister.template(workload.namespace, claim.template)
        if template and _is_newer(template, admitted):
            return Sure.TEMPLATE, f"{_dated(template)}, after the admission at {admitted}"
    if _is_sourced(cluster, workload):
        for each in cluster.of("ResourceSlice"):
            if _is_newer(each, admitted) or _is_updated(each):
                return Sure.SLICES, f"{title(each)} {_LATER}"
    for each in cluster.of("DeviceClass"):
        is_later = _is_newer(each, admitted) or _is_updated(each)
        if is_later and _decides(cluster, workload, each):
            return Sure.CLASS, f"{title(each)} {_LATER}"
    return None


def _is_sourced(cluster: AuditedCluster, workload: Workload) -> bool:
    """Whether a class of a Workload charges counters or capacities of its devices."""
    names = classes_of(cluster.kueue.lister, workload)
    for mapping in cluster.kueue.configuration.mappings:
        if mapping.sources and not names.isdisjoint(mapping.device_classes):
            return True
    return False


def _decides(
    cluster: AuditedCluster, workload: Workload, device_class: Manifest
) -> bool:
    """Whether the spec of a DeviceClass decides a charge: by its selectors, or by the name of an extended resource."""
    name = device_class["metadata"]["name"]
    if name in classes_of(cluster.kueue.lister, workload):
        return _is_sourced(cluster, workload)
    extended = device_class["spec"].get("extendedResourceName")
    requested = {of for each in workload.pod_sets for of in each.requests}
    return bool(extended) and extended in requested


def _dated(obj: Manifest) -> str:
    return f"{title(obj)} was created at {obj['metadata']['creationTimestamp']}"


def _is_newer(obj: Manifest, time: str) -> bool:
    created = str(obj["metadata"].get("creationTimestamp", ""))
    return bool(time) and created > time


def _is_updated(obj: Manifest) -> bool:
    """Whether the spec of an object was changed; an API server counts its generations."""
    return int(obj["metadata"].get("generation") or 1) > 1


def _refused(
    cluster: AuditedCluster,
    stored: Manifest,
    workload: Workload,
    resources: DRAResources,
) -> Iterator[Finding]:
    """Find admitted Workloads that Kueue would not admit again, because of what their claims name now."""
    assert resources.refused is not None
    message = resources.refused.message
    if remark := _lacking(cluster):
        cluster.notes.add(remark, title(stored))
        return
    missing = _missing_templates(cluster, workload)
    if missing or resources.refused.undecided or resources.refused.silent:
        cluster.notes.add(REFUSED, f"{title(stored)} ({', '.join(missing) or message})")
        return
    cites = [cite for step in resources.steps[-1:] for cite in step.requirements]
    sure, cause = changed_since(cluster, stored, workload) or (
        Sure.CERTAIN,
        _refusal_cause(cluster, workload),
    )
    yield Finding(
        requirement=cites[0] if cites else "STATUS-003",
        subject=title(stored),
        field="admission",
        says="it holds quota",
        follows=f"Kueue would not admit it: {message}",
        cause=cause,
        sure=sure,
        look=explain(stored),
    )


def _lacking(cluster: AuditedCluster) -> str:
    """Say what the input lacks, so that claims are refused that Kueue accepts."""
    if not cluster.was_read("DeviceClass"):
        return NO_CLASSES
    return "" if cluster.was_read("ResourceSlice") else NO_SLICES


def _missing_templates(cluster: AuditedCluster, workload: Workload) -> list[str]:
    lister = cluster.kueue.lister
    found = []
    for claim in workload.claims:
        if claim.template and not lister.template(workload.namespace, claim.template):
            found.append(f"no ResourceClaimTemplate {workload.namespace}/{claim.template}")
    return found


def _refusal_cause(cluster: AuditedCluster, workload: Workload) -> str:
    """Say what is not there any more: the class, its mapping, or devices."""
    names = classes_of(cluster.kueue.lister, workload)
    mapped = {
        name for each in cluster.kueue.configuration.mappings for name in each.device_classes
    }
    for name in names:
        if cluster.kueue.lister.device_class(name) is None and cluster.was_read("DeviceClass"):
            return f"DeviceClass {name} does not exist: {_DELETED}"
    if names - mapped:
        return _STALE
    if not any(cluster.of("ResourceSlice")):
        return "no ResourceSlice is published: the slices were withdrawn after the admission"
    return "the devices that it was charged for are not published any more"
