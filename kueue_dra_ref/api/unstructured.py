"""Reading plain manifests: one step into a mapping at a time, with the field named when it is of the wrong shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from kueue_dra_ref.api.quantities import BadQuantity, Quantity, parse
from kueue_dra_ref.api.status_errors import invalid, required

T = TypeVar("T")
Object = dict[str, Any]
"""An API object, or a part of one, as JSON decodes it."""

_WORDS = {
    dict: "a mapping",
    list: "a list",
    str: "a string",
    int: "an integer",
    bool: "true or false",
}


def child(
    node: Object,
    key: str,
    kind: type[T],
    default: T,
    path: str = "",
) -> T:
    """Give ``node[key]`` when it is a ``kind``, ``default`` when it is absent or null.

    Raises:
        ManifestError: the value is there and of another type.

    """
    value = node.get(key)
    if value is None:
        return default
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise invalid(join(path, key), value, f"expected {_WORDS[kind]}")
    return value


def part(node: Mapping[str, Any], key: str) -> Object:
    """Give ``node[key]`` of an object that was not validated: an empty mapping when it is none."""
    found = node.get(key)
    return found if isinstance(found, dict) else {}


def text(node: Object, key: str, path: str = "") -> str:
    """Give a string that must be there.

    Raises:
        ManifestError: it is absent, empty or of another type.

    """
    value = child(node, key, str, "", path)
    if not value:
        raise required(join(path, key))
    return value


def mappings(node: Object, key: str, path: str = "") -> list[Object]:
    """Give a list of mappings, empty when absent.

    Raises:
        ManifestError: it is no list, or an element is no mapping.

    """
    found = child(node, key, list, [], path)
    for index, element in enumerate(found):
        if not isinstance(element, dict):
            at = f"{join(path, key)}[{index}]"
            raise invalid(at, element, "expected a mapping")
    return found


def quantities(node: Object, key: str, path: str = "") -> dict[str, Quantity]:
    """Read a resource list: resource name to quantity.

    Raises:
        ManifestError: it is no mapping, or a value is no quantity.

    """
    at = join(path, key)
    found = {}
    for name, value in child(node, key, dict, {}, path).items():
        found[name] = quantity(value, f"{at}.{name}")
    return found


def quantity(value: object, path: str) -> Quantity:
    """Read one quantity.

    Raises:
        ManifestError: the text is no quantity.

    """
    expected = "expected a quantity such as 2, 500m or 80Gi"
    if isinstance(value, bool):
        raise invalid(path, value, expected)
    if not isinstance(value, (str, int, float)):
        raise invalid(path, value, expected)
    try:
        return parse(value)
    except BadQuantity as fault:
        raise invalid(path, value, str(fault)) from None


def join(path: str, key: str) -> str:
    """Extend a field path by one key."""
    if not path:
        return key
    return f"{path}.{key}"
