"""What a live target waits for while Kueue deletes Workloads after a while."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kueue_dra_clusters.retention_wait import RetentionWait
from kueue_dra_ref.target import Manifest
from tests.clusters_live.manifests import a_workload


def _keeping(**times: str) -> RetentionWait:
    found = RetentionWait()
    found.configure({"objectRetentionPolicies": {"workloads": times}})
    return found


def _since(seconds: float, kind: str, *, owner: str = "job", **spec: Any) -> Manifest:
    """Give a Workload with a condition that became true some seconds ago."""
    found = a_workload(owner=owner)
    found["spec"] = {**found.get("spec", {}), **spec}
    since = (datetime.now(UTC) - timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
    found["status"]["conditions"] = [{"type": kind, "status": "True", "lastTransitionTime": since}]
    return found


@pytest.mark.parametrize(
    ("seconds", "kind", "fields", "soon"),
    [
        pytest.param(8.5, "Finished", {}, True, id="finished"),
        pytest.param(4, "Finished", {}, False, id="finished-later"),
        pytest.param(30, "Finished", {}, False, id="finished-long-ago"),
        pytest.param(18.5, "Evicted", {"active": False}, True, id="deactivated"),
        pytest.param(8.5, "Evicted", {"active": False}, False, id="deactivated-later"),
        pytest.param(18.5, "Evicted", {"active": True}, False, id="evicted"),
        pytest.param(18.5, "Evicted", {"active": False, "owner": ""}, False, id="without-work"),
        pytest.param(18.5, "Admitted", {}, False, id="admitted"),
    ],
)
def test_what_kueue_deletes_soon_is_waited_for(seconds: float, kind: str, fields: dict[str, Any], soon: bool) -> None:
    """Finished Workloads are kept for ten seconds, deactivated work for twenty."""
    keeping = _keeping(afterFinished="10s", afterDeactivatedByKueue="20s")
    workload = _since(seconds, kind, **fields)

    assert any(keeping.ends_soon([workload])) is soon


def test_nothing_is_waited_for_without_a_time() -> None:
    """The Configuration sets none."""
    keeping = _keeping()

    assert not keeping.deletes
    assert not any(keeping.ends_soon([_since(10, "Finished"), _since(10, "Evicted", active=False)]))
