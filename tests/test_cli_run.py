"""``kueue-dra run``: the suites from any folder, the exit code passed through."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from kueue_dra_cli.run import GATE_LEVELS, INTENTS
from kueue_dra_ref.requirements.catalogue import catalogue
from kueue_dra_reports.gate import LEVELS
from kueue_dra_reports.ledger import Ledger, Row
from kueue_dra_reports.outcome import CaseRecord, Outcome
from kueue_dra_reports.plugin import INTENTS as KNOWN
from kueue_dra_reports.report import Run, report_of, write
from tests.commands import ROOT, kueue_dra


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the suites from another folder, where no pyproject.toml is in sight."""
    command = [sys.executable, "-m", "kueue_dra_cli", "run", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, text=True)


@pytest.mark.parametrize("behaviour", ["kueue-0.19.2", "kep-2025-09"])
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


def test_a_run_of_nothing_is_answered_in_one_line(tmp_path: Path) -> None:
    """An expression that chooses no case, and one that is none."""
    for expression, words in (
        ("no_such_case", "kueue-dra: no case matches -k no_such_case ("),
        ("a b(", "ERROR: Wrong"),
    ):
        found = run(tmp_path, "quota", "-k", expression)

        assert found.returncode == 2
        (line,) = filter(None, (found.stdout + found.stderr).splitlines())
        assert line.startswith(words)


ROW = "quota/test_fits::test_devices_are_admitted_up_to_the_quota[fits-exactly]"


def test_a_case_runs_by_the_name_that_the_report_prints(tmp_path: Path) -> None:
    """One row, or a test with all its rows; the rest of its file is left out."""
    for case, number in ((ROW, 1), (ROW.partition("[")[0], 3)):
        found = run(tmp_path, case, "--report-dir", "mine")

        assert found.returncode == 0, found.stdout
        report = json.loads((tmp_path / "mine" / "report.json").read_text("utf-8"))
        assert len(report["checks"]) == number
        assert {check["id"].partition("[")[0] for check in report["checks"]} == {ROW.partition("[")[0]}


def test_the_cases_of_a_requirement_run_by_its_id(tmp_path: Path) -> None:
    """Several IDs, with a comma or repeated."""
    found = run(tmp_path, "quota", "--citing", "COUNT-006,QUOTA-004", "--citing", "COUNT-004", "--report-dir", "mine")

    assert found.returncode == 0, found.stdout
    report = json.loads((tmp_path / "mine" / "report.json").read_text("utf-8"))
    wanted = {"COUNT-006", "QUOTA-004", "COUNT-004"}
    assert all(wanted & set(check["requirements"]) for check in report["checks"])
    assert {one for check in report["checks"] for one in check["requirements"]} >= wanted


def test_what_failed_runs_again(tmp_path: Path) -> None:
    """For the behaviour of the report; a report without a failure is answered."""
    first = run(tmp_path, ROW.partition("[")[0], "--report-dir", "first", "--behaviour", "kueue-0.18.3")
    assert first.returncode == 0, first.stdout
    file = tmp_path / "first" / "report.json"
    green = run(tmp_path, "--rerun-failed", str(file))
    assert (green.returncode, green.stdout) == (0, f"{file}: every case passed, so there is nothing to run again\n")

    ledger, report = Ledger(), json.loads(file.read_text("utf-8"))
    for check in report["checks"]:
        ledger.enter(Row(id=check["id"], requirements=tuple(check["requirements"])))
        outcome = Outcome.FAILED if check["id"] == ROW else Outcome.PASSED
        ledger.notes[check["id"]] = CaseRecord(outcome=outcome, finished=True)
        ledger.collected.add(check["id"])
        ledger.executed.add(check["id"])
    red = Run(date=datetime.now(UTC), seconds=1, intent="ci", behaviour="kueue-0.18.3", target=report["target"])
    write(report_of(ledger, catalogue(), red), tmp_path / "red")
    again = run(tmp_path, "--rerun-failed", "red/report.yaml", "--report-dir", "again")

    assert again.returncode == 0, again.stdout
    found = json.loads((tmp_path / "again" / "report.json").read_text("utf-8"))
    assert [check["id"] for check in found["checks"]] == [ROW]
    assert found["specification"]["behaviour"] == "kueue-0.18.3"


def test_a_known_failure_that_passes_is_red(tmp_path: Path) -> None:
    """The options of the gate reach the run, and the report."""
    (tmp_path / "known.yaml").write_text("- {id: QUOTA-001, reason: a bug, until: 2999-12-31}", "utf-8")
    found = run(tmp_path, "quota/test_fits", "--expected-failures", "known.yaml", "--gate", "must")

    assert found.returncode == 1
    assert "QUOTA-001: is expected to fail, but every case passed: remove the entry" in found.stdout
    gate = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))["gate"]
    assert (gate["level"], gate["result"]) == ("must", "failed")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(("quotas",), "unknown suite quotas; known: ", id="suite"),
        pytest.param(("quota/test_fit::test_x",), "the suite has no case quota/test_fit::test_x; did you", id="file"),
        pytest.param(("quota", "quota/test_fits::x"), "found suites and cases; expected one or the other", id="both"),
        pytest.param(("--intent", "certify", "quota"), "certify runs the whole suite; leave the", id="certify-suite"),
        pytest.param(("--intent", "certify", "-k", "x"), "certify runs the whole suite; leave the", id="certify-k"),
        pytest.param(("--intent", "certify", "--core"), "certify runs the whole suite; leave the", id="certify-core"),
        pytest.param(("-n", "1000"), "found '1000'; expected at most ", id="processes"),
        pytest.param(("-n", "9" * 5000), "expected at most ", id="digits"),
        pytest.param(("-n", "two"), "found 'two'; expected a number of processes, or auto", id="words"),
        pytest.param(("--gate", "may"), "'may' is not one of 'must', 'should', 'inferred'", id="gate"),
        pytest.param(("--rerun-failed", "none.yaml"), "none.yaml: found no such file or directory; ", id="no-report"),
        pytest.param(("--context", "kind-a"), "--context NAME needs --target kueue", id="context"),
        pytest.param(("--target", "moon"), "'moon' is not one of 'reference', 'kueue'", id="target"),
        pytest.param(("--behaviour", "kueue-9"), "'kueue-9' is not known; did you mean kueue-0.19.7?", id="behaviour"),
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


def test_the_choices_are_those_of_the_plugin() -> None:
    """The command may not import the plugin before pytest does, so it repeats them."""
    assert INTENTS == KNOWN
    assert GATE_LEVELS == LEVELS
