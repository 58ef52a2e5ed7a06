"""Limits that a definition sets on the fields of a kind, in the words of the API server that holds objects to them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from kueue_dra_ref.api.names import LABEL, MAX_LABEL, MAX_SUBDOMAIN, SUBDOMAIN, printed
from kueue_dra_ref.target import FieldError

Faults = Iterator[FieldError]


def places(
    obj: Any, path: str, of: type | tuple[type, ...] = object
) -> list[tuple[str, Any]]:
    """Give each value of a type that a path such as ``spec.podSets[].name`` leads to, with its own path; "" is here."""
    (name, keys), *inner = _parts(path)
    found = [(name, value) for value in _below(obj, keys)]
    for name, keys in inner:
        if not found:
            break
        found = [
            (f"{at}[{index}]{name}", value)
            for at, values in found
            if isinstance(values, list)
            for index, each in enumerate(values)
            for value in _below(each, keys)
        ]
    return [(at, value) for at, value in found if isinstance(value, of)]


@cache
def _parts(path: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Divide a path where lists are: what is printed of each part, and the keys that it names."""
    return tuple(
        (part, tuple(part.removeprefix(".").split(".")) if part else ())
        for part in path.split("[]")
    )


def _below(value: Any, keys: tuple[str, ...]) -> tuple[Any, ...]:
    """Follow keys to the value that is there, if one is."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
        if value is None:
            return ()
    return (value,)


def fill(obj: Any, path: str, value: str) -> None:
    """Write a value where a path leads to and nothing is."""
    above, _, key = path.rpartition(".")
    for _, holder in places(obj, above):
        holder.setdefault(key, value)


def drop(obj: Any, path: str) -> None:
    """Take away what a path leads to."""
    above, _, key = path.rpartition(".")
    for _, holder in places(obj, above):
        holder.pop(key, None)


def at_least(obj: Any, path: str, least: int) -> Faults:
    """Refuse lists of fewer."""
    for at, values in places(obj, path, list):
        if len(values) < least:
            yield invalid(
                at, f"{at} in body should have at least {least} items", str(len(values))
            )


def at_most(obj: Any, path: str, most: int) -> Faults:
    """Refuse lists, and maps, of more."""
    for at, values in places(obj, path, (list, dict)):
        if (found := len(values)) > most:
            yield FieldError(
                field=at,
                type="Too many",
                value=str(found),
                detail=f"must have at most {most} items",
            )


def too_short(obj: Any, path: str, least: int) -> Faults:
    """Refuse texts of fewer characters."""
    for at, value in places(obj, path, str):
        if len(value) < least:
            yield invalid(
                at,
                f"{at} in body should be at least {least} chars long",
                printed(value),
            )


def missing(obj: Any, path: str, *keys: str) -> Faults:
    """Refuse an object that lacks one of the keys."""
    for at, value in places(obj, path, dict):
        yield from (
            FieldError(field=f"{at}.{key}".lstrip("."), type="Required value")
            for key in keys
            if key not in value
        )


def other_words(obj: Any, path: str, words: Sequence[str]) -> Faults:
    """Refuse any other word."""
    for at, value in places(obj, path):
        if value not in words:
            shown = printed(
                {} if isinstance(value, dict) else value
            )  # fields that no text has were dropped
            supported = f"supported values: {', '.join(map(printed, words))}"
            yield FieldError(
                field=at, type="Unsupported value", value=shown, detail=supported
            )


def no_object_names(obj: Any, path: str, field: str = "") -> Faults:
    """Refuse what no object can be called; ``field`` is what the path is called where that is something else."""
    for place, value in places(obj, path, str):
        yield from _unlike(value, field or place, SUBDOMAIN, MAX_SUBDOMAIN)


def no_labels(obj: Any, path: str) -> Faults:
    """Refuse what is no DNS label."""
    for place, value in places(obj, path, str):
        yield from _unlike(value, place, LABEL, MAX_LABEL)


def _unlike(value: str, at: str, pattern: str, most: int) -> Faults:
    if len(value) > most:
        yield FieldError(
            field=at, type="Too long", detail=f"may not be more than {most} bytes"
        )
    if not re.fullmatch(pattern, value):
        yield invalid(at, f"{at} in body should match '^{pattern}$'", printed(value))


def repeated(obj: Any, path: str, key: str) -> Faults:
    """Refuse a key that two elements of one list have; it is told once."""
    for at, values in places(obj, path, list):
        names = [
            value.get(key) if isinstance(value, dict) else None for value in values
        ]
        for name in dict.fromkeys(
            name for name in names if isinstance(name, str) and names.count(name) > 1
        ):
            second = names.index(name, names.index(name) + 1)
            yield FieldError(
                field=f"{at}[{second}]",
                type="Duplicate value",
                value=printed({key: name}),
            )


def invalid(field: str, detail: str, value: str | None = None) -> FieldError:
    """Say what is wrong with a field."""
    return FieldError(field=field, type="Invalid value", value=value, detail=detail)
