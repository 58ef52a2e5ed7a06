"""Try one mutant: the cases that reach its line, behaviour by behaviour."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.mutants import check
from tests.mutants.mutant import ROOT, Mutant
from tests.mutants.reach import CASES, Reach

CAUGHT, SURVIVED, UNREACHED = "caught", "survived", "unreached"
LONGEST = 300
"""Seconds after which a mutant counts as one that never ends, which is caught."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of a mutant."""

    name: str
    outcome: str
    """Whether a case failed; without a case that runs its line it is unreached."""
    by: str
    """The behaviour whose cases caught it, and how."""
    before: str
    after: str
    seconds: float

    @property
    def as_values(self) -> dict[str, Any]:
        """Give the result for a line of the log."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """Tries mutants, several at once; ``folder`` holds what they write."""

    reaches: Sequence[Reach]
    folder: Path
    jobs: int

    def of(self, mutants: Sequence[Mutant]) -> Iterator[Result]:
        """Give the result of each mutant as soon as there is one; Ctrl-C drops those that have not begun."""
        with ThreadPoolExecutor(self.jobs) as pool:
            futures = [pool.submit(self._tried, mutant) for mutant in mutants]
            try:
                for future in as_completed(futures):
                    yield future.result()
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    def _tried(self, mutant: Mutant) -> Result:
        """Run the cases of one behaviour after another until one fails."""
        began = time.monotonic()
        source = mutant.source
        before, after = mutant.change(source)
        outcome, by = UNREACHED, ""
        for reach in self.reaches:
            cases = reach.cases(mutant.file, mutant.line)
            if cases and not by:
                by = _noticed(mutant, source, reach.behaviour, cases, self.folder)
                outcome = CAUGHT if by else SURVIVED
        return Result(
            name=mutant.name,
            outcome=outcome,
            by=by,
            before=before,
            after=after,
            seconds=round(time.monotonic() - began, 1),
        )


def _noticed(mutant: Mutant, source: str, behaviour: str, cases: Sequence[str], folder: Path) -> str:
    """Say how the cases of a behaviour noticed a mutant; empty if they did not."""
    asked = {
        "file": mutant.file,
        "source": source,
        "behaviour": behaviour,
        "cases": [] if "" in cases else list(cases),
        "folder": CASES,
        "report": str(folder / f"report-{threading.get_ident()}"),
    }
    try:
        ran = subprocess.run(
            [sys.executable, "-m", "tests.mutants.check"],
            cwd=ROOT,
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{behaviour}: it does not end"
    if ran.returncode == check.CAUGHT:
        return behaviour
    return f"{behaviour}: it cannot be run" if ran.returncode == check.BROKEN else _unexpected(ran)


def _unexpected(ran: subprocess.CompletedProcess[str]) -> str:
    if ran.returncode:
        raise SystemExit(f"the cases could not be run ({ran.returncode}):\n{ran.stdout}{ran.stderr}")
    return ""
