"""The table of several runs: each verdict in its column, and a sign for each absent one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from kueue_dra_cli import child, matrix
from kueue_dra_clusters.releases import RELEASES
from kueue_dra_reports.document import Report
from kueue_dra_reports.matrix import absences, as_document, as_markdown, matrix_of, runs
from tests.commands import kueue_dra


def a_report(behaviour: str, verdicts: Mapping[str, str], **more: Any) -> Report:
    """Give as much of a report as the table reads."""
    about = {"kind": "kueue", "kueue": f"v{behaviour.removeprefix('kueue-')}", "kubernetes": "v1.36.3"}
    report = {
        "specification": {"behaviour": behaviour},
        "target": {"name": "kueue", "about": about},
        "verdict": {"result": "success"},
        "requirements": [
            {"id": one, "text": f"Text | of {one}.", "profile": "TOY", "verdict": verdict}
            for one, verdict in verdicts.items()
        ],
        "checks": [],
    }
    return cast(Report, report | more)


OLD = a_report("kueue-0.14.0", {"TOY-001": "proven", "TOY-002": "notApplicable", "TOY-003": "notApplicable"})
NEW = a_report(
    "kueue-0.19.2",
    {"TOY-001": "proven", "TOY-002": "questioned", "TOY-003": "notApplicable"},
    checks=[
        {"id": "quota/x::y", "requirements": ["TOY-002"], "outcome": "failed", "expected": "1", "observed": "2"},
        {"id": "quota/x::z", "requirements": ["TOY-001"], "outcome": "passed"},
    ],
)


def test_each_requirement_has_its_verdict_in_each_column() -> None:
    """One line for each that holds somewhere, in order."""
    found = matrix_of([OLD, NEW])

    assert [(line.id, line.verdicts) for line in found.lines] == [
        ("TOY-001", ("proven", "proven")),
        ("TOY-002", ("notApplicable", "questioned")),
    ]


def test_a_requirement_that_a_report_does_not_know_does_not_hold_there() -> None:
    """Reports of other versions of the suite can be in the same table."""
    assert matrix_of([a_report("kueue-0.14.0", {}), NEW]).lines[0].verdicts == ("notApplicable", "proven")


def test_a_column_says_who_was_judged() -> None:
    """The versions are those that the target reported."""
    first, second = matrix_of([OLD, NEW]).columns

    assert (first.target, first.result) == ("Kueue v0.14.0 on Kubernetes v1.36.3", "success")
    assert second.counts == {"proven": 1, "failed": 0, "questioned": 1, "untested": 0, "excluded": 0}


def test_the_reference_is_called_by_its_name() -> None:
    """The reference has no version of Kueue."""
    report = a_report("kueue-0.19.2", {}, target={"name": "reference", "about": {"kubernetes": "v1.36"}})

    assert matrix_of([report]).columns[0].target == "reference"


def test_a_verdict_of_the_reference_is_in_parentheses() -> None:
    """It is not taken for a decision of a real Kueue; what does not hold has the same sign as elsewhere."""
    mine = {"TOY-001": "proven", "TOY-002": "failed", "TOY-003": "notApplicable"}
    decided = a_report("kueue-0.20.0", mine, target={"name": "reference", "about": {}})
    page = as_markdown(matrix_of([NEW, decided, a_report("kueue-0.18.3", {"TOY-003": "proven"})])).splitlines()

    assert "| TOY-001 | Text \\| of TOY-001. | proven | (proven) | - |" in page
    assert "| TOY-002 | Text \\| of TOY-002. | **questioned** | (**failed**) | - |" in page
    assert "| TOY-003 | Text \\| of TOY-003. | - | - | proven |" in page


def test_two_columns_of_one_behaviour_have_their_targets_in_their_names() -> None:
    """Also in the document, where a name is a key."""
    reference = a_report("kueue-0.19.2", {"TOY-001": "failed"}, target={"name": "reference", "about": {}})
    found = as_document(matrix_of([NEW, reference]))["requirements"][0]["verdicts"]

    assert found == {
        "kueue-0.19.2 (Kueue v0.19.2 on Kubernetes v1.36.3)": "proven",
        "kueue-0.19.2 (reference)": "failed",
    }


def test_the_page_shows_the_table_and_what_did_not_pass() -> None:
    """A bar in a text does not end its cell."""
    page = as_markdown(matrix_of([OLD, NEW], {"kueue-0.13": "no such release"})).splitlines()

    assert "| ID | requirement | kueue-0.14.0 | kueue-0.19.2 |" in page
    assert "| TOY-002 | Text \\| of TOY-002. | - | **questioned** |" in page
    assert "- left out: kueue-0.13: no such release" in page
    assert "- kueue-0.19.2 [TOY-002] failed: `quota/x::y`: expected 1, observed 2" in page


def test_the_document_says_the_same() -> None:
    """Whole enough for a program, and plain JSON."""
    found = json.loads(json.dumps(as_document(matrix_of([OLD, NEW], {"kueue-0.13": "no such release"}))))

    assert found["kind"] == "ConformanceMatrix"
    assert found["requirements"][1]["verdicts"] == {"kueue-0.14.0": "notApplicable", "kueue-0.19.2": "questioned"}
    assert found["notPassed"][0]["case"] == "quota/x::y"
    assert found["leftOut"] == {"kueue-0.13": "no such release"}


def test_the_terminal_shows_the_runs() -> None:
    """One row for each, and each that was left out."""
    found = matrix_of([NEW], {"kueue-0.13": "no such release"})

    assert "kueue-0.19.2  Kueue v0.19.2 on Kubernetes v1.36.3  success" in runs(found)
    assert list(absences(found)) == ["left out: kueue-0.13: no such release"]


def test_the_command_knows_the_releases_that_can_be_had() -> None:
    """The command may not import the clusters, so it repeats them."""
    assert tuple(RELEASES) == matrix.MINORS


def test_the_command_runs_what_has_a_behaviour(tmp_path: Path) -> None:
    """The report of each release is next to the table; releases that did not run are listed."""
    words = ["matrix", "0.19", "9.9", "--target=reference", f"--report-dir={tmp_path}", "--suite=quota", "-ktest_fits"]
    result = kueue_dra(*words)

    assert result.exit_code == 0
    assert (tmp_path / "kueue-0.19.2" / "report.json").is_file()
    assert json.loads((tmp_path / "matrix.json").read_text("utf-8"))["leftOut"].keys() == {"kueue-9.9"}
    assert "| ID | requirement | kueue-0.19.2 |" in (tmp_path / "matrix.md").read_text("utf-8")
    assert "left out: kueue-9.9: the reference has no behaviour of that name" in result.output


def test_a_run_that_failed_fails_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where no verdict of conformance hangs on the case, and the report calls its release partial."""
    run = child.run_child
    monkeypatch.setattr(matrix, "run_child", lambda words: run(words) or 1)
    words = ["matrix", "0.18", "--target=reference", f"--report-dir={tmp_path}", "--suite=quota", "-ktest_fits"]

    assert kueue_dra(*words).exit_code == 1


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(("9.9",), "kueue-9.9: the reference has no behaviour of that name", id="minor"),
        pytest.param(("0.19", "--target=reference", "--suite=none"), "the run ended with exit code 2", id="suite"),
    ],
)
def test_without_any_release_the_question_cannot_be_asked(
    words: tuple[str, ...], expected: str, tmp_path: Path
) -> None:
    """Exit code 2, and each release with its reason."""
    result = kueue_dra("matrix", *words, f"--report-dir={tmp_path}")

    assert result.exit_code == 2
    assert expected in result.stderr


def test_reports_that_exist_make_a_table(tmp_path: Path) -> None:
    """Those of two machines, in the order of the words; nothing runs again."""
    words = ["run", "quota", "-ktest_fits", "--target=reference"]
    for behaviour in ("kueue-0.18", "kueue-0.19.2"):
        assert kueue_dra(*words, f"--behaviour={behaviour}", f"--report-dir={tmp_path / behaviour}").exit_code == 0
    files = [str(tmp_path / name / "report.json") for name in ("kueue-0.18", "kueue-0.19.2")]

    result = kueue_dra("report", "matrix", *files, f"--report-dir={tmp_path / 'table'}")

    assert result.exit_code == 0, result.output
    table = json.loads((tmp_path / "table" / "matrix.json").read_text("utf-8"))
    assert [one["target"] for one in table["columns"]] == ["reference", "reference"]
    assert "(proven)" in (tmp_path / "table" / "matrix.md").read_text("utf-8")


def test_a_file_that_is_no_report_makes_no_table(tmp_path: Path) -> None:
    """Exit code 2, and nothing is written."""
    file = tmp_path / "report.json"
    file.write_text("{}", "utf-8")

    result = kueue_dra("report", "matrix", str(file), f"--report-dir={tmp_path / 'table'}")

    assert result.exit_code == 2
    assert str(file) in result.output
    assert not (tmp_path / "table").exists()
