"""What a live target waits for while a Workload may be admitted for a limited time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kueue_dra_clusters.execution_wait import ends_soon
from kueue_dra_ref.api.execution_time import BEFORE, LIMIT
from tests.clusters_live.manifests import a_workload


@pytest.mark.parametrize(
    ("fields", "before", "status", "soon"),
    [
        pytest.param({LIMIT: 10}, 0, "True", True, id="soon"),
        pytest.param({LIMIT: 20}, 10, "True", True, id="soon-with-earlier-admissions"),
        pytest.param({LIMIT: 20}, 0, "True", False, id="later"),
        pytest.param({LIMIT: 2}, 0, "True", False, id="long-over"),
        pytest.param({}, 0, "True", False, id="no-limit"),
        pytest.param({LIMIT: 10, "active": False}, 0, "True", False, id="deactivated"),
        pytest.param({LIMIT: 10}, 0, "False", False, id="not-admitted"),
    ],
)
def test_an_end_within_a_moment_is_waited_for(fields: dict[str, Any], before: int, status: str, soon: bool) -> None:
    """The Workload was admitted eight and a half seconds ago."""
    found = a_workload(owner="job")
    found["spec"] = {**found.get("spec", {}), **fields}
    since = (datetime.now(UTC) - timedelta(seconds=8.5)).strftime("%Y-%m-%dT%H:%M:%SZ")
    found["status"] |= {
        BEFORE: before,
        "conditions": [{"type": "Admitted", "status": status, "lastTransitionTime": since}],
    }

    assert bool(list(ends_soon([found]))) is soon
