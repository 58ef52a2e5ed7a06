"""One table of several reports: the verdict on each requirement in each release, as Markdown and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tabulate import tabulate

from kueue_dra_reports.document import API_VERSION, CheckEntry, Report, RequirementEntry
from kueue_dra_reports.kubernetes_form import differing
from kueue_dra_reports.results import VERDICTS

KIND = "ConformanceMatrix"
ABSENT = "notApplicable"
WORDS: Mapping[str, str] = {ABSENT: "-"}
"""Verdicts that a cell shows as a sign."""
REFERENCE = "reference"
LEGEND = (
    "`-`: the requirement does not hold in that release. In parentheses: the reference decided, and no real Kueue of "
    "that release ran."
)
COUNTED = tuple(verdict for verdict in VERDICTS if verdict != ABSENT)
RED = ("failed", "questioned")
RUN = ("behaviour", "target", "verdict", *COUNTED)
NO_BORDER = "\\|"
"""An escaped bar in the text of a cell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One run: its behaviour, target and result."""

    name: str
    """The behaviour, with the target if another column has the same behaviour."""
    behaviour: str
    target: str
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
    """A case that did not pass in a run."""

    behaviour: str
    case: str
    requirements: tuple[str, ...]
    outcome: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """The content of the table; ``left_out`` gives the reason for each release that did not run."""

    columns: tuple[Column, ...]
    lines: tuple[MatrixRow, ...]
    red: tuple[FailedCase, ...]
    left_out: Mapping[str, str]


def matrix_of(
    reports: Sequence[Report], left_out: Mapping[str, str] | None = None
) -> Matrix:
    """Put reports into one table, in their order, without the requirements that hold in none of them."""
    failed: list[FailedCase] = []
    for report in reports:
        failed += _red(report)
    behaviours = Counter(_behaviour(report) for report in reports)
    repeated = {name for name, number in behaviours.items() if number > 1}
    return Matrix(
        columns=tuple(_column(report, repeated) for report in reports),
        lines=tuple(_rows(reports)),
        red=tuple(failed),
        left_out=dict(left_out or {}),
    )


def _rows(reports: Sequence[Report]) -> Iterator[MatrixRow]:
    verdicts = []
    known: dict[str, RequirementEntry] = {}
    for report in reports:
        by_id = {one["id"]: one for one in report["requirements"]}
        verdicts.append({name: one["verdict"] for name, one in by_id.items()})
        known |= by_id
    for name in sorted(known):
        row = MatrixRow(
            id=name,
            text=known[name]["text"],
            profile=known[name]["profile"],
            verdicts=tuple(one.get(name, ABSENT) for one in verdicts),
        )
        if set(row.verdicts) != {ABSENT}:
            yield row


def as_document(matrix: Matrix) -> Mapping[str, Any]:
    """Give the table as plain values for JSON."""
    names = [column.name for column in matrix.columns]
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
    """Give the table of the runs for a terminal, with the number of requirements for each verdict."""
    return tabulate(list(map(_run, matrix.columns)), headers=RUN, tablefmt="simple")


def absences(matrix: Matrix) -> Iterator[str]:
    """Give the reason for each release that did not run, one per line."""
    yield from (
        f"left out: {name}: {reason}" for name, reason in matrix.left_out.items()
    )


def _page(matrix: Matrix) -> Iterator[str]:
    yield "# Requirements by release\n"
    yield from (*_table(RUN, map(_run, matrix.columns)), "")
    yield from (f"- {line}" for line in absences(matrix))
    yield f"\n{LEGEND}\n"
    yield from _requirements(matrix)
    if matrix.red:
        yield "\n## What did not pass\n"
    for red in matrix.red:
        yield f"- {red.behaviour} [{', '.join(red.requirements)}] {red.outcome}: `{red.case}`: {red.message}"


def _requirements(matrix: Matrix) -> Iterator[str]:
    headers = ("ID", "requirement", *(column.name for column in matrix.columns))
    rows = [(row.id, row.text, *_cells(row, matrix.columns)) for row in matrix.lines]
    return _table(headers, rows)


def _table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    for row in (headers, ["---"] * len(headers), *rows):
        yield f"| {' | '.join(str(cell).replace('|', NO_BORDER) for cell in row)} |"


def _run(column: Column) -> tuple[object, ...]:
    return (
        column.behaviour,
        column.target,
        column.result,
        *(column.counts[one] for one in COUNTED),
    )


def _cells(row: MatrixRow, columns: Sequence[Column]) -> Iterator[str]:
    for verdict, column in zip(row.verdicts, columns, strict=True):
        shown = verdict != ABSENT and column.target == REFERENCE
        yield f"({_cell(verdict)})" if shown else _cell(verdict)


def _cell(verdict: str) -> str:
    return f"**{verdict}**" if verdict in RED else WORDS.get(verdict, verdict)


def _behaviour(report: Report) -> str:
    return str(report["specification"]["behaviour"])


def _column(report: Report, repeated: Container[str]) -> Column:
    counted = Counter(one["verdict"] for one in report["requirements"])
    behaviour, target = _behaviour(report), _target(report["target"])
    return Column(
        name=f"{behaviour} ({target})" if behaviour in repeated else behaviour,
        behaviour=behaviour,
        target=target,
        result=report["verdict"]["result"],
        counts={one: counted[one] for one in COUNTED},
    )


def _target(target: Mapping[str, Any]) -> str:
    about = target.get("about", {})
    name = str(target["name"])
    versions = []
    if "kueue" in about:
        versions.append(f"Kueue {about['kueue']}")
    if "kubernetes" in about:
        versions.append(f"Kubernetes {about['kubernetes']}")
    if name == REFERENCE or not versions:
        return name
    return " on ".join(versions)


def _red(report: Report) -> Iterator[FailedCase]:
    for check in report["checks"]:
        if check["outcome"] not in ("passed", "notRun"):
            yield FailedCase(
                behaviour=_behaviour(report),
                case=check["id"],
                requirements=tuple(check["requirements"]),
                outcome=check["outcome"],
                message=_message(check),
            )


def _message(check: CheckEntry) -> str:
    """Give the message of a failed case in one line."""
    if "expected" in check and "observed" in check:
        return differing(check["expected"], check["observed"])
    return next(iter(check.get("message", "").splitlines()), "no message")
