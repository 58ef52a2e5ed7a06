"""Each rule of the reference, knocked out one at a time: some case that cites its requirement goes red."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kueue_dra_ref.behaviours import NAMES, behaviour
from kueue_dra_ref.behaviours.behaviour import rules_of
from kueue_dra_ref.requirements.catalogue import catalogue

ROOT = Path(__file__).resolve().parents[2]


def _distinct() -> list[tuple[str, str]]:
    """Each rule once, with the first behaviour that holds it: behaviours share most of their rules."""
    seen: list[object] = []
    found: dict[tuple[str, str], None] = {}
    for name in NAMES:
        for rule in rules_of(behaviour(name)):
            if rule not in seen:
                seen.append(rule)
                found[name, rule.name] = None
    return list(found)


RULES = [pytest.param(name, rule, id=f"{name}-{rule}") for name, rule in _distinct()]
CASES_FAILED = 1
"""The exit code of a pytest run in which a case failed; a usage error or an empty run has another."""


def _cited(name: str, rule: str) -> list[str]:
    known = {one for found in rules_of(behaviour(name)) if found.name == rule for one in found.requirements}
    return sorted(one for one in known if name in catalogue()[one].holds and not catalogue()[one].excluded)


def _files_naming(requirements: list[str]) -> list[str]:
    """The files of cases in which a requirement stands; to collect the others would take most of the time."""
    files = sorted((ROOT / "suites" / "kueue_dra_suites" / "conformance").rglob("test_*.py"))
    return [str(file) for file in files if any(one in file.read_text("utf-8") for one in requirements)]


@pytest.mark.parametrize(("name", "rule"), RULES)
def test_a_missing_rule_turns_a_case_red(name: str, rule: str, tmp_path: Path) -> None:
    """Without the rule, a case that cites one of its requirements fails; with it the suite is green."""
    cited = _cited(name, rule)
    assert cited, f"{rule} cites no requirement that holds in {name} and can be proven"
    options = ["--behaviour", name, "--knock-out", rule, "--citing", ",".join(cited), "--report-dir", str(tmp_path)]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *options, *_files_naming(cited)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == CASES_FAILED, (
        f"nothing went red without {rule} ({', '.join(cited)}):\n{run.stdout[-2000:]}"
    )

    assert f"without the rule {rule}" in run.stdout, "a run with less of the reference has to say so"
