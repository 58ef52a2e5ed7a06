"""Which workloads a change affects, and how: the decisions before and after it, compared.

No counterpart: what-if runs of the simulation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.simulation.decided_cluster import (
    DecidedCluster,
    QuotaPlace,
    QuotaTotal,
    WorkloadDecision,
)


class Effect(StrEnum):
    """What a change does to a workload."""

    ADMITTED = "newly admitted"
    PREEMPTED = "preempted"
    LOST = "no longer admitted"
    CHARGED = "charged otherwise"
    REASON = "another reason"
    DECIDED = "another decision"
    NEW = "new, not admitted"
    ENDED = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadChange:
    """A workload on which a change has an effect; ``before`` or ``after`` is None where it does not exist."""

    effect: Effect
    before: WorkloadDecision | None
    after: WorkloadDecision | None

    @property
    def named(self) -> WorkloadDecision:
        """The decision that has its names."""
        found = self.after or self.before
        assert found is not None
        return found

    @property
    def before_text(self) -> str:
        """The decision before the change in words."""
        return _text(self.before) if self.before else "does not exist"

    @property
    def after_text(self) -> str:
        """The decision after the change in words."""
        if self.after is None:
            return "ends" if self.effect is Effect.ENDED else "does not exist"
        if self.effect is Effect.PREEMPTED and self.after.holds:
            return f"preempted and admitted again: {_text(self.after)}"
        if self.effect in (Effect.PREEMPTED, Effect.LOST) and self.after.evicted:
            return self.after.evicted
        return _text(self.after)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaDifference:
    """The quota of one place before and after; None where it has none."""

    place: QuotaPlace
    before: QuotaTotal | None
    after: QuotaTotal | None

    @property
    def changes(self) -> bool:
        """Whether the change has an effect on it."""
        return self.before != self.after


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf:
    """Everything that a change does."""

    workloads: tuple[WorkloadChange, ...]
    quotas: tuple[QuotaDifference, ...]


def compared(before: DecidedCluster, after: DecidedCluster) -> WhatIf:
    """Compare the decisions before and after a change."""
    order = list(Effect)
    changes = list(_workloads(before, after))
    changes.sort(key=lambda each: (order.index(each.effect), each.named.key))
    return WhatIf(workloads=tuple(changes), quotas=tuple(_quotas(before, after)))


def _workloads(
    before: DecidedCluster, after: DecidedCluster
) -> Iterator[WorkloadChange]:
    keys: dict[Key, None] = dict.fromkeys([*before.workloads, *after.workloads])
    for key in keys:
        old, new = before.workloads.get(key), after.workloads.get(key)
        effect = _effect(old, new)
        if effect:
            yield WorkloadChange(effect=effect, before=old, after=new)


def _effect(
    old: WorkloadDecision | None, new: WorkloadDecision | None
) -> Effect | None:
    """Name what a change does to a workload; None if nothing."""
    if new is None:
        return Effect.ENDED
    if old is None:
        return Effect.ADMITTED if new.holds else Effect.NEW
    if old.holds:
        return _effect_on_holder(old, new)
    if new.holds:
        return Effect.ADMITTED
    if new.word != old.word:
        return Effect.DECIDED
    return None if new.why == old.why else Effect.REASON


def _effect_on_holder(old: WorkloadDecision, new: WorkloadDecision) -> Effect | None:
    """Name what a change does to a workload that held quota."""
    if new.preemptions > old.preemptions:
        return Effect.PREEMPTED
    if not new.holds:
        return Effect.PREEMPTED if new.preempted else Effect.LOST
    return None if new.charges == old.charges else Effect.CHARGED


def _quotas(before: DecidedCluster, after: DecidedCluster) -> Iterator[QuotaDifference]:
    for place in sorted({*before.quotas, *after.quotas}):
        yield QuotaDifference(
            place=place,
            before=before.quotas.get(place),
            after=after.quotas.get(place),
        )


def _text(decision: WorkloadDecision) -> str:
    """Give a decision in words: what a workload holds, or why it holds nothing."""
    detail = charged_text(decision) if decision.holds else decision.why
    return f"{decision.word}: {detail}" if detail else decision.word


def charged_text(decision: WorkloadDecision) -> str:
    """Say what a workload holds, flavor by flavor; empty if nothing is charged."""
    by_flavor: dict[str, list[str]] = {}
    for (flavor, resource), amount in decision.amounts.items():
        by_flavor.setdefault(flavor, []).append(f"{amount} {resource}")
    charged = [
        f"{', '.join(amounts)} in flavor {flavor}"
        for flavor, amounts in by_flavor.items()
    ]
    return "; ".join(charged)
