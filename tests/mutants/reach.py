"""Which cases reach which line of the reference, by behaviour; recorded once by coverage."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coverage import CoverageData

from tests.mutants.mutant import ROOT

CASES = "suites/kueue_dra_suites/conformance"
BEHAVIOURS = (
    "kueue-0.19.2",
    "kueue-0.14.0",
    "kueue-0.20.0",
    "kueue-0.17.1",
    "kueue-0.18.3",
    "kueue-0.16.2",
    "kueue-0.15.2",
    "kep-2025-04",
    "kep-2025-07",
    "main-2026-08-22",
)
"""The behaviours whose cases look at a mutant, those that hold most code first."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The cases of one behaviour that run each line."""

    behaviour: str
    data: CoverageData

    def cases(self, file: str, line: int) -> list[str]:
        """Name the cases that run a line; every case (an empty name) for a line that runs at the import."""
        contexts = self.data.contexts_by_lineno(str(ROOT / file)).get(line, [])
        return sorted({each.partition("|")[0] for each in contexts})


def recorded(folder: Path, behaviours: Sequence[str] = BEHAVIOURS) -> Iterator[Reach]:
    """Give what each behaviour reaches, recorded first where that has not been done for these sources."""
    stamp = _stamp()
    for behaviour in behaviours:
        file = folder / f"{behaviour}.coverage"
        noted = file.with_suffix(".json")
        if not noted.exists() or json.loads(noted.read_text("utf-8")) != stamp:
            print(f"recording which cases of {behaviour} reach which line ...", flush=True)
            _record(behaviour, file)
            noted.write_text(json.dumps(stamp), "utf-8")
        data = CoverageData(str(file))
        data.read()
        yield Reach(behaviour, data)


def _stamp() -> Mapping[str, int]:
    """Give what tells one state of the sources from another."""
    found = {}
    for folder in ("kueue_dra_ref", CASES, "fixtures"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            found[file.relative_to(ROOT).as_posix()] = file.stat().st_mtime_ns
    return found


def _record(behaviour: str, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", CASES]
    command += ["--behaviour", behaviour, "--report-dir", str(file.parent / "report")]
    command += ["--cov=kueue_dra_ref", "--cov-context=test", "--cov-report="]
    ran = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "COVERAGE_FILE": str(file)},
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        raise SystemExit(f"the cases of {behaviour} do not pass unchanged:\n{ran.stdout[-2000:]}")
