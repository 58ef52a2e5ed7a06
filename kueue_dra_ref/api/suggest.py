"""What may have been meant by a name that nobody knows."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_FEW = 12
"""So many names are all listed, the nearest or not."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Lead on from an unknown name: those that are known if they are few or none is near, and the nearest."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    listed = [f"known: {', '.join(names)}"] if len(names) <= _FEW or not near else []
    return "; ".join([*listed, *(f"did you mean {each}?" for each in near)])
