"""Types of custom resources: what the API server says of a value that is not of the type that a definition gives it.

Kubernetes: k8s.io/apiextensions-apiserver/pkg/apiserver/validation/validation.go (ValidateCustomResource)
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

from kueue_dra_ref.api.names import printed
from kueue_dra_ref.api.quantities import clamp
from kueue_dra_ref.api.unstructured import Object
from kueue_dra_ref.apiserver.fielderrors import Errors, invalid_as
from kueue_dra_ref.apiserver.go_types import (
    LAST,
    GoMap,
    GoScalar,
    GoSlice,
    GoStruct,
    GoType,
    Shape,
)
from kueue_dra_ref.target import FieldError

_NAMES = {
    GoType.TEXT: "string",
    GoType.FLAG: "boolean",
    GoType.WHOLE: "integer",
    GoType.TIME: "string",
}
_EXACT = 2**sys.float_info.mant_dig
"""A float is a whole number only where each whole number is a float of its own."""
_AMOUNT = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)


def misfits(value: Any, shape: Shape, path: str = "") -> Errors:
    """Say of each value inside that it has another type; null is the same as absent, but in a list.

    A number with a fraction of zero is a ``whole number``, which is an integer wherever one is wanted.
    """
    match shape, value:
        case GoScalar(), _:
            yield from _plain(value, shape, path)
        case GoSlice(), list():
            yield from _in_list(value, shape, path)
        case GoStruct() | GoMap(), dict():
            yield from _in_object(value, shape, path)
        case _:
            yield _other(
                value, "array" if isinstance(shape, GoSlice) else "object", path
            )


def unknown_fields(value: Any, shape: Shape) -> list[str]:
    """Give the path of each field, unless null, that the types do not have; an API server drops it."""
    dropped: list[str] = []
    pruned(value, shape, "", dropped)
    return dropped


def pruned(value: Any, shape: Shape, path: str, dropped: list[str]) -> Any:
    """Give what the types have of a value; the path of each other field, unless null, goes to ``dropped``."""
    match shape, value:
        case GoSlice(element), list():
            return [
                pruned(each, element, f"{path}[{index}]", dropped)
                for index, each in enumerate(value)
            ]
        case GoMap(element), dict():
            return {
                key: pruned(each, element, f"{path}.{key}", dropped)
                for key, each in value.items()
            }
        case GoStruct(), dict():
            return {key: each for key, each in _known(value, shape, path, dropped)}
        case _:
            return value


def _known(
    value: Object, shape: GoStruct, path: str, dropped: list[str]
) -> Iterator[tuple[str, Any]]:
    known = shape.known(LAST)
    for key, each in value.items():
        here = f"{path}.{key}".removeprefix(".")
        if key in known:
            yield key, pruned(each, known[key].shape, here, dropped)
        elif each is not None:
            dropped.append(here)


def _in_list(values: list[Any], shape: GoSlice, path: str) -> Errors:
    for index, each in enumerate(values):
        yield from misfits(each, shape.element, f"{path}[{index}]")
    yield from _no_objects(values, path) if shape.keyed else ()


def _in_object(found: Object, shape: GoStruct | GoMap, path: str) -> Errors:
    known = (
        {field.key: field.shape for field in shape.fields}
        if isinstance(shape, GoStruct)
        else {}
    )
    for key, each in found.items():
        element = shape.value if isinstance(shape, GoMap) else known.get(key)
        if element is not None and each is not None:
            yield from misfits(each, element, f"{path}.{key}".lstrip("."))


def _plain(value: Any, shape: GoScalar, path: str) -> Errors:
    if shape.holds is GoType.QUANTITY:
        yield from _amount(value, path)
    elif shape.holds is not GoType.ANYTHING:
        yield from _scalar(value, shape, path)


def _scalar(value: Any, shape: GoScalar, path: str) -> Errors:
    wanted, found = _NAMES[shape.holds], _name(value)
    if wanted == "integer" and found in ("boolean", "object", "number"):
        shown = '"float64"' if found == "number" else '""'
        yield invalid_as(
            path, shown, f"{path} in body must be of type {shape.go}: {shown}"
        )
        if isinstance(value, float):
            yield _unchecked(path, f"with format {shape.go}")
    elif found != wanted and not (wanted == "integer" and found == "whole number"):
        yield _other(value, wanted, path)


def _unchecked(path: str, words: str) -> FieldError:
    detail = f"Checked value must be of type integer {words} in {path}"
    return invalid_as("<nil>", '""', detail)


def _amount(value: Any, path: str) -> Errors:
    match _name(value):
        case "integer" | "whole number":
            return
        case "string":
            if not re.search(_AMOUNT, value):
                yield invalid_as(
                    path, printed(value), f"{path} in body should match '{_AMOUNT}'"
                )
        case found:
            yield _other(value, "integer,string", path)
            yield invalid_as(
                "<nil>", '""', f'"{path}" must validate at least one schema (anyOf)'
            )
            yield _other(value, "integer", path)
            if found == "number":
                yield _unchecked(path, "(default format)")


def _no_objects(values: list[Any], path: str) -> Iterator[FieldError]:
    for index, each in enumerate(values):
        if each is not None and not isinstance(each, dict):
            yield invalid_as(
                f"{path}[{index}]",
                printed(each),
                "must be an object for an array of list-type map",
            )


def _other(value: Any, wanted: str, path: str) -> FieldError:
    found = f'"{_name(value).removeprefix("whole ")}"'
    return invalid_as(path, found, f"{path} in body must be of type {wanted}: {found}")


def _name(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return _number(value)
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def _number(value: int | float) -> str:
    if isinstance(value, int):
        return "integer" if clamp(value) == value else "number"
    is_whole = value.is_integer() and abs(value) < _EXACT
    return "whole number" if is_whole else "number"
