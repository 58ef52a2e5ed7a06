"""Semantic equality: whether an API server takes one value as a change of another.

Kubernetes: k8s.io/apimachinery/pkg/api/equality/semantic.go (Semantic)
"""

from __future__ import annotations

import json
from typing import Any

from kueue_dra_ref.api.quantities import parse
from kueue_dra_ref.api.unstructured import Object
from kueue_dra_ref.apiserver.go_types import (
    RAW,
    GoMap,
    GoScalar,
    GoSlice,
    GoStruct,
    GoType,
    Shape,
)


def canonical(value: Any, shape: Shape) -> Any:
    """Bring a value to a form in which equal things are equal: amounts by size, empty lists as none."""
    match shape:
        case GoScalar(GoType.QUANTITY):
            return parse(value).amount
        case GoScalar(GoType.ANYTHING):
            return json.dumps(value, sort_keys=shape is not RAW)  # true is not 1
        case GoSlice(element):
            return [canonical(each, element) for each in value]
        case GoMap(element):
            return {key: canonical(each, element) for key, each in value.items()}
        case GoStruct():
            return _canonical_struct(value, shape)
        case _:
            return value


def _canonical_struct(value: Object, struct: GoStruct) -> Object:
    found = {}
    for field in struct.fields:
        if value.get(field.key) is None:
            continue
        part = canonical(value[field.key], field.shape)
        if field.pointer or part not in ([], {}, ""):
            found[field.key] = part
    return found
