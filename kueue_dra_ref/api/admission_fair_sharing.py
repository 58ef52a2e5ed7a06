"""Admission fair sharing: its settings in the Configuration, and what a LocalQueue says about its usage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kueue_dra_ref.api.durations import seconds
from kueue_dra_ref.api.quantities import Quantity, parse
from kueue_dra_ref.target import Manifest

USAGE_BASED = "UsageBasedAdmissionFairSharing"
"""The admissionMode of a ClusterQueue that orders its pending workloads by the usage of their LocalQueues."""
_DEFAULT_INTERVAL = seconds("5m")
"""The usageSamplingInterval of a Configuration that names none, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionFairSharing:
    """The settings; times in seconds."""

    half_life: float
    interval: float
    weights: Mapping[str, float] = field(default_factory=dict)
    """By resource."""


def settings_of(document: Manifest) -> AdmissionFairSharing | None:
    """Read the settings of a Configuration; None without admissionFairSharing."""
    written = document.get("admissionFairSharing")
    if written is None:
        return None
    weights = written.get("resourceWeights") or {}
    return AdmissionFairSharing(
        half_life=seconds(written.get("usageHalfLifeTime") or "0"),
        interval=seconds(written.get("usageSamplingInterval") or "0")
        or _DEFAULT_INTERVAL,
        weights={name: float(weight or 0) for name, weight in weights.items()},
    )


def weight_of(local_queue: Manifest | None) -> float:
    """Give the fair sharing weight of a LocalQueue; 1 if it names none, or does not exist."""
    spec = local_queue["spec"] if local_queue else {}
    weight = (spec.get("fairSharing") or {}).get("weight")
    return 1.0 if weight is None else parse(weight).approximate


def _shown_in(status: Manifest) -> Manifest | None:
    sharing = status.get("fairSharing") or {}
    found: Manifest | None = sharing.get("admissionFairSharingStatus")
    return found


def last_update_in(status: Manifest) -> str:
    """Give the time at which the usage in the status of a LocalQueue was updated; empty if it shows none."""
    found = _shown_in(status) or {}
    return str(found.get("lastUpdate") or "")


def consumed_in(status: Manifest) -> Mapping[str, Quantity] | None:
    """Give what the status of a LocalQueue says that it consumed, by resource; None if it says nothing."""
    found = _shown_in(status)
    if found is None:
        return None
    consumed = found.get("consumedResources") or {}
    return {name: parse(amount) for name, amount in consumed.items()}
