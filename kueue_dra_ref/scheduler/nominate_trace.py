"""How `explain` shows a nomination: the slice that a workload replaces, and the number of pods that it is reduced to.

No counterpart: explanation only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kueue_dra_ref.api.types import PodSet
from kueue_dra_ref.behaviours.phases_scheduling import FlavorAssignment
from kueue_dra_ref.explain.step import Step
from kueue_dra_ref.scheduler.preemption.context import PreemptionTarget


def replacing(rules: FlavorAssignment, target: PreemptionTarget) -> Step:
    """Say what a workload replaces, so that it needs only the difference."""
    text = f"it replaces Workload {target.workload.name}, whose quota is counted off"
    return Step.by(text, *rules.count_off.rules)


def reduced_steps(
    rules: FlavorAssignment, pod_sets: Sequence[PodSet], counts: Sequence[int]
) -> Iterator[Step]:
    """Say to how many pods each pod set is reduced."""
    for pod_set, count in zip(pod_sets, counts, strict=True):
        if count < pod_set.count:
            text = f"partial admission: pod set {pod_set.name} has {pod_set.count} pods, at least {pod_set.least}; "
            text += f"{count} is the largest number that can be admitted"
            yield Step.by(text, *rules.partial_admission.rules)
