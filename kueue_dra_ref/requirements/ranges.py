"""Ranges of Kueue's minors in the catalogue: ``kueue-0.18..`` and the like, read strictly and printed compactly."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

MINORS = ("0.14", "0.15", "0.16", "0.17", "0.18", "0.19", "0.20")
"""Kueue's minors that there are behaviours of, in order."""
TEXTS = ("kep-2025-04", "kep-2025-07", "kep-2025-09")
_RANGE = re.compile(r"kueue-(?P<first>\d+\.\d+)?\.\.(?P<last>\d+\.\d+)?")
_SYNTAX = "kueue-0.17.. (and later), kueue-..0.17 (and earlier), kueue-0.16..0.18 (both included) or kueue-.. (all)"


class RangeError(ValueError):
    """An element of ``holds`` that cannot be read: what was found and what was expected."""


def expanded(written: Iterable[str]) -> tuple[str, ...]:
    """Expand the elements of a ``holds`` to the names of behaviours.

    Raises:
        RangeError: an element is no name and no range, a range names a minor that there is none of or ends before it
            begins, or a name stands there twice.

    """
    found: list[str] = []
    for element in written:
        for name in _names(element):
            if name in found:
                raise RangeError(f"holds {element!r}: {name} stands there twice")
            found.append(name)
    return tuple(found)


def compact(names: Iterable[str]) -> tuple[str, ...]:
    """Write names of behaviours compactly: consecutive minors as a range."""
    held = tuple(names)
    minors = [minor for minor in MINORS if f"kueue-{minor}" in held]
    others = [name for name in held if name.removeprefix("kueue-") not in MINORS]
    return (*others, *map(_written, _runs(minors)))


def _names(element: str) -> tuple[str, ...]:
    if element in TEXTS or element in map("kueue-{}".format, MINORS):
        return (element,)
    match = _RANGE.fullmatch(element)
    if match is None:
        known = ", ".join((*TEXTS, *map("kueue-{}".format, MINORS)))
        raise RangeError(
            f"holds {element!r}: expected one of {known}, or a range: {_SYNTAX}"
        )
    first, last = (_place(element, match[end]) for end in ("first", "last"))
    chosen = MINORS[first : None if last is None else last + 1]
    if len(chosen) < 2 and match["first"] and match["last"]:
        raise RangeError(
            f"holds {element!r}: expected a range to end after it begins; one minor is written by its name"
        )
    return tuple(f"kueue-{minor}" for minor in chosen)


def _place(element: str, minor: str | None) -> int | None:
    if minor is None:
        return None
    if minor not in MINORS:
        raise RangeError(
            f"holds {element!r}: found minor {minor}; expected one of {', '.join(MINORS)}"
        )
    return MINORS.index(minor)


def _runs(minors: Iterable[str]) -> Iterator[list[str]]:
    run: list[str] = []
    for minor in minors:
        if run and MINORS.index(minor) != MINORS.index(run[-1]) + 1:
            yield run
            run = []
        run.append(minor)
    if run:
        yield run


def _written(run: list[str]) -> str:
    first = "" if run[0] == MINORS[0] else run[0]
    last = "" if run[-1] == MINORS[-1] else run[-1]
    return f"kueue-{run[0]}" if len(run) == 1 else f"kueue-{first}..{last}"
