"""A store that takes over the objects of a running cluster, with the metadata that its API server gave them.

No counterpart: the store of the in-memory API server.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import count

from kueue_dra_ref.controlplane.clock import Clock
from kueue_dra_ref.controlplane.store import STAMPED, Event, Store, key_of, place_of
from kueue_dra_ref.target import Manifest

_OWN = 2**48
"""More objects than a store has; UIDs of an API server are random, so none is so close to the last one."""


class RestorableStore(Store):
    """A store of new objects, and of restored ones."""

    def __init__(self, clock: Clock, watch: Callable[[Event], None]) -> None:
        super().__init__(clock, watch)
        self._restored: dict[str, int] = {}
        """The place of each restored object in the order of creation, by UID."""

    def order_of(self, obj: Manifest) -> int:
        """Give the place of an object in the order of creation, which for restored ones is that of their restoring."""
        uid = obj["metadata"]["uid"]
        place = self._restored.get(uid)
        if place is None:
            return super().order_of(obj)
        return place

    def restore(self, obj: Manifest) -> None:
        """Create or replace an object with the metadata that an API server gave it; restore the oldest object first."""
        kind = obj["kind"]
        key = key_of(obj)
        own = _stamped(obj)
        objects = self._objects[kind]
        old = objects.pop(key, None)
        self._stamp(obj, None)
        meta = obj["metadata"]
        place = place_of(meta["uid"])
        meta |= own
        uid = meta["uid"]
        self._restored[uid] = place
        self._created = count(max(next(self._created), _own_place(uid) + 1))
        version = _number(own.get("resourceVersion"))
        self.version = max(self.version, version)
        objects[key] = obj
        self._notify(
            kind,
            key,
            old,
            obj,
        )


def _stamped(obj: Manifest) -> Manifest:
    """Give the metadata of an object that an API server owns."""
    found = {}
    for name, value in obj["metadata"].items():
        if name in STAMPED:
            found[name] = value
    return found


def _own_place(uid: str) -> int:
    """Give the place of an object whose UID is one of such a store, which no new object may get; 0 for any other."""
    with suppress(ValueError):
        place = place_of(uid)
        return place if place <= _OWN else 0
    return 0


def _number(version: object) -> int:
    """Give a resourceVersion as a number; 0 for any other text."""
    text = str(version)
    if text.isascii() and text.isdigit():
        return int(text)
    return 0
