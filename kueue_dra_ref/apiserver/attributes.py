"""Validation of a device's attributes: their names, and the one value that each has.

Kubernetes: pkg/apis/resource/validation/validation.go (validateDeviceAttribute, validateDeviceAttributeStringValue,
    validateDeviceAttributeVersionValue)
"""

from __future__ import annotations

import re
from typing import Any

from kueue_dra_ref.api.names import size
from kueue_dra_ref.api.unstructured import Object
from kueue_dra_ref.apiserver import resource_names
from kueue_dra_ref.apiserver.fielderrors import (
    Errors,
    invalid,
    invalid_as,
    required,
    too_long,
)
from kueue_dra_ref.apiserver.go_json import internal
from kueue_dra_ref.apiserver.kubernetes_version import Kubernetes
from kueue_dra_ref.apiserver.schema_slices import attribute

MAX_VALUE = 64
LISTS = ("bools", "ints", "strings", "versions")
UNION = tuple(field.key for field in attribute("v1").fields)
"""The kinds of values in the order of the type."""
_NUMBER, _PART = r"(0|[1-9]\d*)", r"(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_SEMVER = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PART}(\.{_PART})*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?",
    re.ASCII,
)


def attributes(found: Object, path: str, k: Kubernetes) -> Errors:
    """Check the names and the values of a device's attributes."""
    for name in sorted(found):
        where = resource_names.key_path(path, name, resource_names.LONGEST_KEY)
        yield from resource_names.qualified(
            name, where if k.keys_have_paths else path, k
        )
        yield from _attribute(found[name], where, k)


def _attribute(found: Object, path: str, k: Kubernetes) -> Errors:
    for plain in [key for key in ("string", "version") if key in found]:
        yield from _value(plain, found[plain], f"{path}.{plain}", k)
    for key in [key for key in LISTS if key in found]:
        if not found[key]:
            yield invalid(f"{path}.{key}", found[key], "must not be empty if specified")
        for index, value in enumerate(found[key]):
            yield from _value(key[:-1], value, f"{path}.{key}[{index}]", k)
    yield from _union(found, path, k)


def _union(found: Object, path: str, k: Kubernetes) -> Errors:
    given = [
        key
        for key in UNION
        if key in found and (found[key] != [] or not k.is_declarative)
    ]
    words = "exactly one value must be specified"
    if not given:
        yield (
            required(path, words)
            if k.unset_attribute == "Required value"
            else invalid(path, "", words)
        )
    if len(given) > 1 and k.is_declarative:
        yield invalid(path, f"{{{', '.join(given)}}}", words)
    elif len(given) > 1:
        yield invalid_as(path, internal(found, attribute("v1"), k.minor), words)


def _value(kind: str, value: Any, path: str, k: Kubernetes) -> Errors:
    if kind == "version" and not _SEMVER.fullmatch(value):
        yield invalid(
            path, value, "must be a string compatible with semver.org spec 2.0.0"
        )
    if kind in ("string", "version") and size(value) > MAX_VALUE:
        yield too_long(path, MAX_VALUE, k)
