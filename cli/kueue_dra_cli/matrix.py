"""``kueue-dra matrix``: run the suites against each release of Kueue, and print one table of the results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import click

from kueue_dra_cli.child import run_child
from kueue_dra_cli.errors import CliError
from kueue_dra_cli.on_cluster import check_image, on_cluster_options, pod_words
from kueue_dra_cli.options import (
    context_option,
    expression_option,
    kubeconfig_option,
    target_option,
    workers_option,
)
from kueue_dra_ref.behaviours.releases import PINNED, RELEASES, runnable
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
  kueue-dra matrix                    every release: a real Kueue of each, started as local processes
  kueue-dra matrix 0.18 0.19 -n 4     two of them, four Kueues at once
  kueue-dra matrix --target reference the reference with the behaviour of each release
  kueue-dra matrix --on-cluster 4 --image REGISTRY/kueue-dra:0.2.0-kueue   each release in four pods of a cluster

\b
Exit codes
  0  every case passed in every release that ran
  1  a case failed or did not run
  2  no release could run; each is listed with the reason
"""
MINORS = tuple(each.minor for each in PINNED)
"""The releases that are pinned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is the same for each release."""

    target: str
    folder: Path
    suites: tuple[str, ...]
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRun:
    """The result of the run against one release."""

    code: int
    """Its exit code; 1 also if a case failed that does not count for conformance."""
    report: Report


@click.command("matrix", epilog=EPILOG)
@click.argument("minors", nargs=-1, metavar="[MINOR]...")
@target_option(
    "kueue",
    "reference",
    text="What the cases run against: a real Kueue of each release, or the reference.",
)
@click.option(
    "--suite",
    "suites",
    multiple=True,
    metavar="NAME",
    help="Run only this folder of cases. Repeatable.",
)
@click.option(
    "--report-dir",
    type=click.Path(file_okay=False, path_type=Path),
    default="out/matrix",
    show_default=True,
    help="The folder for the table, and for the report of each release in a subfolder.",
)
@expression_option
@workers_option("Run each release")
@on_cluster_options
@context_option("With --on-cluster: the kubeconfig context; default: the current one.")
@kubeconfig_option("The kubeconfig of --context. Default: as kubectl finds it.")
@click.pass_context
def command(
    matrix: click.Context,
    /,
    minors: tuple[str, ...],
    target: str,
    suites: tuple[str, ...],
    report_dir: Path,
    expression: str,
    workers: str,
    **_: object,
) -> None:
    """Run the suites against each release of Kueue and print one table.

    MINOR is a minor release such as 0.18; the default is every pinned one. The command writes matrix.md and matrix.json
    into the folder of --report-dir.
    """
    check_image(matrix.params)
    options = [f"-k{expression}"] if expression else []
    if workers:
        options.append(f"-n{workers}")
    options += pod_words(matrix)
    plan = Plan(target=target, folder=report_dir, suites=suites, options=tuple(options))
    runs_by_release: list[MatrixRun] = []
    left_out: dict[str, str] = {}
    for minor in dict.fromkeys(minors or MINORS):
        result = _run_release(minor, plan)
        if isinstance(result, str):
            left_out[f"kueue-{minor}"] = result
        else:
            runs_by_release.append(result)
    if not runs_by_release:
        raise CliError(f"{name}: {reason}" for name, reason in left_out.items())
    write_matrix(
        matrix_of([each.report for each in runs_by_release], left_out), report_dir
    )
    raise SystemExit(int(any(each.code for each in runs_by_release)))


def _run_release(minor: str, plan: Plan) -> MatrixRun | str:
    """Run the suites against one release, or give the reason why they could not run."""
    release = runnable(minor)
    if release is None:
        known = ", ".join(each.version for each in RELEASES)
        return f"the reference has no behaviour of that name, so the requirements are unknown; it has {known}"
    behaviour = release.name
    folder = plan.folder / behaviour
    file = folder / "report.json"
    file.unlink(missing_ok=True)
    click.echo(f"{behaviour}:")
    arguments = [
        "run",
        *plan.suites,
        f"--target={plan.target}",
        f"--behaviour={behaviour}",
        f"--report-dir={folder}",
    ]
    code = run_child([*arguments, *plan.options])
    if code == 2 or not file.is_file():
        return f"the run ended with exit code {code}, see above"
    report = cast(Report, json.loads(file.read_text("utf-8")))
    return MatrixRun(code=code, report=report)


def write_matrix(found: Matrix, folder: Path) -> None:
    """Write the table to files, and print the runs."""
    folder.mkdir(parents=True, exist_ok=True)
    texts: Mapping[str, str] = {
        "matrix.md": as_markdown(found),
        "matrix.json": json.dumps(as_document(found), indent=2, ensure_ascii=False)
        + "\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    click.echo("\n".join(["", runs(found), *absences(found)]))
    click.echo(f"files: {', '.join(str(folder / name) for name in texts)}")
