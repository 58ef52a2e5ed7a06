"""Charges: each admitted Workload's resourceUsage, recomputed from templates, mapping, slices and release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from kueue_dra_audit.causes import (
    changed_since,
    charge_cause,
    declared_since,
    refusal_cause,
    unmapped,
)
from kueue_dra_audit.cluster import (
    AuditedCluster,
    assignments,
    explain,
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
GATE_OFF = (
    "not checked: charges of Workloads with claims, as the integration gate is off"
)
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
            name
            for name in names
            if self.charged.get(name, 0) != self.expected.get(name, 0)
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
    if (
        any(each.claim for each in read.claims)
        and kueue.behaviour.processing.already_charged
    ):
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
    about_devices = {*charge.devices, *cluster.mapped}
    differing = []
    for name in charge.differing:
        if name in about_devices or _is_explicit(charge, name):
            differing.append(name)
        else:
            cluster.notes.add(DEFAULTED, title(charge.workload))
    if differing:
        is_devices = not about_devices.isdisjoint(differing)
        requirement = "COUNT-006" if is_devices else "STATUS-003"
        yield _finding(cluster, workload, charge, differing, requirement)


def _finding(
    cluster: AuditedCluster,
    workload: Workload,
    charge: PodSetCharge,
    differing: Sequence[str],
    requirement: str,
) -> Finding:
    charged = _only(charge.charged, differing)
    expected = _only(charge.expected, differing)
    sure, cause = (
        changed_since(cluster, charge.workload, workload)
        or declared_since(cluster, charge.workload, charged)
        or (Sure.CERTAIN, charge_cause(cluster, charged, expected))
    )
    in_bytes = cluster.kueue.in_bytes
    return Finding(
        requirement=requirement,
        subject=title(charge.workload),
        field=f"resourceUsage of pod set {charge.pod_set.name}",
        says=_listed(charged, differing, in_bytes),
        follows=_listed(expected, differing, in_bytes),
        cause=cause,
        sure=sure,
        look=explain(charge.workload),
    )


def _only(amounts: Amounts, names: Sequence[str]) -> Amounts:
    return {name: amounts[name] for name in names if name in amounts}


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
    containers = [
        *(template.get("containers") or ()),
        *(template.get("initContainers") or ()),
    ]
    return resource == "pods" or all(_names(each, resource) for each in containers)


def _template(charge: PodSetCharge) -> Mapping[str, Any]:
    pod_sets = charge.workload["spec"]["podSets"]
    return dict(pod_sets[charge.pod_set.index]["template"]["spec"])


def _names(container: Mapping[str, Any], resource: str) -> bool:
    resources = container.get("resources") or {}
    requests = resources.get("requests") or {}
    limits = resources.get("limits") or {}
    return resource in requests or resource in limits


def _refused(
    cluster: AuditedCluster,
    stored: Manifest,
    workload: Workload,
    resources: DRAResources,
) -> Iterator[Finding]:
    """Find admitted Workloads that Kueue would not admit again, because of what their claims name now."""
    message = resources.refused.message if resources.refused else ""
    if remark := _not_checked(cluster, workload, resources):
        cluster.notes.add(remark, title(stored))
        return
    cites = [cite for step in resources.steps[-1:] for cite in step.requirements]
    newer = changed_since(cluster, stored, workload, is_refused=True)
    sure, cause = newer or (
        Sure.CERTAIN,
        refusal_cause(cluster, workload),
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


def _not_checked(
    cluster: AuditedCluster, workload: Workload, resources: DRAResources
) -> str:
    """Say why a refusal is no finding: the input lacks what Kueue has, or the reference cannot decide."""
    if not cluster.charges_devices:
        return GATE_OFF
    refused = resources.refused
    if _lacks_templates(cluster, workload):
        return REFUSED
    if refused is None or refused.undecided or refused.silent:
        return REFUSED
    if unmapped(cluster, workload):
        return ""
    if not cluster.was_read("DeviceClass"):
        return NO_CLASSES
    return "" if cluster.was_read("ResourceSlice") else NO_SLICES


def _lacks_templates(cluster: AuditedCluster, workload: Workload) -> bool:
    lister, namespace = cluster.kueue.lister, workload.namespace
    names = [each.template for each in workload.claims if each.template]
    return any(lister.template(namespace, name) is None for name in names)
