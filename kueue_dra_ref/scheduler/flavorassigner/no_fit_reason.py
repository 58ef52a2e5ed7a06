"""Why a workload can never fit (Kueue 0.19): one cause out of all that a search for flavors has found.

Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (resolveNoFitReason, mostSevereReason, reasonSeverity)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kueue_dra_ref.behaviours.phases_scheduling import FlavorAssignment
from kueue_dra_ref.model.pending_reason import QuotaReservedReason
from kueue_dra_ref.model.rule import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class NoFitReason:
    """Which of several causes counts; None where there is none."""

    rules: FlavorAssignment

    def of_alternatives(
        self, causes: Sequence[QuotaReservedReason | None]
    ) -> QuotaReservedReason | None:
        """Of flavors that could each have served."""
        return _one(self.rules.reason_across_flavors, causes)

    def of_all(
        self, causes: Sequence[QuotaReservedReason | None]
    ) -> QuotaReservedReason | None:
        """Of resources, groups or pod sets that are all needed."""
        return _one(self.rules.reason_across_resources, causes)


def _one(
    rules: Sequence[Rule[[Sequence[QuotaReservedReason]], QuotaReservedReason]],
    causes: Sequence[QuotaReservedReason | None],
) -> QuotaReservedReason | None:
    known = [cause for cause in causes if cause]
    return next((rule(known) for rule in rules), known[0]) if known else None
