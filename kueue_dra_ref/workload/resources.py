"""Adjusted requests of a workload, with overhead and defaults of LimitRanges, and their validation.

Kueue: pkg/workload/resources.go (AdjustResources, ValidateResources, ValidateLimitRange)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kueue_dra_ref.api.names import aggregated
from kueue_dra_ref.api.types import Workload
from kueue_dra_ref.behaviours.phases_dra import AdjustResources
from kueue_dra_ref.explain.step import cited
from kueue_dra_ref.model.limitranges import NamespaceLimits
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.model.slots import Collect
from kueue_dra_ref.rules.workload.adjust_resources import PodSetInNamespace
from kueue_dra_ref.target import FieldError

CheckSlot = Collect[[PodSetInNamespace], FieldError]


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidResources:
    """Why a workload is inadmissible whatever quota is unused."""

    message: str
    requirements: tuple[str, ...]


def adjust_resources(
    rules: AdjustResources,
    limits: NamespaceLimits,
    workload: Workload,
) -> Workload:
    """Give a workload with the requests that Kueue counts for its pods.

    Kueue: pkg/workload/resources.go (AdjustResources)
    """
    pod_sets = tuple(
        rules.pod_set(PodSetInNamespace(pod_set=each, limits=limits)).pod_set
        for each in workload.pod_sets
    )
    return replace(workload, pod_sets=pod_sets)


def validate_resources(
    rules: AdjustResources,
    limits: NamespaceLimits,
    workload: Workload,
) -> InvalidResources | None:
    """Validate the requests of an adjusted workload.

    Kueue: pkg/workload/resources.go (ValidateResources, ValidateLimitRange)
    """
    invalid = _errors_of(
        rules.resources, limits, workload, "resources validation failed"
    )
    if invalid:
        return invalid
    message = "resources didn't satisfy LimitRange constraints"
    return _errors_of(rules.ranges, limits, workload, message)


def _errors_of(
    rules: CheckSlot,
    limits: NamespaceLimits,
    workload: Workload,
    summary: str,
) -> InvalidResources | None:
    faults: dict[str, None] = {}
    failed: list[Rule[..., object]] = []
    for pod_set in workload.pod_sets:
        for rule, fault in rules.answers(
            PodSetInNamespace(pod_set=pod_set, limits=limits)
        ):
            faults[str(fault)] = None
            failed.append(rule)
    if not faults:
        return None
    message = aggregated(faults)
    return InvalidResources(message=f"{summary}: {message}", requirements=cited(failed))
