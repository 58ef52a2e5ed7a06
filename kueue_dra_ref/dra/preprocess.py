"""DRA resources of a workload: count devices per DeviceClass and map the classes to resources.

Kueue: pkg/dra/claims.go (GetResourceRequestsForResourceClaimTemplates, countDevicesPerClass)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kueue_dra_ref.api.devices import requests_of
from kueue_dra_ref.api.types import Claim, PodSet, Workload
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.cel import Undecided
from kueue_dra_ref.dra.counters_and_capacity import (
    SourcedCharges,
    counter_and_capacity_resources,
    devices_to_match,
    is_charged_by_sources,
)
from kueue_dra_ref.dra.extended_resources import (
    requests_extended_devices,
    resolve_extended_resources,
)
from kueue_dra_ref.dra.selector_trace import selector_steps
from kueue_dra_ref.dra.selectors import SelectorError, validate_selectors
from kueue_dra_ref.explain.step import TIMES, Step
from kueue_dra_ref.model.device_checks import MappingLookup
from kueue_dra_ref.model.lister import DeviceRequestContext, Lister
from kueue_dra_ref.model.pending_reason import InadmissibleReason
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.model.slots import Answer, First
from kueue_dra_ref.rules.dra.charges import Charge
from kueue_dra_ref.target import FieldError
from kueue_dra_ref.workload.dra_resources import (
    DRAResources,
    PerPodSet,
    ProcessingError,
    ResourceCounts,
    inadmissible_reason,
    raise_if_rejected,
)
from kueue_dra_ref.workload.map_order import CERTAIN, MapOrderDraw
from kueue_dra_ref.workload.resources import adjust_resources

SumRule = First[[Sequence[int]], int]


def asks_for_devices(
    behaviour: Behaviour,
    lister: Lister,
    workload: Workload,
) -> bool:
    """Whether a workload is a DRA workload.

    A workload that is inadmissible because of its claims is one too: otherwise Kueue would queue it.
    """
    rules = behaviour.processing
    if rules.is_dra_workload(workload) or rules.reject_workload(workload):
        return True
    return requests_extended_devices(behaviour.extended, lister, workload)


def preprocess_dra_resources(
    behaviour: Behaviour,
    lister: Lister,
    workload: Workload,
    map_order: MapOrderDraw = CERTAIN,
) -> DRAResources:
    """Compute what the devices of a workload charge; the first claim that fails makes the workload inadmissible."""
    rules = behaviour.processing
    if unsupported := rules.reject_workload.answer(workload):
        return _inadmissible(unsupported)
    if not asks_for_devices(behaviour, lister, workload):
        return DRAResources()
    if forbidden := rules.rbac_denied.answer(lister, workload):
        return _inadmissible(forbidden)
    limits = lister.namespace_limits(workload.namespace)
    counted = adjust_resources(behaviour.adjusting, limits, workload)
    return ClaimPreprocessor(behaviour, lister, counted, map_order).run()


def _inadmissible(rejection: Answer[InadmissibleReason]) -> DRAResources:
    rule, reason = rejection
    step = Step.by(reason.message, rule)
    return DRAResources(refused=reason, steps=(step,))


class ClaimPreprocessor:
    """Computes the DRA resources of one workload and records the steps of the computation."""

    def __init__(
        self,
        behaviour: Behaviour,
        lister: Lister,
        workload: Workload,
        map_order: MapOrderDraw,
    ) -> None:
        self.rules = behaviour.processing
        self.charging = behaviour.charging
        self.extended = behaviour.extended
        self.lister = lister
        self.workload = workload
        self.map_order = map_order
        mappings = self.rules.mappings
        self.mappings = mappings.or_else(
            (), MappingLookup(lister=lister, workload=workload)
        )
        self.steps: list[Step] = []
        self.shared: dict[str, ResourceCounts] = {}
        self.choices: dict[str, tuple[str, ...]] = {}
        self.replaced: Mapping[str, frozenset[str]] = {}
        self._charged_once: set[str] = set()
        self._requests: list[DeviceRequestContext] = []

    def run(self) -> DRAResources:
        """Compute what one pod of each pod set charges: claims, extended resources, then counters and capacities."""
        try:
            claims = self._resource_requests_for_resource_claim_templates()
            devices = self._add_extended_resources(claims)
            charges = self._add_counters_and_capacities(devices)
        except ProcessingError as error:
            step = Step(requirements=error.requirements, text=str(error))
            self._record([step])
            reason = inadmissible_reason(error, self.rules)
            return DRAResources(refused=reason, steps=tuple(self.steps))
        return DRAResources(
            charges=_without_empty(charges),
            shared=_without_empty(self.shared),
            choices=self.choices,
            replaced=self.replaced,
            steps=tuple(self.steps),
        )

    def _resource_requests_for_resource_claim_templates(self) -> PerPodSet:
        """Give the devices that the claims of one pod of each pod set charge, by pod set, then resource.

        Kueue: pkg/dra/claims.go (GetResourceRequestsForResourceClaimTemplates)
        """
        per_pod_set: dict[str, ResourceCounts] = {}
        for pod_set in self.workload.pod_sets:
            per_pod, per_workload = self._claims_of(pod_set)
            name = pod_set.name
            per_pod_set[name] = self._requests_of_claims(pod_set, per_pod)
            self.shared[name] = self._requests_of_claims(pod_set, per_workload)
        return per_pod_set

    def _claims_of(self, pod_set: PodSet) -> tuple[list[Claim], list[Claim]]:
        """Give the claims that each pod has for itself, then those that exist once and are not charged yet."""
        per_pod: list[Claim] = []
        per_workload: list[Claim] = []
        for claim in self.charging.claims(pod_set):
            name = self.charging.once_per_workload.or_else("", claim)
            if not name:
                per_pod.append(claim)
            elif name not in self._charged_once:
                self._charged_once.add(name)
                per_workload.append(claim)
        return per_pod, per_workload

    def _requests_of_claims(
        self, pod_set: PodSet, claims: Iterable[Claim]
    ) -> ResourceCounts:
        counts: dict[str, list[int]] = {}
        for claim in claims:
            requests = self._requests_of_claim(pod_set, claim)
            for resource, count in requests:
                counts.setdefault(resource, []).append(count)
        return self._sum_in_pod(pod_set.name, counts)

    def _requests_of_claim(
        self, pod_set: PodSet, claim: Claim
    ) -> Iterator[tuple[str, int]]:
        """Give the resource and the number of devices of each DeviceClass of a claim."""
        context = self._with_claim_spec(pod_set, claim)
        if self._is_charged_already(context):
            return
        specs = requests_of(context.template) if context.template else ()
        requests = [replace(context, request=spec) for spec in specs]
        counts = self._count_devices_per_class(requests)
        self._validate_selectors(requests)
        self._requests += requests
        for device_class in self.map_order.classes(counts):
            resource = self._lookup(context, device_class)
            if not self._is_charged_by_sources(device_class):
                yield resource, counts[device_class]

    def _with_claim_spec(self, pod_set: PodSet, claim: Claim) -> DeviceRequestContext:
        """Read the spec of a claim and validate it.

        Kueue: pkg/dra/claims.go (getClaimSpec)
        """
        rules = self.rules
        namespace = self.workload.namespace
        if claim.claim:
            spec = rules.read_claim(self.lister, namespace, claim.claim)
        else:
            spec = rules.read_template(self.lister, namespace, claim.template)
        context = DeviceRequestContext(
            lister=self.lister,
            workload=self.workload,
            pod_set=pod_set,
            claim=claim,
            template=spec,
        )
        raise_if_rejected(rules.template.answer(context))
        return context

    def _is_charged_already(self, context: DeviceRequestContext) -> bool:
        reused = self.rules.already_charged.holding(context)
        if not reused:
            return False
        claim = context.claim.source
        text = "is already in use in this ClusterQueue, so it is not charged again"
        self._note(f"{claim} {text}", *reused)
        return True

    def _count_devices_per_class(
        self, requests: Sequence[DeviceRequestContext]
    ) -> Mapping[str, int]:
        """Validate the requests of a claim and sum their devices by DeviceClass.

        Kueue: pkg/dra/claims.go (countDevicesPerClass)
        """
        is_single = len(requests) == 1
        counts: dict[str, list[int]] = {}
        for context in requests:
            self._validate_request(context)
            title = context.title
            if is_single:
                title = context.claim_title
            devices = self._devices_of_request(context, title)
            for device_class, count in devices:
                counts.setdefault(device_class, []).append(count)
        in_claim = self.charging.in_claim
        total: dict[str, int] = {}
        for name, addends in counts.items():
            what = f"{name} in the claim"
            total[name] = self._sum(in_claim, addends, what)
        return total

    def _validate_request(self, context: DeviceRequestContext) -> None:
        raise_if_rejected(self.rules.request.answer(context))
        alternative = self.rules.alternative
        for subrequest in context.checked.alternatives:
            raise_if_rejected(alternative.answer(context, subrequest))

    def _devices_of_request(self, context: DeviceRequestContext, title: str) -> Charge:
        text = f"{title}: {context.claim.source} requests"
        charged = self.charging.request.answer(context)
        if charged is None:
            self._note(f"{text} nothing that is charged")
            return ()
        rule, devices = charged
        for device_class, count in devices:
            counted = f"{count} {TIMES} {device_class}"
            self._note(f"{text} {counted}", rule)
        if not devices:
            self._note(f"{text} nothing that is charged", rule)
        return devices

    def _validate_selectors(self, requests: Sequence[DeviceRequestContext]) -> None:
        """Match the CEL selectors of a claim against published devices.

        Kueue: pkg/dra/claims.go (validateCELSelectorsAgainstDevices)
        """
        devices = devices_to_match(
            self.rules.sourcing, self.mappings, self.lister, requests
        )
        errors = validate_selectors(self.rules.matching, requests, devices)
        if isinstance(errors, Undecided):
            raise ProcessingError(undecided=errors.reason)
        faults: list[FieldError] = []
        cites: list[str] = []
        for error in errors:
            faults.append(error.fault)
            cites += error.requirements
        if faults:
            self._record(selector_steps(self.rules.matching, requests, devices))
            raise ProcessingError(faults, requirements=cites)

    def _lookup(self, context: DeviceRequestContext, device_class: str) -> str:
        """Give the resource that a DeviceClass is mapped to, or a name for a choice that depends on the flavor.

        Kueue: pkg/dra/mapper.go (Lookup)
        """
        lookup = self.rules.lookup
        resources = lookup.or_else((), self.mappings, device_class)
        if not resources:
            raise_if_rejected(self.rules.unmapped_class.answer(context, device_class))
            return device_class
        mapped = " or ".join(resources)
        text = f"{device_class} is mapped to {mapped}"
        self._note(text, *lookup.rules)
        if len(resources) == 1:
            return mapped
        name = f"devices of {device_class}"
        self.choices[name] = resources
        return name

    def _is_charged_by_sources(self, device_class: str) -> bool:
        return is_charged_by_sources(self.rules.sourcing, self.mappings, device_class)

    def _add_extended_resources(self, claims: PerPodSet) -> PerPodSet:
        """Add the devices that containers request by the names of extended resources.

        Kueue: pkg/dra/extended_resources.go (ResolveExtendedResourceQuota)
        """
        resolved = resolve_extended_resources(
            self.extended,
            self.lister,
            self.workload,
            self.mappings,
            self.map_order,
        )
        self._record(resolved.steps)
        if resolved.faults:
            raise ProcessingError(resolved.faults, requirements=resolved.cites)
        self.replaced = resolved.replaced
        total: dict[str, ResourceCounts] = {}
        for pod_set, counts in claims.items():
            extended = resolved.counts.get(pod_set, {})
            addends = _appended(counts, extended)
            total[pod_set] = self._sum_in_pod(pod_set, addends)
        return total

    def _add_counters_and_capacities(self, devices: PerPodSet) -> PerPodSet:
        """Add the counters and capacities that the requests of all pod sets charge.

        Kueue: pkg/dra/counters.go (GetCounterResourcesForWorkload);
            pkg/dra/capacity.go (DetermineCapacityResourcesForWorkload)
        """
        sourced = counter_and_capacity_resources(
            self.rules.sourcing, self.mappings, self._requests
        )
        self._record(sourced.steps)
        _raise_if_failed(sourced)
        in_pod = self.charging.in_pod
        total: dict[str, ResourceCounts] = {}
        for pod_set, counts in devices.items():
            more = sourced.charges.get(pod_set, {})
            amounts = _appended(counts, more)
            summed: dict[str, int] = {}
            for name, addends in amounts.items():
                last = addends[-1]
                summed[name] = in_pod.or_else(last, addends)
            total[pod_set] = summed
        return total

    def _sum_in_pod(
        self, pod_set: str, counts: Mapping[str, Sequence[int]]
    ) -> ResourceCounts:
        in_pod = self.charging.in_pod
        where = f"in a pod of pod set {pod_set}"
        total: dict[str, int] = {}
        for name, addends in counts.items():
            what = f"{name} {where}"
            total[name] = self._sum(in_pod, addends, what)
        return total

    def _sum(
        self,
        rules: SumRule,
        addends: Sequence[int],
        what: str,
    ) -> int:
        total = rules.or_else(addends[-1], addends)
        if len(addends) > 1:
            shown = " + ".join(map(str, addends))
            text = f"{shown} = {total} {TIMES} {what}"
            self._note(text, *rules.rules)
        return total

    def _note(self, text: str, *rules: Rule[..., Any]) -> None:
        """Record a step that cites the first requirement of each rule."""
        step = Step.by(text, *rules)
        self._record([step])

    def _record(self, steps: Iterable[Step]) -> None:
        for step in steps:
            if step not in self.steps:
                self.steps.append(step)


def _raise_if_failed(sourced: SourcedCharges) -> None:
    match sourced.ended:
        case Undecided() as undecided:
            raise ProcessingError(undecided=undecided.reason)
        case SelectorError() as error:
            raise ProcessingError([error.fault], requirements=error.requirements)


def _appended(
    counts: ResourceCounts, more: Mapping[str, Sequence[int]]
) -> dict[str, list[int]]:
    """List what is to be summed for each resource: a count first, then further amounts."""
    addends: dict[str, list[int]] = {}
    for name, count in counts.items():
        addends[name] = [count]
    for name, amounts in more.items():
        addends.setdefault(name, []).extend(amounts)
    return addends


def _without_empty(per_pod_set: PerPodSet) -> PerPodSet:
    return {name: counts for name, counts in per_pod_set.items() if counts}
