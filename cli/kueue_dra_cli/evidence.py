"""``kueue-dra evidence``: write what CNCF's AI conformance programme takes, from the report of a run."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import click

from kueue_dra_cli.errors import CliError
from kueue_dra_cli.report import report_in
from kueue_dra_ref.api.files import DocumentError
from kueue_dra_ref.api.yaml_text import written
from kueue_dra_reports import ai_conformance, digests, junit
from kueue_dra_reports.document import Report
from kueue_dra_reports.go_test import as_events, as_log
from kueue_dra_reports.validate import read

EPILOG = """\
\b
Examples
  kueue-dra run --target kueue --context prod
  kueue-dra evidence out/report.json --to v1.37/my-product
  kueue-dra evidence out/report.json --to v1.37/my-product --product AIConformance-1.37.yaml

\b
Exit codes
  0  the files are written, and each requirement that they speak to holds
  1  the files are written, and some requirement does not hold
  2  a file is not valid, the report is of the reference, or it decides nothing that the programme asks for
"""
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
COPY = "report.json"


@click.command("evidence", epilog=EPILOG)
@click.argument("file", metavar="REPORT", type=FILE)
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default="evidence",
    show_default=True,
    help="The folder for the files.",
)
@click.option(
    "--product",
    type=FILE,
    help="A PRODUCT.yaml, or the programme's checklist, to fill in.",
)
def command(file: Path, folder: Path, product: Path | None) -> None:
    """Write evidence for CNCF's Kubernetes AI Conformance 1.37 from the report of a run on a real Kueue.

    The folder has e2e.log, junit.xml, results.json, PRODUCT.yaml, a page for each requirement that the report speaks
    to, and digests. The status of each requirement is left to you: it is your claim.
    """
    report = _report(file)
    document = _product(product, report)
    folder.mkdir(parents=True, exist_ok=True)
    _write(report, document, folder)
    if file.resolve() != (folder / COPY).resolve():
        shutil.copyfile(file, folder / COPY)
    digests.write(path for path in folder.iterdir() if path.name != digests.FILE)
    _print(report, folder)
    topics = ai_conformance.spoken_to(report)
    failed = [one for one in topics if ai_conformance.has_failed(one, report)]
    raise SystemExit(1 if failed else 0)


def _report(file: Path) -> Report:
    """Read a report that may be evidence."""
    report = report_in(file)
    if report["target"]["name"] == "reference":
        raise CliError([f"{file}: found a run on the reference; expected a real Kueue"])
    if report["integrity"]["faults"]:
        first = report["integrity"]["faults"][0]
        raise CliError([f"{file}: the run did less than it planned: {first[:200]}"])
    if not ai_conformance.spoken_to(report):
        raise CliError(
            [f"{file}: no case of this run concerns the programme; run more suites"]
        )
    return report


def _product(product: Path | None, report: Report) -> dict[str, Any]:
    if product is None:
        return ai_conformance.fragment(report)
    try:
        document = read(product)
        if not isinstance(document, dict):
            raise CliError([f"{product}: expected an object with metadata and spec"])
        return ai_conformance.filled(document, report)
    except DocumentError as fault:
        raise CliError([fault.worded]) from None
    except KeyError as missing:
        raise CliError([f"{product}: found no entry {missing.args[0]}"]) from None


def _write(report: Report, product: dict[str, Any], folder: Path) -> None:
    texts = {
        "e2e.log": as_log(report),
        "results.json": as_events(report),
        "PRODUCT.yaml": written([product]),
    }
    for topic in ai_conformance.spoken_to(report):
        name = ai_conformance.file_of(topic)
        texts[name] = ai_conformance.page(topic, report)
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    junit.write(report, folder / junit.FILE)


def _print(report: Report, folder: Path) -> None:
    for topic in ai_conformance.spoken_to(report):
        sentence = ai_conformance.sentence(topic, report)
        click.echo(f"{topic.id}: {sentence[:300]}")
        click.echo(f"  not proven: {topic.unproven}")
    about = report["target"]["about"]
    version = str(about.get("kubernetes", "unknown"))
    if not version.startswith(f"{ai_conformance.CHECKLIST}."):
        click.echo(
            f"note: the API server is {version}; this is the checklist of {ai_conformance.CHECKLIST}",
            err=True,
        )
    click.echo(f"files: {folder}; the status of each requirement is yours to claim")
