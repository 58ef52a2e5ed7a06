"""Ranges of Kueue's releases in the catalogue: ``kueue-0.18..`` and the like, read strictly and printed compactly."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from kueue_dra_ref.behaviours.releases import (
    KUEUE,
    MINORS,
    RELEASES,
    TEXTS,
    VARIATIONS,
    RegisteredRelease,
    minor_of,
    numbers,
    releases_of,
)

NOT = "not "
"""How an element begins that leaves an open text out."""
_VERSION = r"\d+\.\d+(?:\.\d+)?"
_RANGE = re.compile(rf"kueue-(?P<first>{_VERSION})?\.\.(?P<last>{_VERSION})?")
_ONE = re.compile(rf"kueue-({_VERSION})")
_SYNTAX = (
    "kueue-0.17.. (and later), kueue-..0.17 (and earlier), kueue-0.16..0.18 (both included), kueue-0.19.3.. (a patch, "
    "and later) or kueue-.. (all)"
)


class RangeError(ValueError):
    """An element of ``holds`` that cannot be read: what was found and what was expected."""


def expanded(written: Iterable[str]) -> tuple[str, ...]:
    """Expand the elements of a ``holds`` to the names of behaviours.

    A minor, alone or as an end of a range, includes all of its patches. What holds in a release holds in the open texts
    that vary it, unless ``not kep-2026-09`` leaves one out.

    Raises:
        RangeError: an element is no name and no range, a range names an unknown release, includes none or ends before
            it begins, or a name is there twice.

    """
    found: list[str] = []
    left_out: list[str] = []
    for element in written:
        if element.removeprefix(NOT) in VARIATIONS and element.startswith(NOT):
            left_out.append(element.removeprefix(NOT))
            continue
        for name in _names(element):
            if name in found:
                raise RangeError(f"holds {element!r}: {name} stands there twice")
            found.append(name)
    for text, release in VARIATIONS.items():
        if release in found and text not in (*left_out, *found):
            found.append(text)
    return tuple(found)


def compact(names: Iterable[str]) -> tuple[str, ...]:
    """Write names of behaviours compactly: consecutive releases as a range, all patches of a minor as the minor."""
    given = tuple(names)
    releases = {each.name for each in RELEASES}
    written = []
    for name in given:
        if name not in releases and VARIATIONS.get(name) not in given:
            written.append(name)
    for run in _runs(set(given)):
        written.append(_written(run))
    for text, release in VARIATIONS.items():
        if release in given and text not in given:
            written.append(f"{NOT}{text}")
    return tuple(written)


def _names(element: str) -> tuple[str, ...]:
    if element in TEXTS or element in VARIATIONS:
        return (element,)
    one = _ONE.fullmatch(element)
    if one:
        version = one[1]
        _check_minor(element, version)
        return _between(element, version, version)
    match = _RANGE.fullmatch(element)
    if match is None:
        names = [*TEXTS]
        names += (each.name for each in RELEASES)
        expected = f"expected one of {', '.join(names)}, or a range: {_SYNTAX}"
        raise RangeError(f"holds {element!r}: {expected}")
    return _range(element, match)


def _range(element: str, match: re.Match[str]) -> tuple[str, ...]:
    first = match["first"] or MINORS[0]
    last = match["last"] or MINORS[-1]
    _check_minor(element, first)
    _check_minor(element, last)
    has_both = match["first"] and match["last"]
    if has_both and _is_empty(first, last):
        expected = (
            "expected a range to end after it begins; one minor is written by its name"
        )
        raise RangeError(f"holds {element!r}: {expected}")
    return _between(element, first, last)


def _is_empty(first: str, last: str) -> bool:
    """Whether a range ends before it begins, or where it begins."""
    highest = numbers(last)
    size = len(highest)
    return first == last or numbers(first)[:size] > highest


def _check_minor(element: str, version: str) -> None:
    minor = minor_of(version)
    if minor not in MINORS:
        known = ", ".join(MINORS)
        problem = f"found minor {minor}; expected one of {known}"
        raise RangeError(f"holds {element!r}: {problem}")


def _between(element: str, first: str, last: str) -> tuple[str, ...]:
    """Give the releases from a version to another, whose end without a patch includes all patches."""
    lowest = numbers(first)
    highest = numbers(last)
    size = len(highest)
    found = []
    for each in RELEASES:
        is_later = each.numbers >= lowest
        if is_later and each.numbers[:size] <= highest:
            found.append(each.name)
    if not found:
        known = ", ".join(each.version for each in RELEASES)
        raise RangeError(f"holds {element!r}: no release; expected one of {known}")
    return tuple(found)


def _runs(wanted: set[str]) -> Iterator[list[RegisteredRelease]]:
    run: list[RegisteredRelease] = []
    for release in RELEASES:
        if release.name in wanted:
            run.append(release)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _written(run: list[RegisteredRelease]) -> str:
    """Write consecutive releases; an end at the first or last patch of a minor is written as the minor."""
    first = run[0]
    last = run[-1]
    of_minor = releases_of(first.minor)
    if run == of_minor:
        return f"{KUEUE}{first.minor}"
    if first is last:
        return first.name
    lower = "" if first is RELEASES[0] else _end(first, of_minor[0])
    upper = "" if last is RELEASES[-1] else _upper(last, lower)
    return f"{KUEUE}{lower}..{upper}"


def _upper(last: RegisteredRelease, lower: str) -> str:
    if minor_of(lower) == last.minor:
        return last.version
    of_minor = releases_of(last.minor)
    return _end(last, of_minor[-1])


def _end(release: RegisteredRelease, outermost: RegisteredRelease) -> str:
    return release.minor if release is outermost else release.version
