"""Printing of whole values inside field errors: as Go's JSON writes the API server's types, internal or not.

Kubernetes: k8s.io/apimachinery/pkg/util/validation/field/errors.go (ErrorBody)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kueue_dra_ref.api.names import printed
from kueue_dra_ref.api.unstructured import Object
from kueue_dra_ref.apiserver.go_types import (
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
    return (
        f"{{{_inner(value, shape, minor)}}}"
        if isinstance(shape, GoStruct)
        else _print(value, shape, minor)
    )


def external(value: Any, shape: Shape, *, flat: bool) -> str:
    """Print a value of v1's shape as a client would write it, without what is unset; ``flat`` opens ``exactly``."""
    match shape:
        case GoSlice(element):
            return f"[{','.join(external(each, element, flat=flat) for each in value)}]"
        case GoMap(element):
            each = (
                f"{printed(key)}:{external(value[key], element, flat=flat)}"
                for key in sorted(value)
            )
            return f"{{{','.join(each)}}}"
        case GoStruct():
            return f"{{{','.join(_written(value, shape, flat=flat))}}}"
        case _:
            return _print(value, shape, 0)


def _written(value: Object, shape: GoStruct, *, flat: bool) -> Iterator[str]:
    for field in shape.fields:
        found = value.get(field.key)
        if flat and field.key == "exactly" and isinstance(field.shape, GoStruct):
            yield from _written(found or {}, field.shape, flat=flat)
        elif field.key in _NEVER_LEFT_OUT:
            yield f"{printed(field.key)}:{printed(found or '')}"
        elif found is not None and (field.pointer or found not in ("", 0, [], {})):
            yield f"{printed(field.key)}:{external(found, field.shape, flat=flat)}"


def _print(value: Any, shape: Shape, minor: int) -> str:
    match shape:
        case _ if value is None:
            return "null"
        case GoScalar(GoType.ANYTHING):
            return _as_written(value)
        case GoScalar():
            return printed(value)
        case GoSlice(element):
            return f"[{','.join(_print(each, element, minor) for each in value)}]"
        case GoMap(element):
            return f"{{{','.join(f'{printed(key)}:{_print(value[key], element, minor)}' for key in sorted(value))}}}"
        case GoStruct():
            return f"{{{_inner(value, shape, minor)}}}"


def _inner(value: Object, shape: GoStruct, minor: int) -> str:
    parts: list[str] = []
    for key, field in shape.known(minor).items():
        if field.shape is OBJECT_META:
            # Embedded in the internal type, where it keeps the names of its own fields.
            parts.extend(
                f"{printed(k)}:{printed(v)}"
                for k, v in _meta(value.get(key) or {}).items()
            )
        else:
            found = value.get(key)
            empty = found is None and not field.pointer
            parts.append(
                f"{printed(field.name)}:{_empty(field.shape, minor) if empty else _print(found, field.shape, minor)}"
            )
    return ",".join(parts)


def _empty(shape: Shape, minor: int) -> str:
    match shape:
        case GoScalar(GoType.TEXT):
            return '""'
        case GoScalar(GoType.FLAG):
            return "false"
        case GoScalar(GoType.WHOLE):
            return "0"
        case GoScalar(GoType.QUANTITY):
            return '"0"'
        case GoStruct():
            return f"{{{_inner({}, shape, minor)}}}"
        case _:
            return "null"


def _meta(meta: Object) -> Object:
    return {
        field.key: meta[field.key]
        for field in OBJECT_META.fields
        if meta.get(field.key)
    }


def _as_written(value: Any) -> str:
    """Print JSON that was kept as it came, its keys in their order."""
    match value:
        case dict():
            return f"{{{','.join(f'{printed(key)}:{_as_written(each)}' for key, each in value.items())}}}"
        case list():
            return f"[{','.join(map(_as_written, value))}]"
        case _:
            return printed(value)
