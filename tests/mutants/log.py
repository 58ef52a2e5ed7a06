"""The log of a run: a line for each result."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from tests.mutants.trial import Result


class Log:
    """A file of results, of any state of the sources."""

    def __init__(self, file: Path) -> None:
        self.file = file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()

    def results(self, state: str = "") -> Iterator[Result]:
        """Read the results of one state of the sources, or of any."""
        text = self.file.read_text("utf-8")
        for line in text.splitlines():
            values = json.loads(line)
            if state in ("", values["state"]):
                yield Result(**values)

    def all(self) -> Iterator[Log]:
        """Give the logs of all samples: a case that caught many mutants of a module may catch this one."""
        for file in sorted(self.file.parent.glob("seed-*.jsonl")):
            yield Log(file)

    def add(self, result: Result) -> None:
        """Add one result."""
        line = json.dumps(asdict(result))
        with self.file.open("a", encoding="utf-8") as lines:
            lines.write(f"{line}\n")
