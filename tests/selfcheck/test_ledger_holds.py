"""The ledger: a case that is planned but never runs fails the run, and is named."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

THIEF = '''
"""Drops one case: it is collected, but does not run."""


def pytest_runtest_protocol(item):
    if item.name.endswith("[fits-exactly]"):
        return True
'''


def test_a_case_that_vanishes_is_missed(tmp_path: Path) -> None:
    """Planned, collected, executed and reported must be equal; the run says which case is missing, and fails."""
    (tmp_path / "thief.py").write_text(THIEF, "utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "thief",
        "suites/kueue_dra_suites/conformance/quota/test_fits.py",
    ]
    run = subprocess.run(
        [*command, "--report-dir", str(tmp_path / "report")],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode != 0
    assert "test_devices_are_admitted_up_to_the_quota[fits-exactly]" in run.stdout
    counted = {word: int(number) for word, number in re.findall(r"(planned|executed) (\d+)", run.stdout)}
    assert counted["executed"] == counted["planned"] - 1
