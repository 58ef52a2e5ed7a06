"""Strict decoding, as Kubernetes decodes a component's configuration: the first wrong type, or every unknown key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from kueue_dra_ref.api.quantities import BadQuantity, parse
from kueue_dra_ref.api.schema_config import Keys, ListKey, MapKey, OneOf, Scalar, Shape
from kueue_dra_ref.target import FieldError

_DURATION = re.compile(r"[-+]?(0|((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)")
_TYPES = {
    Scalar.FLAG: (bool,),
    Scalar.TEXT: (str,),
    Scalar.WHOLE: (int,),
    Scalar.NUMBER: (int, float),
}
_FOUND = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "an object",
}


class ConfigLocation(NamedTuple):
    """A value of a document, and its shape unless its key is unknown."""

    value: Any
    shape: Shape | None
    path: str


def decoding_faults(document: dict[str, Any], keys: Keys) -> tuple[FieldError, ...]:
    """Report what a strict decoder refuses: a wrong type alone, since it ends decoding, or all unknown keys together.

    The ``field`` of a wrong type has no indexes, because Go's decoder names none; its detail has the exact place.
    """
    places = _places(document, keys)
    if wrong := next((place for place in places if not _fits(place)), None):
        return (_mismatch(wrong),)
    return tuple(
        FieldError(field=place.path, type="Unknown field")
        for place in places
        if place.shape is None
    )


def unknown_keys(document: dict[str, Any], keys: Keys) -> Iterator[str]:
    """Give the path of every key that has no shape, and a value."""
    return (
        place.path
        for place in _places(document, keys)
        if place.shape is None and place.value is not None
    )


def misfits(document: dict[str, Any], keys: Keys) -> Iterator[ConfigLocation]:
    """Give every value of another type than its shape's; keys without a shape are skipped."""
    for place in _places(document, keys):
        if not _fits(place) or (place.value is None and _is_element(place)):
            yield place


def expectation(shape: Shape | None) -> str:
    """Say what a shape wants, in words for a person."""
    match shape:
        case Scalar() as scalar:
            return scalar.value
        case OneOf(words):
            return f"one of {', '.join(words)}"
        case ListKey():
            return "a list"
        case _:
            return "an object"


def _places(document: dict[str, Any], keys: Keys) -> list[ConfigLocation]:
    """Walk depth first by sorted key, the order in which Go meets the keys."""
    found: list[ConfigLocation] = []
    _walk(document, keys, "", found)
    return found


def _walk(
    value: Any, shape: Shape | None, path: str, found: list[ConfigLocation]
) -> None:
    """Add a value and all that is in it; a list is handed on, for there are many places and few are at fault."""
    found.append(ConfigLocation(value, shape, path))
    match shape, value:
        case ListKey(), list():
            for index, element in enumerate(value):
                _walk(element, shape.element, f"{path}[{index}]", found)
        case MapKey(), dict():
            for key in sorted(value):
                _walk(value[key], shape.value, f"{path}[{key}]", found)
        case dict(), dict():
            for key in sorted(value):
                _walk(
                    value[key], shape.get(key), f"{path}.{key}" if path else key, found
                )


def _fits(place: ConfigLocation) -> bool:
    """Compare a value with its shape; null is the empty value of every type."""
    match place.shape:
        case _ if place.value is None:
            return True
        case Scalar() as scalar:
            return _fits_scalar(place.value, scalar)
        case OneOf(words):
            return place.value in words
        case ListKey():
            return isinstance(place.value, list)
        case MapKey() | dict():
            return isinstance(place.value, dict)
        case _:
            return True


def _is_element(place: ConfigLocation) -> bool:
    return place.shape not in (None, Scalar.ANYTHING) and place.path.endswith("]")


def _fits_scalar(value: Any, scalar: Scalar) -> bool:
    match scalar:
        case Scalar.ANYTHING:
            return True
        case Scalar.DURATION:
            return isinstance(value, str) and _DURATION.fullmatch(value) is not None
        case Scalar.QUANTITY:
            return type(value) in (int, float, str) and _is_quantity(value)
        case _:
            return type(value) in _TYPES[scalar]


def _is_quantity(value: str | int | float) -> bool:
    try:
        parse(value)
    except BadQuantity:
        return False
    return True


def _mismatch(place: ConfigLocation) -> FieldError:
    found, expected = (
        _FOUND.get(type(place.value), "something else"),
        expectation(place.shape),
    )
    return FieldError(
        field=re.sub(r"\[[^\]]*\]", "", place.path),
        type="Wrong type",
        detail=f"found {found}, expected {expected} at {place.path}",
    )
