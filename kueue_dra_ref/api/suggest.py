"""Suggestions for an unknown name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_FEW = 12
"""So many names are all listed, the nearest or not."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Suggest a known name for an unknown one; lists all known names when they are few or none is near."""
    names = list(known)
    near = difflib.get_close_matches(
        name,
        names,
        n=1,
        cutoff=0.5,
    )
    listed = "known: " + ", ".join(names)
    if not near:
        return listed
    suggestion = f"did you mean {near[0]}?"
    if len(names) > _FEW:
        return suggestion
    return f"{listed}; {suggestion}"
