"""Names of cases in a sentence: as many as fit in a line that people read."""

from __future__ import annotations

from collections.abc import Sequence

LONGEST = 240
"""Characters of the names in a line."""
MOST = 3


def few(names: Sequence[str]) -> str:
    """List the first names, at least one, and the number of the others."""
    shown = list(names[:1])
    for name in names[1:MOST]:
        if len(", ".join([*shown, name])) > LONGEST:
            break
        shown.append(name)
    rest = len(names) - len(shown)
    listed = ", ".join(shown)
    return f"{listed} and {rest} more" if rest else listed
