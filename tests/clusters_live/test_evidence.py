"""The evidence of a live target when the verdict is unclear."""

from __future__ import annotations

import json
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


CASE = """
from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import admitted

@covers("QUOTA-001")
def test_red(lab):
    queue = lab.queue({"whole-gpus": 1})
    meta = {"name": "token", "namespace": queue.namespace}
    lab.apply({"apiVersion": "v1", "kind": "Secret", "metadata": meta, "stringData": {"key": "hunter2"}})
    job = queue.submit(a_job(claims=[a_template(gpu(1))]))
    assert lab.verdict(job) == admitted({"whole-gpus": 7})
"""


def test_a_red_case_keeps_its_objects_and_no_secret(tmp_path: Path) -> None:
    """They are read before they are deleted; a Secret of the case is not in the report, in any form."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "test_own.py").write_text(CASE, "utf-8")
    options = ["own", "--target=kueue", "--cases=own"]
    command = [sys.executable, "-m", "kueue_dra_cli", "run", *options]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert run.returncode == 1, run.stderr
    text = (tmp_path / "out" / "report.json").read_text("utf-8")
    (check,) = json.loads(text)["checks"]
    assert check["outcome"] == "failed"
    evidence = "\n".join(check["evidence"])
    assert "kind: Workload" in evidence
    assert "type: QuotaReserved" in evidence
    assert "(deleted)" not in evidence
    for file in (tmp_path / "out").iterdir():
        written = file.read_text("utf-8")
        assert not any(word in written for word in ("hunter2", "aHVudGVyMg==", "kind: Secret"))
