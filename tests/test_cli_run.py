"""``kueue-dra run``: the suites from any folder, the exit code passed through."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from kueue_dra_cli.run import INTENTS
from kueue_dra_reports.plugin import INTENTS as KNOWN
from tests.commands import ROOT, kueue_dra


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the suites from another folder, where no pyproject.toml is in sight."""
    command = [sys.executable, "-m", "kueue_dra_cli", "run", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, text=True)


@pytest.mark.parametrize("behaviour", ["kueue-0.19", "kep-2025-09"])
def test_a_suite_runs_from_any_folder(tmp_path: Path, behaviour: str) -> None:
    """The command writes the report to the working directory, and the report names the target."""
    found = run(tmp_path, "quota", "-k", "test_fits", "--behaviour", behaviour, "--report-dir", "mine")

    assert found.returncode == 0, found.stdout
    assert "Warning" not in found.stdout
    report = yaml.safe_load((tmp_path / "mine" / "report.yaml").read_text("utf-8"))
    assert report["specification"]["behaviour"] == behaviour
    assert {check["outcome"] for check in report["checks"]} == {"passed"}
    assert {check["id"].partition("::")[0] for check in report["checks"]} == {"quota/test_fits"}
    assert (tmp_path / "mine" / "junit.xml").exists()


def test_processes_can_share_the_work(tmp_path: Path) -> None:
    """The workers load the same plugins."""
    found = run(tmp_path, "quota", "-k", "test_fits", "-n", "2")

    assert found.returncode == 0, found.stdout
    assert "integrity: planned" in found.stdout


def test_what_the_texts_ask_can_be_judged_alone(tmp_path: Path) -> None:
    """All of the core is proven, and no case runs that asks only what Kueue decides."""
    found = run(tmp_path, "--core", "--report-dir", "mine")

    assert found.returncode == 0, found.stdout
    report = yaml.safe_load((tmp_path / "mine" / "report.yaml").read_text("utf-8"))
    core = {each["id"] for each in report["requirements"] if each["level"] != "INFERRED"}
    assert all(core & set(check["requirements"]) for check in report["checks"])
    cores = [profile["core"] for profile in report["profiles"] if "core" in profile]
    assert {each["result"] for each in cores} <= {"success", "notApplicable"}
    assert sum(each["statistics"]["notRun"] + each["requirements"]["untested"] for each in cores) == 0


def test_a_run_of_nothing_is_no_success(tmp_path: Path) -> None:
    """An expression that chooses no case."""
    assert run(tmp_path, "quota", "-k", "no_such_case_anywhere").returncode != 0


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(("quotas",), "unknown suite quotas; known: ", id="suite"),
        pytest.param(("--context", "kind-a"), "--context NAME needs --target kueue", id="context"),
        pytest.param(("--target", "moon"), "'moon' is not one of 'reference', 'kueue'", id="target"),
        pytest.param(("--behaviour", "kueue-9"), "'kueue-9' is not known; known: kueue-0.19", id="behaviour"),
    ],
)
def test_a_wrong_command_line_is_answered(arguments: tuple[str, ...], expected: str) -> None:
    """Exit code 2, and what is known."""
    result = kueue_dra("run", *arguments)

    assert result.exit_code == 2
    assert expected in result.stderr


def test_the_known_suites_are_the_folders_of_cases() -> None:
    """No list of suites to keep up to date."""
    result = kueue_dra("run", "none")

    assert all(name in result.stderr.partition("known: ")[2] for name in ("claims", "mapping", "quota", "status"))


def test_the_intents_are_those_of_the_plugin() -> None:
    """The command may not import the plugin before pytest does, so it repeats them."""
    assert INTENTS == KNOWN
