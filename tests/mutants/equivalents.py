"""The list of mutants that change nothing that can be seen, each with its reason; it is strict both ways."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.mutant import ROOT, mutants_of

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
    lines = module.read_text("utf-8").splitlines()
    for mutant in mutants_of(module):
        is_near = wanted.before in (line.strip() for line in lines[mutant.lines.start - 1 : mutant.lines.stop - 1])
        if is_near and mutant.change(mutant.source) == (wanted.before, wanted.after):
            return True
    return False
