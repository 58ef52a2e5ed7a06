"""``kueue-dra run --against``: run the same cases on a build and on a release, and print what differs."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import click

from kueue_dra_cli.child import run_child
from kueue_dra_cli.errors import CliError
from kueue_dra_clusters.binaries import RELEASE_VARIABLE
from kueue_dra_fixtures.case_scenario import file_name
from kueue_dra_ref.behaviours.releases import PINNED
from kueue_dra_reports.against import Difference, as_document, difference, shown
from kueue_dra_reports.document import Report

SCENARIOS = "scenarios"
CHANGED = "changed"
INTERRUPTED = (130, 143)
"""The exit codes of a run that Ctrl-C or SIGTERM ended."""


def pinned_minor(name: str) -> str:
    """Give the minor of a pinned release, named as kueue-0.19, kueue-0.19.2 or without the prefix.

    Raises:
        CliError: it is not pinned.

    """
    wanted = name.removeprefix("kueue-")
    for each in PINNED:
        if wanted in (each.minor, each.version):
            return each.minor
    known = ", ".join(each.name for each in PINNED)
    raise CliError([f"--against {name}: no such release is pinned; known are {known}"])


def compare(arguments: Sequence[str], minor: str, folder: Path) -> int:
    """Run the cases on the build, then on the release; 1 if a row is red that the release passes."""
    build = _run(arguments, folder, {})
    of_release = folder / f"kueue-{minor}"
    release = _run(arguments, of_release, {RELEASE_VARIABLE: minor})
    found = difference(build, release)
    named = f"Kueue {release['target'].get('about', {}).get('kueue', minor)}"
    files = _keep_changed(found, folder, of_release)
    click.echo("\n".join(shown(found, named, files)))
    file = folder / "against.json"
    text = json.dumps(as_document(found, named, files), indent=2, ensure_ascii=False)
    file.write_text(f"{text}\n", "utf-8")
    click.echo(f"files: {file}")
    return int(found.worse > 0 or not found.compared)


def _run(
    arguments: Sequence[str], folder: Path, variables: Mapping[str, str]
) -> Report:
    file = folder / "report.json"
    file.unlink(missing_ok=True)
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        code = run_child(
            [
                *arguments,
                f"--report-dir={folder}",
                f"--scenario-dir={folder / SCENARIOS}",
            ]
        )
    finally:
        os.environ.clear()
        os.environ.update(before)
    if code in INTERRUPTED:
        raise SystemExit(code)
    if code == 2 or not file.is_file():
        what = f"Kueue {variables[RELEASE_VARIABLE]}" if variables else "the build"
        raise CliError([f"the run on {what} ended with exit code {code}, see above"])
    return cast(Report, json.loads(file.read_text("utf-8")))


def _keep_changed(found: Difference, build: Path, release: Path) -> dict[str, str]:
    """Keep the scenarios of the rows that changed color, and remove all others; give the file of each."""
    kept = {}
    target = build / CHANGED
    _empty(target)
    for row in found.rows:
        name = file_name(row.case)
        source = next(
            (
                each / SCENARIOS / name
                for each in (build, release)
                if (each / SCENARIOS / name).is_file()
            ),
            None,
        )
        if source is not None:
            target.mkdir(parents=True, exist_ok=True)
            source.replace(target / name)
            kept[row.case] = str(target / name)
    for each in (build, release):
        _empty(each / SCENARIOS)
    return kept


def _empty(folder: Path) -> None:
    for file in folder.glob("*.yaml"):
        file.unlink()
    if folder.is_dir():
        folder.rmdir()
