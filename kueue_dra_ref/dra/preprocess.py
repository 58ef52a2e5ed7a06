"""DRA-Specific Workload Processing: from a workload's claims to the resources that it is charged, or to a refusal.

Kueue: pkg/dra/claims.go (GetResourceRequestsForResourceClaimTemplates, countDevicesPerClass)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from kueue_dra_ref.api.devices import requests_of
from kueue_dra_ref.api.types import Claim, PodSet, Workload
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.cel import Undecided
from kueue_dra_ref.dra.counters_and_capacity import (
    added,
    devices_to_try,
    is_sourced,
    sourced,
)
from kueue_dra_ref.dra.extended_resources import (
    extended_resources,
    merged,
    stands_for_devices,
)
from kueue_dra_ref.dra.selectors import SelectorError, unmatched
from kueue_dra_ref.explain.step import TIMES, Step, cited
from kueue_dra_ref.model.device_checks import MappingLookup
from kueue_dra_ref.model.lister import DeviceRequestContext, Lister
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.rules.dra.charges import Charge
from kueue_dra_ref.workload.dra_resources import (
    Charges,
    DRAResources,
    Stopped,
    refusal,
    stop_if_refused,
)
from kueue_dra_ref.workload.map_order import CERTAIN, MapOrderDraw
from kueue_dra_ref.workload.resources import adjusted


def asks_for_devices(behaviour: Behaviour, world: Lister, workload: Workload) -> bool:
    """Whether a workload is a DRA workload; one that is refused for its claims is, or it would be queued unseen."""
    rules = behaviour.processing
    claims = any(rule(workload) for rule in rules.detected) or any(
        rule(workload) for rule in rules.refused
    )
    return claims or stands_for_devices(behaviour.extended, world, workload)


def processed(
    behaviour: Behaviour,
    world: Lister,
    workload: Workload,
    draw: MapOrderDraw = CERTAIN,
) -> DRAResources:
    """Charge every pod set for its claims, or refuse the workload with the first failing claim."""
    for rule in behaviour.processing.refused:
        if refused := rule(workload):
            return DRAResources(
                refused=refused,
                steps=(Step(requirements=cited([rule]), text=refused.message),),
            )
    if not asks_for_devices(behaviour, world, workload):
        return DRAResources()
    for forbidden in behaviour.processing.rbac_denied:
        if refused := forbidden(world, workload):
            return DRAResources(
                refused=refused,
                steps=(Step(requirements=cited([forbidden]), text=refused.message),),
            )
    counted = adjusted(
        behaviour.adjusting, world.surroundings(workload.namespace), workload
    )
    return ClaimPreprocessor(behaviour, world, counted, draw).run()


class ClaimPreprocessor:
    """One pass over one workload; collects the steps of the derivation."""

    def __init__(
        self,
        behaviour: Behaviour,
        world: Lister,
        workload: Workload,
        draw: MapOrderDraw,
    ) -> None:
        self.rules, self.adding, self.extended = (
            behaviour.processing,
            behaviour.charging,
            behaviour.extended,
        )
        self.world, self.workload, self.draw = world, workload, draw
        self.steps: list[Step] = []
        lookup = MappingLookup(lister=world, workload=workload)
        self.mappings = self.rules.mappings.or_else((), lookup)
        self.shared: dict[str, Charges] = {}
        self.choices: dict[str, tuple[str, ...]] = {}
        self.replaced: Mapping[str, frozenset[str]] = {}
        self._once: set[str] = set()
        self._asked: list[DeviceRequestContext] = []

    def run(self) -> DRAResources:
        """Give what the claims of the workload charge."""
        try:
            charges = {
                pod_set.name: self._pod_set(pod_set)
                for pod_set in self.workload.pod_sets
            }
            charges = self._with_extended(charges)
            charges = self._with_sources(charges)
        except Stopped as stop:
            self._note(stop.requirements, str(stop))
            return DRAResources(
                refused=refusal(stop, self.rules), steps=tuple(self.steps)
            )
        return DRAResources(
            charges={name: c for name, c in charges.items() if c},
            shared={name: c for name, c in self.shared.items() if c},
            choices=self.choices,
            replaced=self.replaced,
            steps=tuple(self.steps),
        )

    def _with_extended(self, charges: dict[str, Charges]) -> dict[str, Charges]:
        """Add what containers ask for by the names of extended resources, once every claim is accounted for."""
        found = extended_resources(
            self.extended, self.world, self.workload, self.mappings, self.draw
        )
        for step in found.steps:
            self._note(step.requirements, step.text)
        if found.faults:
            raise Stopped(found.faults, requirements=found.cites)
        self.replaced = found.replaced
        return {
            name: self._sum(name, claims, found.shares.get(name, {}))
            for name, claims in charges.items()
        }

    def _sum(
        self, pod_set: str, claims: Charges, extended: Mapping[str, list[int]]
    ) -> Charges:
        return self._in_pod(
            pod_set,
            merged({name: [amount] for name, amount in claims.items()}, extended),
        )

    def _in_pod(self, pod_set: str, shares: Mapping[str, list[int]]) -> Charges:
        where = f"in a pod of pod set {pod_set}"
        return {
            name: self._added(self.adding.in_pod, shares[name], f"{name} {where}")
            for name in shares
        }

    def _pod_set(self, pod_set: PodSet) -> Charges:
        own, shared = list[Claim](), list[Claim]()
        for claim in (claim for rule in self.adding.claims for claim in rule(pod_set)):
            name = next((rule(claim) for rule in self.adding.once_per_workload), "")
            if not name:
                own.append(claim)
            elif name not in self._once:
                shared.append(claim)
                self._once.add(name)
        charges = self._claims(pod_set, own)
        self.shared[pod_set.name] = self._claims(pod_set, shared)
        return charges

    def _claims(self, pod_set: PodSet, claims: Iterable[Claim]) -> Charges:
        shares: dict[str, list[int]] = {}
        for claim in claims:
            for resource, amount in self._claim(pod_set, claim):
                shares.setdefault(resource, []).append(amount)
        return self._in_pod(pod_set.name, shares)

    def _claim(self, pod_set: PodSet, claim: Claim) -> Iterator[tuple[str, int]]:
        asked = self._with_template(
            DeviceRequestContext(
                world=self.world, workload=self.workload, pod_set=pod_set, claim=claim
            )
        )
        for rule in self.rules.reused:
            if rule(asked):
                self._note(
                    cited([rule]),
                    f"{claim.source} is in use in this ClusterQueue already: not charged again",
                )
                return
        requests = requests_of(asked.template) if asked.template else ()
        each = [replace(asked, request=request) for request in requests]
        counts = self._counts(each)
        tried = devices_to_try(self.rules.sourcing, self.mappings, self.world, each)
        found = unmatched(self.rules.matching, each, tried)
        if isinstance(found, Undecided):
            raise Stopped(undecided=found.reason)
        if found:
            cites = [
                requirement for finding in found for requirement in finding.requirements
            ]
            raise Stopped([finding.fault for finding in found], requirements=cites)
        self._asked += each
        for device_class in self.draw.classes(counts):
            charged = self._resource(asked, device_class, counts[device_class])
            if not is_sourced(self.rules.sourcing, self.mappings, device_class):
                yield charged

    def _with_sources(self, charges: Mapping[str, Charges]) -> dict[str, Charges]:
        """Add what counters and capacities charge, which is looked at after the claims of all pod sets."""
        found = sourced(self.rules.sourcing, self.mappings, self._asked)
        for step in found.steps:
            self._note(step.requirements, step.text)
        match found.ended:
            case Undecided() as undecided:
                raise Stopped(undecided=undecided.reason)
            case SelectorError() as finding:
                raise Stopped([finding.fault], requirements=finding.requirements)
        total = {
            name: {resource: [amount] for resource, amount in own.items()}
            for name, own in charges.items()
        }
        for name, amounts in found.charges.items():
            for resource, more in amounts.items():
                total[name].setdefault(resource, []).extend(more)
        return {
            name: added(self.adding.in_pod, amounts) for name, amounts in total.items()
        }

    def _with_template(self, asked: DeviceRequestContext) -> DeviceRequestContext:
        claim, rules = (
            asked.claim,
            self.rules.read_claim if asked.claim.claim else self.rules.read_template,
        )
        read = (
            rule(self.world, self.workload.namespace, claim.claim or claim.template)
            for rule in rules
        )
        asked = replace(asked, template=next(read, None))
        stop_if_refused(self.rules.template, asked)
        return asked

    def _counts(self, each: list[DeviceRequestContext]) -> Mapping[str, int]:
        shares: dict[str, list[int]] = {}
        for asked in each:
            stop_if_refused(self.rules.request, asked)
            for alternative in asked.request.alternatives if asked.request else ():
                stop_if_refused(self.rules.alternative, asked, alternative)
            for device_class, amount in self._charge(asked, alone=len(each) == 1):
                shares.setdefault(device_class, []).append(amount)
        return {
            name: self._added(
                self.adding.in_claim, shares[name], f"{name} in the claim"
            )
            for name in shares
        }

    def _charge(self, asked: DeviceRequestContext, *, alone: bool) -> Charge:
        found = (
            (rule, charge)
            for rule in self.adding.request
            if (charge := rule(asked)) is not None
        )
        rule, charge = next(found, (None, ()))
        request = (
            f", request {asked.request.name}" if asked.request and not alone else ""
        )
        place = f"pod set {asked.pod_set.name}, claim {asked.claim.name or asked.claim.index}{request}: "
        place += asked.claim.source
        for device_class, amount in charge:
            self._note(
                cited([rule] if rule else []),
                f"{place} asks for {amount} {TIMES} {device_class}",
            )
        if not charge:
            self._note(
                cited([rule] if rule else []),
                f"{place} asks for nothing that is charged",
            )
        return charge

    def _resource(
        self, asked: DeviceRequestContext, device_class: str, count: int
    ) -> tuple[str, int]:
        resources = next(
            (rule(self.mappings, device_class) for rule in self.rules.lookup), ()
        )
        if not resources:
            for rule in self.rules.unmapped_class:
                raise Stopped([rule(asked, device_class)], requirements=cited([rule]))
            return device_class, count
        self._note(
            cited(self.rules.lookup),
            f"{device_class} is mapped to {' or '.join(resources)}",
        )
        if len(resources) == 1:
            return resources[0], count
        charged = f"devices of {device_class}"
        self.choices[charged] = resources
        return charged, count

    def _added(
        self,
        rules: tuple[Rule[[Sequence[int]], int], ...],
        amounts: list[int],
        what: str,
    ) -> int:
        total = next((rule(amounts) for rule in rules), amounts[-1])
        if len(amounts) > 1:
            self._note(
                cited(rules),
                f"{' + '.join(map(str, amounts))} = {total} {TIMES} {what}",
            )
        return total

    def _note(self, requirements: tuple[str, ...], text: str) -> None:
        step = Step(requirements=requirements, text=text)
        if step not in self.steps:
            self.steps.append(step)
