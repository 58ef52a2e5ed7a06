"""How long Kueue keeps Workloads, as objectRetentionPolicies of a Configuration says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.durations import seconds
from kueue_dra_ref.target import Manifest

SECTION = "objectRetentionPolicies"
"""The section of the Configuration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectRetention:
    """For how many seconds Kueue keeps Workloads; None: forever."""

    after_finished: float | None = None
    after_deactivated: float | None = None
    """Of work that Kueue has deactivated."""


def retention_of(document: Manifest) -> ObjectRetention:
    """Read the section of a Configuration that was decoded."""
    written = document.get(SECTION) or {}
    workloads: Manifest = written.get("workloads") or {}
    return ObjectRetention(
        after_finished=_seconds(workloads.get("afterFinished")),
        after_deactivated=_seconds(workloads.get("afterDeactivatedByKueue")),
    )


def _seconds(written: Any) -> float | None:
    return None if written is None else seconds(written)
