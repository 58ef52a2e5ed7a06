"""The README shows a newcomer what a run prints; its numbers of cases are those that a run collects."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INTEGRITY = r"^integrity: planned (\d+) = collected (\d+) = executed (\d+) = reported (\d+)$"
E2E = r"(\d+) cases: what is charged"


@pytest.mark.parametrize(("suite", "shown"), [("conformance", INTEGRITY), ("e2e", E2E)], ids=["conformance", "e2e"])
def test_the_readme_shows_the_number_of_cases_there_are(suite: str, shown: str) -> None:
    """A case that is added or removed changes the numbers of the README too."""
    found = re.search(shown, (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)

    assert found, f"README.md shows no number of the cases of suites/kueue_dra_suites/{suite}; looked for: {shown}"
    assert {int(number) for number in found.groups()} == {_collected(suite)}, found[0]


def _collected(suite: str) -> int:
    """Count what pytest would run of a suite: '12/15 tests collected' is 12, deselected ones are none."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", f"suites/kueue_dra_suites/{suite}"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return int(re.findall(r"^(\d+)(?:/\d+)? tests collected", run.stdout, re.MULTILINE)[-1])
