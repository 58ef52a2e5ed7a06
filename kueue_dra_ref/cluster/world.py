"""The store as rules see it, under the permissions that Kueue's role gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kueue_dra_ref.api.configuration import DeviceClassMapping
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.cluster.permissions import may_read
from kueue_dra_ref.cluster.store import Store
from kueue_dra_ref.selectors import Device
from kueue_dra_ref.target import Manifest

_RESOURCES = ("resourceclaimtemplates", "deviceclasses", "resourceslices")


class StoredWorld:
    """Templates, classes and devices of a store; devices are read anew when a slice has changed."""

    def __init__(self, store: Store, behaviour: Behaviour, mappings: Sequence[DeviceClassMapping]) -> None:
        self._store, self._lookup, self._mappings = store, behaviour.processing.lookup, mappings
        self._readable = frozenset(name for name in _RESOURCES if may_read(store, name))
        self._devices: tuple[tuple[str, ...], tuple[Device, ...]] = ((), ())

    def template(self, namespace: str, name: str) -> Manifest | None:
        """A ResourceClaimTemplate."""
        return self._store.find("ResourceClaimTemplate", name, namespace)

    def may_read(self, resource: str) -> bool:
        """Whether the role gave the right to read a resource when Kueue started."""
        return resource in self._readable

    def device_class(self, name: str) -> Manifest | None:
        """A DeviceClass."""
        return self._store.find("DeviceClass", name)

    def quota_resource(self, device_class: str) -> str | None:
        """The resource that is charged for a class."""
        return next((rule(self._mappings, device_class) for rule in self._lookup), None)

    def devices(self) -> Sequence[Device]:
        """Every device of every slice, slices by name, devices as listed."""
        slices = sorted(self._store.every("ResourceSlice"), key=lambda found: str(found["metadata"]["name"]))
        versions = tuple(found["metadata"]["uid"] + found["metadata"]["resourceVersion"] for found in slices)
        if versions != self._devices[0]:
            self._devices = versions, tuple(device for found in slices for device in _devices(found["spec"]))
        return self._devices[1]


def _devices(spec: dict[str, Any]) -> list[Device]:
    """Kueue 0.19 never tells a selector of ``allowMultipleAllocations``, so it stays false here too."""
    return [
        Device(
            name=str(device.get("name", "")),
            driver=str(spec.get("driver", "")),
            pool=str((spec.get("pool") or {}).get("name", "")),
            attributes=device.get("attributes") or {},
            capacity={name: str(amount.get("value")) for name, amount in (device.get("capacity") or {}).items()},
        )
        for device in spec.get("devices") or ()
    ]
