"""Copies of plain documents: the mappings and lists of JSON, which is all that Kubernetes objects are made of."""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")


def copied(value: T) -> T:
    """A copy that shares no mapping and no list with the original; several times faster than ``copy.deepcopy``."""
    if isinstance(value, dict):
        return {  # type: ignore[return-value]  # a dict for a dict
            key: copied(each) if isinstance(each, (dict, list)) else each for key, each in value.items()
        }
    if isinstance(value, list):
        return [copied(each) for each in value]  # type: ignore[return-value]  # a list for a list
    return value


def without_empty(value: Any) -> Any:
    """Leave out of mappings what is empty, as Go does when it writes them down."""
    match value:
        case dict():
            found = {key: without_empty(each) for key, each in value.items()}
            return {key: each for key, each in found.items() if each not in (None, "", [], {})}
        case list():
            return [without_empty(each) for each in value]
        case _:
            return value
