"""The gate of a run: known failures from a file, strict both ways, and the level that turns the exit code red."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kueue_dra_ref.api.files import DocumentError
from kueue_dra_reports.known_failures import KnownFailure, read
from tests.toys import Toy

pytest_plugins = ["pytester"]
CASES = """
@covers("TOY-001", "TOY-004")
@pytest.mark.parametrize("number", [pytest.param(1, id="one"), pytest.param(2, id="two")])
def test_must(number):
    assert number == FIRST

@covers("TOY-003")
def test_should():
    assert 1 == SHOULD

@covers("TOY-004")
def test_silent():
    assert 1 == SILENT
"""
MUST_ROW = "quota/test_toy::test_must[two]"


def cases(first: str = "number", should: int = 1, silent: int = 1) -> str:
    """Give a suite; a number other than 1 makes a case fail."""
    return CASES.replace("FIRST", first).replace("SHOULD", str(should)).replace("SILENT", str(silent))


def run(toy: Toy, suite: str, *entries: dict[str, str], args: tuple[str, ...] = ()) -> pytest.RunResult:
    """Run a suite with known failures."""
    lines = ["[]"]
    if entries:
        lines = [f"- {{{', '.join(f'{key}: {value!r}' for key, value in one.items())}}}" for one in entries]
    (toy.pytester.path / "known.yaml").write_text("\n".join(lines))
    return toy.run(suite, "--expected-failures", "known.yaml", *args)


def entry(name: str, until: str = "2999-12-31") -> dict[str, str]:
    """Give an entry of the file."""
    return {"id": name, "reason": "a bug", "until": until}


def verdicts(toy: Toy) -> dict[str, str]:
    """Give what the report says of each entry."""
    return {one["id"]: one["verdict"] for one in toy.report()["gate"]["expectedFailures"]}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(MUST_ROW, id="row"),
        pytest.param("quota/test_toy::test_must", id="test"),
        pytest.param("TOY-001", id="requirement"),
    ],
)
def test_a_known_failure_is_accepted_by_case_and_by_requirement(toy: Toy, name: str) -> None:
    """The exit code is 0 and the report says so, but the verdict on the texts stays what it is."""
    result = run(toy, cases(first="1"), entry(name), args=("-rA",))

    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [f"knownFailure: {name.replace('[', '[[]', 1)}: 1 case failed; until 2999-12-31: a bug", "gate: passed*"]
    )
    result.stdout.no_fnmatch_line("*= FAILURES =*")
    report = toy.report()
    assert report["gate"]["red"] == []
    assert report["gate"]["expectedFailures"][0]["cases"] == [MUST_ROW]
    assert report["verdict"]["result"] == "failure"


@pytest.mark.parametrize(
    ("known", "verdict", "line"),
    [
        pytest.param(entry("TOY-003"), "unexpectedPass", "TOY-003: is expected to fail, but every case*", id="passes"),
        pytest.param(entry("TOY-009"), "unknown", "TOY-009: no requirement and no case has this ID", id="requirement"),
        pytest.param(entry("quota/test_toy::test_no"), "unknown", "*test_no: no requirement and no case*", id="case"),
        pytest.param(entry("quota/test_gone::test_x"), "unknown", "*test_x: no requirement and no*", id="file"),
        pytest.param(entry("TOY-003", "2020-02-29"), "expired", "TOY-003: * valid until 2020-02-29: *", id="expired"),
    ],
)
def test_an_entry_that_is_out_of_date_is_red(toy: Toy, known: dict[str, str], verdict: str, line: str) -> None:
    """Although every case passes; one line at the end names it."""
    result = run(toy, cases(), known)

    assert result.ret == 1
    assert verdicts(toy) == {known["id"]: verdict}
    result.stdout.fnmatch_lines(["gate: failed*", f"  - {line}"])


def test_an_expired_failure_is_a_failure(toy: Toy) -> None:
    """It is shown among the failures again."""
    result = run(toy, cases(should=2), entry("TOY-003", "2020-02-29"))

    assert result.ret == 1
    assert toy.report()["gate"]["red"] == ["quota/test_toy::test_should"]
    result.stdout.fnmatch_lines(["*= FAILURES =*"])


def test_a_case_that_breaks_is_no_known_failure(toy: Toy) -> None:
    """It could not be checked, which is not what was accepted."""
    result = run(toy, "@covers('TOY-001')\ndef test_x():\n    {}['a']\n", entry("TOY-001"))

    assert result.ret == 1
    assert verdicts(toy) == {"TOY-001": "notChecked"}


def test_what_did_not_run_is_neither_known_nor_passed(toy: Toy) -> None:
    """A run of some cases may use the file of all."""
    (toy.pytester.path / "suites/kueue_dra_suites/conformance/quota/test_other.py").write_text("")
    known = (entry("TOY-001"), entry("quota/test_toy::test_silent"), entry("TOY-005"))
    result = run(toy, cases(), *known, args=("-k", "one or should"))

    assert result.ret == 0
    assert set(verdicts(toy).values()) == {"notChecked"}


@pytest.mark.parametrize(
    ("suite", "level", "code"),
    [
        pytest.param(cases(silent=2), "must", 0, id="silent-must"),
        pytest.param(cases(silent=2), "should", 0, id="silent-should"),
        pytest.param(cases(silent=2), "inferred", 1, id="silent-inferred"),
        pytest.param(cases(should=2), "must", 0, id="should-must"),
        pytest.param(cases(should=2), "should", 1, id="should-should"),
        pytest.param(cases(first="1"), "must", 1, id="must-must"),
    ],
)
def test_the_level_of_the_gate_decides_what_is_red(toy: Toy, suite: str, level: str, code: int) -> None:
    """What fails below it is still shown, and listed in the report."""
    result = run(toy, suite, args=("--gate", level))

    assert result.ret == code
    gate = toy.report()["gate"]
    assert (bool(gate["red"]), bool(gate["below"])) == (code == 1, code == 0)
    result.stdout.fnmatch_lines(["quota/test_toy::*failed"])


def test_a_run_that_did_less_than_planned_is_red_at_every_level(toy: Toy) -> None:
    """The level is about requirements, not about the run."""
    (toy.pytester.path / "suites/kueue_dra_suites/conformance/quota/test_other.py").write_text("1 / 0")

    assert run(toy, cases(), args=("--gate", "must", "--continue-on-collection-errors")).ret != 0
    assert toy.report()["gate"]["result"] == "failed"


def test_another_test_that_fails_is_red(toy: Toy) -> None:
    """The gate is about the cases of the suite only."""
    toy.pytester.makepyfile(test_own="def test_own(): assert 0\n")

    assert run(toy, cases(), args=("test_own.py",)).ret == 1


def test_a_parallel_run_has_the_same_gate(toy: Toy) -> None:
    """The process that writes the report decides."""
    assert run(toy, cases(first="1", silent=2), entry("TOY-001"), args=("--gate", "must", "-n", "2")).ret == 0
    assert verdicts(toy) == {"TOY-001": "knownFailure"}


@pytest.mark.parametrize("args", [("--gate", "must"), ()])
def test_a_certified_run_accepts_no_failure(toy: Toy, args: tuple[str, ...]) -> None:
    """Exit code 2 of the command line."""
    result = run(toy, cases(), entry("TOY-001"), args=("--intent", "certify", *args))

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*: a run with --intent certify accepts no failure"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("", "known.yaml: found no documents; expected one list", id="empty"),
        pytest.param("a: 1", "known.yaml:1: found an object; expected one list", id="object"),
        pytest.param("- COUNT-001", ":1: [0]: found 'COUNT-001'; expected an object with id", id="text"),
        pytest.param("- id: A-001\n  reason: x", ":1: [0]: found no until; expected the field until", id="no-date"),
        pytest.param(
            "- {id: A, reason: x, until: 2026-12-31}\n- id: B\n  reason:\n  until: 2026-12-31",
            ":3: [1].reason: found nothing; expected text",
            id="no-reason",
        ),
        pytest.param("- {id: A, reason: x, until: 31.12.2026}", "expected a day, as in 2027-01-31", id="date"),
        pytest.param("- {id: A, reason: x, until: 2026-02-30}", "[0].until: found '2026-02-30'", id="no-such-day"),
        pytest.param("- {id: A, reason: x, until: 20261231}", "[0].until: found 20261231", id="number"),
        pytest.param(
            "- {id: A, reason: x, until: 2026-12-31, lnk: x}", "[0].lnk: found field 'lnk'; expected", id="field"
        ),
        pytest.param(
            "- {id: A, reason: x, until: 2026-12-31}\n- {id: A, reason: z, until: 2026-12-31}",
            ":2: [1].id: found A again; expected each ID once",
            id="twice",
        ),
        pytest.param("- [", "expected YAML", id="broken"),
    ],
)
def test_a_wrong_file_is_answered(tmp_path: Path, text: str, words: str) -> None:
    """With file, line and field."""
    file = tmp_path / "known.yaml"
    file.write_text(text)

    with pytest.raises(DocumentError) as fault:
        read(file)
    assert words in fault.value.worded


def test_a_wrong_file_ends_the_run_before_it_begins(toy: Toy) -> None:
    """No report is written."""
    result = toy.run(cases(), "--expected-failures", "absent.yaml")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--expected-failures: *absent.yaml: found no such file or directory; *"])
    assert not (toy.pytester.path / "out").exists()


def test_the_last_day_is_accepted() -> None:
    """The day after is not."""
    known = KnownFailure(id="A", reason="x", until="2026-12-31")

    assert (known.expired("2026-12-31"), known.expired("2027-01-01")) == (False, True)


def test_a_report_cannot_hide_a_failure_behind_the_gate(toy: Toy) -> None:
    """The gate is computed again from the checks."""
    from kueue_dra_reports.validate import document_faults

    run(toy, cases(first="1"), entry("TOY-003"))
    report: dict[str, Any] = toy.report()
    report["gate"] |= {"result": "passed", "because": [], "red": []}

    assert "gate.result: 'passed' -> 'failed'" in "\n".join(document_faults(report))
