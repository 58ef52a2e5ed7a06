"""How `explain` shows preemption with fair sharing: the next ClusterQueue, what a strategy allows, and each target.

No counterpart: explanation only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kueue_dra_ref.cache.snapshot import ReservedWorkload
from kueue_dra_ref.explain.step import cited
from kueue_dra_ref.model.dominant_resource_share import dominant_resource_share
from kueue_dra_ref.model.resource_node import ResourceNode
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.rules.preemption.fair_sharing import INITIAL, StrategyShares
from kueue_dra_ref.scheduler.preemption.trace import (
    PreemptionTrace,
    Requirements,
    described,
)


def record_next(trace: PreemptionTrace, node: ResourceNode) -> None:
    """Record which ClusterQueue is next; a cohort on the way to it is none."""
    if not node.is_queue:
        return
    is_infinite, share = dominant_resource_share(node).compare_key
    shown = "infinite" if is_infinite else f"{share:g}"
    trace.record_round(f"{node.title} is next, with the largest share: {shown}")


def record_within_nominal(
    trace: PreemptionTrace, workload: ReservedWorkload, rules: Sequence[Rule[..., Any]]
) -> None:
    """Record that a preemptor within its nominal quota preempts a workload whatever the shares."""
    first, *_ = rules
    text = f"{described(workload)} is preempted: {first.sentence}"
    trace.record_round(text, cited(rules))


def record_strategy(
    trace: PreemptionTrace,
    strategy: str,
    workload: ReservedWorkload,
    shares: StrategyShares,
    allowed: bool,
    cites: Requirements,
) -> None:
    """Record whether a strategy allows preempting a workload, and by which shares."""
    verb = "allows" if allowed else "does not allow"
    preemptor = f"preemptor share {shares.preemptor.precise_weighted_share:g}"
    target = f"target share {shares.after.precise_weighted_share:g} after preemption"
    if strategy == INITIAL:
        before = shares.before.precise_weighted_share
        target = f"target share {before:g} before preemption"
    text = f"{strategy} {verb} preempting {described(workload)}: {preemptor}, {target}"
    trace.record_round(text, cites)


def record_target(
    trace: PreemptionTrace, workload: ReservedWorkload, fits: bool, cites: Requirements
) -> None:
    """Record whether the preemptor fits after one more preemption."""
    outcome = "fits" if fits else "does not fit yet"
    text = f"after preempting {workload.name}, the workload {outcome}"
    trace.record_round(text, cites)
