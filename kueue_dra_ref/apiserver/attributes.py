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
    longest = resource_names.LONGEST_KEY
    for name in sorted(found):
        where = resource_names.key_path(path, name, longest)
        of_name = where if k.keys_have_paths else path
        yield from resource_names.qualified(name, of_name, k)
        value = found[name]
        yield from _attribute(value, where, k)


def _attribute(found: Object, path: str, k: Kubernetes) -> Errors:
    for key in ("string", "version"):
        if key in found:
            value = found[key]
            at = f"{path}.{key}"
            yield from _value(key, value, at, k)
    for key in LISTS:
        if key in found:
            values = found[key]
            at = f"{path}.{key}"
            yield from _list(key, values, at, k)
    yield from _union(found, path, k)


def _list(key: str, values: list[Any], path: str, k: Kubernetes) -> Errors:
    if not values:
        yield invalid(path, values, "must not be empty if specified")
    kind = key.removesuffix("s")
    for index, value in enumerate(values):
        at = f"{path}[{index}]"
        yield from _value(kind, value, at, k)


def _union(found: Object, path: str, k: Kubernetes) -> Errors:
    given = [key for key in UNION if _is_given(found, key, k)]
    words = "exactly one value must be specified"
    if not given:
        if k.unset_attribute == "Required value":
            yield required(path, words)
        else:
            yield invalid(path, "", words)
    if len(given) < 2:
        return
    if k.is_declarative:
        listed = ", ".join(given)
        names = f"{{{listed}}}"
        yield invalid(path, names, words)
    else:
        shown = internal(found, attribute("v1"), k.minor)
        yield invalid_as(path, shown, words)


def _is_given(found: Object, key: str, k: Kubernetes) -> bool:
    if key not in found:
        return False
    value = found[key]
    return value != [] or not k.is_declarative


def _value(kind: str, value: Any, path: str, k: Kubernetes) -> Errors:
    if kind == "version" and not _SEMVER.fullmatch(value):
        detail = "must be a string compatible with semver.org spec 2.0.0"
        yield invalid(path, value, detail)
    is_text = kind in ("string", "version")
    if is_text and size(value) > MAX_VALUE:
        yield too_long(path, MAX_VALUE, k)
