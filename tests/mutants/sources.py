"""What the recordings and the results of mutants depend on."""

from __future__ import annotations

import hashlib

from kueue_dra_differential.mutants.places import PACKAGE, ROOT
from tests.mutants.arguments import CASES

SOURCES = (PACKAGE, ROOT / CASES, ROOT / "fixtures", ROOT / "reports", ROOT / "tests" / "golden")
"""Folders."""
SUFFIXES = frozenset({".gz", ".jsonl", ".py", ".toml", ".yaml"})


def state(*more: str) -> str:
    """Tell one state of the sources, and of anything more, from another."""
    found = hashlib.sha256("".join(more).encode())
    for folder in SOURCES:
        for file in sorted(folder.rglob("*.*")):
            if file.suffix in SUFFIXES:
                found.update(file.read_bytes())
    return found.hexdigest()[:8]
