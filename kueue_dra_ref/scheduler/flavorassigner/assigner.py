"""Flavor assignment: for each pod set and resource group, a flavor that fits or that preemption can free.

Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (FlavorAssigner, Assign, assignFlavors)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kueue_dra_ref.api.types import PodSet, ResourceGroup
from kueue_dra_ref.behaviours.phases_scheduling import FlavorAssignment
from kueue_dra_ref.explain.step import Step, cited
from kueue_dra_ref.model.pending_reason import QuotaReservedReason
from kueue_dra_ref.model.resource_node import FlavorResource, plus
from kueue_dra_ref.rules.flavorassigner.fits_resource_quota import FlavorAssignmentMode
from kueue_dra_ref.rules.flavorassigner.flavor_fungibility import (
    FlavorScanState,
    PreemptionMode,
)
from kueue_dra_ref.rules.workload.workload_status import PodSetAssignment
from kueue_dra_ref.scheduler.flavorassigner.assignment import (
    FLAVOR_ASSIGNMENT_MODES,
    Assignment,
    Indexes,
    NominationMapping,
    PodSetAssignmentResult,
    Reasons,
)
from kueue_dra_ref.scheduler.flavorassigner.flavor import FlavorFitCheck
from kueue_dra_ref.scheduler.flavorassigner.flavor_trace import FlavorTrace
from kueue_dra_ref.scheduler.flavorassigner.no_fit_reason import NoFitReason
from kueue_dra_ref.scheduler.flavorassigner.placing import Placing, TriedPodSet
from kueue_dra_ref.scheduler.flavorassigner.resource_group import ResourceGroupSearch
from kueue_dra_ref.scheduler.preemption.oracle import PreemptionOracle
from kueue_dra_ref.workload.total_requests import TotalRequests, implicit_requests

AllRequests = tuple[TotalRequests, ...]
"""The total requests of each pod set of a workload."""
LastTried = Sequence[Indexes]
"""The last tried flavors of each pod set."""


def assign(
    rules: FlavorAssignment,
    oracle: PreemptionOracle,
    requests: AllRequests,
    progress: FlavorScanState | None,
    nominated: NominationMapping,
) -> Assignment:
    """Assign flavors to the pod sets of a workload, from the last tried flavor on if there is one.

    The flavors of an earlier assignment are kept if there are any.
    """
    last_tried = progress.tried if progress else ()
    return FlavorAssigner(rules, oracle, requests, last_tried, nominated).assign()


class FlavorAssigner:
    """Assigns flavors to one workload, once."""

    def __init__(
        self,
        rules: FlavorAssignment,
        oracle: PreemptionOracle,
        requests: AllRequests,
        last_tried: LastTried,
        nominated: NominationMapping,
    ) -> None:
        self.rules = rules
        self.oracle = oracle
        self.last_tried = last_tried
        self.nominated = nominated
        self.requests = [self._with_counted(each) for each in requests]
        in_bytes = frozenset[str]().union(*(each.in_bytes for each in requests))
        self.check = FlavorFitCheck(rules=rules, oracle=oracle, in_bytes=in_bytes)
        self.selection = NoFitReason(rules=rules)
        self.frs_need_preemption: set[FlavorResource] = set()
        self.needed: dict[FlavorResource, int] = {}
        self.borrowing = 0
        self.steps: list[Step] = []

    def assign(self) -> Assignment:
        """Assign flavors to the pod sets in order; a pod set that can never fit ends the assignment."""
        tried = [*self._tried()]
        placing = Placing(
            placer=self.oracle.placer,
            tried=tried,
            frs_need_preemption=self.frs_need_preemption,
        )
        mode = placing.run()
        waits = mode is FlavorAssignmentMode.PREEMPT
        results = [each.result for each in tried]
        assignment = Assignment(
            representative_mode=mode,
            pod_sets=tuple(each.assignment for each in tried),
            message=self._message(tried),
            steps=tuple(self.steps),
            borrowing=self.borrowing,
            usage=dict(self.check.assignment_usage),
            needed=self.needed,
            frs_need_preemption=frozenset(self.frs_need_preemption),
            last_tried=tuple(_last_tried(result) for result in results),
            no_fit_reason=self._no_fit_reason(results),
            to_place=tuple(placing.requests) if waits else (),
        )
        return assignment.with_places(placing.places)

    def _tried(self) -> Iterator[TriedPodSet]:
        for index, requests in enumerate(self.requests):
            result = self._assign_flavors(index, requests)
            assumed = self._assume(requests, result)
            yield TriedPodSet(requests.pod_set, result, assumed)
            if result.failed or self._stops_at(requests, result):
                return

    def _message(self, tried: Sequence[TriedPodSet]) -> str:
        messages: list[str] = []
        for pod_set, result, _ in tried:
            if result.mode is not FlavorAssignmentMode.FIT or result.reasons:
                messages = result.messages(pod_set.name, messages)
        return "; ".join(messages)

    def _no_fit_reason(
        self, results: Sequence[PodSetAssignmentResult]
    ) -> QuotaReservedReason | None:
        reasons: Reasons = []
        for result in results:
            if result.mode is not FlavorAssignmentMode.NO_FIT:
                continue
            if not self._is_silent(result):
                reasons.append(self._reason_of_pod_set(result))
        return self.selection.of_all(reasons)

    def _is_silent(self, result: PodSetAssignmentResult) -> bool:
        """Whether a pod set that has no room gives no reason for it."""
        if result.failed or result.error:
            return False
        return self.rules.ignore_silent_pod_set(result.reasons)

    def _with_counted(self, requests: TotalRequests) -> TotalRequests:
        """Add what the ClusterQueue counts by itself, such as pods."""
        more = implicit_requests(self.rules, self.oracle.queue, requests)
        return replace(requests, amounts={**requests.amounts, **more})

    def _stops_at(
        self, requests: TotalRequests, result: PodSetAssignmentResult
    ) -> bool:
        """Whether a pod set that requests something but gets no flavor ends the assignment."""
        flavors = len(result.flavors)
        return bool(requests.amounts) and self.rules.stop_at_empty_pod_set(flavors)

    def _reason_of_pod_set(
        self, result: PodSetAssignmentResult
    ) -> QuotaReservedReason | None:
        if not any(group.tried for group in result.groups):
            return QuotaReservedReason.NO_FLAVOR
        reasons: Reasons = []
        for group in result.groups:
            reason = self.selection.of_alternatives(group.no_fit_reasons)
            reasons.append(reason)
        return self.selection.of_all(reasons)

    def _assign_flavors(
        self, index: int, requests: TotalRequests
    ) -> PodSetAssignmentResult:
        """Find a flavor for each resource group that a pod set requests resources of."""
        amounts = requests.amounts
        result = PodSetAssignmentResult()
        map_order = self.oracle.draw.order_for_pod_set(requests.pod_set.name)
        for resource in map_order.groups(amounts, self._flavors_of):
            group = self.oracle.queue.group_of(resource)
            if group is None:
                reason = self._uncovered(resource, amounts[resource])
                if reason:
                    return _failed([reason], result)
                continue
            if resource in result.flavors:
                continue
            covered = {name: amounts[name] for name in amounts if name in group.covered}
            search = self._search(group, requests.pod_set, covered, resource)
            best = search.run(self._next_flavor(index, resource))
            result.groups.append(best)
            if best.granular_mode.mode is PreemptionMode.NO_FIT:
                return _failed(best.reasons, result)
            result.flavors |= dict.fromkeys(covered, best)
            result.reasons += best.reasons
        return result

    def _flavors_of(self, resource: str) -> list[str]:
        group = self.oracle.queue.group_of(resource)
        return [each.name for each in group.flavors] if group else []

    def _search(
        self,
        group: ResourceGroup,
        pod_set: PodSet,
        amounts: Mapping[str, int],
        resource: str,
    ) -> ResourceGroupSearch:
        where = f"pod set {pod_set.name}, " if len(self.requests) > 1 else ""
        nominated = self.nominated.get(pod_set.name, {})
        return ResourceGroupSearch(
            check=self.check,
            trace=FlavorTrace(where=where),
            group=group,
            pod_set=pod_set,
            amounts=amounts,
            resource=resource,
            nominated=nominated.get(resource, "") if self.nominated else None,
            steps=self.steps,
        )

    def _next_flavor(self, index: int, resource: str) -> int:
        """Give the index of the flavor to try next for a pod set and resource."""
        if index >= len(self.last_tried):
            return 0
        return self.last_tried[index].get(resource, -1) + 1

    def _uncovered(self, resource: str, amount: int) -> str | None:
        """Give why a resource that no group covers does not fit, or None if it is ignored."""
        if self.oracle.ignore_undeclared:
            text = f"{resource} is not in the quota of the ClusterQueue: not charged"
            self.steps.append(Step.by(text, *self.rules.ignore_undeclared.rules))
            return None
        if self.rules.ignore_zero_request(amount):
            return None
        reason = self.rules.uncovered(resource)
        assert reason is not None
        cites = cited(self.rules.uncovered)
        self.steps.append(Step(requirements=cites, text=reason))
        return reason

    def _assume(
        self, requests: TotalRequests, result: PodSetAssignmentResult
    ) -> PodSetAssignment:
        """Add the usage of a pod set to the assignment."""
        amounts = requests.amounts
        usage = self.check.assignment_usage
        flavors = {}
        for resource, attempt in result.flavors.items():
            of = (attempt.flavor, resource)
            mode = attempt.modes[resource]
            flavors[resource] = attempt.flavor
            amount = amounts[resource]
            needed = self.check.needed(requests.pod_set, resource, amount)
            used = needed if self.rules.use_difference() else amount
            usage[of] = plus(usage.get(of, 0), used)
            self.needed[of] = plus(self.needed.get(of, 0), needed)
            self.borrowing = max(self.borrowing, mode.level)
            if FLAVOR_ASSIGNMENT_MODES[mode.mode] is FlavorAssignmentMode.PREEMPT:
                self.frs_need_preemption.add(of)
        return PodSetAssignment(
            name=requests.pod_set.name,
            count=requests.count,
            flavors=flavors,
            usage=amounts,
            in_bytes=requests.in_bytes,
        )


def _failed(
    reasons: list[str], result: PodSetAssignmentResult
) -> PodSetAssignmentResult:
    return PodSetAssignmentResult(failed=True, reasons=reasons, groups=result.groups)


def _last_tried(result: PodSetAssignmentResult) -> Indexes:
    last_tried = {}
    for resource, attempt in result.flavors.items():
        last_tried[resource] = attempt.last_tried
    return last_tried
