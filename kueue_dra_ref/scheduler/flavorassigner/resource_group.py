"""The search for a flavor of one resource group for one pod set: flavors are tried in order.

Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (findFlavorForPodSets, shouldTryNextFlavor, isPreferred)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from kueue_dra_ref.api.types import FlavorQuota, PodSet, ResourceGroup
from kueue_dra_ref.explain.step import Step, cited
from kueue_dra_ref.model.slots import Answer
from kueue_dra_ref.rules.flavorassigner.flavor_fungibility import (
    FungibilityCheck,
    PreemptionMode,
)
from kueue_dra_ref.scheduler.flavorassigner.assignment import (
    FlavorAssignmentAttempt,
    Reasons,
)
from kueue_dra_ref.scheduler.flavorassigner.flavor import FlavorFitCheck
from kueue_dra_ref.scheduler.flavorassigner.flavor_trace import FlavorTrace
from kueue_dra_ref.scheduler.flavorassigner.no_fit_reason import NoFitReason


@dataclass(slots=True, kw_only=True)
class ResourceGroupSearch:
    """One search, to be run once; ``amounts`` are the requests of the pod set that the group covers."""

    check: FlavorFitCheck
    trace: FlavorTrace
    group: ResourceGroup
    pod_set: PodSet
    amounts: Mapping[str, int]
    resource: str
    """The resource that the search is for; the others of the group get the same flavor."""
    nominated: str | None
    """The flavor to keep; None if there was no assignment before."""
    steps: list[Step] = field(default_factory=list)
    _best: FlavorAssignmentAttempt = field(default_factory=FlavorAssignmentAttempt)
    _reasons: list[str] = field(default_factory=list)
    _no_fit_reasons: Reasons = field(default_factory=list)

    def run(self, start: int) -> FlavorAssignmentAttempt:
        """Try the flavors from index ``start`` on, and give the best attempt."""
        rules = self.check.rules
        flavors = self._flavors()
        before, left = flavors[:start], flavors[start:]
        self.steps += self.trace.not_tried(before, cited(rules.resume_from_last_tried))
        tried = self._try_in_order(left)
        self.steps += self.trace.not_tried(left, cited(rules.flavors))
        best = self._best
        best.tried = bool(tried)
        if rules.resume_from_last_tried:
            best.last_tried = flavors.index(tried[-1]) if left else -1
        best.no_fit_reasons = self._no_fit_reasons
        fits = best.granular_mode.mode is PreemptionMode.FIT
        best.reasons = [] if fits else self._reasons
        return best

    def _flavors(self) -> list[FlavorQuota]:
        rules = self.check.rules
        flavors = []
        for flavor in rules.flavors(self.group):
            if rules.consider_flavor(self.pod_set, flavor.name):
                flavors.append(flavor)
        return flavors

    def _try_in_order(self, left: list[FlavorQuota]) -> list[FlavorQuota]:
        """Take flavors from those that are left until one ends the search; give those that were tried."""
        keys = self.check.label_keys(self.group)
        tried: list[FlavorQuota] = []
        while left:
            flavor = left.pop(0)
            tried.append(flavor)
            if self._is_skipped(flavor):
                continue
            attempt = self._try(flavor, keys)
            if attempt.has_unparsable_label:
                self._best = attempt
                self._reasons = attempt.reasons
                break
            if not attempt.quota_checked:
                continue
            if not self._should_try_next(flavor, attempt, left):
                break
        return tried

    def _is_skipped(self, flavor: FlavorQuota) -> bool:
        """Whether an assignment that is computed again keeps another flavor, or the workload may not get this one."""
        skipped = self._kept_nominated(flavor) or self.check.oracle.skip_flavor(
            flavor.name
        )
        if not skipped:
            return False
        self._reasons.append(skipped.value)
        self.steps.append(Step.by(f"{self.trace.where}{skipped.value}", skipped.rule))
        return True

    def _kept_nominated(self, flavor: FlavorQuota) -> Answer[str] | None:
        if self.nominated is None:
            return None
        rules = self.check.rules.keep_nominated
        return rules.answer(flavor.name, self.nominated, self.resource)

    def _try(
        self, flavor: FlavorQuota, keys: Collection[str]
    ) -> FlavorAssignmentAttempt:
        check, amounts = self.check, self.amounts
        attempt = check.check_flavor(flavor, self.pod_set, amounts, keys)
        where = self.trace.where
        self.steps += check.steps(where, flavor, attempt, amounts, self.pod_set)
        self._reasons += attempt.reasons
        if attempt.granular_mode.mode is PreemptionMode.NO_FIT:
            selection = NoFitReason(rules=check.rules)
            reason = selection.of_all(attempt.no_fit_reasons)
            self._no_fit_reasons.append(reason)
        return attempt

    def _should_try_next(
        self,
        flavor: FlavorQuota,
        attempt: FlavorAssignmentAttempt,
        others: Sequence[FlavorQuota],
    ) -> bool:
        """Whether to try the next flavor; keep the preferred attempt so far, or the one that ends the search."""
        mode = attempt.granular_mode
        policy = self.check.oracle.queue.fungibility
        rules = self.check.rules.try_next_flavor.holding(
            FungibilityCheck(granular=mode, policy=policy)
        )
        if not rules:
            self._best = attempt
            return False
        self.steps += self.trace.try_next(flavor, rules, others)
        best = self._best
        preference = self.check.compare_flavors(mode, best.granular_mode)
        self.steps += self.trace.preferred(
            attempt.assignable_flavor,
            best.assignable_flavor,
            preference.rules,
            is_preferred=preference.is_preferred,
        )
        if preference.is_preferred:
            self._best = attempt
        return True
