"""A written report is checked against its schema and against its own checks, and two reports are compared."""

from __future__ import annotations

import copy
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kueue_dra_ref.requirements.catalogue import Level, Requirement
from kueue_dra_reports.applicability import applies
from kueue_dra_reports.compare import differences
from kueue_dra_reports.ledger import Ledger, Row
from kueue_dra_reports.outcome import CaseRecord, Outcome
from kueue_dra_reports.report import Run, report_of, write
from kueue_dra_reports.validate import document_faults, faults

Document = dict[str, Any]


def a_requirement(one: str, level: str = "MUST", *holds: str) -> Requirement:
    """Give a requirement, which holds in Kueue 0.19 by default."""
    return Requirement(
        id=one, text=f"Text of {one}.", source="toy", level=Level(level), holds=holds or ("kueue-0.19.2",)
    )


CATALOGUE = {
    one.id: one
    for one in (
        a_requirement("TOY-001"),
        a_requirement("TOY-002", "MAY"),
        a_requirement("TOY-003", "INFERRED"),
        a_requirement("TOY-004", "MUST", "kep-2025-09"),
    )
}


def a_report(target: str = "reference", **outcomes: Outcome) -> Document:
    """Give the report of a run of three cases, which all pass by default."""
    ledger = Ledger()
    for name, ids in {"a": ("TOY-001",), "b": ("TOY-001", "TOY-002"), "c": ("TOY-003",)}.items():
        case = f"quota/test_toy::test_{name}"
        ledger.enter(Row(id=case, requirements=ids))
        ledger.notes[case] = CaseRecord(outcome=outcomes.get(name, Outcome.PASSED), seconds=0.1, finished=True)
        ledger.collected.add(case)
        ledger.executed.add(case)
    run = Run(date=datetime.now(UTC), seconds=1.0, intent="ci", behaviour="kueue-0.19.2", target=a_target_block(target))
    return dict(report_of(ledger, CATALOGUE, run))


def a_target_block(name: str) -> Document:
    """Give a target block with everything in it."""
    return {
        "name": name,
        "implementation": {"organization": "o", "project": "p", "url": "", "version": "v"},
        "about": {"kind": name},
        "kueue": {"configurations": []},
        "environment": {"timeFactor": "1", "parallelism": 1},
        "reproduce": {"command": "python -m pytest"},
    }


def test_a_sound_report_has_no_fault(tmp_path: Path) -> None:
    """Both files that a run writes are sound."""
    report = a_report()

    assert [fault for path in write(report, tmp_path) for fault in faults(path)] == []  # type: ignore[arg-type]


def change(path: str, value: object) -> Callable[[Document], None]:
    """Give a change to one place of a report, named by keys and positions."""

    def changed(report: Document) -> None:
        *way, last = (int(part) if part.isdigit() else part for part in path.split("."))
        at: Any = report
        for part in way:
            at = at[part]
        at[last] = value

    return changed


@pytest.mark.parametrize(
    ("tamper", "words"),
    [
        pytest.param(change("mood", "good"), "'mood' was unexpected", id="unknown-key"),
        pytest.param(change("checks.0.colour", "green"), "$.checks[0]: Additional properties", id="unknown-inner-key"),
        pytest.param(change("apiVersion", "v1"), "$.apiVersion: 'kueue-dra.dev/v1alpha1' was expected", id="version"),
        pytest.param(change("checks.0.outcome", "skipped"), "$.checks[0].outcome: 'skipped' is not one", id="outcome"),
        pytest.param(change("date", "yesterday"), "$.date: 'yesterday' does not match", id="date"),
        pytest.param(change("suite.caseListDigest", "x"), "$.suite.caseListDigest", id="digest"),
        pytest.param(change("requirements.3.verdict", "proven"), "$.requirements[3]", id="reason-without-cause"),
        pytest.param(change("requirements.0.verdict", "failed"), "requirements[TOY-001].verdict", id="verdict"),
        pytest.param(change("statistics.passed", 4), "statistics.passed: 4 -> 3", id="statistics"),
        pytest.param(change("checks.0.outcome", "failed"), "'success' -> 'failure'", id="hidden-failure"),
        pytest.param(change("verdict.claimsConformance", True), "verdict.claimsConformance", id="claim-without-right"),
        pytest.param(change("integrity.executed", 2), "and no fault is named", id="unequal-numbers"),
        pytest.param(change("integrity.planned", 4), "integrity.planned is 4, but 3 checks", id="planned"),
        pytest.param(change("checks.0.requirements", ["TOY-009"]), "cites TOY-009, which the report", id="unknown-id"),
        pytest.param(change("checks.0.id", "quota/test_toy::test_b"), "is listed more than once", id="twice"),
        pytest.param(change("adequacy.caught", 0), "adequacy: ", id="mutants-without-outcome"),
        pytest.param(change("adequacy.survived", -1), "-1 is less than the minimum", id="fewer-than-no-mutants"),
        pytest.param(change("checks.0.id", "quota/test_toy::test_z"), "checks is not sorted by id", id="order"),
    ],
)
def test_a_tampered_report_is_found_out(tamper: Callable[[Document], None], words: str) -> None:
    """The place of the fault is named."""
    report = copy.deepcopy(a_report())
    tamper(report)

    assert words in "\n".join(document_faults(report))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("a: [", "did not find expected node content; expected YAML", id="broken"),
        pytest.param("[]", "$: [] is not of type 'object'", id="list"),
        pytest.param("", "found no documents; expected one report", id="empty"),
        pytest.param(None, "found no such file or directory; expected a readable text file", id="absent"),
    ],
)
def test_a_file_that_is_no_report_is_answered_in_words(tmp_path: Path, text: str | None, words: str) -> None:
    """No traceback, whatever the file holds."""
    path = tmp_path / "report.yaml"
    if text is not None:
        path.write_text(text)

    assert words in "\n".join(faults(path))


def test_two_targets_differ_in_what_they_decided_only() -> None:
    """Target, date and durations do not count; an outcome does, and is named by its case."""
    reference, kueue = a_report(), a_report("kueue")
    assert differences(reference, kueue) == []

    found = differences(reference, a_report("kueue", a=Outcome.FAILED))
    assert "checks[quota/test_toy::test_a].outcome: 'passed' -> 'failed'" in found
    assert "verdict.result: 'success' -> 'failure'" in found


def test_a_case_that_one_report_lacks_is_named() -> None:
    """Lists are paired by id, not by position."""
    other = copy.deepcopy(a_report())
    del other["checks"][0]

    found = differences(a_report(), other)
    assert len(found) == 1
    assert found[0].startswith("checks[quota/test_toy::test_a]: {")
    assert found[0].endswith("-> (absent)")


@pytest.mark.parametrize(
    ("a", "b", "lines"),
    [
        pytest.param(["X", "Y"], ["X", "Y"], [], id="equal"),
        pytest.param(["X", "Y"], ["Y"], ["untested: 'X' -> (absent)"], id="one-gone"),
        pytest.param(["Y"], ["X", "Y"], ["untested: (absent) -> 'X'"], id="one-more"),
        pytest.param(["X", "Y"], ["Y", "X"], ["untested: ['X', 'Y'] -> ['Y', 'X']"], id="order"),
    ],
)
def test_a_list_of_names_is_compared_by_what_it_holds(a: list[str], b: list[str], lines: list[str]) -> None:
    """One name more is one line, wherever it stands."""
    assert differences({"untested": a}, {"untested": b}) == lines


@pytest.mark.parametrize(
    ("outcomes", "profile", "core", "extended", "questions"),
    [
        pytest.param({}, "success", "success", "success", "success", id="all-green"),
        pytest.param({"a": Outcome.FAILED}, "failure", "failure", "success", "success", id="core-fails"),
        pytest.param({"b": Outcome.FAILED}, "failure", "failure", "failure", "success", id="both-fail-together"),
        pytest.param({"c": Outcome.FAILED}, "partial", "success", "success", "partial", id="open-question"),
        pytest.param({"c": Outcome.NOT_TESTABLE}, "failure", "success", "success", "failure", id="not-testable"),
        pytest.param({"c": Outcome.ERROR}, "failure", "success", "success", "failure", id="broken-case"),
    ],
)
def test_a_profile_is_judged_by_its_core(
    outcomes: dict[str, Outcome], profile: str, core: str, extended: str, questions: str
) -> None:
    """A question is never a violation; a missing prerequisite always fails."""
    (found,) = a_report(**outcomes)["profiles"]
    groups = tuple(found[group]["result"] for group in ("core", "extended", "questions"))

    assert (found["result"], *groups) == (profile, core, extended, questions)


def test_which_behaviours_a_case_is_for_follows_from_what_it_cites() -> None:
    """All cited requirements must hold."""
    assert applies(["TOY-001", "TOY-002"], "kueue-0.19.2", CATALOGUE) is None
    assert applies(["TOY-001", "TOY-004"], "kueue-0.19.2", CATALOGUE) == "TOY-004 does not hold in kueue-0.19.2"
