"""One table over the reports of several runs: requirement by release, with the verdict of each (Markdown and JSON)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tabulate import tabulate

from kueue_dra_reports.document import API_VERSION, CheckEntry, Report
from kueue_dra_reports.results import VERDICTS

KIND = "ConformanceMatrix"
ABSENT = "notApplicable"
WORDS: Mapping[str, str] = {ABSENT: "-"}
"""How a cell shows a verdict that does not say its own name."""
COUNTED = tuple(verdict for verdict in VERDICTS if verdict != ABSENT)
RED = ("failed", "questioned")
RUN = ("behaviour", "target", "verdict", *COUNTED)
NO_BORDER = "\\|"
"""A bar in the text of a cell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One run: who was judged as what, and how it ended."""

    behaviour: str
    judge: str
    result: str
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRow:
    """One requirement with its verdicts, in the order of the columns."""

    id: str
    text: str
    profile: str
    verdicts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedCase:
    """A case that did not pass somewhere."""

    behaviour: str
    case: str
    requirements: tuple[str, ...]
    outcome: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """Everything that the table says; ``left_out`` names what was asked for and not run, with the reason."""

    columns: tuple[Column, ...]
    lines: tuple[MatrixRow, ...]
    red: tuple[FailedCase, ...]
    left_out: Mapping[str, str]


def matrix_of(
    reports: Sequence[Report], left_out: Mapping[str, str] | None = None
) -> Matrix:
    """Lay reports beside each other, in the order given; a requirement that holds in none of them has no line."""
    verdicts = [
        {one["id"]: one["verdict"] for one in report["requirements"]}
        for report in reports
    ]
    known = {one["id"]: one for report in reports for one in report["requirements"]}
    lines = [
        MatrixRow(
            id=name,
            text=known[name]["text"],
            profile=known[name]["profile"],
            verdicts=tuple(one.get(name, ABSENT) for one in verdicts),
        )
        for name in sorted(known)
    ]
    return Matrix(
        columns=tuple(map(_column, reports)),
        lines=tuple(line for line in lines if set(line.verdicts) != {ABSENT}),
        red=tuple(red for report in reports for red in _red(report)),
        left_out=dict(left_out or {}),
    )


def as_document(matrix: Matrix) -> Mapping[str, Any]:
    """Give the table as plain values for JSON."""
    names = [column.behaviour for column in matrix.columns]
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "columns": [asdict(column) for column in matrix.columns],
        "requirements": [
            {
                "id": line.id,
                "text": line.text,
                "profile": line.profile,
                "verdicts": dict(zip(names, line.verdicts, strict=True)),
            }
            for line in matrix.lines
        ],
        "notPassed": [asdict(red) for red in matrix.red],
        "leftOut": dict(matrix.left_out),
    }


def as_markdown(matrix: Matrix) -> str:
    """Give the table as a page: the runs, the requirements, and each case that did not pass."""
    return "\n".join(_page(matrix)) + "\n"


def runs(matrix: Matrix) -> str:
    """Give the runs alone for a terminal, one a row, with how many requirements have which verdict."""
    return tabulate(list(map(_run, matrix.columns)), headers=RUN, tablefmt="simple")


def absences(matrix: Matrix) -> Iterator[str]:
    """Say what was left out and why, a line for each."""
    yield from (
        f"left out: {name}: {reason}" for name, reason in matrix.left_out.items()
    )


def _page(matrix: Matrix) -> Iterator[str]:
    yield "# Requirements by release\n"
    yield from (*_table(RUN, map(_run, matrix.columns)), "")
    yield from (f"- {line}" for line in absences(matrix))
    yield "\n`-`: the requirement does not hold in that release.\n"
    yield from _requirements(matrix)
    if matrix.red:
        yield "\n## What did not pass\n"
    for red in matrix.red:
        yield f"- {red.behaviour} [{', '.join(red.requirements)}] {red.outcome}: `{red.case}`: {red.message}"


def _requirements(matrix: Matrix) -> Iterator[str]:
    headers = ("ID", "requirement", *(column.behaviour for column in matrix.columns))
    return _table(
        headers,
        ((line.id, line.text, *map(_cell, line.verdicts)) for line in matrix.lines),
    )


def _table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    for row in (headers, ["---"] * len(headers), *rows):
        yield f"| {' | '.join(str(cell).replace('|', NO_BORDER) for cell in row)} |"


def _run(column: Column) -> tuple[object, ...]:
    return (
        column.behaviour,
        column.judge,
        column.result,
        *(column.counts[one] for one in COUNTED),
    )


def _cell(verdict: str) -> str:
    return f"**{verdict}**" if verdict in RED else WORDS.get(verdict, verdict)


def _column(report: Report) -> Column:
    counted = Counter(one["verdict"] for one in report["requirements"])
    return Column(
        behaviour=report["specification"]["behaviour"],
        judge=_judge(report["target"]),
        result=report["verdict"]["result"],
        counts={one: counted[one] for one in COUNTED},
    )


def _judge(target: Mapping[str, Any]) -> str:
    about = target.get("about", {})
    versions = [
        f"{title} {about[key]}"
        for key, title in (("kueue", "Kueue"), ("kubernetes", "Kubernetes"))
        if key in about
    ]
    return (
        " on ".join(versions)
        if target["name"] != "reference" and versions
        else str(target["name"])
    )


def _red(report: Report) -> Iterator[FailedCase]:
    for check in report["checks"]:
        if check["outcome"] not in ("passed", "notRun"):
            yield FailedCase(
                behaviour=report["specification"]["behaviour"],
                case=check["id"],
                requirements=tuple(check["requirements"]),
                outcome=check["outcome"],
                message=_message(check),
            )


def _message(check: CheckEntry) -> str:
    """Say in one line what a case said."""
    if "expected" in check and "observed" in check:
        return f"expected {check['expected']}, observed {check['observed']}".replace(
            "\n", " "
        )
    return next(iter(check.get("message", "").splitlines()), "no message")
