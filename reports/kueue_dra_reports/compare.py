"""What differs between two reports of the same suite, apart from the target, the date and durations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

IGNORED = frozenset({"date", "durationSeconds"})
"""Keys that differ between any two runs, at any depth."""
ABSENT = "(absent)"


def differences(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    """List where two reports differ, one line per place: ``checks[quota/test_x::test_y].outcome: 'passed' -> ...``."""
    return _between(_judged(a), _judged(b), "")


def _judged(report: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in report.items() if key != "target"}


def _between(a: object, b: object, at: str) -> list[str]:
    match a, b:
        case Mapping(), Mapping():
            keys = sorted((set(a) | set(b)) - IGNORED)
            pairs = (
                (
                    a.get(key, ABSENT),
                    b.get(key, ABSENT),
                    f"{at}.{key}" if at else str(key),
                )
                for key in keys
            )
        case [*_], [*_] if _plain(a) and _plain(b):
            return _between_plain(a, b, at)
        case [*_], [*_]:
            pairs = _pad(a, b, at)
        case _:
            return [] if a == b else [f"{at}: {_shown(a)} -> {_shown(b)}"]
    return [
        line for left, right, place in pairs for line in _between(left, right, place)
    ]


def _plain(entries: Sequence[object]) -> bool:
    return not any(isinstance(entry, Mapping | list) for entry in entries)


def _between_plain(a: Sequence[object], b: Sequence[object], at: str) -> list[str]:
    """Say which values only one of two lists has; lists that differ in order or repetition are shown whole."""
    gone = [f"{at}: {_shown(one)} -> {ABSENT}" for one in a if one not in b]
    new = [f"{at}: {ABSENT} -> {_shown(one)}" for one in b if one not in a]
    return (
        gone + new if gone or new or a == b else [f"{at}: {_shown(a)} -> {_shown(b)}"]
    )


def _pad(a: Sequence[Any], b: Sequence[Any], at: str) -> Any:
    """Pair list entries by their id or name where they have one, by position otherwise."""
    left, right = _named(a), _named(b)
    return (
        (left.get(key, ABSENT), right.get(key, ABSENT), f"{at}[{key}]")
        for key in {**left, **right}
    )


def _named(entries: Sequence[Any]) -> dict[object, Any]:
    return {_key(number, entry): entry for number, entry in enumerate(entries)}


def _key(number: int, entry: object) -> object:
    if not isinstance(entry, Mapping):
        return number
    return entry.get("id", entry.get("name", number))


def _shown(value: object) -> str:
    return ABSENT if value == ABSENT else repr(value)
