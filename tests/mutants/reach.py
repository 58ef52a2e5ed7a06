"""Which cases reach which line of the reference, in one behaviour."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from kueue_dra_differential.mutants.places import ROOT
from tests.mutants.importers import importers
from tests.mutants.servers import Server

LONGEST = 10_000
"""No module has so many lines."""

_ASKED = """
SELECT context.context, line_bits.numbits FROM line_bits
JOIN context ON context.id = line_bits.context_id
JOIN file ON file.id = line_bits.file_id
WHERE file.path = ?
"""
"""The schema is part of coverage's documentation; its own functions decode every line of every case."""
_WEIGHED = """
SELECT context.context, COUNT(*) FROM line_bits
JOIN context ON context.id = line_bits.context_id
GROUP BY context.id
"""


@dataclass(frozen=True, slots=True)
class Reach:
    """The cases of one behaviour that run each line."""

    server: Server
    files: Sequence[Path]
    """Files of coverage, each with other cases."""
    weights: Mapping[str, int]
    """How many modules each case runs: a case of few is fast, and about those."""

    @classmethod
    def of(cls, server: Server, files: Sequence[Path]) -> Reach:
        """Weigh the cases."""
        weights: dict[str, int] = {}
        for data in files:
            with closing(sqlite3.connect(data)) as opened:
                weights.update(opened.execute(_WEIGHED))
        return cls(server, files, weights)

    def cases(self, file: str, lines: range) -> dict[str, int]:
        """Give the cases that run one of some lines of a module, each with all lines that it runs there."""
        mask = sum(1 << line for line in lines)
        running = self.of_module(file)
        return {case: reached for case, reached in running.items() if reached & mask}

    def of_readers(self, file: str) -> dict[str, int]:
        """Give the cases that run a module or one that imports it, each with the lines, counted through all of them."""
        found = Counter[str]()
        for place, module in enumerate([file, *importers(file)]):
            for case, reached in self.of_module(module).items():
                found[case] |= reached << place * LONGEST
        return found

    def of_module(self, file: str) -> dict[str, int]:
        """Give the cases that run a module, each with the lines that it runs there, as the bits of a number."""
        return {case: reached for data in self.files for case, reached in rows(data, file) if case}


def rows(data: Path, file: str) -> Iterator[tuple[str, int]]:
    """Give each case that runs a module, and the lines as the bits of a number."""
    with closing(sqlite3.connect(data)) as opened:
        for case, bits in opened.execute(_ASKED, [str(ROOT / file)]):
            yield case, int.from_bytes(bits, "little")
