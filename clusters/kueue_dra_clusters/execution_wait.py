"""What a live target has to wait for under a maximum execution time: Workloads that Kueue deactivates soon."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kueue_dra_clusters.conditions import condition_of
from kueue_dra_clusters.pods_wait import LATE, SOON
from kueue_dra_clusters.waiting import age_of
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.execution_time import BEFORE, LIMIT
from kueue_dra_ref.api.workloads import is_active
from kueue_dra_ref.target import Manifest


def ends_soon(workloads: Iterable[Manifest]) -> Iterator[str]:
    """Name each admitted Workload whose time is over within a moment."""
    for found in workloads:
        limit = found["spec"].get(LIMIT)
        if limit is None or not is_active(found) or not is_true(found, "Admitted"):
            continue
        since = condition_of(found, "Admitted")["lastTransitionTime"]
        left = limit - found["status"].get(BEFORE, 0) - age_of(since)
        if -LATE < left <= SOON:
            yield f"{found['metadata']['name']} may be admitted for {left:.1f} s more"
