"""The evidence of a live target when the verdict is unclear."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from kueue_dra_clusters.controlplane import ControlPlane
from kueue_dra_clusters.live_target import LiveTarget
from kueue_dra_clusters.waiting import TimedOut, limits_of
from tests.clusters_live.manifests import CONFIGURATION, a_job, a_world
from tests.commands import ROOT

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


def test_a_red_case_is_shown_with_what_kueue_logged_of_it(tmp_path: Path) -> None:
    """The report of a wrong verdict has the log of the scheduler."""
    options = ["-q", "-p", "no:cacheprovider", "--target=kueue", "--sabotage=quota-doubled", f"--report-dir={tmp_path}"]
    command = [
        sys.executable,
        "-m",
        "pytest",
        *options,
        "suites/kueue_dra_suites/conformance/quota/test_fits.py",
        "-k",
        "one-too-many",
    ]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    _, _, log = run.stdout.partition("the last lines of Kueue's log about it:")

    assert run.returncode == 1
    assert "Workload successfully admitted and assigned flavors" in log
