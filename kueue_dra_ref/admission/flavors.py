"""Flavors: for each pod set and resource group the flavor that fits, or that preemption could free, in one queue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kueue_dra_ref.admission.bounds import bounded
from kueue_dra_ref.admission.causes import Causes
from kueue_dra_ref.admission.comparing import Telling
from kueue_dra_ref.admission.demand import Demand
from kueue_dra_ref.admission.explanation import Step, cited
from kueue_dra_ref.admission.room import Room
from kueue_dra_ref.api.nouns import FlavorQuota, PodSet, ResourceGroup
from kueue_dra_ref.behaviours.parts_scheduling import Assigning
from kueue_dra_ref.cause import Cause
from kueue_dra_ref.quota import FlavorResource, plus
from kueue_dra_ref.rule import Rule
from kueue_dra_ref.rules.fungibility import Mode, Outlook, Progress
from kueue_dra_ref.rules.quota import Fit, Need
from kueue_dra_ref.rules.reporting import Assigned

FITS = ("QUOTA-001",)
"""Says that what fits the nominal quota is admitted; no rule has to object."""
_WORDS = {
    Mode.FIT: "fits",
    Mode.RECLAIM: "does not fit now, but others in the cohort can be preempted",
    Mode.PREEMPT: "does not fit now, but others can be preempted",
    Mode.NO_VICTIMS: "does not fit now",
    Mode.NEVER: "can never fit",
}
_HELD = "does not fit now, and nobody may be preempted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """The outcome for a workload: whether it fits, each pod set's share, and why not."""

    fit: Fit
    pod_sets: tuple[Assigned, ...]
    message: str = ""
    steps: tuple[Step, ...] = ()
    level: int = 0
    """From how far it borrows; 0: not at all."""
    usage: Mapping[FlavorResource, int] = field(default_factory=dict)
    short: frozenset[FlavorResource] = frozenset()
    """What has to be freed by preemption."""
    tried: tuple[Mapping[str, int], ...] = ()
    """For each pod set and resource the last flavor that was tried, -1 when it was the last one."""
    cause: Cause | None = None
    """Why it can never fit, as far as flavors that were tried say so."""


_NOWHERE = Outlook(mode=Mode.NEVER)


@dataclass(slots=True, kw_only=True)
class _Try:
    """How one group fares with one flavor, or the best of several."""

    outlook: Outlook = _NOWHERE
    flavor: str = ""
    each: dict[str, Outlook] = field(default_factory=dict)
    """What to expect of each resource."""
    tried: int = -1
    reasons: list[str] = field(default_factory=list)
    cites: tuple[str, ...] = ()
    weighed: bool = False
    """Whether quota was looked at."""
    attempts: int = 0
    lacking: list[Cause | None] = field(default_factory=list)
    """Why it can never fit: with one flavor for each resource, of several for each flavor."""
    steps: tuple[Step, ...] = ()
    """What was looked at to get what is short."""

    @property
    def name(self) -> str:
        """The flavor, if it can be had at all."""
        return "" if self.outlook.mode is Mode.NEVER else self.flavor

    def add(self, resource: str, found: _Try) -> None:
        """Take note of how one resource fares."""
        self.each[resource] = found.outlook
        self.reasons += found.reasons
        self.cites = tuple(dict.fromkeys((*self.cites, *found.cites)))
        self.lacking += found.lacking
        self.steps += found.steps


@dataclass(slots=True, kw_only=True)
class _PodSet:
    """What one pod set gets: a try for each resource, or why not."""

    got: dict[str, _Try] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    failed: bool = False
    groups: list[_Try] = field(default_factory=list)

    @property
    def fit(self) -> Fit:
        """The worst of its resources."""
        if self.failed:
            return Fit.NEVER
        if not self.reasons:
            return Fit.NOW
        modes = [found.each[resource].mode for resource, found in self.got.items()]
        return min((_FIT[mode] for mode in modes), default=Fit.NEVER)


_FIT = {Mode.NEVER: Fit.NEVER, Mode.FIT: Fit.NOW} | dict.fromkeys(
    (Mode.NO_VICTIMS, Mode.PREEMPT, Mode.RECLAIM), Fit.LATER
)


def _word(outcome: _Try) -> str:
    """How a flavor fares; what others hold could be had if only it might be preempted."""
    held = outcome.outlook.mode is Mode.NEVER and Cause.TOO_MUCH not in outcome.lacking
    return _HELD if held else _WORDS[outcome.outlook.mode]


def assigned(rules: Assigning, room: Room, demands: tuple[Demand, ...], progress: Progress | None = None) -> Assignment:
    """Assign flavors to every pod set in order; a pod set that can never fit ends the attempt."""
    return _Assigner(rules, room, progress.tried if progress else ()).run(demands)


class _Assigner:
    """One attempt; ``assumed`` is what earlier pod sets of the workload take."""

    def __init__(self, rules: Assigning, room: Room, tried: Sequence[Mapping[str, int]]) -> None:
        self.rules, self.room, self.tried = rules, room, tried
        self.assumed: dict[FlavorResource, int] = {}
        self.short: set[FlavorResource] = set()
        self.level = 0
        self.several = False
        self.in_bytes: frozenset[str] = frozenset()
        self.steps: list[Step] = []
        self.causes = Causes(rules=rules)

    def run(self, demands: tuple[Demand, ...]) -> Assignment:
        self.several = len(demands) > 1
        self.in_bytes = frozenset().union(*(demand.in_bytes for demand in demands))
        worst, given, told, tried, lacking = Fit.NOW, [], [], [], list[Cause | None]()
        for index, demand in enumerate(demands):
            found = self._pod_set(index, demand)
            worst = min(worst, found.fit)
            given.append(self._take(demand, found))
            tried.append({resource: got.tried for resource, got in found.got.items()})
            if found.fit is not Fit.NOW:
                reasons = ", ".join(sorted(found.reasons))
                told.append(f"couldn't assign flavors to pod set {demand.pod_set.name}: {reasons}")
            if found.fit is Fit.NEVER:
                lacking.append(self._cause(found))
            if found.failed or (self._amounts(demand) and any(rule(len(found.got)) for rule in self.rules.cut_short)):
                break
        return Assignment(
            fit=worst,
            pod_sets=tuple(given),
            message="; ".join(told),
            steps=tuple(self.steps),
            level=self.level,
            usage=dict(self.assumed),
            short=frozenset(self.short),
            tried=tuple(tried),
            cause=self.causes.of_all(lacking),
        )

    def _cause(self, found: _PodSet) -> Cause | None:
        if not any(group.attempts for group in found.groups):
            return Cause.NO_FLAVOR
        return self.causes.of_all([self.causes.of_alternatives(group.lacking) for group in found.groups])

    def _amounts(self, demand: Demand) -> Mapping[str, int]:
        counted = {"pods": demand.count} if self.room.queue.group_of("pods") else {}
        return {**demand.amounts, **counted}

    def _pod_set(self, index: int, demand: Demand) -> _PodSet:
        amounts, result = self._amounts(demand), _PodSet()
        for resource in self.room.draw.groups(amounts):
            group = self.room.queue.group_of(resource)
            if group is None:
                if lacking := self._uncovered(resource, amounts[resource]):
                    self.steps.append(Step(requirements=cited(self.rules.uncovered), text=lacking))
                    return _PodSet(failed=True, reasons=[lacking], groups=result.groups)
            elif resource not in result.got:
                covered = {name: amounts[name] for name in amounts if name in group.covered}
                best = self._group(group, demand.pod_set, covered, self._start(index, resource))
                result.groups.append(best)
                if best.outlook.mode is Mode.NEVER:
                    return _PodSet(failed=True, reasons=best.reasons, groups=result.groups)
                result.got |= dict.fromkeys(covered, best)
                result.reasons += best.reasons
        return result

    def _start(self, index: int, resource: str) -> int:
        return self.tried[index].get(resource, -1) + 1 if index < len(self.tried) else 0

    def _uncovered(self, resource: str, amount: int) -> str | None:
        if self.room.ignore_undeclared or any(rule(amount) for rule in self.rules.overlooked):
            return None
        return next((rule(resource) for rule in self.rules.uncovered), None)

    def _group(self, group: ResourceGroup, pod_set: PodSet, amounts: Mapping[str, int], start: int) -> _Try:
        best, reasons, attempted, lacking = _Try(), list[str](), -1, list[Cause | None]()
        listed = (flavor for rule in self.rules.flavors for flavor in rule(group))
        flavors = [each for each in listed if all(rule(pod_set, each.name) for rule in self.rules.considered)]
        keys, telling = self._label_keys(group), self._telling(pod_set)
        self.steps += telling.left_out(flavors[:start], cited(self.rules.resumed))
        for index, flavor in list(enumerate(flavors))[start:]:
            attempted = index
            outcome = self._flavor(flavor, pod_set, amounts, keys)
            self._explain(pod_set, flavor, outcome, amounts)
            reasons += outcome.reasons
            if outcome.outlook.mode is Mode.NEVER:
                lacking.append(self.causes.of_all(outcome.lacking))
            if not outcome.weighed:
                continue
            passing = [rule for rule in self.rules.goes_on if rule(outcome.outlook, self.room.queue.fungibility)]
            if not passing:
                best = outcome
                break
            self.steps += telling.passed(flavor, passing, flavors[index + 1 :])
            better, by = self._compared(outcome.outlook, best.outlook)
            self.steps += telling.compared(outcome.name, best.name, by, better=better)
            best = outcome if better else best
        self.steps += telling.left_out(flavors[attempted + 1 :], cited(self.rules.flavors))
        best.tried = -1 if attempted == len(flavors) - 1 else attempted
        best.attempts, best.lacking = max(0, attempted + 1 - start), lacking
        best.reasons = [] if best.outlook.mode is Mode.FIT else reasons
        return best

    def _telling(self, pod_set: PodSet) -> Telling:
        return Telling(where=f"pod set {pod_set.name}, " if self.several else "")

    def _is_preferred(self, one: Outlook, other: Outlook) -> bool:
        return self._compared(one, other)[0]

    def _compared(self, one: Outlook, other: Outlook) -> tuple[bool, Sequence[Rule[..., Any]]]:
        """Whether one outlook is preferred to the other, and the rule that tells them apart; all when none does."""
        if Mode.NEVER in (one.mode, other.mode):
            return one.mode is not Mode.NEVER, ()
        policy = self.room.queue.fungibility
        for rule in self.rules.rank:
            if (mine := rule(one, policy)) != (theirs := rule(other, policy)):
                return mine > theirs, [rule]
        return False, self.rules.rank

    def _label_keys(self, group: ResourceGroup) -> frozenset[str]:
        specs = (self.room.flavor(flavor.name) for flavor in group.flavors if self.rules.in_group)
        labels = [spec.get("nodeLabels") for spec in specs if spec]
        return frozenset(key for each in labels if isinstance(each, dict) for key in each)

    def _flavor(self, flavor: FlavorQuota, pod_set: PodSet, amounts: Mapping[str, int], keys: frozenset[str]) -> _Try:
        spec = self.room.flavor(flavor.name)
        if spec is None:
            return _Try(reasons=[f"flavor {flavor.name} not found"], lacking=[Cause.NO_FLAVOR])
        if objection := next(self._objections(pod_set, flavor.name, spec, keys), None):
            return _Try(reasons=[objection[1]], cites=cited([objection[0]]), lacking=[Cause.NO_FLAVOR])
        outcome = _Try(outlook=Outlook(mode=Mode.FIT), flavor=flavor.name, weighed=True)
        weighed = {resource: self._weigh(self._need(flavor, resource, amounts[resource])) for resource in amounts}
        for resource in self.room.draw.quotas({name: each.outlook.mode for name, each in weighed.items()}, flavor.name):
            found = weighed[resource]
            outcome.add(resource, found)
            if self._is_preferred(outcome.outlook, found.outlook):
                outcome.outlook = found.outlook
            if any(rule(found.outlook) for rule in self.rules.ends):
                break
        return outcome

    def _objections(
        self, pod_set: PodSet, name: str, spec: Mapping[str, Any], keys: frozenset[str]
    ) -> Iterator[tuple[Rule[..., str | None], str]]:
        for rule in self.rules.flavor:
            if reason := rule(pod_set, name, spec):
                yield rule, reason
        for grouped in self.rules.in_group:
            if reason := grouped(pod_set, name, spec, keys):
                yield grouped, reason

    def _weigh(self, need: Need) -> _Try:
        of, total = (need.flavor, need.resource), plus(need.assumed, need.asked)
        rule, objection = next(((r, o) for r in self.rules.quota if (o := r(need))), (None, None))
        if rule is None or objection is None:
            return _Try(outlook=Outlook(mode=Mode.FIT, level=self.room.level(of, total)))
        outlook, steps = (_NOWHERE, ()) if objection.fit is Fit.NEVER else self.room.preemption(of, total)
        lacking: list[Cause | None] = [objection.cause] if outlook.mode is Mode.NEVER else []
        steps = (*bounded(self.room.node, need, never=objection.fit is Fit.NEVER), *steps)
        return _Try(outlook=outlook, reasons=[objection.message], cites=cited([rule]), lacking=lacking, steps=steps)

    def _need(self, flavor: FlavorQuota, resource: str, amount: int) -> Need:
        of = (flavor.name, resource)
        return Need(
            resource=resource,
            flavor=flavor.name,
            assumed=self.assumed.get(of, 0),
            asked=amount,
            capacity=self.room.node.capacity(of),
            available=self.room.node.available(of),
            in_bytes=self.in_bytes,
        )

    def _take(self, demand: Demand, found: _PodSet) -> Assigned:
        amounts = self._amounts(demand)
        for resource, got in found.got.items():
            of = (got.flavor, resource)
            self.assumed[of] = plus(self.assumed.get(of, 0), amounts[resource])
            self.level = max(self.level, got.each[resource].level)
            if _FIT[got.each[resource].mode] is Fit.LATER:
                self.short.add(of)
        flavors = {resource: got.flavor for resource, got in found.got.items()}
        return Assigned(
            name=demand.pod_set.name, count=demand.count, flavors=flavors, usage=amounts, in_bytes=demand.in_bytes
        )

    def _explain(self, pod_set: PodSet, flavor: FlavorQuota, outcome: _Try, amounts: Mapping[str, int]) -> None:
        several = self._telling(pod_set).where
        if not outcome.weighed:
            text = f"{several}flavor {flavor.name}: {', '.join(outcome.reasons)}"
            self.steps.append(Step(requirements=outcome.cites, text=text))
            return
        needs = [self._need(flavor, resource, amounts[resource]) for resource in sorted(amounts)]
        shown = ", ".join(f"{n.resource} {n.show(n.asked)} of {n.show(n.available - n.assumed)} left" for n in needs)
        text = f"{several}flavor {flavor.name}: {shown or 'nothing is asked of it'}: {_word(outcome)}"
        text += ", borrowed" if outcome.outlook.mode is Mode.FIT and outcome.outlook.level else ""
        self.steps.append(Step(requirements=outcome.cites or FITS, text=text))
        self.steps += outcome.steps
