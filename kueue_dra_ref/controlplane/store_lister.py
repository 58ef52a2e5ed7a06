"""The store as rules see it, under the permissions that Kueue's role gives.

No counterpart: the lister of the in-memory control plane.
"""

from __future__ import annotations

from collections.abc import Sequence

from kueue_dra_ref.api.cluster_queues import cluster_queue_of
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.configuration import DeviceClassMapping
from kueue_dra_ref.api.scheme import DRA_CONFIG
from kueue_dra_ref.api.types import ClusterQueue, Workload
from kueue_dra_ref.api.workloads import workload_of
from kueue_dra_ref.cel import Device
from kueue_dra_ref.controlplane.rbac import may_read
from kueue_dra_ref.controlplane.store import Store
from kueue_dra_ref.model.limitranges import NamespaceLimits, surroundings_of
from kueue_dra_ref.model.resourceslices import PublishedSlice, slice_of
from kueue_dra_ref.target import Manifest

_RESOURCES = ("resourceclaimtemplates", "deviceclasses", "resourceslices")


class StoreLister:
    """Templates, classes and devices of a store; devices are read anew when a slice has changed."""

    def __init__(self, store: Store, mappings: Sequence[DeviceClassMapping]) -> None:
        self._store, self._mappings = store, mappings
        self._readable = frozenset(name for name in _RESOURCES if may_read(store, name))
        self._slices: tuple[tuple[str, ...], tuple[PublishedSlice, ...]] = ((), ())
        self._devices: tuple[Device, ...] = ()

    def template(self, namespace: str, name: str) -> Manifest | None:
        """A ResourceClaimTemplate."""
        return self._store.find("ResourceClaimTemplate", name, namespace)

    def claim(self, namespace: str, name: str) -> Manifest | None:
        """A ResourceClaim."""
        return self._store.find("ResourceClaim", name, namespace)

    def surroundings(self, namespace: str) -> NamespaceLimits:
        """What bears on the pods of a namespace."""
        ranges = (
            each
            for each in self._store.every("LimitRange")
            if each["metadata"]["namespace"] == namespace
        )
        return surroundings_of(ranges, self._store.every("RuntimeClass"))

    def may_read(self, resource: str) -> bool:
        """Whether the role gave the right to read a resource when Kueue started."""
        return resource in self._readable

    def device_class(self, name: str) -> Manifest | None:
        """A DeviceClass."""
        return self._store.find("DeviceClass", name)

    def classes_for(self, extended_resource: str) -> Sequence[Manifest]:
        """The DeviceClasses that stand for an extended resource."""
        every = self._store.every("DeviceClass")
        return [
            found
            for found in every
            if (found.get("spec") or {}).get("extendedResourceName")
            == extended_resource
        ]

    def configured(self) -> Sequence[DeviceClassMapping]:
        """The device class mappings of Kueue's Configuration."""
        return self._mappings

    def dra_config(self, namespace: str, name: str) -> Manifest | None:
        """A DynamicResourceAllocationConfig."""
        return self._store.find(DRA_CONFIG, name, namespace)

    def target(self, workload: Workload) -> ClusterQueue | None:
        """The ClusterQueue behind the LocalQueue that a workload names."""
        local = self._store.find("LocalQueue", workload.queue, workload.namespace)
        found = (
            self._store.find("ClusterQueue", local["spec"].get("clusterQueue", ""))
            if local
            else None
        )
        return None if found is None else cluster_queue_of(found)

    def is_in_use(self, cluster_queue: str, namespace: str, claim: str) -> bool:
        """Whether a workload that holds quota of a ClusterQueue names a ResourceClaim."""
        return any(
            any(found.claim == claim for found in workload_of(holder).claims)
            for holder in self._store.every("Workload")
            if holder["metadata"]["namespace"] == namespace
            and _holds_quota_of(holder, cluster_queue)
        )

    def slices(self) -> Sequence[PublishedSlice]:
        """Every slice, by name."""
        slices = sorted(
            self._store.every("ResourceSlice"),
            key=lambda found: str(found["metadata"]["name"]),
        )
        versions = tuple(
            found["metadata"]["uid"] + found["metadata"]["resourceVersion"]
            for found in slices
        )
        if versions != self._slices[0]:
            self._slices = versions, tuple(slice_of(found) for found in slices)
            self._devices = tuple(
                each.device for found in self._slices[1] for each in found.devices
            )
        return self._slices[1]

    def devices(self) -> Sequence[Device]:
        """Every device of every slice, slices by name, devices as listed."""
        self.slices()
        return self._devices


def _holds_quota_of(workload: Manifest, cluster_queue: str) -> bool:
    admission = (workload.get("status") or {}).get("admission") or {}
    reserved = is_true(workload, "QuotaReserved") and not is_true(workload, "Finished")
    return reserved and admission.get("clusterQueue") == cluster_queue
