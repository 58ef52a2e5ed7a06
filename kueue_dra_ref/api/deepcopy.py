"""Copies of plain documents: the mappings and lists of JSON, which is all that Kubernetes objects are made of."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")

_WITHOUT_SHARING = 2
"""The format of marshal in which equal documents are equal bytes, whatever they share."""


class MemoizedCopy:
    """A cache of results by document, up to a size: most scenarios consist of the same few documents."""

    def __init__(self, room: int = 2**14) -> None:
        self._room = room
        self._held: dict[Hashable, bytes] = {}

    def once(
        self, document: object, situation: tuple[Hashable, ...], make: Callable[[], T]
    ) -> T:
        """Compute the result for a document in a situation, or copy the result computed before."""
        if (sent := packed(document)) is None:
            return make()
        if (found := self._held.get((sent, situation))) is not None:
            return marshal.loads(found)  # type: ignore[no-any-return]  # what was made then
        made = make()
        if (written := packed(made)) is not None:
            if len(self._held) >= self._room:
                self._held.clear()
            self._held[sent, situation] = written
        return made


def packed(value: Any) -> bytes | None:
    """Give bytes that differ for different documents, types and order included; None for values outside JSON."""
    try:
        return marshal.dumps(value, _WITHOUT_SHARING)
    except ValueError:
        return None


def copied(value: T) -> T:
    """Copy a value, sharing no mapping and no list with it; many times faster than ``copy.deepcopy``."""
    if (written := packed(value)) is not None:
        return marshal.loads(written)  # type: ignore[no-any-return]  # the same types again
    if isinstance(value, dict):
        return {key: copied(each) for key, each in value.items()}  # type: ignore[return-value]  # a dict for a dict
    if isinstance(value, list):
        return [copied(each) for each in value]  # type: ignore[return-value]  # a list for a list
    return value


def without_empty(value: Any) -> Any:
    """Remove empty values from mappings, as Go does when it encodes them."""
    match value:
        case dict():
            found = {key: without_empty(each) for key, each in value.items()}
            return {
                key: each
                for key, each in found.items()
                if each not in (None, "", [], {})
            }
        case list():
            return [without_empty(each) for each in value]
        case _:
            return value
