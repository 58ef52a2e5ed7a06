"""The phase of a behaviour that deletes Workloads after a while."""

from __future__ import annotations

from dataclasses import dataclass

from kueue_dra_ref.api.retention import ObjectRetention
from kueue_dra_ref.model.slots import AllOf, AnyOf, First
from kueue_dra_ref.target import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionRules:
    """For how long Kueue keeps finished Workloads, and work that it has deactivated."""

    finished: First[[ObjectRetention, float], float] = First()
    """When is a Workload deleted that is finished since some time? Without an answer: never."""
    deactivated: First[[ObjectRetention, float], float] = First()
    """When is work deleted that was deactivated at some time? Without an answer: never."""
    by_kueue: AllOf[[str], bool] = AllOf()
    """Was it Kueue that deactivated it, by the reason of its eviction? Without rules: always."""
    keep: AnyOf[[Manifest]] = AnyOf()
    """Is deactivated work kept for now? Without rules: never."""
