"""What negative controls say, in the report: each misconfiguration, and whether exactly the named cases noticed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from kueue_dra_reports import report as reporting
from kueue_dra_reports.document import ControlEntry, Report


def line(entry: ControlEntry) -> str:
    """Give one control as text, its faults below it."""
    counts = f"{entry['red']} red, {entry['green']} green"
    return "\n".join(
        [
            f"control {entry['name']}: {entry['verdict']} ({counts}): {entry['breaks']}",
            *_indented(entry["faults"]),
        ]
    )


def write(entries: Sequence[ControlEntry], folder: Path) -> list[Path]:
    """Write ``controls.json``, and the verdicts into the report of the suite that lies beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    own, suite = folder / "controls.json", folder / "report.json"
    own.write_text(
        json.dumps(list(entries), indent=2, ensure_ascii=False) + "\n", "utf-8"
    )
    if not suite.is_file():
        return [own]
    document = cast(Report, json.loads(suite.read_text("utf-8")))
    document["controls"] = list(entries)
    return [own, *reporting.write(document, folder)]


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"  - {each}" for each in lines]
