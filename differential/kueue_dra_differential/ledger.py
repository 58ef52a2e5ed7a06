"""Differences that are settled: each a scenario that still differs, with what it is; anything else is new."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kueue_dra_ref.api.documents import read
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.reference.replay import answers
from kueue_dra_ref.scenarios.diff import Difference, difference
from kueue_dra_ref.scenarios.files import scenarios
from kueue_dra_ref.scenarios.scenario import Scenario

FOLDER = Path(__file__).parent / "ledger"
WORDS = frozenset({"kueue-defect", "ambiguous-text"})
"""What a settled difference can be; a race is none, and what the reference has wrong is mended."""
_NAMES = re.compile(r"\b(?:cq|lq|co|ns|fl|j)-?\w*\d[-\w]*|\d+")


class LedgerError(Exception):
    """An entry that does not say what it is: the file, and what was expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One settled difference of one minor."""

    file: Path
    scenario: Scenario

    @property
    def minor(self) -> str:
        """The minor of the Kueue that was recorded."""
        return ".".join(self.scenario.kueue.split(".")[:2])

    @property
    def difference(self) -> Difference | None:
        """Where the reference and the recorded Kueue differ today."""
        pairs = zip(
            answers(self.scenario, behaviour(f"kueue-{self.minor}")),
            self.scenario.recorded,
            strict=True,
        )
        return next((found for pair in pairs if (found := difference(*pair))), None)


def entries(folder: Path = FOLDER) -> Iterator[Entry]:
    """Read the ledger.

    Raises:
        LedgerFault: an entry has no classification, or no reason.

    """
    for file in sorted(folder.glob("*.yaml")):
        (document,) = read(file)
        settled = (document.manifest.get("status") or {}).get("settled") or {}
        if settled.get("as") not in WORDS or not settled.get("why"):
            raise LedgerError(
                f"{file}: status.settled: found {settled}; expected as: {' | '.join(sorted(WORDS))}, why"
            )
        yield from (Entry(file=file, scenario=scenario) for scenario in scenarios(file))


def stale(found: Iterable[Entry]) -> list[str]:
    """Name the entries that no longer differ: what they were about is mended, so they have to go."""
    return [str(entry.file) for entry in found if entry.difference is None]


def known(minor: str, found: Difference, ledger: Iterable[Entry]) -> bool:
    """Whether a difference is of the same kind as a settled one of the minor, whatever names and numbers it has."""
    kinds = {
        _kind(each)
        for entry in ledger
        if entry.minor == minor and (each := entry.difference)
    }
    return _kind(found) in kinds


def _kind(found: Difference) -> str:
    return _NAMES.sub(
        "N", json.dumps([found.path, found.ours, found.recorded], sort_keys=True)
    )
