"""``kueue-dra report``: validate, compare and print the reports of runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import click

from kueue_dra_cli.errors import CliError
from kueue_dra_cli.matrix import write_matrix
from kueue_dra_cli.options import output_option
from kueue_dra_cli.printing import as_json
from kueue_dra_ref.explain.step import named
from kueue_dra_reports import digests, junit
from kueue_dra_reports.changes import changes
from kueue_dra_reports.common_cases import not_served, without
from kueue_dra_reports.document import Report
from kueue_dra_reports.junit import as_junit
from kueue_dra_reports.log_archive import MARK, NoResults, unpacked
from kueue_dra_reports.markdown import as_markdown
from kueue_dra_reports.matrix import matrix_of
from kueue_dra_reports.merge import CannotMerge, merged
from kueue_dra_reports.repeat import command_of
from kueue_dra_reports.report import write
from kueue_dra_reports.summary import explained, rendered
from kueue_dra_reports.validate import faults, read
from kueue_dra_reports.wording import failures

VALIDATE_EPILOG = """\
\b
Exit codes
  0  every report is valid
  1  a report is not, or a file was changed; prints each error with its place in the report
  2  a file is missing
"""
MERGE_EPILOG = """\
\b
Examples
  kueue-dra report merge shard-1/report.json shard-2/report.json --report-dir out
  kueue-dra report merge pod-*.log                logs of pods, as kubectl logs prints them

\b
Exit codes
  0  the gate passed: every planned case of every shard is there, and none failed that counts
  1  the gate failed, or a shard is missing
  2  a file is not a valid report, or the reports are no shards of one run
"""
MATRIX_EPILOG = """\
\b
Example
  kueue-dra report matrix kueue-0.18/report.json kueue-0.19/report.json own-build/report.json

\b
Exit codes
  0  every case passed in every report
  1  a case failed or did not run
  2  a file is not a valid report
"""
RENDER_EPILOG = """\
\b
Examples
  kueue-dra report render out/report.json
  kueue-dra report render out/report.json -o html > report.html
  kueue-dra report render out/report.json -o md >> "$GITHUB_STEP_SUMMARY"
  kueue-dra report render out/report.json -o allure --to allure-results

\b
Exit codes
  0  the report was printed, whatever its verdict
  2  the file is not a valid report
"""
DIFF_EPILOG = """\
\b
Example
  kueue-dra report diff out/yesterday/report.json out/report.json

\b
Exit codes
  0  the reports are equal
  1  they differ; prints one line for each change
  2  a file is not a valid report
"""
REPORTS = ("report.yaml", "report.json")
POD_REPORT = "report.json"
"""The report in the log of a pod."""
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group("report")
def command() -> None:
    """Check, compare and print conformance reports."""


@command.command("validate", epilog=VALIDATE_EPILOG)
@click.argument(
    "files",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, path_type=Path),
    metavar="FILE|FOLDER...",
)
@output_option("text", "json")
def validate(files: tuple[Path, ...], output: str) -> None:
    """Check reports against their JSON Schema, their sums against their own checks, and their digests.

    A run writes SHA256SUMS next to its report. Of a FOLDER, every file in that list is checked, and its report.
    """
    found = {str(file): _faults_of(file) for file in files}
    if output == "json":
        as_json(
            [
                {"file": file, "valid": not wrong, "faults": wrong}
                for file, wrong in found.items()
            ]
        )
    else:
        for file, wrong in found.items():
            click.echo("\n".join(wrong) if wrong else f"{file}: valid", err=bool(wrong))
    raise SystemExit(1 if any(found.values()) else 0)


def _faults_of(path: Path) -> list[str]:
    if not path.is_dir():
        return [*faults(path), *digests.faults_of(path)]
    reports = [path / name for name in REPORTS if (path / name).is_file()]
    wrong = digests.folder_faults(path)
    for file in reports:
        wrong += faults(file)
    return wrong


@command.command("diff", epilog=DIFF_EPILOG)
@click.argument("old", type=FILE)
@click.argument("new", type=FILE)
@output_option("text", "json")
def diff(old: Path, new: Path, output: str) -> None:
    """Compare two reports of the same suite, apart from the target, dates and durations.

    The important comes first: the verdict, requirements by level, cases, then every other place. Nothing that belongs
    to the machine counts. For one behaviour on two targets, cases that one cannot serve, such as those that need
    the API server of another minor, are not compared.
    """
    before, after = report_in(old), report_in(new)
    unserved = not_served(before, after)
    aside = unserved.keys()
    found = changes(without(before, aside), without(after, aside))
    if output == "json":
        as_json(
            {
                "old": str(old),
                "new": str(new),
                "equal": not found,
                "notCompared": dict(sorted(unserved.items())),
                "changes": [change.as_values for change in found],
            }
        )
    else:
        lines = [change.line for change in found]
        for reason, number in Counter(unserved.values()).items():
            click.echo(f"not compared: {named(number, 'case')}: {reason}")
        click.echo(
            "\n".join(lines)
            or "the reports are equal, apart from the target, dates and durations"
        )
    raise SystemExit(1 if found else 0)


@command.command("merge", epilog=MERGE_EPILOG)
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@click.option(
    "--report-dir",
    type=click.Path(file_okay=False, path_type=Path),
    default="out",
    show_default=True,
    help="The folder for the files of the joined report.",
)
def merge(files: tuple[Path, ...], report_dir: Path) -> None:
    """Join the reports of all shards of a run (run --shard I/N) into the report of the whole run.

    FILE is a report, or the log of a pod that ran a shard (kueue-dra manifests); logs of generated scenarios give their
    joined summary. The result equals the report of a run
    without shards, but for target and durations. If a shard or a case is missing, it has a fault and fails.
    """
    logs = {str(file): _text(file) for file in files}
    if all(MARK in log for log in logs.values()):
        _join_scenarios(logs, report_dir)
    raise SystemExit(
        join({str(file): _report_or_log(file) for file in files}, report_dir)
    )


def _join_scenarios(logs: Mapping[str, str], folder: Path) -> None:
    """End the command with the joined parts, if the logs are those of generated scenarios."""
    from kueue_dra_cli.differential_parts import files_of_log, is_part, join_parts

    if any(map(is_part, logs.values())):
        parts = {name: files_of_log(log, name) for name, log in logs.items()}
        raise SystemExit(join_parts(parts, folder))


def join(reports: Mapping[str, Report], report_dir: Path) -> int:
    """Write and print the joined report of all shards, which are named as in messages; give the exit code."""
    try:
        report = merged(reports)
    except CannotMerge as fault:
        raise CliError([str(fault)]) from None
    paths = write(report, report_dir)
    file = report_dir / junit.FILE
    junit.write(report, file)
    digests.write([*paths, file])
    click.echo(rendered(report, map(str, [*paths, file])))
    return 1 if report["gate"]["result"] == "failed" else 0


@command.command("matrix", epilog=MATRIX_EPILOG)
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@click.option(
    "--report-dir",
    type=click.Path(file_okay=False, path_type=Path),
    default="out/matrix",
    show_default=True,
    help="The folder for matrix.md and matrix.json.",
)
def matrix(files: tuple[Path, ...], report_dir: Path) -> None:
    """Put the reports of several runs into one table: a column for each report, in the order of the words.

    It is the table of kueue-dra matrix. The reports can be of different releases, machines or builds. A verdict in
    parentheses is that of the reference.
    """
    found = matrix_of([_report_or_log(file) for file in files])
    write_matrix(found, report_dir)
    raise SystemExit(1 if found.red else 0)


def _report_or_log(file: Path) -> Report:
    """Read a report, or the one in the log of a pod."""
    text = _text(file)
    if MARK not in text:
        return report_in(file)
    with TemporaryDirectory() as folder:
        return report_of_log(text, str(file), Path(folder))


def _text(file: Path) -> str:
    return file.read_text("utf-8", errors="replace")


def report_of_log(log: str, name: str, folder: Path) -> Report:
    """Write the report in the log of a pod into a folder, and give it.

    Raises:
        CliError: the log has none, or it is damaged or not valid.

    """
    try:
        files = unpacked(log)
    except NoResults as fault:
        raise CliError([f"{name}: {fault}"]) from None
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / POD_REPORT
    file.write_bytes(files.get(POD_REPORT, b""))
    return report_in(file)


@command.command("render", epilog=RENDER_EPILOG)
@click.argument("file", type=FILE)
@output_option("terminal", "html", "md", "junit", "allure")
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default="allure-results",
    show_default=True,
    help="With -o allure: the folder for the results.",
)
def render(file: Path, output: str, folder: Path) -> None:
    """Print a report for people: on the terminal, as one HTML page, or as short Markdown; or as JUnit XML.

    -o allure writes a folder of Allure results.

    The page needs no network and no other file. Each form has what was checked and the verdict first, then what failed,
    with the expected and the observed value.
    """
    report = report_in(file)
    if output == "allure":
        from kueue_dra_reports.allure import write as write_allure

        number = write_allure(report, folder)
        click.echo(f"{folder}: {number} results")
        return
    click.echo(FORMS[output](report).rstrip("\n"))


def _as_terminal(report: Report) -> str:
    lines = [
        explained(check, command_of(check["id"], report)) for check in failures(report)
    ]
    return "\n".join([*lines, rendered(report)])


def _as_html(report: Report) -> str:
    from kueue_dra_reports.page.render import as_html

    return as_html(report)


FORMS: Mapping[str, Callable[[Report], str]] = {
    "terminal": _as_terminal,
    "html": _as_html,
    "md": as_markdown,
    "junit": as_junit,
}


def report_in(file: Path) -> Report:
    """Read a report that is valid; anything else is an error of the command."""
    if wrong := faults(file):
        raise CliError(wrong)
    return cast(Report, read(file))
