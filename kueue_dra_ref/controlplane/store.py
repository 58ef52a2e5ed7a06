"""The store of the in-memory control plane: objects in their storage version, and one event for each change.

No counterpart: the store of the in-memory API server.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count

from kueue_dra_ref.api.metadata import finalizers_of
from kueue_dra_ref.api.scheme import KINDS
from kueue_dra_ref.controlplane.clock import Clock
from kueue_dra_ref.model.creation_order import PLACES
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.target import Manifest, Ref


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A change: ``old`` is None when the object was created, ``new`` when it was deleted."""

    kind: str
    key: Key
    old: Manifest | None
    new: Manifest | None

    @property
    def obj(self) -> Manifest:
        """The object as it is now, or as it was when it was deleted."""
        found = self.new or self.old
        assert found is not None
        return found


Objects = dict[Key, Manifest]


class Store:
    """Objects by kind and key; ``watch`` receives each change at once."""

    def __init__(self, clock: Clock, watch: Callable[[Event], None]) -> None:
        self.clock = clock
        self._watch = watch
        self._objects: dict[str, Objects] = {}
        for kind in KINDS:
            self._objects[kind] = {}
        self._created = count()
        self.version = 0

    def find(
        self,
        kind: str,
        name: str,
        namespace: str = "",
    ) -> Manifest | None:
        """Give the stored object itself: read it, do not change it."""
        return self._objects[kind].get((namespace, name))

    def get(self, kind: str, key: Key) -> Manifest | None:
        """Give the stored object of a key, as `find` does."""
        return self._objects[kind].get(key)

    @property
    def kinds(self) -> Iterable[str]:
        """The kinds of objects that it can have."""
        return self._objects.keys()

    def every(self, kind: str) -> Iterator[Manifest]:
        """Give all objects of a kind in the order of their creation."""
        objects = self._objects[kind]
        return iter(list(objects.values()))

    def count(self, kind: str) -> int:
        """Give the number of objects of a kind."""
        return len(self._objects[kind])

    def order_of(self, obj: Manifest) -> int:
        """Give the place of an object in the order of creation, which is finer than its timestamp."""
        return place_of(obj["metadata"]["uid"])

    def put(self, obj: Manifest) -> Manifest:
        """Create or replace an object, stamp its metadata, and notify the watcher if it differs from before.

        A deleted object is removed with the last of its finalizers.
        """
        kind = obj["kind"]
        key = key_of(obj)
        old = self.get(kind, key)
        if old is not None and _is_same(old, obj):
            return old
        self._stamp(obj, old)
        if is_deleted(obj) and not _has_finalizers(obj):
            self._drop(kind, key)
            return obj
        self._objects[kind][key] = obj
        self._notify(kind, key, old, obj)
        return obj

    def remove(self, ref: Ref) -> None:
        """Delete an object if it exists; one with finalizers stays until they are removed."""
        old = self.find(ref.kind, ref.name, ref.namespace)
        if old is None:
            return
        if is_deleted(old):
            return
        metadata = dict(old["metadata"])
        metadata["deletionTimestamp"] = self.clock.now
        self.put({**old, "metadata": metadata})

    def _drop(self, kind: str, key: Key) -> None:
        old = self._objects[kind].pop(key)
        self._advance()
        self._notify(kind, key, old, None)

    def _advance(self) -> None:
        self.version += 1

    def _notify(
        self,
        kind: str,
        key: Key,
        old: Manifest | None,
        new: Manifest | None,
    ) -> None:
        event = Event(
            kind=kind,
            key=key,
            old=old,
            new=new,
        )
        self._watch(event)

    def _stamp(self, obj: Manifest, old: Manifest | None) -> None:
        """Set the metadata that the API server owns."""
        self._advance()
        meta = obj["metadata"]
        if old is None:
            uid = uuid.UUID(int=PLACES - next(self._created))
            meta["uid"] = str(uid)
            meta["creationTimestamp"] = self.clock.now
            meta["generation"] = 1
        else:
            before = old["metadata"]
            meta["uid"] = before["uid"]
            meta["creationTimestamp"] = before["creationTimestamp"]
            meta["generation"] = before["generation"]
            if _is_new_generation(old, obj):
                meta["generation"] += 1
        meta["resourceVersion"] = str(self.version)


def place_of(uid: str) -> int:
    """Give the place in the order of creation of an object with a UID of the store."""
    return PLACES - uuid.UUID(uid).int


def is_deleted(obj: Manifest) -> bool:
    """Whether an object is deleted, and exists only as long as it has finalizers."""
    return "deletionTimestamp" in obj["metadata"]


def _has_finalizers(obj: Manifest) -> bool:
    return bool(finalizers_of(obj))


def key_of(obj: Manifest) -> Key:
    """Give the key of an object."""
    meta = obj["metadata"]
    kind = KINDS[obj["kind"]]
    namespace = meta.get("namespace", "") if kind.namespaced else ""
    return namespace, meta["name"]


def _is_new_generation(old: Manifest, new: Manifest) -> bool:
    if old.get("spec") != new.get("spec"):
        return True
    return is_deleted(old) != is_deleted(new)


def _is_same(old: Manifest, new: Manifest) -> bool:
    if {**old, "metadata": {}} != {**new, "metadata": {}}:
        return False
    return _unstamped(old) == _unstamped(new)


STAMPED = ("uid", "creationTimestamp", "generation", "resourceVersion")
"""The metadata that the API server owns."""


def _unstamped(obj: Manifest) -> Manifest:
    """Give the metadata of an object without the fields that the API server owns."""
    meta = dict(obj["metadata"])
    for key in STAMPED:
        meta.pop(key, None)
    return meta
