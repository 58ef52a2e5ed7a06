"""A checkpoint of a target: copies that continue from it, each on its own, without deciding everything again.

No counterpart: copies of the in-memory control plane.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Hashable
from types import FunctionType, MappingProxyType
from typing import Any

from kueue_dra_ref.model.slots import Slot
from kueue_dra_ref.reference.target import ReferenceTarget

_SHARED = (FunctionType, MappingProxyType, Slot)
"""Values that nothing changes; so are frozen dataclasses."""


class Checkpoint:
    """The state of a target; what nothing changes in place, such as stored objects, is shared by all copies."""

    def __init__(self, target: ReferenceTarget) -> None:
        self._shared: dict[int, Any] = {}
        written = io.BytesIO()
        _Pickler(written, target, self._shared).dump(target)
        self._state = written.getvalue()

    def copy(self) -> ReferenceTarget:
        """Give a target that continues from the checkpoint."""
        found: ReferenceTarget = _Unpickler(self._state, self._shared).load()
        return found


class _Pickler(pickle.Pickler):
    """Writes a target, with references to what copies share."""

    def __init__(
        self, file: io.BytesIO, target: ReferenceTarget, shared: dict[int, Any]
    ) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._shared = shared
        self._objects = _stored(target)

    def persistent_id(self, obj: Any) -> Hashable:
        """Give the reference of a value that is shared; None for another one."""
        key = id(obj)
        if key not in self._objects and not _is_shared(type(obj)):
            return None
        self._shared[key] = obj
        return key


class _Unpickler(pickle.Unpickler):
    """Reads a target that a `_Pickler` wrote."""

    def __init__(self, state: bytes, shared: dict[int, Any]) -> None:
        super().__init__(io.BytesIO(state))
        self._shared = shared

    def persistent_load(self, pid: Any) -> Any:
        """Give the value of a reference."""
        return self._shared[pid]


def _stored(target: ReferenceTarget) -> frozenset[int]:
    """Identify the stored objects and their specs, which are replaced and never changed."""
    found = []
    for kind in target.store.kinds:
        for each in target.store.every(kind):
            found += [id(each), id(each.get("spec"))]
    return frozenset(found) - {id(None)}


def _is_shared(kind: type[Any]) -> bool:
    if issubclass(kind, _SHARED):
        return True
    parameters = getattr(kind, "__dataclass_params__", None)
    return parameters is not None and bool(parameters.frozen)
