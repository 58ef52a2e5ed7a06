"""How many mutants of the reference the suite catches: what ``make mutants`` published last, in every report."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from kueue_dra_reports.document import AdequacyEntry

FILE = Path(__file__).parent / "adequacy.json"


@cache
def published() -> AdequacyEntry:
    """Read the published figures."""
    entry: AdequacyEntry = json.loads(FILE.read_text("utf-8"))
    return entry


def publish(entry: AdequacyEntry) -> None:
    """Write the figures for the reports to come."""
    text = json.dumps(entry, indent=2)
    FILE.write_text(f"{text}\n", "utf-8")


def sentence(entry: AdequacyEntry) -> str:
    """Give the figures in one line, with the command that shows them."""
    expected = entry["mutants"] - entry["equivalent"]
    share = entry["caught"] / max(expected, 1)
    tried = f"{entry['caught']} of {expected} mutants caught ({share:.0%})"
    return f"{tried}, {entry['equivalent']} more are equivalents: `{entry['command']}`"
