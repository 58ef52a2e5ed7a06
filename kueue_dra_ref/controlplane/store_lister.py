"""The lister of the rules: the store with the permissions of Kueue's ClusterRole.

No counterpart: the lister of the in-memory control plane.
"""

from __future__ import annotations

from collections.abc import Sequence

from kueue_dra_ref.api.cluster_queues import cluster_queue_of
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.configuration import (
    Configuration,
    DeviceClassMapping,
    Transformation,
)
from kueue_dra_ref.api.scheme import DRA_CONFIG
from kueue_dra_ref.api.types import ClusterQueue, Workload
from kueue_dra_ref.api.unstructured import part
from kueue_dra_ref.api.workloads import workload_of
from kueue_dra_ref.cel import Device
from kueue_dra_ref.controlplane.rbac import may_read
from kueue_dra_ref.controlplane.store import Store
from kueue_dra_ref.model.limitranges import NamespaceLimits, summarize
from kueue_dra_ref.model.resourceslices import PublishedSlice, slice_of
from kueue_dra_ref.target import Manifest

_RESOURCES = ("resourceclaimtemplates", "deviceclasses", "resourceslices")


class StoreLister:
    """Templates, classes and devices of a store; it reads devices again when a slice has changed."""

    def __init__(self, store: Store, configuration: Configuration) -> None:
        self._store = store
        self._configuration = configuration
        readable = [name for name in _RESOURCES if may_read(store, name)]
        self._readable = frozenset(readable)
        self._versions: tuple[str, ...] = ()
        self._slices: tuple[PublishedSlice, ...] = ()
        self._devices: tuple[Device, ...] = ()

    def template(self, namespace: str, name: str) -> Manifest | None:
        """Give a ResourceClaimTemplate."""
        return self._store.find("ResourceClaimTemplate", name, namespace)

    def claim(self, namespace: str, name: str) -> Manifest | None:
        """Give a ResourceClaim."""
        return self._store.find("ResourceClaim", name, namespace)

    def namespace_limits(self, namespace: str) -> NamespaceLimits:
        """Give the LimitRanges and RuntimeClasses that apply to the pods of a namespace."""
        limit_ranges = []
        for each in self._store.every("LimitRange"):
            if each["metadata"]["namespace"] == namespace:
                limit_ranges.append(each)
        runtime_classes = self._store.every("RuntimeClass")
        return summarize(limit_ranges, runtime_classes)

    def may_read(self, resource: str) -> bool:
        """Whether the role let Kueue read a resource when it started."""
        return resource in self._readable

    def device_class(self, name: str) -> Manifest | None:
        """Give a DeviceClass."""
        return self._store.find("DeviceClass", name)

    def classes_for(self, extended_resource: str) -> Sequence[Manifest]:
        """Give the DeviceClasses that represent an extended resource."""
        found = []
        for each in self._store.every("DeviceClass"):
            spec = each.get("spec") or {}
            if spec.get("extendedResourceName") == extended_resource:
                found.append(each)
        return found

    def configured(self) -> Sequence[DeviceClassMapping]:
        """Give the device class mappings of Kueue's Configuration."""
        return self._configuration.mappings

    def transformations(self) -> Sequence[Transformation]:
        """Give the resource transformations of Kueue's Configuration."""
        return self._configuration.transformations

    def dra_config(self, namespace: str, name: str) -> Manifest | None:
        """Give a DynamicResourceAllocationConfig."""
        return self._store.find(DRA_CONFIG, name, namespace)

    def target(self, workload: Workload) -> ClusterQueue | None:
        """Give the ClusterQueue of the LocalQueue that a workload names."""
        key = (workload.namespace, workload.queue)
        local = self._store.get("LocalQueue", key)
        if local is None:
            return None
        name = local["spec"].get("clusterQueue", "")
        found = self._store.find("ClusterQueue", name)
        if found is None:
            return None
        return cluster_queue_of(found)

    def is_in_use(
        self,
        cluster_queue: str,
        namespace: str,
        claim: str,
    ) -> bool:
        """Whether a workload that holds quota of a ClusterQueue names a ResourceClaim."""
        holders = [
            each
            for each in self._store.every("Workload")
            if each["metadata"]["namespace"] == namespace
        ]
        return any(claim in _claims_in(each, cluster_queue) for each in holders)

    def slices(self) -> Sequence[PublishedSlice]:
        """Give every slice, by name."""
        found = list(self._store.every("ResourceSlice"))
        found.sort(key=_name)
        versions = tuple(map(_version, found))
        if versions == self._versions:
            return self._slices
        self._versions = versions
        self._slices = tuple(map(slice_of, found))
        devices = []
        for published in self._slices:
            for each in published.devices:
                devices.append(each.device)
        self._devices = tuple(devices)
        return self._slices

    def devices(self) -> Sequence[Device]:
        """Give every device of every slice, slices by name, devices as listed."""
        self.slices()
        return self._devices


def _name(obj: Manifest) -> str:
    return str(obj["metadata"]["name"])


def _version(obj: Manifest) -> str:
    meta = obj["metadata"]
    return str(meta["uid"] + meta["resourceVersion"])


def _claims_in(workload: Manifest, cluster_queue: str) -> list[str]:
    """Name the ResourceClaims of a workload that holds quota of a ClusterQueue; none of any other."""
    admission = part(part(workload, "status"), "admission")
    holds_quota = admission.get("clusterQueue") == cluster_queue
    if holds_quota and not is_true(workload, "Finished"):
        return [each.claim for each in workload_of(workload).claims]
    return []
