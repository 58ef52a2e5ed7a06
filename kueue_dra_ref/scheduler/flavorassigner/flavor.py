"""How one flavor fares for a pod set: what speaks against it, and what is left of its quota.

Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (checkFlavorForPodSets, fitsResourceQuota)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kueue_dra_ref.api.types import FlavorQuota, PodSet, ResourceGroup
from kueue_dra_ref.behaviours.phases_scheduling import FlavorAssignment, Ranking
from kueue_dra_ref.explain.step import Step, cited
from kueue_dra_ref.model.flavor_check import FlavorCheck
from kueue_dra_ref.model.pending_reason import QuotaReservedReason
from kueue_dra_ref.model.resource_node import FlavorResource, plus
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.rules.flavorassigner.fits_resource_quota import (
    FlavorAssignmentMode,
    ResourceRequest,
)
from kueue_dra_ref.rules.flavorassigner.flavor_fungibility import (
    FungibilityCheck,
    GranularMode,
    PreemptionMode,
)
from kueue_dra_ref.rules.flavorassigner.node_affinity import UnparsableLabel
from kueue_dra_ref.scheduler.flavorassigner.assignment import (
    NOWHERE,
    FlavorAssignmentAttempt,
)
from kueue_dra_ref.scheduler.flavorassigner.limit_trace import bounded
from kueue_dra_ref.scheduler.preemption.oracle import PreemptionOracle

FITS = ("QUOTA-001",)
"""Says that what fits the nominal quota is admitted; no rule has to object."""
_WORDS = {
    PreemptionMode.FIT: "fits",
    PreemptionMode.RECLAIM: "does not fit now, but others in the cohort can be preempted",
    PreemptionMode.PREEMPT: "does not fit now, but others can be preempted",
    PreemptionMode.NO_VICTIMS: "does not fit now",
    PreemptionMode.NEVER: "can never fit",
}
_HELD = "does not fit now, and nobody may be preempted"


def _mode_name(outcome: FlavorAssignmentAttempt) -> str:
    """How a flavor fares; what others hold could be had if only it might be preempted."""
    held = (
        outcome.outlook.mode is PreemptionMode.NEVER
        and QuotaReservedReason.TOO_MUCH not in outcome.lacking
    )
    return _HELD if held else _WORDS[outcome.outlook.mode]


def _ineligible_reason(
    by: Rule[..., Any], reason: str | UnparsableLabel
) -> FlavorAssignmentAttempt:
    """A flavor that does not suit the pods, or with which it turns out that nobody can say which ones do."""
    unreadable = isinstance(reason, UnparsableLabel)
    told = reason.message if isinstance(reason, UnparsableLabel) else reason
    return FlavorAssignmentAttempt(
        reasons=[told],
        cites=cited([by]),
        lacking=[QuotaReservedReason.NO_FLAVOR],
        unreadable=unreadable,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorFitCheck:
    """Weighs flavors for the pod sets of one workload, by what its queue has and earlier pod sets leave."""

    rules: FlavorAssignment
    room: PreemptionOracle
    in_bytes: frozenset[str]
    """The resources whose amounts are shown as bytes."""
    assumed: dict[FlavorResource, int] = field(default_factory=dict)
    """What earlier pod sets of the workload take."""

    def check_flavor(
        self,
        flavor: FlavorQuota,
        pod_set: PodSet,
        amounts: Mapping[str, int],
        keys: frozenset[str],
    ) -> FlavorAssignmentAttempt:
        """How a flavor fares for amounts of the resources of its group; ``keys`` are the label keys of the group."""
        spec = self.room.flavor(flavor.name)
        if spec is None:
            return FlavorAssignmentAttempt(
                reasons=[f"flavor {flavor.name} not found"],
                lacking=[QuotaReservedReason.NO_FLAVOR],
            )
        if objection := next(self._objections(pod_set, flavor.name, spec, keys), None):
            return _ineligible_reason(*objection)
        outcome = FlavorAssignmentAttempt(
            outlook=GranularMode(mode=PreemptionMode.FIT),
            flavor=flavor.name,
            weighed=True,
        )
        each = {
            resource: self._weigh(self._need(flavor, resource, amounts[resource]))
            for resource in amounts
        }
        draw = self.room.draw.order_for_pod_set(pod_set.name)
        for resource in draw.quotas(
            {name: one.outlook.mode for name, one in each.items()}, flavor.name
        ):
            found = each[resource]
            outcome.add(resource, found)
            if self.compared(self.rules.rank, outcome.outlook, found.outlook)[0]:
                outcome.outlook = found.outlook
            if any(rule(found.outlook) for rule in self.rules.stop_search):
                break
        return outcome

    def chosen(
        self, one: GranularMode, other: GranularMode
    ) -> tuple[bool, Sequence[Rule[..., Any]]]:
        """As `compared`, of two flavors."""
        return self.compared(self.rules.prefer_flavor or self.rules.rank, one, other)

    def compared(
        self, rank: Ranking, one: GranularMode, other: GranularMode
    ) -> tuple[bool, Sequence[Rule[..., Any]]]:
        """Whether one outlook is preferred to the other, and the rule that tells them apart; all when none does."""
        if PreemptionMode.NEVER in (one.mode, other.mode):
            return one.mode is not PreemptionMode.NEVER, ()
        policy = self.room.queue.fungibility
        first = FungibilityCheck(granular=one, policy=policy)
        second = FungibilityCheck(granular=other, policy=policy)
        for rule in rank.rules:
            if (mine := rule(first)) != (theirs := rule(second)):
                return mine > theirs, [rule]
        return False, rank.rules

    def label_keys(self, group: ResourceGroup) -> frozenset[str]:
        """The keys of the node labels of all flavors of a group, where the behaviour looks at them."""
        specs = (
            self.room.flavor(flavor.name)
            for flavor in group.flavors
            if self.rules.in_group
        )
        labels = [spec.get("nodeLabels") for spec in specs if spec]
        return frozenset(
            key for each in labels if isinstance(each, dict) for key in each
        )

    def told(
        self,
        where: str,
        flavor: FlavorQuota,
        outcome: FlavorAssignmentAttempt,
        amounts: Mapping[str, int],
    ) -> Iterator[Step]:
        """Say how a flavor fared; ``where`` names the pod set if there are several."""
        if not outcome.weighed:
            text = f"{where}flavor {flavor.name}: {', '.join(outcome.reasons)}"
            yield Step(requirements=outcome.cites, text=text)
            return
        needs = [
            self._need(flavor, resource, amounts[resource])
            for resource in sorted(amounts)
        ]
        shown = ", ".join(
            f"{n.resource} {n.show(n.asked)} of {n.show(n.available - n.assumed)} left"
            for n in needs
        )
        text = f"{where}flavor {flavor.name}: {shown or 'nothing is asked of it'}: {_mode_name(outcome)}"
        text += (
            ", borrowed"
            if outcome.outlook.mode is PreemptionMode.FIT and outcome.outlook.level
            else ""
        )
        yield Step(requirements=outcome.cites or FITS, text=text)
        yield from outcome.steps

    def _objections(
        self, pod_set: PodSet, name: str, spec: Mapping[str, Any], keys: frozenset[str]
    ) -> Iterator[tuple[Rule[..., Any], str | UnparsableLabel]]:
        check = FlavorCheck(
            pod_set=pod_set, name=name, spec=spec, group_label_keys=keys
        )
        yield from self.rules.flavor.answers(check)
        yield from self.rules.in_group.answers(check)

    def _weigh(self, need: ResourceRequest) -> FlavorAssignmentAttempt:
        of, total = (need.flavor, need.resource), plus(need.assumed, need.asked)
        rule, objection = next(
            ((r, o) for r in self.rules.quota if (o := r(need))), (None, None)
        )
        if rule is None or objection is None:
            return FlavorAssignmentAttempt(
                outlook=GranularMode(
                    mode=PreemptionMode.FIT, level=self.room.level(of, total)
                )
            )
        outlook, steps = (
            (NOWHERE, ())
            if objection.fit is FlavorAssignmentMode.NEVER
            else self.room.preemption(of, total)
        )
        lacking: list[QuotaReservedReason | None] = (
            [objection.cause] if outlook.mode is PreemptionMode.NEVER else []
        )
        steps = (
            *bounded(
                self.room.node, need, never=objection.fit is FlavorAssignmentMode.NEVER
            ),
            *steps,
        )
        return FlavorAssignmentAttempt(
            outlook=outlook,
            reasons=[objection.message],
            cites=cited([rule]),
            lacking=lacking,
            steps=steps,
        )

    def _need(self, flavor: FlavorQuota, resource: str, amount: int) -> ResourceRequest:
        of = (flavor.name, resource)
        return ResourceRequest(
            resource=resource,
            flavor=flavor.name,
            assumed=self.assumed.get(of, 0),
            asked=amount,
            capacity=self.room.node.potential_available(of),
            available=self.room.node.available(of),
            in_bytes=self.in_bytes,
            words=self.rules.no_fit_message,
        )
