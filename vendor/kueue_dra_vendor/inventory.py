"""What the slices publish, and which classes match which devices: evaluated once, for every check."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kueue_dra_ref.api.devices import expressions_of
from kueue_dra_ref.cel import CompileError, Device, EvaluationError, Undecided, compiled
from kueue_dra_ref.model.resourceslices import PublishedDevice, slice_of
from kueue_dra_vendor.files import VendorFiles, VendorObject

PoolKey = tuple[str, str]
"""Driver and pool."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class InventoryDevice:
    """One published device, and the entry of the slice that publishes it."""

    published: PublishedDevice
    entry: Mapping[str, Any]
    slice: VendorObject
    index: int

    @property
    def device(self) -> Device:
        """What selectors see of it."""
        return self.published.device

    @property
    def title(self) -> str:
        """Driver, pool and name, such as gpu.example.com/node-1/gpu-0."""
        return f"{self.device.driver}/{self.device.pool}/{self.device.name}"

    @property
    def node(self) -> str:
        """The node that has it; empty where several may reach it."""
        name = self.entry.get("nodeName") or self.slice.spec.get("nodeName")
        return str(name or "")

    def place(self, path: str = "") -> str:
        """Give file and line of a field of the device."""
        base = f"spec.devices[{self.index}]"
        return self.slice.place(f"{base}.{path}" if path else base)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """The slices of one pool."""

    key: PoolKey
    slices: tuple[VendorObject, ...]

    @property
    def title(self) -> str:
        """Driver and name."""
        return "/".join(self.key)

    @property
    def generations(self) -> list[int]:
        """The generations that there are slices of, ascending."""
        return sorted({_pool_of(each)[0] for each in self.slices})

    @property
    def newest(self) -> list[VendorObject]:
        """The slices of the newest generation."""
        last = self.generations[-1]
        return [each for each in self.slices if _pool_of(each)[0] == last]

    @property
    def counter_sets(self) -> Iterator[tuple[VendorObject, str, Mapping[str, Any]]]:
        """Every shared counter set: slice, name, counters."""
        for each in self.newest:
            for found in each.spec.get("sharedCounters") or ():
                yield each, str(found.get("name", "")), found.get("counters") or {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """What a class says of one device: `outcome` of the selector at `index`, the first that does not hold."""

    outcome: bool | EvaluationError | Undecided
    index: int = -1

    @property
    def holds(self) -> bool:
        """Whether every selector holds."""
        return self.outcome is True


@dataclass(slots=True, kw_only=True)
class Inventory:
    """Devices, pools, and classes by device."""

    files: VendorFiles
    devices: list[InventoryDevice] = field(default_factory=list)
    pools: dict[PoolKey, Pool] = field(default_factory=dict)
    _by_slice: dict[int, list[InventoryDevice]] = field(default_factory=dict)
    _matches: dict[int, list[Match]] = field(default_factory=dict)
    _matching: dict[int, list[InventoryDevice]] = field(default_factory=dict)

    @classmethod
    def of(cls, files: VendorFiles) -> Inventory:
        """Read the slices; one that the API server rejects publishes nothing."""
        found = cls(files=files)
        by_pool: dict[PoolKey, list[VendorObject]] = {}
        for each in files.slices:
            if each.rejected:
                continue
            published = slice_of(each.manifest)
            by_pool.setdefault((published.driver, published.pool), []).append(each)
            entries = each.spec.get("devices") or ()
            pairs = zip(published.devices, entries, strict=True)
            of_slice = [
                InventoryDevice(published=device, entry=entry, slice=each, index=index)
                for index, (device, entry) in enumerate(pairs)
            ]
            found.devices += of_slice
            found._by_slice[id(each)] = of_slice
        found.pools = {
            key: Pool(key=key, slices=tuple(some)) for key, some in by_pool.items()
        }
        return found

    def of_pool(self, pool: Pool) -> list[InventoryDevice]:
        """Give the devices of the newest generation of a pool."""
        return [device for each in pool.newest for device in self._by_slice[id(each)]]

    def matches(self, device_class: VendorObject) -> list[Match]:
        """Give, for each device in order, what the selectors of a class say."""
        key = id(device_class)
        if not device_class.is_readable:
            return [Match(outcome=False)] * len(self.devices)
        if key not in self._matches:
            selectors = selectors_of(device_class)
            self._matches[key] = [
                match(selectors, each.device) for each in self.devices
            ]
        return self._matches[key]

    def matching(self, device_class: VendorObject) -> list[InventoryDevice]:
        """Give the devices that a class matches."""
        key = id(device_class)
        if key not in self._matching:
            pairs = zip(self.devices, self.matches(device_class), strict=True)
            self._matching[key] = [device for device, found in pairs if found.holds]
        return self._matching[key]

    @property
    def drivers(self) -> list[str]:
        """The drivers that publish devices, by name."""
        return sorted({each.device.driver for each in self.devices})


def selectors_of(device_class: VendorObject) -> list[str]:
    """Give the CEL expressions of a class."""
    return list(expressions_of(device_class.spec, "spec"))


def match(selectors: Iterable[str], device: Device) -> Match:
    """Evaluate selectors in order on a device, as Kueue and the scheduler do."""
    for index, expression in enumerate(selectors):
        selector = compiled(expression)
        if isinstance(selector, CompileError):
            return Match(outcome=EvaluationError(detail=selector.detail), index=index)
        if isinstance(selector, Undecided):
            return Match(outcome=selector, index=index)
        outcome = selector.matches(device)
        if outcome is not True:
            return Match(outcome=outcome, index=index)
    return Match(outcome=True)


def _pool_of(slice_: VendorObject) -> tuple[int, int]:
    pool = slice_.spec.get("pool") or {}
    return int(pool.get("generation") or 0), int(pool.get("resourceSliceCount") or 0)


def declared_size(slice_: VendorObject) -> int:
    """Give how many slices a slice says that its pool has."""
    return _pool_of(slice_)[1]
