"""Run the cases that reach a mutant, in a process of its own, which reads what to do as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence, Set
from pathlib import Path

import pytest

from tests.mutants.imported import put

ROOT = Path(__file__).parents[2]
ARGUMENTS = ("-x", "-q", "-p", "no:cacheprovider", "--tb=no")
CAUGHT, SURVIVED, BROKEN = 1, 0, 3
"""Exit codes: a case failed, all passed, or the changed module cannot be imported."""


class Only:
    """Keeps the cases that reach the mutant."""

    def __init__(self, wanted: Set[str]) -> None:
        self.wanted = wanted

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Drop the others; without names all stay."""
        if self.wanted:
            items[:] = [item for item in items if item.nodeid in self.wanted]


def main() -> int:
    """Change the module, and run the cases until one fails."""
    asked = json.load(sys.stdin)
    put(ROOT, asked["file"], asked["source"])
    wanted = set(asked["cases"])
    code = pytest.main(
        [
            *ARGUMENTS,
            "--behaviour",
            asked["behaviour"],
            "--report-dir",
            asked["report"],
            *_files(wanted, asked["folder"]),
        ],
        plugins=[Only(wanted)],
    )
    return int(code) if code in (SURVIVED, CAUGHT) else BROKEN


def _files(wanted: Set[str], folder: str) -> Sequence[str]:
    files = set()
    for case in wanted:
        file, _, _ = case.partition("::")
        files.add(file)
    return sorted(files) or [folder]


if __name__ == "__main__":
    sys.exit(main())
