"""Compare two reports of the same suite, apart from the target, the date and durations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

IGNORED = frozenset(
    {"target", "date", "durationSeconds", "message", "evidence", "log", "python"}
)
"""Keys that differ between any two runs: they have times, UIDs and addresses of objects in memory."""
ABSENT = "(absent)"
Object = Mapping[str, Any]
Entries = list[Any]
Lines = Iterator[str]


class Pair(NamedTuple):
    """The values of two reports at one place."""

    left: Any
    right: Any
    at: str

    @property
    def change(self) -> str:
        """The place, and both values."""
        left = _shown(self.left)
        right = _shown(self.right)
        return f"{self.at}: {left} -> {right}"


Pairs = Iterator[Pair]


def differences(a: Object, b: Object) -> list[str]:
    """List where two reports differ, one line per place: ``checks[quota/test_x::test_y].outcome: 'passed' -> ...``."""
    pair = Pair(a, b, "")
    return list(_between(pair))


def _between(pair: Pair) -> Lines:
    left = pair.left
    right = pair.right
    if _both(Mapping, pair):
        for inner in _by_key(left, right, pair.at):
            yield from _between(inner)
    elif not _both(list, pair):
        if left != right:
            yield pair.change
    elif _are_values(left) and _are_values(right):
        yield from _between_values(pair)
    else:
        for inner in _by_name(left, right, pair.at):
            yield from _between(inner)


def _both(kind: type, pair: Pair) -> bool:
    if not isinstance(pair.left, kind):
        return False
    return isinstance(pair.right, kind)


def _by_key(a: Object, b: Object, at: str) -> Pairs:
    """Pair the values of two objects by key."""
    keys = {*a, *b} - IGNORED
    for key in sorted(keys):
        yield Pair(
            left=a.get(key, ABSENT),
            right=b.get(key, ABSENT),
            at=f"{at}.{key}" if at else key,
        )


def _by_name(a: Entries, b: Entries, at: str) -> Pairs:
    """Pair the entries of two lists by id or name; an entry that has neither, by position."""
    left = _named(a)
    right = _named(b)
    for key in {**left, **right}:
        yield Pair(
            left=left.get(key, ABSENT),
            right=right.get(key, ABSENT),
            at=f"{at}[{key}]",
        )


def _between_values(pair: Pair) -> Lines:
    """List the values that only one of two lists has; print both lists if they differ in order or repetition."""
    only_left = [one for one in pair.left if one not in pair.right]
    only_right = [one for one in pair.right if one not in pair.left]
    for value in only_left:
        yield Pair(value, ABSENT, pair.at).change
    for value in only_right:
        yield Pair(ABSENT, value, pair.at).change
    if only_left or only_right:
        return
    if pair.left != pair.right:
        yield pair.change


def _are_values(entries: Entries) -> bool:
    """Whether no entry is an object or a list."""
    return not any(isinstance(entry, Mapping | list) for entry in entries)


def _named(entries: Entries) -> dict[object, Any]:
    found: dict[object, Any] = {}
    for number, entry in enumerate(entries):
        key: object = number
        if isinstance(entry, Mapping):
            name = entry.get("name", number)
            key = entry.get("id", name)
        found[key] = entry
    return found


def _shown(value: object) -> str:
    if value == ABSENT:
        return ABSENT
    return repr(value)
