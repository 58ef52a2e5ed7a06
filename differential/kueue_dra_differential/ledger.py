"""The ledger of explained differences: scenarios that still differ, with the reason; any other difference is new."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kueue_dra_ref.api.documents import read
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.behaviours.releases import KUEUE, minor_of
from kueue_dra_ref.reference.replay import answers
from kueue_dra_ref.scenarios.diff import Difference, difference
from kueue_dra_ref.scenarios.files import scenarios
from kueue_dra_ref.scenarios.scenario import Scenario

FOLDER = Path(__file__).parent / "ledger"
WORDS = frozenset({"kueue-defect", "ambiguous-text"})
"""The classes of an explained difference; a race has none, and an error of the reference is fixed."""
_NAMES = re.compile(r"\b(?:cq|lq|co|ns|fl|j)-?\w*\d[-\w]*|\d+")


class LedgerError(Exception):
    """An entry without a valid class or reason: the file, and what was expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One explained difference of one minor."""

    file: Path
    scenario: Scenario

    @property
    def minor(self) -> str:
        """The minor of the Kueue that was recorded."""
        return minor_of(self.scenario.kueue)

    @property
    def difference(self) -> Difference | None:
        """Where the reference and the recorded Kueue differ today."""
        release = behaviour(f"{KUEUE}{self.scenario.kueue}")
        ours = answers(self.scenario, release)
        recorded = self.scenario.recorded
        for mine, theirs in zip(ours, recorded, strict=True):
            found = difference(mine, theirs)
            if found is not None:
                return found
        return None


def entries(folder: Path = FOLDER) -> Iterator[Entry]:
    """Read the ledger.

    Raises:
        LedgerError: an entry has no classification, or no reason.

    """
    for file in sorted(folder.glob("*.yaml")):
        (document,) = read(file)
        status = document.manifest.get("status") or {}
        settled = status.get("settled") or {}
        if settled.get("as") not in WORDS or not settled.get("why"):
            classes = " | ".join(sorted(WORDS))
            raise LedgerError(
                f"{file}: status.settled: found {settled}; expected as: {classes}, why"
            )
        for scenario in scenarios(file):
            yield Entry(file=file, scenario=scenario)


def stale(found: Iterable[Entry]) -> list[str]:
    """Name the entries that no longer differ: their cause is fixed, so they have to be deleted."""
    files = []
    for entry in found:
        if entry.difference is None:
            files.append(str(entry.file))
    return files


def known(minor: str, found: Difference, ledger: Iterable[Entry]) -> bool:
    """Whether a difference equals an explained one of the minor, apart from names and numbers."""
    kind = _kind(found)
    for entry in ledger:
        if entry.minor != minor:
            continue
        settled = entry.difference
        if settled is not None and _kind(settled) == kind:
            return True
    return False


def _kind(found: Difference) -> str:
    values = [found.path, found.ours, found.recorded]
    text = json.dumps(values, sort_keys=True)
    return _NAMES.sub("N", text)
