"""Limits that a CustomResourceDefinition sets on the fields of a kind, in the words of the API server."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from kueue_dra_ref.api.names import LABEL, MAX_LABEL, MAX_SUBDOMAIN, SUBDOMAIN, printed
from kueue_dra_ref.target import FieldError

Faults = Iterator[FieldError]
Places = list[tuple[str, Any]]
"""Paths and the values there."""


class _Part(NamedTuple):
    """A part of a path between lists: its printed form, and the keys that it names."""

    name: str
    keys: tuple[str, ...]

    def add_below(self, value: Any, path: str, found: Places) -> None:
        """Follow the keys to a value and add it, if there is one."""
        for key in self.keys:
            if not isinstance(value, dict):
                return
            value = value.get(key)
            if value is None:
                return
        found.append((path + self.name, value))


def places(obj: Any, path: str, of: type | tuple[type, ...] = object) -> Places:
    """Give each value of a type that a path such as ``spec.podSets[].name`` leads to, with its own path; "" is here."""
    first, *inner = _parts(path)
    found: Places = []
    first.add_below(obj, "", found)
    for part in inner:
        if not found:
            break
        found = _in_elements(found, part)
    return [(at, value) for at, value in found if isinstance(value, of)]


def _in_elements(lists: Places, part: _Part) -> Places:
    """Follow the keys of a part from each element of the lists among some values."""
    found: Places = []
    for at, values in lists:
        if not isinstance(values, list):
            continue
        for index, each in enumerate(values):
            part.add_below(each, f"{at}[{index}]", found)
    return found


@cache
def _parts(path: str) -> tuple[_Part, ...]:
    """Split a path at its lists."""
    found = []
    for name in path.split("[]"):
        keys: tuple[str, ...] = ()
        if name:
            keys = tuple(name.removeprefix(".").split("."))
        found.append(_Part(name, keys))
    return tuple(found)


def fill(obj: Any, path: str, value: str) -> None:
    """Write a value where a path leads to and nothing is."""
    above, _, key = path.rpartition(".")
    for _, holder in places(obj, above):
        holder.setdefault(key, value)


def drop(obj: Any, path: str) -> None:
    """Remove what a path leads to."""
    above, _, key = path.rpartition(".")
    for _, holder in places(obj, above):
        holder.pop(key, None)


def at_least(obj: Any, path: str, least: int) -> Faults:
    """Refuse lists with fewer elements."""
    for at, values in places(obj, path, list):
        count = len(values)
        if count < least:
            detail = f"{at} in body should have at least {least} items"
            yield invalid(at, detail, str(count))


def at_most(obj: Any, path: str, most: int) -> Faults:
    """Refuse lists and maps with more elements."""
    sized = (list, dict)
    for at, values in places(obj, path, sized):
        count = len(values)
        if count > most:
            yield FieldError(
                field=at,
                type="Too many",
                value=str(count),
                detail=f"must have at most {most} items",
            )


def missing(obj: Any, path: str, *keys: str) -> Faults:
    """Refuse an object without one of the keys."""
    for at, value in places(obj, path, dict):
        for key in keys:
            if key in value:
                continue
            field = f"{at}.{key}".lstrip(".")
            yield FieldError(field=field, type="Required value")


def other_words(obj: Any, path: str, words: Sequence[str]) -> Faults:
    """Refuse a value that is not in an enumeration."""
    supported = ", ".join(map(printed, words))
    for at, value in places(obj, path):
        if value in words:
            continue
        # The decoder dropped the fields of an object in the place of a text.
        shown = {} if isinstance(value, dict) else value
        yield FieldError(
            field=at,
            type="Unsupported value",
            value=printed(shown),
            detail=f"supported values: {supported}",
        )


def no_object_names(obj: Any, path: str, field: str = "", *, least: int = 0) -> Faults:
    """Refuse texts that are no object name, or have fewer characters than ``least``.

    ``field`` is what the path is called where that is something else.
    """
    for place, value in places(obj, path, str):
        at = field or place
        yield from _unlike(value, at, SUBDOMAIN, MAX_SUBDOMAIN, least)


def no_labels(obj: Any, path: str) -> Faults:
    """Refuse what is no DNS label."""
    for place, value in places(obj, path, str):
        yield from _unlike(value, place, LABEL, MAX_LABEL)


def _unlike(value: str, at: str, pattern: str, most: int, least: int = 0) -> Faults:
    """Refuse a text for its length, or else for its characters, as an API server stops at the first."""
    if len(value) > most:
        yield FieldError(
            field=at,
            type="Too long",
            detail=f"may not be more than {most} bytes",
        )
    elif len(value) < least:
        detail = f"{at} in body should be at least {least} chars long"
        yield invalid(at, detail, printed(value))
    elif not re.fullmatch(pattern, value):
        detail = f"{at} in body should match '^{pattern}$'"
        yield invalid(at, detail, printed(value))


def repeated(obj: Any, path: str, key: str) -> Faults:
    """Refuse a key that two elements of one list have; a key that more elements have is reported once."""
    for at, values in places(obj, path, list):
        seen: Counter[str] = Counter()
        for index, value in enumerate(values):
            name = _text_of(value, key)
            if name is None:
                continue
            seen[name] += 1
            if seen[name] == 2:
                yield FieldError(
                    field=f"{at}[{index}]",
                    type="Duplicate value",
                    value=printed({key: name}),
                )


def immutable(old: Any, new: Any, key: str) -> Faults:
    """Refuse another value of a field of the spec; one that is absent on either side is not compared."""
    before = (old.get("spec") or {}).get(key)
    after = (new.get("spec") or {}).get(key)
    if None not in (before, after) and before != after:
        yield invalid(f"spec.{key}", "field is immutable", printed(after))


def _text_of(value: Any, key: str) -> str | None:
    if not isinstance(value, dict):
        return None
    found = value.get(key)
    return found if isinstance(found, str) else None


def invalid(field: str, detail: str, value: str | None = None) -> FieldError:
    """Make the error of a field with an invalid value."""
    return FieldError(
        field=field,
        type="Invalid value",
        value=value,
        detail=detail,
    )
