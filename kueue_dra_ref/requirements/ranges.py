"""Ranges of Kueue's minors in the catalogue: ``kueue-0.18..`` and the like, read strictly and printed compactly."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from kueue_dra_ref.behaviours.releases import MINORS, TEXTS

_RANGE = re.compile(r"kueue-(?P<first>\d+\.\d+)?\.\.(?P<last>\d+\.\d+)?")
_SYNTAX = "kueue-0.17.. (and later), kueue-..0.17 (and earlier), kueue-0.16..0.18 (both included) or kueue-.. (all)"


class RangeError(ValueError):
    """An element of ``holds`` that cannot be read: what was found and what was expected."""


def expanded(written: Iterable[str]) -> tuple[str, ...]:
    """Expand the elements of a ``holds`` to the names of behaviours.

    Raises:
        RangeError: an element is no name and no range, a range names an unknown minor or ends before it begins, or a
            name is there twice.

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
    texts = []
    minors = set()
    for name in names:
        minor = name.removeprefix("kueue-")
        if minor in MINORS:
            minors.add(minor)
        else:
            texts.append(name)
    runs = _runs(minor for minor in MINORS if minor in minors)
    return (*texts, *map(_written, runs))


def _names(element: str) -> tuple[str, ...]:
    names = (*TEXTS, *(f"kueue-{minor}" for minor in MINORS))
    if element in names:
        return (element,)
    match = _RANGE.fullmatch(element)
    if match is None:
        known = ", ".join(names)
        expected = f"expected one of {known}, or a range: {_SYNTAX}"
        raise RangeError(f"holds {element!r}: {expected}")
    first = 0
    last = len(MINORS) - 1
    if match["first"]:
        first = _place(element, match["first"])
    if match["last"]:
        last = _place(element, match["last"])
    if last <= first and match["first"] and match["last"]:
        expected = (
            "expected a range to end after it begins; one minor is written by its name"
        )
        raise RangeError(f"holds {element!r}: {expected}")
    chosen = MINORS[first : last + 1]
    return tuple(f"kueue-{minor}" for minor in chosen)


def _place(element: str, minor: str) -> int:
    if minor not in MINORS:
        known = ", ".join(MINORS)
        problem = f"found minor {minor}; expected one of {known}"
        raise RangeError(f"holds {element!r}: {problem}")
    return MINORS.index(minor)


def _runs(minors: Iterable[str]) -> Iterator[list[str]]:
    run: list[str] = []
    for minor in minors:
        before = MINORS.index(minor) - 1
        if run and run[-1] != MINORS[before]:
            yield run
            run = []
        run.append(minor)
    if run:
        yield run


def _written(run: list[str]) -> str:
    first = run[0]
    last = run[-1]
    if first == last:
        return f"kueue-{first}"
    if first == MINORS[0]:
        first = ""
    if last == MINORS[-1]:
        last = ""
    return f"kueue-{first}..{last}"
