"""What a live judge shows when it cannot tell the verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clusters.controlplane import ControlPlane
from clusters.live import LiveTarget
from clusters.waiting import TimedOut, limits_of
from tests.clusters_live.manifests import CONFIGURATION, a_job, a_world

pytestmark = pytest.mark.live


def test_who_waits_in_vain_is_shown_what_kueue_logged_of_it(
    plane: ControlPlane, request: pytest.FixtureRequest
) -> None:
    """Kueue cannot make the Workload of a Job that lists two requests of one claim, and tells its log only."""
    target = LiveTarget(plane, limits=replace(limits_of({}), settle=1.0))
    request.addfinalizer(target.stop)
    assert target.start(CONFIGURATION) == ()
    job = a_job("a")
    both = [{"name": "devices", "request": "devices"}, {"name": "devices", "request": "more"}]
    job["spec"]["template"]["spec"]["containers"][0]["resources"]["claims"] = both
    target.apply([*a_world(), job])

    with pytest.raises(TimedOut, match="Job a has no Workload") as caught:
        target.settle()

    (note,) = caught.value.__notes__
    assert "Duplicate value" in note
    assert all('"team"' in line or "team/" in line for line in note.splitlines()[1:])
