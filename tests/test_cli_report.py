"""``kueue-dra report`` and ``kueue-dra requirements``: what programs and people read."""

from __future__ import annotations

import json
import subprocess
import sys
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

from kueue_dra_ref.requirements.catalogue import catalogue
from kueue_dra_reports.common_cases import without
from kueue_dra_reports.merge import recomputed
from kueue_dra_reports.results import Outcomes
from tests.commands import ROOT, kueue_dra


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the report of a small run."""
    folder = tmp_path_factory.mktemp("run")
    command = [sys.executable, "-m", "kueue_dra_cli", "run", "quota", "-k", "test_fits", "--report-dir", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder / "report.json"


def tampered(report: Path, tmp_path: Path, **changes: Any) -> Path:
    """Write a report with other values at its top level."""
    file = tmp_path / "tampered.json"
    file.write_text(json.dumps({**json.loads(report.read_text("utf-8")), **changes}), "utf-8")
    return file


def test_a_sound_report_is_valid(report: Path) -> None:
    """YAML and JSON alike."""
    result = kueue_dra("report", "validate", report, report.with_suffix(".yaml"))

    assert result.exit_code == 0
    assert result.stdout == f"{report}: valid\n{report.with_suffix('.yaml')}: valid\n"


def test_a_report_that_claims_more_than_its_checks_is_not(report: Path, tmp_path: Path) -> None:
    """The fault is named with its place."""
    file = tampered(report, tmp_path, statistics={"passed": 1000})

    result = kueue_dra("report", "validate", file)

    assert result.exit_code == 1
    assert "statistics" in result.stderr


def test_validity_is_read_by_programs(report: Path) -> None:
    """One entry for each file."""
    result = kueue_dra("report", "validate", report, "-o", "json")

    assert json.loads(result.stdout) == [{"file": str(report), "valid": True, "faults": []}]


def test_a_report_equals_itself_but_for_dates(report: Path, tmp_path: Path) -> None:
    """When and how long do not count."""
    later = tampered(report, tmp_path, date="2030-01-01T00:00:00Z", durationSeconds=99.0)

    assert kueue_dra("report", "diff", report, later).exit_code == 0


def test_a_difference_is_shown_with_its_place(report: Path, tmp_path: Path) -> None:
    """Exit code 1, one line for each place."""
    suite = json.loads(report.read_text("utf-8"))["suite"] | {"version": "9.9"}

    result = kueue_dra("report", "diff", report, tampered(report, tmp_path, suite=suite))

    assert result.exit_code == 1
    assert result.stdout.startswith("suite.version: ")
    assert result.stdout.endswith("-> '9.9'\n")


@pytest.mark.parametrize("is_of_shard", [pytest.param(True, id="ran"), pytest.param(False, id="of-another-shard")])
def test_cases_that_one_target_cannot_serve_are_not_compared(report: Path, tmp_path: Path, is_of_shard: bool) -> None:
    """They are counted with the reason; on one target they are a difference."""
    whole = json.loads(report.read_text("utf-8"))
    case = whole["checks"][0]
    one = tmp_path / "one"
    one.mkdir()
    if not is_of_shard:
        whole = moved(whole, case, "leftOut", "it belongs to another shard than 1 of 2")
    less = moved(whole, case, "notApplicable", "it needs another API server")
    served = tampered(report, one, **whole)
    elsewhere = tampered(served, tmp_path, **less | {"target": whole["target"] | {"name": "kueue"}})

    result = kueue_dra("report", "diff", served, elsewhere)

    assert result.exit_code == 0, result.output
    assert "not compared: 1 case: it needs another API server\n" in result.stdout
    same = tampered(elsewhere, tmp_path, target=whole["target"])
    assert kueue_dra("report", "diff", served, same).exit_code == 1


def moved(report: Any, case: Any, key: str, reason: str) -> dict[str, Any]:
    """Give a report in which a case is in one of the lists of cases that did not run."""
    row = {"id": case["id"], "requirements": case["requirements"], "reason": reason}
    less: Any = without(report, {case["id"]})
    less[key] = sorted([*less[key], row], key=itemgetter("id"))
    outcomes = Outcomes.from_lists(less["checks"], less["notApplicable"], less["leftOut"])
    return dict(recomputed(less, outcomes))


def test_a_report_is_rendered_as_the_run_showed_it(report: Path) -> None:
    """Table, integrity and verdict."""
    result = kueue_dra("report", "render", report)

    assert result.exit_code == 0
    assert "integrity: planned" in result.stdout
    assert "verdict: " in result.stdout


@pytest.mark.parametrize("arguments", [("validate", "no.json"), ("diff", "no.json", "no.json"), ("render", "no.json")])
def test_a_missing_report_is_answered(arguments: tuple[str, ...]) -> None:
    """Exit code 2, and the name of the file."""
    result = kueue_dra("report", *arguments)

    assert result.exit_code == 2
    assert "no.json" in result.stderr


def test_what_is_no_report_is_not_compared(tmp_path: Path) -> None:
    """Exit code 2, and why."""
    file = tmp_path / "other.json"
    file.write_text("{}", "utf-8")

    result = kueue_dra("report", "diff", file, file)

    assert result.exit_code == 2
    assert "is a required property" in result.stderr


def test_the_catalogue_is_listed_for_programs() -> None:
    """Every requirement, in the order of its files."""
    result = kueue_dra("requirements", "-o", "json")

    assert result.exit_code == 0
    assert [each["id"] for each in json.loads(result.stdout)] == list(catalogue())


def test_requirements_are_chosen_by_behaviour() -> None:
    """Only what holds there."""
    found = json.loads(kueue_dra("requirements", "--behaviour", "kep-2025-09", "-o", "json").stdout)

    assert found
    assert all("kep-2025-09" in each["holds"] for each in found)


def test_one_requirement_is_printed_with_its_sentence() -> None:
    """In any case of letters."""
    result = kueue_dra("requirements", "count-001")

    assert result.exit_code == 0
    assert "A request is charged the count that it asks for." in result.stdout


def test_an_unknown_requirement_is_answered_with_near_ones() -> None:
    """Exit code 2."""
    result = kueue_dra("requirements", "COUNT-0001")

    assert result.exit_code == 2
    assert "unknown requirement COUNT-0001; near: COUNT-001" in result.stderr
