"""``kueue-dra matrix``: the suites against each release of Kueue, one after another, and one table over all of them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, cast

import click

from kueue_dra_cli.errors import CliError
from kueue_dra_cli.options import target_option, workers_option
from kueue_dra_ref.behaviours import NAMES
from kueue_dra_ref.behaviours.releases import PINNED
from kueue_dra_reports.document import Report
from kueue_dra_reports.matrix import (
    Matrix,
    absences,
    as_document,
    as_markdown,
    matrix_of,
    runs,
)

EPILOG = """\
\b
Examples
  kueue-dra matrix                    every release, a real Kueue of each, brought up here as local processes
  kueue-dra matrix 0.18 0.19 -n 4     two of them, four Kueues at once
  kueue-dra matrix --target reference what the reference says of itself as each release

\b
Exit codes
  0  every case passed in every release that was judged
  1  one did not, or a run did less than planned
  2  no release could be judged; each is named with the reason
"""
MINORS = tuple(each.minor for each in PINNED)
"""The releases that can be run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is the same for every release."""

    target: str
    folder: Path
    suites: tuple[str, ...]
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRun:
    """How the run against one release ended."""

    code: int
    """What it exited with: 1 also where a case failed that no verdict of conformance hangs on."""
    report: Report


@click.command("matrix", epilog=EPILOG)
@click.argument("minors", nargs=-1, metavar="[MINOR]...")
@target_option(
    "kueue",
    "reference",
    whose="Who judges: a real Kueue of each release, or the reference.",
)
@click.option(
    "--suite",
    "suites",
    multiple=True,
    metavar="NAME",
    help="Only this folder of cases; may be repeated.",
)
@click.option(
    "--report-dir",
    type=click.Path(file_okay=False, path_type=Path),
    default="out/matrix",
    show_default=True,
    help="Where the table goes, and the report of each release in a folder of its own.",
)
@click.option(
    "-k",
    "expression",
    default="",
    metavar="EXPR",
    help="Only cases whose names match, as for pytest.",
)
@workers_option("Run each release")
def command(
    minors: tuple[str, ...],
    target: str,
    suites: tuple[str, ...],
    report_dir: Path,
    expression: str,
    workers: str,
) -> None:
    """Judge every release of Kueue and lay the verdicts beside each other.

    MINOR is such as 0.18; all that can be had unless some are named. The table goes to the folder of --report-dir as
    matrix.md and matrix.json.
    """
    options = [f"-k{expression}"] if expression else []
    options += [f"-n{workers}"] if workers else []
    plan = Plan(target=target, folder=report_dir, suites=suites, options=tuple(options))
    ended = {
        f"kueue-{minor}": _judged(minor, plan)
        for minor in dict.fromkeys(minors or MINORS)
    }
    left_out = {name: end for name, end in ended.items() if isinstance(end, str)}
    judged = [end for end in ended.values() if not isinstance(end, str)]
    if not judged:
        raise CliError(f"{name}: {reason}" for name, reason in left_out.items())
    _tell(matrix_of([each.report for each in judged], left_out), report_dir)
    raise SystemExit(int(any(each.code for each in judged)))


def _judged(minor: str, plan: Plan) -> MatrixRun | str:
    """Judge one release, or say why it could not be."""
    behaviour = f"kueue-{minor}"
    if behaviour not in NAMES:
        known = ", ".join(
            name.removeprefix("kueue-") for name in NAMES if name.startswith("kueue-")
        )
        return f"the reference has no behaviour of that name, so nothing says what holds there; it has {known}"
    folder = plan.folder / behaviour
    file = folder / "report.json"
    file.unlink(missing_ok=True)
    click.echo(f"{behaviour}:")
    words = [
        "run",
        *plan.suites,
        f"--target={plan.target}",
        f"--behaviour={behaviour}",
        f"--report-dir={folder}",
    ]
    code = _run([*words, *plan.options])
    if code == 2 or not file.is_file():
        return f"the run ended with exit code {code}, see above"
    return MatrixRun(
        code=code, report=cast(Report, json.loads(file.read_text("utf-8")))
    )


def _run(words: Sequence[str]) -> int:
    """Run ``kueue-dra`` in a process of its own, which does not outlive this one: pytest can hold one behaviour."""
    before = signal.signal(signal.SIGTERM, _leave)
    with subprocess.Popen([sys.executable, "-m", "kueue_dra_cli", *words]) as child:
        try:
            return child.wait()
        except SystemExit:
            child.terminate()
            raise
        finally:
            signal.signal(signal.SIGTERM, before)


def _leave(number: int, _: object) -> NoReturn:
    """End as who is told to: the code is the signal's."""
    raise SystemExit(128 + number)


def _tell(found: Matrix, folder: Path) -> None:
    """Write the table, and print its runs."""
    texts: Mapping[str, str] = {
        "matrix.md": as_markdown(found),
        "matrix.json": json.dumps(as_document(found), indent=2, ensure_ascii=False)
        + "\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    click.echo("\n".join(["", runs(found), *absences(found)]))
    click.echo(f"files: {', '.join(str(folder / name) for name in texts)}")
