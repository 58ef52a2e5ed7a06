"""The last step of validation: each error once, with the paths and words of the minor that reports it.

Up to 1.32 the paths are those of the flat shape.  From 1.33 to 1.36 they are v1's, whatever version was written.  In
1.37 the declarations of the API's types report their own errors: after all others, in their words, and with the paths
of the version that was written.

Kubernetes: k8s.io/apiserver/pkg/registry/rest/validate.go (ValidateDeclarativelyWithMigrationChecks)
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from kueue_dra_ref.apiserver.attributes import UNION
from kueue_dra_ref.apiserver.go_json import external
from kueue_dra_ref.apiserver.go_types import GoStruct, Shape
from kueue_dra_ref.apiserver.kubernetes_version import Kubernetes
from kueue_dra_ref.apiserver.schema_claims import is_flat
from kueue_dra_ref.apiserver.schema_slices import schema
from kueue_dra_ref.target import FieldError, Manifest

_REQUEST = r"(devices\.requests\[\d+\])\.exactly\b"
_DEVICE = r"(^spec\.devices\[\d+\])(?!\.name\b|\.basic\b)(?=\.|$)"
_KINDS_OF_VALUE = ", ".join(f"`{key}`" for key in UNION)
_SIZED = r"(requests|constraints|config|selectors|firstAvailable|\w+Conditions|consumesCounters|sharedCounters)$"
_UNIQUE = r"(requests|firstAvailable|consumesCounters|sharedCounters)\[\d+\]$"
_NAMES = r"(firstAvailable\[\d+\]\.deviceClassName|sharedCounters\[\d+\]\.(name|counters)|counterSet|\.counters)$"
_WORDS = (
    r"(matchAttribute|distinctAttribute|opaque\.driver|allocationMode|tolerations\[\d+\]\.(operator|key)|\.effect"
    r"|extendedResourceName)$"
)
_DECLARED = (
    (_SIZED, "Too many"),
    (_UNIQUE, "Duplicate value"),
    (f"{_NAMES}|{_WORDS}", "Required value|Invalid value|Unsupported value"),
    (r"attributes\[[^]]*\]$", "Invalid value"),
)
_DECLARED_OF = {"ResourceClaim": "spec", "DeviceClass": "metadata.name"}
"""What is declared of one kind only."""


def reported(errors: list[FieldError], k: Kubernetes) -> tuple[FieldError, ...]:
    """Place the errors of an object in v1's shape as a minor does, and tell each once."""
    if k.has_flat_paths:
        errors = [_flat(each) for each in errors]
    return tuple(dict.fromkeys(errors))


def also_declared(
    obj: Manifest, errors: list[FieldError], unstopped: list[FieldError], version: str
) -> tuple[FieldError, ...]:
    """Append the errors of the declarations, in their words; they go on where other checks have stopped."""
    kind = obj["kind"]
    plain = [error for error in errors if not _is_declared(error, kind)]
    declared = [
        _reworded(error, obj, version)
        for error in unstopped
        if _is_declared(error, kind)
    ]
    ordered = _lists_first(_without_items(declared))
    if is_flat(version):
        ordered = [_flat(each) for each in ordered]
    return tuple(dict.fromkeys([*plain, *ordered]))


def _without_items(errors: list[FieldError]) -> list[FieldError]:
    """Drop the errors of the items of lists that are too long."""
    too_many = [error for error in errors if error.type == "Too many"]
    items = tuple(f"{error.field}[" for error in too_many)
    return [error for error in errors if not error.field.startswith(items)]


def _lists_first(errors: list[FieldError]) -> list[FieldError]:
    """Report duplicates in a list before the faults of its items."""
    found: list[FieldError] = []
    for error in errors:
        at = len(found)
        if error.type == "Duplicate value":
            at = _first_of_items(found, error)
        found.insert(at, error)
    return found


def _first_of_items(found: list[FieldError], duplicate: FieldError) -> int:
    items = duplicate.field.rpartition("[")[0] + "["
    for at, error in enumerate(found):
        if error.type != "Duplicate value" and error.field.startswith(items):
            return at
    return len(found)


def _flat(error: FieldError) -> FieldError:
    path = re.sub(_DEVICE, r"\1.basic", re.sub(_REQUEST, r"\1", error.field))
    return replace(error, field=path)


def _is_declared(error: FieldError, kind: str) -> bool:
    if error.field in ("spec", "metadata.name"):
        return error.type == "Invalid value" and _DECLARED_OF.get(kind) == error.field
    if error.field.endswith("allocationMode") and error.value == '""':
        return False
    return any(
        re.search(path, error.field) and re.fullmatch(kinds, error.type)
        for path, kinds in _DECLARED
    )


def _reworded(error: FieldError, obj: Manifest, version: str) -> FieldError:
    """Say an error in the words of its declaration, where they differ."""
    if error.detail == "exactly one value must be specified":
        many = "" if error.value == '""' else "exactly "
        return replace(error, detail=f"must specify {many}one of: {_KINDS_OF_VALUE}")
    if error.field == "spec":
        return replace(error, value="null")
    if error.type == "Duplicate value":
        return replace(error, value=_whole(obj, error.field, flat=is_flat(version)))
    return replace(
        error,
        detail=re.sub(
            r"^(must be no more than \d+) characters$", r"\1 bytes", error.detail
        ),
    )


def _whole(obj: Any, path: str, *, flat: bool) -> str:
    """Print what a path leads to; all lists on the way are of structs."""
    shape: Any = schema(obj["kind"], "v1")
    for key, index in re.findall(r"(\w+)(?:\[(\d+)\])?", path):
        shape = _shape_of(shape, key)
        obj = obj[key]
        if index:
            shape = shape.element
            obj = obj[int(index)]
    return external(obj, shape, flat=flat)


def _shape_of(struct: GoStruct, key: str) -> Shape:
    return next(field.shape for field in struct.fields if field.key == key)
