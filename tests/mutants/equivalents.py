"""The list of mutants that change nothing that can be seen, each with its reason; it is strict both ways."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kueue_dra_differential.mutants.mutant import mutants_of
from kueue_dra_differential.mutants.places import ROOT

FILE = Path(__file__).parent / "equivalents.toml"


@dataclass(frozen=True, slots=True)
class Equivalent:
    """One entry."""

    file: str
    before: str
    after: str


def equivalents() -> frozenset[Equivalent]:
    """Read the list."""
    text = FILE.read_text("utf-8")
    entries = tomllib.loads(text).get("mutant", [])
    return frozenset(Equivalent(each["file"], each["before"], each["after"]) for each in entries)


def stale() -> Iterator[Equivalent]:
    """Give the entries that are no mutant of the reference (any more)."""
    for each in equivalents():
        if not _is_mutant(each):
            yield each


def _is_mutant(wanted: Equivalent) -> bool:
    module = ROOT / wanted.file
    if not module.exists():
        return False
    text = module.read_text("utf-8")
    lines = [""]
    for line in text.splitlines():
        lines.append(line.strip())
    change = wanted.before, wanted.after
    for mutant in mutants_of(module):
        near = [lines[number] for number in mutant.lines]
        if wanted.before in near and mutant.change(mutant.source) == change:
            return True
    return False
