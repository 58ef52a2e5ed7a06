"""One flavor for one pod set: whether it is eligible, and whether its quota fits the requests.

Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (checkFlavorForPodSets, fitsResourceQuota)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kueue_dra_ref.api.types import FlavorQuota, PodSet, ResourceGroup
from kueue_dra_ref.behaviours.phases_scheduling import FlavorAssignment
from kueue_dra_ref.explain.step import Step, cited
from kueue_dra_ref.model.flavor_check import FlavorCheck
from kueue_dra_ref.model.pending_reason import QuotaReservedReason
from kueue_dra_ref.model.resource_node import FlavorResource, plus
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.model.slots import Answer, Order
from kueue_dra_ref.rules.flavorassigner.fits_resource_quota import (
    FlavorAssignmentMode,
    ResourceRequest,
    Status,
)
from kueue_dra_ref.rules.flavorassigner.flavor_fungibility import (
    FungibilityCheck,
    GranularMode,
    PreemptionMode,
)
from kueue_dra_ref.rules.flavorassigner.node_affinity import UnparsableLabel
from kueue_dra_ref.scheduler.flavorassigner.assignment import (
    NO_FIT,
    FlavorAssignmentAttempt,
)
from kueue_dra_ref.scheduler.flavorassigner.limit_trace import limit_steps
from kueue_dra_ref.scheduler.preemption.oracle import (
    PreemptionOracle,
    SimulatedPreemption,
)

_FITS = ("QUOTA-001",)
"""The requirement that Kueue admits what fits the nominal quota; no rule decides it."""
_MODES = {
    PreemptionMode.FIT: "fits",
    PreemptionMode.RECLAIM: "does not fit now, but preemption in the cohort can free it",
    PreemptionMode.PREEMPT: "does not fit now, but preemption can free it",
    PreemptionMode.NO_CANDIDATES: "does not fit now",
    PreemptionMode.NO_FIT: "can never fit",
}
_NOT_ALLOWED = "does not fit now, and preemption is not allowed"
Amounts = Mapping[str, int]
"""Requests by resource."""


class Preference(NamedTuple):
    """Whether one mode is preferred to another, and the rules that decide it."""

    is_preferred: bool
    rules: tuple[Rule[..., Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorFitCheck:
    """Checks flavors for the pod sets of one workload."""

    rules: FlavorAssignment
    oracle: PreemptionOracle
    in_bytes: frozenset[str]
    """The resources that are printed in bytes."""
    assignment_usage: dict[FlavorResource, int] = field(default_factory=dict)
    """The usage of the pod sets that have flavors already."""

    def check_flavor(
        self,
        flavor: FlavorQuota,
        pod_set: PodSet,
        amounts: Amounts,
        keys: Collection[str],
    ) -> FlavorAssignmentAttempt:
        """Check one flavor for all resources of its group; ``keys`` are the label keys of the group."""
        spec = self.oracle.flavor(flavor.name)
        covered = self._covered(flavor)
        unsuitable = self.oracle.placer.unsuitable(pod_set, flavor.name, covered)
        if unsuitable is not None:
            return _unsuitable_attempt(unsuitable)
        ineligible = self._ineligible(pod_set, flavor.name, spec, keys)
        if ineligible is not None:
            return _ineligible_attempt(ineligible)
        return self._check_quota(flavor, pod_set, amounts)

    def _covered(self, flavor: FlavorQuota) -> Collection[str]:
        """Give the resources of the group of a flavor."""
        groups = self.oracle.queue.groups
        return next(group.covered for group in groups if flavor in group.flavors)

    def _ineligible(
        self,
        pod_set: PodSet,
        name: str,
        spec: Mapping[str, Any],
        keys: Collection[str],
    ) -> Answer[str | UnparsableLabel] | None:
        """Give the first reason for which a flavor is not eligible for the pods, or None."""
        check = FlavorCheck(
            pod_set=pod_set, name=name, spec=spec, group_label_keys=keys
        )
        for answer in self.rules.flavor.answers(check):
            return answer
        for answer in self.rules.in_group.answers(check):
            return answer
        return None

    def _check_quota(
        self, flavor: FlavorQuota, pod_set: PodSet, amounts: Amounts
    ) -> FlavorAssignmentAttempt:
        """Check the quota of each resource; the mode of the flavor is the worst mode of its resources."""
        attempt = FlavorAssignmentAttempt(
            granular_mode=GranularMode(mode=PreemptionMode.FIT),
            flavor=flavor.name,
            quota_checked=True,
        )
        checked = {}
        modes = {}
        for resource, amount in amounts.items():
            result = self._check_resource(flavor, pod_set, resource, amount)
            checked[resource] = result
            modes[resource] = result.granular_mode.mode
        map_order = self.oracle.draw.order_for_pod_set(pod_set.name)
        for resource in map_order.quotas(modes, flavor.name):
            mode = checked[resource].granular_mode
            attempt.add(resource, checked[resource])
            if self._compare(self.rules.rank, attempt.granular_mode, mode).is_preferred:
                attempt.granular_mode = mode
            if self.rules.stop_search(mode):
                break
        return attempt

    def _check_resource(
        self, flavor: FlavorQuota, pod_set: PodSet, resource: str, amount: int
    ) -> FlavorAssignmentAttempt:
        """Check the quota of one resource; the flavors of a replaced slice are kept, and what it holds is free."""
        kept = self._other_flavor(flavor, pod_set, resource)
        needed = amount if kept else self.needed(pod_set, resource, amount)
        request = self._request(flavor, resource, needed)
        checked = self._fits_resource_quota(request)
        if not kept:
            return checked
        return FlavorAssignmentAttempt(
            reasons=[kept.value, *checked.reasons],
            cites=cited([kept.rule]),
            no_fit_reasons=[QuotaReservedReason.NO_FLAVOR, *checked.no_fit_reasons],
        )

    def _other_flavor(
        self, flavor: FlavorQuota, pod_set: PodSet, resource: str
    ) -> Answer[str] | None:
        """Say in which flavor a replaced slice has a resource, if that is another one."""
        held = self.oracle.replaced.get(pod_set.name)
        if held is None:
            return None
        original = held.flavors.get(resource, "")
        return self.rules.keep_flavor.answer(flavor.name, original)

    def needed(self, pod_set: PodSet, resource: str, amount: int) -> int:
        """Give what a pod set needs in addition to what the slice holds that it replaces."""
        held = self.oracle.replaced.get(pod_set.name)
        if held is None:
            return amount
        counted = held.amounts.get(resource, 0)
        return self.rules.count_off.or_else(amount, amount, counted)

    def compare_flavors(self, one: GranularMode, other: GranularMode) -> Preference:
        """Compare the modes of two flavors."""
        order = self.rules.prefer_flavor or self.rules.rank
        return self._compare(order, one, other)

    def _compare(
        self,
        order: Order[Any],
        one: GranularMode,
        other: GranularMode,
    ) -> Preference:
        """Compare two modes by the first rule in which they differ; if there is none, give all rules."""
        if PreemptionMode.NO_FIT in (one.mode, other.mode):
            return Preference(one.mode is not PreemptionMode.NO_FIT, ())
        policy = self.oracle.queue.fungibility
        of_one = FungibilityCheck(granular=one, policy=policy)
        of_other = FungibilityCheck(granular=other, policy=policy)
        for rule in order.rules:
            first, second = rule(of_one), rule(of_other)
            if first != second:
                return Preference(first > second, (rule,))
        return Preference(False, order.rules)

    def label_keys(self, group: ResourceGroup) -> Collection[str]:
        """Give the node label keys of all flavors of a group."""
        keys = set[str]()
        for flavor in group.flavors:
            spec = self.oracle.flavor(flavor.name)
            labels = spec.get("nodeLabels")
            if isinstance(labels, dict):
                keys.update(labels)
        return keys

    def steps(
        self,
        where: str,
        flavor: FlavorQuota,
        attempt: FlavorAssignmentAttempt,
        amounts: Amounts,
        pod_set: PodSet,
    ) -> Iterator[Step]:
        """Give the steps of an attempt; ``where`` names the pod set if there are several."""
        if not attempt.quota_checked:
            reasons = ", ".join(attempt.reasons)
            text = f"{where}flavor {flavor.name}: {reasons}"
            yield Step(requirements=attempt.cites, text=text)
            return
        parts = []
        for resource in sorted(amounts):
            needed = self.needed(pod_set, resource, amounts[resource])
            request = self._request(flavor, resource, needed)
            parts.append(_requested(request))
        requested = ", ".join(parts) or "nothing is requested"
        text = f"{where}flavor {flavor.name}: {requested}: {_mode_text(attempt)}"
        yield Step(requirements=attempt.cites or _FITS, text=text)
        yield from attempt.steps

    def _fits_resource_quota(self, request: ResourceRequest) -> FlavorAssignmentAttempt:
        """Check the quota of one flavor and resource; simulate preemption if it does not fit now."""
        status = self.rules.quota.answer(request)
        if status is not None:
            return self._no_fit(request, status)
        of = (request.flavor, request.resource)
        total = plus(request.assumed, request.asked)
        level = self.oracle.borrowing_level(of, total)
        mode = GranularMode(mode=PreemptionMode.FIT, level=level)
        return FlavorAssignmentAttempt(granular_mode=mode)

    def _no_fit(
        self, request: ResourceRequest, status: Answer[Status]
    ) -> FlavorAssignmentAttempt:
        never = status.value.fit is FlavorAssignmentMode.NO_FIT
        preemption = SimulatedPreemption(NO_FIT, ())
        if not never:
            of = (request.flavor, request.resource)
            total = plus(request.assumed, request.asked)
            preemption = self.oracle.simulate_preemption(of, total)
        limits = limit_steps(self.oracle.node, request, never=never)
        return FlavorAssignmentAttempt(
            granular_mode=preemption.mode,
            reasons=[status.value.message],
            cites=cited([status.rule]),
            no_fit_reasons=[status.value.cause],
            steps=(*limits, *preemption.steps),
        )

    def _request(
        self, flavor: FlavorQuota, resource: str, amount: int
    ) -> ResourceRequest:
        of = (flavor.name, resource)
        node = self.oracle.node
        return ResourceRequest(
            resource=resource,
            flavor=flavor.name,
            assumed=self.assignment_usage.get(of, 0),
            asked=amount,
            capacity=node.potential_available(of),
            available=node.available(of),
            in_bytes=self.in_bytes,
            in_message=self.rules.no_fit_message,
        )


def _unsuitable_attempt(answer: Answer[str]) -> FlavorAssignmentAttempt:
    return FlavorAssignmentAttempt(
        reasons=[answer.value],
        cites=cited([answer.rule]),
        no_fit_reasons=[QuotaReservedReason.NO_FLAVOR],
    )


def _ineligible_attempt(
    answer: Answer[str | UnparsableLabel],
) -> FlavorAssignmentAttempt:
    reason = answer.value
    is_unparsable = isinstance(reason, UnparsableLabel)
    return FlavorAssignmentAttempt(
        reasons=[reason.message if isinstance(reason, UnparsableLabel) else reason],
        cites=cited([answer.rule]),
        no_fit_reasons=[QuotaReservedReason.NO_FLAVOR],
        has_unparsable_label=is_unparsable,
    )


def _requested(request: ResourceRequest) -> str:
    requested = request.show(request.asked)
    left = request.show(request.available - request.assumed)
    return f"{request.resource} {requested} of {left} available"


def _mode_text(attempt: FlavorAssignmentAttempt) -> str:
    """Give the mode in words; what exceeds no maximum capacity does not fit because preemption is not allowed."""
    mode = attempt.granular_mode
    too_much = QuotaReservedReason.TOO_MUCH in attempt.no_fit_reasons
    if mode.mode is PreemptionMode.NO_FIT and not too_much:
        return _NOT_ALLOWED
    if mode.mode is PreemptionMode.FIT and mode.level:
        return "fits with borrowing"
    return _MODES[mode.mode]
