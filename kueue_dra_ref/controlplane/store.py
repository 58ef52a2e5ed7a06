"""The store of the in-memory control plane: objects in their storage shape, and one event for each change.

No counterpart: the store of the in-memory API server.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kueue_dra_ref.api.scheme import KINDS
from kueue_dra_ref.controlplane.clock import Clock
from kueue_dra_ref.target import Manifest, Ref

Key = tuple[str, str]
"""Namespace (empty for cluster scope) and name."""

_LAST = 2**128
"""Later objects have lower uids: what is meant to follow creation must not follow from the uid by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A change: ``old`` is None when the object was created, ``new`` when it was deleted."""

    kind: str
    key: Key
    old: Manifest | None
    new: Manifest | None


class Store:
    """Objects by kind and key; ``watch`` hears of each change at once."""

    def __init__(self, clock: Clock, watch: Callable[[Event], None]) -> None:
        self.clock, self._watch = clock, watch
        self._objects: dict[str, dict[Key, Manifest]] = {kind: {} for kind in KINDS}
        self._made = 0
        self.version = 0

    def find(self, kind: str, name: str, namespace: str = "") -> Manifest | None:
        """The stored object itself: read it, do not change it."""
        return self._objects[kind].get((namespace, name))

    def every(self, kind: str) -> Iterator[Manifest]:
        """All objects of a kind in the order of their creation."""
        yield from list(self._objects[kind].values())

    def order_of(self, obj: Manifest) -> int:
        """How many objects had been made when this one was: the order of creation, finer than its timestamp."""
        return _LAST - uuid.UUID(obj["metadata"]["uid"]).int

    def put(self, obj: Manifest) -> Manifest:
        """Create or replace an object, stamp its metadata, and tell the watcher when it differs from before.

        One that is deleted goes with the last of its finalizers.
        """
        kind, key = obj["kind"], key_of(obj)
        old = self._objects[kind].get(key)
        if old is not None and _same(old, obj):
            return old
        self._stamp(obj, old)
        if is_deleted(obj) and not obj["metadata"].get("finalizers"):
            self._drop(kind, key)
            return obj
        self._objects[kind][key] = obj
        self._watch(Event(kind=kind, key=key, old=old, new=obj))
        return obj

    def remove(self, ref: Ref) -> None:
        """Delete an object if it is there; one with finalizers stays until the last of them is taken away."""
        old = self.find(ref.kind, ref.name, ref.namespace)
        if old is None:
            return
        if not old["metadata"].get("finalizers"):
            self._drop(ref.kind, (ref.namespace, ref.name))
        elif not is_deleted(old):
            self.put(
                {
                    **old,
                    "metadata": {
                        **old["metadata"],
                        "deletionTimestamp": self.clock.now,
                    },
                }
            )

    def _drop(self, kind: str, key: Key) -> None:
        old = self._objects[kind].pop(key)
        self.version += 1
        self._watch(Event(kind=kind, key=key, old=old, new=None))

    def _stamp(self, obj: Manifest, old: Manifest | None) -> None:
        self.version += 1
        meta = obj["metadata"]
        if old is None:
            self._made += 1
            meta["uid"] = str(uuid.UUID(int=_LAST - self._made))
            meta["creationTimestamp"] = self.clock.now
            meta["generation"] = 1
        else:
            meta.update(
                {key: old["metadata"][key] for key in ("uid", "creationTimestamp")}
            )
            changed = old.get("spec") != obj.get("spec") or is_deleted(
                old
            ) != is_deleted(obj)
            meta["generation"] = old["metadata"]["generation"] + changed
        meta["resourceVersion"] = str(self.version)


def is_deleted(obj: Manifest) -> bool:
    """Whether an object is there only as long as it has finalizers."""
    return "deletionTimestamp" in obj["metadata"]


def key_of(obj: Manifest) -> Key:
    """The key of an object."""
    meta = obj["metadata"]
    return (
        meta.get("namespace", "") if KINDS[obj["kind"]].namespaced else "",
        meta["name"],
    )


def _same(old: Manifest, new: Manifest) -> bool:
    stamped = ("uid", "creationTimestamp", "generation", "resourceVersion")

    def bare(meta: Manifest) -> Manifest:
        return {key: value for key, value in meta.items() if key not in stamped}

    if {**old, "metadata": {}} != {**new, "metadata": {}}:
        return False
    return bare(old["metadata"]) == bare(new["metadata"])
