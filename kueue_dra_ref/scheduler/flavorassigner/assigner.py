"""Flavors: for each pod set and resource group the flavor that fits, or that preemption could free, in one queue.

Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (FlavorAssigner, Assign, assignFlavors)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    AS_FIT,
    Assignment,
    PodSetAssignmentResult,
)
from kueue_dra_ref.scheduler.flavorassigner.flavor import FlavorFitCheck
from kueue_dra_ref.scheduler.flavorassigner.flavor_trace import FlavorTrace
from kueue_dra_ref.scheduler.flavorassigner.no_fit_reason import NoFitReason
from kueue_dra_ref.scheduler.flavorassigner.resource_group import ResourceGroupSearch
from kueue_dra_ref.scheduler.preemption.oracle import PreemptionOracle
from kueue_dra_ref.workload.total_requests import TotalRequests, counted


def assigned(
    rules: FlavorAssignment,
    room: PreemptionOracle,
    demands: tuple[TotalRequests, ...],
    progress: FlavorScanState | None = None,
) -> Assignment:
    """Assign flavors to every pod set in order; a pod set that can never fit ends the attempt."""
    return FlavorAssigner(
        rules, room, demands, progress.tried if progress else ()
    ).run()


class FlavorAssigner:
    """One attempt; ``tried`` is how far an earlier one came, by pod set and resource."""

    def __init__(
        self,
        rules: FlavorAssignment,
        room: PreemptionOracle,
        demands: tuple[TotalRequests, ...],
        tried: Sequence[Mapping[str, int]],
    ) -> None:
        self.rules, self.room, self.tried = rules, room, tried
        self.demands = [
            replace(each, amounts={**each.amounts, **counted(rules, room.queue, each)})
            for each in demands
        ]
        in_bytes = frozenset[str]().union(*(demand.in_bytes for demand in demands))
        self.weighing = FlavorFitCheck(rules=rules, room=room, in_bytes=in_bytes)
        self.short: set[FlavorResource] = set()
        self.level = 0
        self.steps: list[Step] = []
        self.causes = NoFitReason(rules=rules)

    def run(self) -> Assignment:
        """Assign flavors to every pod set."""
        worst, given, told, tried, lacking = (
            FlavorAssignmentMode.NOW,
            [],
            list[str](),
            [],
            list[QuotaReservedReason | None](),
        )
        for index, demand in enumerate(self.demands):
            found = self._pod_set(index, demand)
            worst = min(worst, found.fit)
            given.append(self._take(demand, found))
            tried.append({resource: got.tried for resource, got in found.got.items()})
            if found.fit is not FlavorAssignmentMode.NOW:
                told = found.told(demand.pod_set.name, told)
            if found.fit is FlavorAssignmentMode.NEVER:
                lacking.append(self._cause(found))
            if found.failed or (
                demand.amounts
                and any(
                    rule(len(found.got)) for rule in self.rules.stop_at_empty_pod_set
                )
            ):
                break
        return Assignment(
            fit=worst,
            pod_sets=tuple(given),
            message="; ".join(told),
            steps=tuple(self.steps),
            level=self.level,
            usage=dict(self.weighing.assumed),
            short=frozenset(self.short),
            tried=tuple(tried),
            cause=self.causes.of_all(lacking),
        )

    def _cause(self, found: PodSetAssignmentResult) -> QuotaReservedReason | None:
        if not any(group.attempts for group in found.groups):
            return QuotaReservedReason.NO_FLAVOR
        return self.causes.of_all(
            [self.causes.of_alternatives(group.lacking) for group in found.groups]
        )

    def _pod_set(self, index: int, demand: TotalRequests) -> PodSetAssignmentResult:
        amounts, result = demand.amounts, PodSetAssignmentResult()
        for resource in self.room.draw.order_for_pod_set(demand.pod_set.name).groups(
            amounts
        ):
            group = self.room.queue.group_of(resource)
            if group is None:
                if lacking := self._uncovered(resource, amounts[resource]):
                    self.steps.append(
                        Step(requirements=cited(self.rules.uncovered), text=lacking)
                    )
                    return PodSetAssignmentResult(
                        failed=True, reasons=[lacking], groups=result.groups
                    )
            elif resource not in result.got:
                covered = {
                    name: amounts[name] for name in amounts if name in group.covered
                }
                best = self._search(group, demand.pod_set, covered).run(
                    self._start(index, resource)
                )
                result.groups.append(best)
                if best.outlook.mode is PreemptionMode.NEVER:
                    return PodSetAssignmentResult(
                        failed=True, reasons=best.reasons, groups=result.groups
                    )
                result.got |= dict.fromkeys(covered, best)
                result.reasons += best.reasons
        return result

    def _search(
        self, group: ResourceGroup, pod_set: PodSet, amounts: Mapping[str, int]
    ) -> ResourceGroupSearch:
        telling = FlavorTrace(
            where=f"pod set {pod_set.name}, " if len(self.demands) > 1 else ""
        )
        return ResourceGroupSearch(
            weighing=self.weighing,
            telling=telling,
            group=group,
            pod_set=pod_set,
            amounts=amounts,
            steps=self.steps,
        )

    def _start(self, index: int, resource: str) -> int:
        return self.tried[index].get(resource, -1) + 1 if index < len(self.tried) else 0

    def _uncovered(self, resource: str, amount: int) -> str | None:
        if self.room.ignore_undeclared or any(
            rule(amount) for rule in self.rules.ignore_zero_request
        ):
            return None
        return next((rule(resource) for rule in self.rules.uncovered), None)

    def _take(
        self, demand: TotalRequests, found: PodSetAssignmentResult
    ) -> PodSetAssignment:
        amounts, assumed = demand.amounts, self.weighing.assumed
        for resource, got in found.got.items():
            of = (got.flavor, resource)
            assumed[of] = plus(assumed.get(of, 0), amounts[resource])
            self.level = max(self.level, got.each[resource].level)
            if AS_FIT[got.each[resource].mode] is FlavorAssignmentMode.LATER:
                self.short.add(of)
        flavors = {resource: got.flavor for resource, got in found.got.items()}
        return PodSetAssignment(
            name=demand.pod_set.name,
            count=demand.count,
            flavors=flavors,
            usage=amounts,
            in_bytes=demand.in_bytes,
        )
