"""What rules on devices check: mappings, slices, classes and capacities, each with what they are checked against.

Kueue: pkg/dra/counters.go (groupSlicesByPool); pkg/dra/capacity.go (chargeForDevice);
    pkg/dra/extended_resources.go (selectedDeviceClass)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kueue_dra_ref.api.configuration import DeviceClassMapping
from kueue_dra_ref.api.types import Workload
from kueue_dra_ref.model.lister import DeviceRequestContext, Lister
from kueue_dra_ref.model.resourceslices import Capacity, PublishedSlice
from kueue_dra_ref.model.sources import Source
from kueue_dra_ref.target import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingLookup:
    """A workload whose device classes Kueue maps, and the objects of the cluster."""

    lister: Lister
    workload: Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSlices:
    """ResourceSlices that may count for a source."""

    source: Source
    slices: Sequence[PublishedSlice]

    def keep(self, slices: Sequence[PublishedSlice]) -> SourceSlices:
        """Give some of the slices."""
        return replace(self, slices=slices)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceClassSelection:
    """DeviceClasses with one extendedResourceName, and the device class mappings."""

    classes: Sequence[Manifest]
    mappings: Sequence[DeviceClassMapping]

    def keep(self, classes: Sequence[Manifest]) -> DeviceClassSelection:
        """Give some of the classes."""
        return replace(self, classes=classes)


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityRequest:
    """A request for the share of a capacity that a device has."""

    context: DeviceRequestContext
    name: str
    """The name of the capacity."""
    capacity: Capacity
