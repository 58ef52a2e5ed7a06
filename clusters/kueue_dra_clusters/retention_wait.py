"""What a live target has to wait for under objectRetentionPolicies: Workloads and work that Kueue deletes soon."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kueue_dra_clusters.conditions import condition_of
from kueue_dra_clusters.pods_wait import LATE, SOON
from kueue_dra_clusters.waiting import age_of
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.metadata import owners_of
from kueue_dra_ref.api.retention import ObjectRetention, retention_of
from kueue_dra_ref.api.workloads import is_active
from kueue_dra_ref.target import Manifest


@dataclass(slots=True, kw_only=True)
class RetentionWait:
    """The settings of a running Kueue, and what follows from them for Workloads."""

    settings: ObjectRetention = field(default_factory=ObjectRetention)

    def configure(self, configuration: Manifest) -> None:
        """Read the settings of a Configuration."""
        self.settings = retention_of(configuration)

    @property
    def deletes(self) -> bool:
        """Whether Kueue deletes anything."""
        return self.settings != ObjectRetention()

    def ends_soon(self, workloads: Iterable[Manifest]) -> Iterator[str]:
        """Name each Workload that Kueue deletes within a moment, or whose work it deletes."""
        for found in workloads if self.deletes else ():
            left = self._left(found)
            if left is not None and -LATE < left <= SOON:
                yield f"{found['metadata']['name']} is kept for {left:.1f} s more"

    def _left(self, workload: Manifest) -> float | None:
        """Give the seconds until Kueue deletes a Workload or its work; None if it deletes neither."""
        if is_true(workload, "Finished"):
            return _left_of(workload, "Finished", self.settings.after_finished)
        if is_active(workload) or not is_true(workload, "Evicted"):
            return None
        if not owners_of(workload):
            return None
        return _left_of(workload, "Evicted", self.settings.after_deactivated)


def _left_of(workload: Manifest, kind: str, seconds: float | None) -> float | None:
    if seconds is None:
        return None
    found = condition_of(workload, kind)
    return seconds - age_of(found["lastTransitionTime"])
