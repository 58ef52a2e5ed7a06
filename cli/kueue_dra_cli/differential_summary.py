"""The summary of a run of generated scenarios, or of a part of one: its files, its verdict and its one line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kueue_dra_differential.oracle import OutcomeKind
from kueue_dra_ref.explain.step import named

SUMMARY = "summary.json"
RED = (OutcomeKind.DIFFERS, OutcomeKind.UNSETTLED, OutcomeKind.UNLAWFUL)
EXITED = "exited"
"""How often a Kueue exited."""
SCENARIOS = "worlds"
"""How many scenarios ran."""
Summary = Mapping[str, Any]


def write(summary: Summary, folder: Path) -> None:
    """Write the summary into the folder of its scenarios."""
    text = json.dumps(summary, indent=2)
    file = folder / SUMMARY
    file.write_text(f"{text}\n", "utf-8")


def append(summary: Summary, log: Path) -> None:
    """Append a summary to a file, as one line."""
    with log.open("a", encoding="utf-8") as lines:
        line = json.dumps(summary)
        lines.write(f"{line}\n")


def empty(folder: Path) -> None:
    """Make a folder for scenarios, and delete those of an earlier run."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.yaml"):
        old.unlink()


def is_red(summary: Summary) -> bool:
    """Whether a scenario failed, a Kueue exited, or no scenario ran."""
    if summary[EXITED] or not summary[SCENARIOS]:
        return True
    return any(summary[kind] for kind in RED)


def figures(summary: Summary) -> str:
    """Give what a summary counts, in one line."""
    scenarios = named(summary[SCENARIOS], "scenario")
    steps = named(summary["steps"], "step")
    races = named(summary[OutcomeKind.RACE], "race")
    differ = summary[OutcomeKind.DIFFERS]
    unsettled = summary[OutcomeKind.UNSETTLED]
    unlawful = summary[OutcomeKind.UNLAWFUL]
    known = summary[OutcomeKind.KNOWN]
    counts = (
        f"{differ} differ",
        races,
        f"{unsettled} not settled",
        f"{unlawful} break an invariant",
        f"{known} in the ledger",
    )
    listed = ", ".join(counts)
    found = f"{scenarios}, {steps}: {listed}"
    exited = summary[EXITED]
    if exited:
        kueues = named(exited, "Kueue")
        found += f"; {kueues} exited"
    return found
