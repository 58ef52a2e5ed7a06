"""The pages about Kueue's own specs name rows that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAMED = re.compile(r"`(test_[a-z0-9_]+)(?:\[[^]`]*\])?`")
PAGES = ("docs/reference/upstream-specs.md", "docs/reference/topology.md")


@pytest.mark.parametrize("page", PAGES)
def test_each_row_that_a_page_names_is_a_case(page: str) -> None:
    """A case that is renamed changes the page too."""
    written = (ROOT / page).read_text("utf-8")
    defined = set()
    for file in (ROOT / "suites" / "kueue_dra_suites" / "conformance").rglob("test_*.py"):
        defined |= {file.stem, *re.findall(r"^def (test_[a-z0-9_]+)", file.read_text("utf-8"), re.MULTILINE)}

    named = set(NAMED.findall(written))

    assert named
    assert named - defined == set()
