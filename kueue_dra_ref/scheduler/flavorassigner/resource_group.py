"""The search through the flavors of one resource group for one pod set: tried in order until one will do.

Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (findFlavorForPodSets, shouldTryNextFlavor, isPreferred)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kueue_dra_ref.api.types import FlavorQuota, PodSet, ResourceGroup
from kueue_dra_ref.explain.step import Step, cited
from kueue_dra_ref.model.pending_reason import QuotaReservedReason
from kueue_dra_ref.rules.flavorassigner.flavor_fungibility import (
    FungibilityCheck,
    PreemptionMode,
)
from kueue_dra_ref.scheduler.flavorassigner.assignment import FlavorAssignmentAttempt
from kueue_dra_ref.scheduler.flavorassigner.flavor import FlavorFitCheck
from kueue_dra_ref.scheduler.flavorassigner.flavor_trace import FlavorTrace
from kueue_dra_ref.scheduler.flavorassigner.no_fit_reason import NoFitReason


@dataclass(slots=True, kw_only=True)
class ResourceGroupSearch:
    """One search, to be run once; ``amounts`` are what the pod set asks of the resources that the group covers."""

    weighing: FlavorFitCheck
    telling: FlavorTrace
    group: ResourceGroup
    pod_set: PodSet
    amounts: Mapping[str, int]
    steps: list[Step] = field(default_factory=list)
    best: FlavorAssignmentAttempt = field(default_factory=FlavorAssignmentAttempt)
    _reasons: list[str] = field(default_factory=list)
    _lacking: list[QuotaReservedReason | None] = field(default_factory=list)

    def run(self, start: int) -> FlavorAssignmentAttempt:
        """Try the flavors from the one with index ``start`` on, and give the best."""
        rules, flavors, last = self.weighing.rules, self._flavors(), -1
        keys = self.weighing.label_keys(self.group)
        self.steps += self.telling.left_out(
            flavors[:start], cited(rules.resume_from_last_tried)
        )
        for last, flavor in list(enumerate(flavors))[
            start:
        ]:  # the last one tried is wanted below
            outcome = self._try(flavor, keys)
            if outcome.unreadable:
                self.best, self._reasons = outcome, outcome.reasons
                break
            if outcome.weighed and not self._goes_on(
                flavor, outcome, flavors[last + 1 :]
            ):
                break
        self.steps += self.telling.left_out(flavors[last + 1 :], cited(rules.flavors))
        self.best.tried = (
            (-1 if last == len(flavors) - 1 else last)
            if rules.resume_from_last_tried
            else 0
        )
        self.best.attempts, self.best.lacking = max(0, last + 1 - start), self._lacking
        self.best.reasons = (
            [] if self.best.outlook.mode is PreemptionMode.FIT else self._reasons
        )
        return self.best

    def _flavors(self) -> list[FlavorQuota]:
        rules = self.weighing.rules
        listed = (flavor for rule in rules.flavors for flavor in rule(self.group))
        return [
            each
            for each in listed
            if all(rule(self.pod_set, each.name) for rule in rules.considered)
        ]

    def _try(
        self, flavor: FlavorQuota, keys: frozenset[str]
    ) -> FlavorAssignmentAttempt:
        outcome = self.weighing.check_flavor(flavor, self.pod_set, self.amounts, keys)
        self.steps += self.weighing.told(
            self.telling.where, flavor, outcome, self.amounts
        )
        self._reasons += outcome.reasons
        if outcome.outlook.mode is PreemptionMode.NEVER:
            self._lacking.append(
                NoFitReason(rules=self.weighing.rules).of_all(outcome.lacking)
            )
        return outcome

    def _goes_on(
        self,
        flavor: FlavorQuota,
        outcome: FlavorAssignmentAttempt,
        others: Sequence[FlavorQuota],
    ) -> bool:
        """Keep the better of this flavor and the best before it; one with which the search ends is the best."""
        policy = self.weighing.room.queue.fungibility
        check = FungibilityCheck(granular=outcome.outlook, policy=policy)
        passing = self.weighing.rules.try_next_flavor.holding(check)
        if not passing:
            self.best = outcome
            return False
        self.steps += self.telling.passed(flavor, passing, others)
        better, by = self.weighing.chosen(outcome.outlook, self.best.outlook)
        self.steps += self.telling.compared(
            outcome.name, self.best.name, by, better=better
        )
        self.best = outcome if better else self.best
        return True
