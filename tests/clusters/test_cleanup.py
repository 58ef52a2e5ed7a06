"""What is deleted between two cases, and what may stay until the cluster ends."""

from __future__ import annotations

from typing import Any, cast

import pytest

from kueue_dra_clusters.cleanup import Cleanup
from kueue_dra_clusters.live_target import INERT
from kueue_dra_ref.target import Ref

KUEUE = "kueue.x-k8s.io/v1beta2"


@pytest.mark.parametrize(
    ("kind", "name", "stays"),
    [
        pytest.param("WorkloadPriorityClass", "priority-5", True, id="a-class-that-jobs-name"),
        pytest.param("WorkloadPriorityClass", "default", False, id="a-class-that-jobs-get-by-themselves"),
        pytest.param("ResourceFlavor", "default", True, id="a-flavor-of-that-name"),
        pytest.param("ClusterQueue", "queue", False, id="a-queue"),
    ],
)
def test_what_decides_in_later_cases_is_deleted(kind: str, name: str, stays: bool) -> None:
    """Kueue 0.20 gives the class named default to every Job without one."""
    cleanup = Cleanup(objects=cast(Any, None), informers=cast(Any, None), leaves=INERT)

    assert cleanup._is_skipped(Ref(api_version=KUEUE, kind=kind, name=name)) is stays
