"""A store that takes over the objects of a running cluster, with the metadata that its API server gave them.

No counterpart: the store of the in-memory API server.
"""

from __future__ import annotations

from collections.abc import Callable

from kueue_dra_ref.controlplane.clock import Clock
from kueue_dra_ref.controlplane.store import STAMPED, Event, Store, key_of, place_of
from kueue_dra_ref.target import Manifest


class RestorableStore(Store):
    """A store of new objects, and of restored ones."""

    def __init__(self, clock: Clock, watch: Callable[[Event], None]) -> None:
        super().__init__(clock, watch)
        self._restored: dict[str, int] = {}
        """The place of each restored object in the order of creation, by UID."""

    def order_of(self, obj: Manifest) -> int:
        """Give the place of an object in the order of creation, which for restored ones is that of their restoring."""
        place = self._restored.get(obj["metadata"]["uid"])
        return super().order_of(obj) if place is None else place

    def restore(self, obj: Manifest) -> None:
        """Create or replace an object with the metadata that an API server gave it; restore the oldest object first."""
        kind, key = obj["kind"], key_of(obj)
        own = {
            name: obj["metadata"][name] for name in STAMPED if name in obj["metadata"]
        }
        old = self._objects[kind].pop(key, None)
        self._stamp(obj, None)
        made = obj["metadata"]["uid"]
        obj["metadata"] |= own
        self._restored[obj["metadata"]["uid"]] = place_of(made)
        self.version = max(self.version, _number(own.get("resourceVersion")))
        self._objects[kind][key] = obj
        self._notify(kind, key, old, obj)


def _number(version: object) -> int:
    """Give a resourceVersion as a number; 0 for any other text."""
    text = str(version)
    return int(text) if text.isascii() and text.isdigit() else 0
