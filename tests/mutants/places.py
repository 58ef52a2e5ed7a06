"""Where the sources are."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
"""The checkout."""
PACKAGE = ROOT / "kueue_dra_ref"
"""The reference."""
