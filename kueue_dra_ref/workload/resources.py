"""A workload as Kueue counts it: its pods with what their surroundings add, and what is wrong with them then.

Kueue: pkg/workload/resources.go (AdjustResources, ValidateResources, ValidateLimitRange)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kueue_dra_ref.api.types import PodSet, Workload
from kueue_dra_ref.behaviours.phases_dra import AdjustResources, CheckPods
from kueue_dra_ref.explain.step import Step, cited
from kueue_dra_ref.model.limitranges import NamespaceLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidResources:
    """Why nobody may admit a workload, whatever is free."""

    message: str
    requirements: tuple[str, ...]


def adjusted(
    rules: AdjustResources, around: NamespaceLimits, workload: Workload
) -> Workload:
    """The workload with what Kueue adds to the requests of its pods."""
    pod_sets = tuple(_adjusted(rules, around, each) for each in workload.pod_sets)
    same = all(
        now is before for now, before in zip(pod_sets, workload.pod_sets, strict=True)
    )
    return workload if same else replace(workload, pod_sets=pod_sets)


def _adjusted(
    rules: AdjustResources, around: NamespaceLimits, pod_set: PodSet
) -> PodSet:
    for rule in rules.pod_set:
        pod_set = rule(pod_set, around)
    return pod_set


def told(
    rules: AdjustResources, around: NamespaceLimits, workload: Workload
) -> Iterator[Step]:
    """What became of the requests, rule by rule where there is a difference."""
    for pod_set in workload.pod_sets:
        for rule in rules.pod_set:
            before, pod_set = pod_set, rule(pod_set, around)
            if pod_set is not before and pod_set.requests != before.requests:
                shown = ", ".join(
                    f"{amount} {name}" for name, amount in pod_set.requests.items()
                )
                text = (
                    f"pod set {pod_set.name}: a pod requests {shown}: {rule.sentence}"
                )
                yield Step(requirements=cited([rule]), text=text)


def unfit(
    rules: AdjustResources, around: NamespaceLimits, workload: Workload
) -> InvalidResources | None:
    """What Kueue has against the requests of a workload that was adjusted."""
    of_resources = _told(
        rules.resources, around, workload, "resources validation failed"
    )
    return of_resources or _told(
        rules.ranges,
        around,
        workload,
        "resources didn't satisfy LimitRange constraints",
    )


def _told(
    rules: Sequence[CheckPods], around: NamespaceLimits, workload: Workload, words: str
) -> InvalidResources | None:
    pairs = [
        (rule, str(f))
        for each in workload.pod_sets
        for rule in rules
        for f in rule(each, around)
    ]
    faults = list(dict.fromkeys(fault for _, fault in pairs))
    if not faults:
        return None
    message = faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]"
    return InvalidResources(
        message=f"{words}: {message}", requirements=cited(rule for rule, _ in pairs)
    )
