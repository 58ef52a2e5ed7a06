"""Printing of whole values inside field errors: as Go's JSON writes the API server's types, internal or not.

Kubernetes: k8s.io/apimachinery/pkg/util/validation/field/errors.go (ErrorBody)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kueue_dra_ref.api.names import printed
from kueue_dra_ref.api.unstructured import Object
from kueue_dra_ref.apiserver.go_types import (
    GoField,
    GoMap,
    GoScalar,
    GoSlice,
    GoStruct,
    GoType,
    Shape,
)
from kueue_dra_ref.apiserver.schema_claims import OBJECT_META

_NEVER_LEFT_OUT = ("name", "deviceClassName", "counterSet", "expression", "driver")


def internal(value: Any, shape: Shape, minor: int) -> str:
    """Print a value with every field that its type has, under Go's names, those that are unset too."""
    if value is None:
        return "null"
    match shape:
        case GoScalar():
            return _as_written(value)
        case GoSlice(element):
            return _array(internal(each, element, minor) for each in value)
        case GoMap(element):
            return _object(_entries(value, element, minor))
        case GoStruct():
            return _object(_inner(value, shape, minor))


def _object(members: Iterable[str]) -> str:
    return "{" + ",".join(members) + "}"


def _array(elements: Iterable[str]) -> str:
    return "[" + ",".join(elements) + "]"


def _member(key: str, value: str) -> str:
    return f"{printed(key)}:{value}"


def external(value: Any, shape: Shape, *, flat: bool) -> str:
    """Print a value of v1's shape as a client would write it, without what is unset; ``flat`` opens ``exactly``."""
    match shape:
        case GoSlice(element):
            return _array(external(each, element, flat=flat) for each in value)
        case GoMap(element):
            members = []
            for key in sorted(value):
                found = external(value[key], element, flat=flat)
                members.append(_member(key, found))
            return _object(members)
        case GoStruct():
            return _object(_written(value, shape, flat=flat))
        case GoScalar():
            return _as_written(value)


def _written(value: Object, shape: GoStruct, *, flat: bool) -> Iterator[str]:
    for field in shape.fields:
        found = value.get(field.key)
        opens = flat and field.key == "exactly"
        if opens and isinstance(field.shape, GoStruct):
            yield from _written(found or {}, field.shape, flat=flat)
        elif field.key in _NEVER_LEFT_OUT:
            yield _member(field.key, printed(found or ""))
        elif _is_written(found, field):
            text = external(found, field.shape, flat=flat)
            yield _member(field.key, text)


def _is_written(value: Any, field: GoField) -> bool:
    if value is None:
        return False
    return field.pointer or value not in ("", 0, [], {})


def _entries(value: Object, element: Shape, minor: int) -> Iterator[str]:
    for key in sorted(value):
        found = internal(value[key], element, minor)
        yield _member(key, found)


def _inner(value: Object, shape: GoStruct, minor: int) -> Iterator[str]:
    for key, field in shape.known(minor).items():
        found = value.get(key)
        if field.shape is OBJECT_META:
            # Embedded in the internal type, where it keeps the names of its own fields.
            for name, each in _meta(found or {}).items():
                yield _member(name, printed(each))
        elif found is None and not field.pointer:
            yield _member(field.name, _empty(field.shape, minor))
        else:
            text = internal(found, field.shape, minor)
            yield _member(field.name, text)


def _empty(shape: Shape, minor: int) -> str:
    match shape:
        case GoScalar(GoType.TEXT):
            return '""'
        case GoScalar(GoType.WHOLE):
            return "0"
        case GoStruct():
            return _object(_inner({}, shape, minor))
        case _:
            return "null"


def _meta(meta: Object) -> Object:
    return {
        field.key: meta[field.key]
        for field in OBJECT_META.fields
        if meta.get(field.key)
    }


def _as_written(value: Any) -> str:
    """Print a plain value, or JSON that was kept as it came, its keys in their order."""
    match value:
        case dict():
            members = []
            for key, each in value.items():
                members.append(_member(key, _as_written(each)))
            return _object(members)
        case list():
            return _array(map(_as_written, value))
        case _:
            return printed(value)
