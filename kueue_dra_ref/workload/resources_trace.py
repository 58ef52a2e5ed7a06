"""How `explain` shows the adjusted requests of a pod set, rule by rule.

No counterpart: explanation only.
"""

from __future__ import annotations

from collections.abc import Iterator

from kueue_dra_ref.api.types import Workload
from kueue_dra_ref.behaviours.phases_dra import AdjustResources
from kueue_dra_ref.explain.step import Step, cited
from kueue_dra_ref.model.limitranges import NamespaceLimits
from kueue_dra_ref.rules.workload.adjust_resources import PodSetInNamespace


def adjustment_steps(
    rules: AdjustResources,
    limits: NamespaceLimits,
    workload: Workload,
) -> Iterator[Step]:
    """Explain each change of the requests, rule by rule."""
    for pod_set in workload.pod_sets:
        before = pod_set
        pods = PodSetInNamespace(pod_set=pod_set, limits=limits)
        for rule, made in rules.pod_set.steps(pods):
            assert made is not None
            after = made.pod_set
            if after is not before and after.requests != before.requests:
                requests = [
                    f"{amount} {name}" for name, amount in after.requests.items()
                ]
                text = f"pod set {after.name}: a pod requests {', '.join(requests)}: {rule.sentence}"
                yield Step(requirements=cited([rule]), text=text)
            before = after
