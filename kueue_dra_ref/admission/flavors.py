"""Flavors: for each pod set and resource group the first listed flavor that fits what one ClusterQueue has left."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kueue_dra_ref.admission.demand import Demand
from kueue_dra_ref.admission.explanation import Step, cited
from kueue_dra_ref.admission.hashing import hash_order
from kueue_dra_ref.api.nouns import ClusterQueue, FlavorQuota, PodSet, ResourceGroup
from kueue_dra_ref.api.quantities import clamp
from kueue_dra_ref.behaviours.behaviour import Assigning
from kueue_dra_ref.rules.quota import Fit, Need
from kueue_dra_ref.rules.reporting import Assigned, FlavorResource

FITS = ("QUOTA-001",)
"""Says that what fits the nominal quota is admitted; no rule has to object."""
Flavors = Callable[[str], Mapping[str, object] | None]
"""The spec of a ResourceFlavor by name, None when there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """What one ClusterQueue has: ``used`` is what its workloads reserve, by flavor and resource."""

    queue: ClusterQueue
    used: Mapping[FlavorResource, int]
    ignore_undeclared: bool = False

    def capacity(self, flavor: FlavorQuota, resource: str) -> int:
        """The most that could ever be had; alone in its cohort a ClusterQueue has its nominal quota."""
        return flavor.nominal.get(resource, 0)

    def available(self, flavor: FlavorQuota, resource: str) -> int:
        """What is left now."""
        return clamp(self.capacity(flavor, resource) - self.used.get((flavor.name, resource), 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """The outcome for a workload: whether it fits, each pod set's share, and why not."""

    fit: Fit
    pod_sets: tuple[Assigned, ...]
    message: str = ""
    steps: tuple[Step, ...] = ()


@dataclass(slots=True, kw_only=True)
class _Try:
    """How one group fares with one flavor, or the best of several."""

    fit: Fit = Fit.NEVER
    flavor: str = ""
    reasons: list[str] = field(default_factory=list)
    cites: tuple[str, ...] = ()
    weighed: bool = False
    """Whether quota was looked at."""


def assigned(rules: Assigning, quota: Quota, flavors: Flavors, demands: tuple[Demand, ...]) -> Assignment:
    """Assign flavors to every pod set in order; a pod set that can never fit ends the attempt."""
    return _Assigner(rules, quota, flavors).run(demands)


class _Assigner:
    """One attempt; ``assumed`` is what earlier pod sets of the workload take."""

    def __init__(self, rules: Assigning, quota: Quota, flavors: Flavors) -> None:
        self.rules, self.quota, self.flavors = rules, quota, flavors
        self.assumed: dict[FlavorResource, int] = {}
        self.several = False
        self.steps: list[Step] = []

    def run(self, demands: tuple[Demand, ...]) -> Assignment:
        self.several = len(demands) > 1
        worst, given, told = Fit.NOW, [], []
        for demand in demands:
            fit, flavors, reasons = self._pod_set(demand)
            worst = min(worst, fit)
            given.append(self._take(demand, flavors))
            if fit is not Fit.NOW:
                told.append(f"couldn't assign flavors to pod set {demand.pod_set.name}: {', '.join(sorted(reasons))}")
            if fit is Fit.NEVER and demand.amounts:
                break
        return Assignment(fit=worst, pod_sets=tuple(given), message="; ".join(told), steps=tuple(self.steps))

    def _amounts(self, demand: Demand) -> Mapping[str, int]:
        counted = {"pods": demand.count} if self.quota.queue.group_of("pods") else {}
        return {**demand.amounts, **counted}

    def _pod_set(self, demand: Demand) -> tuple[Fit, dict[str, str], list[str]]:
        amounts, chosen, reasons, worst = self._amounts(demand), dict[str, str](), list[str](), Fit.NOW
        for resource in hash_order(amounts):
            group = self.quota.queue.group_of(resource)
            if group is None:
                if lacking := self._uncovered(resource, amounts[resource]):
                    self.steps.append(Step(requirements=cited(self.rules.uncovered), text=lacking))
                    return Fit.NEVER, {}, [lacking]
            elif resource not in chosen:
                best = self._group(
                    group, demand.pod_set, {name: amounts[name] for name in amounts if name in group.covered}
                )
                if best.fit is Fit.NEVER:
                    return Fit.NEVER, {}, best.reasons
                worst = min(worst, best.fit)
                chosen |= dict.fromkeys((name for name in amounts if name in group.covered), best.flavor)
                reasons += best.reasons
        return worst, chosen, reasons

    def _uncovered(self, resource: str, amount: int) -> str | None:
        if not amount or self.quota.ignore_undeclared:
            return None
        return next((rule(resource) for rule in self.rules.uncovered), None)

    def _group(self, group: ResourceGroup, pod_set: PodSet, amounts: Mapping[str, int]) -> _Try:
        best = _Try()
        for flavor in (flavor for rule in self.rules.flavors for flavor in rule(group)):
            outcome = self._flavor(flavor, pod_set, amounts)
            self._explain(pod_set, flavor, outcome, amounts)
            if outcome.fit is Fit.NOW:
                return outcome
            best.reasons += outcome.reasons
            if outcome.fit > best.fit:
                best.fit, best.flavor = outcome.fit, outcome.flavor
        return best

    def _flavor(self, flavor: FlavorQuota, pod_set: PodSet, amounts: Mapping[str, int]) -> _Try:
        spec = self.flavors(flavor.name)
        if spec is None:
            return _Try(reasons=[f"flavor {flavor.name} not found"])
        for rule in self.rules.flavor:
            if reason := rule(pod_set, flavor.name, spec):
                return _Try(reasons=[reason], cites=cited([rule]))
        outcome = _Try(fit=Fit.NOW, flavor=flavor.name, weighed=True)
        for resource in hash_order(amounts):
            need = self._need(flavor, resource, amounts[resource])
            for limit, objection in next(([(r, o)] for r in self.rules.quota if (o := r(need))), []):
                outcome.fit = min(outcome.fit, objection.fit)
                outcome.reasons.append(objection.message)
                outcome.cites = tuple(dict.fromkeys((*outcome.cites, *cited([limit]))))
        return outcome

    def _need(self, flavor: FlavorQuota, resource: str, amount: int) -> Need:
        return Need(
            resource=resource,
            flavor=flavor.name,
            assumed=self.assumed.get((flavor.name, resource), 0),
            asked=amount,
            capacity=self.quota.capacity(flavor, resource),
            available=self.quota.available(flavor, resource),
        )

    def _take(self, demand: Demand, flavors: dict[str, str]) -> Assigned:
        amounts = self._amounts(demand)
        for resource, flavor in flavors.items():
            key = (flavor, resource)
            self.assumed[key] = clamp(self.assumed.get(key, 0) + amounts[resource])
        return Assigned(name=demand.pod_set.name, count=demand.count, flavors=flavors, usage=amounts)

    def _explain(self, pod_set: PodSet, flavor: FlavorQuota, outcome: _Try, amounts: Mapping[str, int]) -> None:
        several = f"pod set {pod_set.name}, " if self.several else ""
        if not outcome.weighed:
            text = f"{several}flavor {flavor.name}: {', '.join(outcome.reasons)}"
            self.steps.append(Step(requirements=outcome.cites, text=text))
            return
        needs = [self._need(flavor, resource, amounts[resource]) for resource in sorted(amounts)]
        shown = ", ".join(f"{n.resource} {n.show(n.asked)} of {n.show(n.available - n.assumed)} left" for n in needs)
        word = {Fit.NOW: "fits", Fit.LATER: "does not fit now", Fit.NEVER: "can never fit"}[outcome.fit]
        text = f"{several}flavor {flavor.name}: {shown or 'nothing is asked of it'}: {word}"
        self.steps.append(Step(requirements=outcome.cites or FITS, text=text))
