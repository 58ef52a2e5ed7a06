"""The results of negative controls in a report: each misconfiguration, and whether exactly the listed cases failed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from kueue_dra_reports import digests
from kueue_dra_reports import report as reporting
from kueue_dra_reports.document import ControlEntry, Report

Controls = Sequence[ControlEntry]
HEADING = "control {name}: {verdict} ({red} red, {green} green): {breaks}"


def line(entry: ControlEntry) -> str:
    """Give one control as text, with its faults on the next lines."""
    text = HEADING.format(**entry)
    for fault in entry["faults"]:
        text += f"\n  - {fault}"
    return text


def exit_code(entries: Controls) -> int:
    """Give 1 if a control was missed."""
    return int(any(each["verdict"] != "caught" for each in entries))


def written(entries: Controls, folder: Path) -> str:
    """Write the results, as `write` does, and give the line that names the files."""
    files = ", ".join(map(str, write(entries, folder)))
    return f"files: {files}"


def write(entries: Controls, folder: Path) -> list[Path]:
    """Write ``controls.json``, and add the results to the report of the suite in the same folder."""
    controls = list(entries)
    folder.mkdir(parents=True, exist_ok=True)
    own = folder / "controls.json"
    text = json.dumps(controls, indent=2, ensure_ascii=False)
    own.write_text(f"{text}\n", "utf-8")
    suite = folder / "report.json"
    paths = [own]
    if suite.is_file():
        text = suite.read_text("utf-8")
        report: Report = json.loads(text)
        report["controls"] = controls
        paths += reporting.write(report, folder)
        digests.write_again(folder, paths)
    return paths
