"""What MultiKueue decides by: the clusters of a check, the times of copies, and the status of work.

Kueue: pkg/controller/admissionchecks/multikueue/workload.go (wlGroup)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

JOB = "Job"
"""The kind of work for which MultiKueue decides otherwise than for others."""
WORKLOAD = "Workload"
"""In the place of the kind of work: a Workload that no work owns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterUse:
    """The clusters of a MultiKueueConfig, those that do not exist, and those that are not connected."""

    clusters: Sequence[str]
    missing: Sequence[str] = ()
    inactive: Sequence[str] = ()

    @property
    def message(self) -> str:
        """Name the clusters that cannot be used, as Go prints lists."""
        parts = []
        if self.missing:
            parts.append(f"Missing clusters: [{' '.join(self.missing)}]")
        if self.inactive:
            parts.append(f"Inactive clusters: [{' '.join(self.inactive)}]")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyTimes:
    """When the copies were admitted, and when they got quota, by cluster."""

    admitted: Mapping[str, str]
    reserved: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPair:
    """What status the work has on the manager and on a worker."""

    kind: str
    suspended: bool
    active: bool
    """Whether its status on the manager has pods that run."""
    copy_suspended: bool
    copy_finished: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LostCopy:
    """A copy that ran, and that the manager does not find any more; times in seconds."""

    cluster: str
    unavailable: bool
    """Whether the MultiKueueConfig names its cluster, and it is not connected."""
    lost_for: float
    ready_for: float
    timeout: float


def earliest(times: Mapping[str, str]) -> str | None:
    """Name the cluster with the earliest time; None if there is none."""
    if not times:
        return None
    return min(times, key=lambda cluster: (times[cluster], cluster))
