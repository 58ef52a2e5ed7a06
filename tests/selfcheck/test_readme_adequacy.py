"""The README has the published share of mutants that the suite catches, and the command that shows it."""

from __future__ import annotations

from pathlib import Path

from kueue_dra_reports import adequacy

ROOT = Path(__file__).resolve().parents[2]


def test_the_readme_has_the_published_figures() -> None:
    """`make mutants ARGS=--publish` changes the file; the README follows."""
    assert adequacy.sentence(adequacy.published()) in " ".join((ROOT / "README.md").read_text("utf-8").split())
