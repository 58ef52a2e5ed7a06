"""The catalogue, the rules and the cases hold together: nothing unknown is cited, nothing is left unproven."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kueue_dra_ref.behaviours import NAMES, behaviour
from kueue_dra_ref.behaviours.behaviour import rules_of
from kueue_dra_ref.requirements.catalogue import catalogue

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", NAMES)
def test_every_rule_cites_catalogued_requirements(name: str) -> None:
    """A rule without a requirement, or with an unknown one, could not be shown to matter."""
    wrong = {
        rule.name: rule.requirements
        for rule in rules_of(behaviour(name))
        if not rule.requirements or not set(rule.requirements) <= set(catalogue())
    }

    assert wrong == {}


@pytest.mark.whole_suite
@pytest.mark.parametrize("name", NAMES)
def test_every_requirement_is_proven(name: str, tmp_path: Path) -> None:
    """A whole run of the suite on the reference leaves no requirement untested."""
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "suites/kueue_dra_suites/conformance",
            "--behaviour",
            name,
            "--report-dir",
            str(tmp_path),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))

    assert run.returncode == 0, run.stdout[-3000:]
    assert [one["id"] for one in report["requirements"] if one["verdict"] == "untested"] == []
