"""Why a workload can never fit (Kueue 0.19): one reason from those of its flavors, resources and pod sets.

Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (resolveNoFitReason, mostSevereReason, reasonSeverity)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kueue_dra_ref.behaviours.phases_scheduling import FlavorAssignment
from kueue_dra_ref.model.pending_reason import QuotaReservedReason
from kueue_dra_ref.model.slots import First

Reason = QuotaReservedReason | None
Known = Sequence[QuotaReservedReason]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoFitReason:
    """Selects the reason that counts; None if there is none."""

    rules: FlavorAssignment

    def of_alternatives(self, reasons: Sequence[Reason]) -> Reason:
        """Select from the reasons of alternative flavors."""
        return _select(self.rules.reason_across_flavors, reasons)

    def of_all(self, reasons: Sequence[Reason]) -> Reason:
        """Select from the reasons of resources, groups or pod sets that are all needed."""
        return _select(self.rules.reason_across_resources, reasons)


def _select(
    rules: First[[Known], QuotaReservedReason], reasons: Sequence[Reason]
) -> Reason:
    known = [reason for reason in reasons if reason]
    if not known:
        return None
    return rules.or_else(known[0], known)
