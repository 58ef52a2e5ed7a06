"""What a vendor intends with each class: as the descriptor says, or inferred from what the driver publishes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from kueue_dra_ref.api.documents import ManifestDocument
from kueue_dra_reports.json_schema import published
from kueue_dra_reports.validated_files import document_of
from kueue_dra_vendor.files import Gates
from kueue_dra_vendor.inventory import Inventory
from kueue_dra_vendor.mapping import Declared, mapped


class Quota(StrEnum):
    """How Kueue should charge a request of a class."""

    COUNT = "count"
    COUNTER = "counter"
    CAPACITY = "capacity"
    NONE = "none"
    """The class is a helper: nothing is charged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassIntent:
    """How one class is meant to be charged."""

    name: str
    quota: Quota
    dimension: str = ""
    """The counter or the capacity; empty for the other two."""
    extended_resource: str = ""
    devices_per_node: int = 0
    """How many devices each node publishes; 0 says nothing."""
    why: str = ""
    """Why it was inferred; empty where it was declared."""
    path: str = ""
    """Its field in the descriptor."""

    def __str__(self) -> str:
        if self.quota is Quota.NONE:
            return f"{self.name} is not charged"
        by = f"{self.quota} {self.dimension}".strip()
        return f"{self.name} is charged by {by}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Descriptor:
    """What the vendor declares."""

    document: ManifestDocument
    drivers: tuple[str, ...]
    version: str
    classes: tuple[ClassIntent, ...]
    gates: Gates = field(default_factory=dict)
    """Feature gates of Kubernetes that the driver needs."""
    kueue_gates: Gates = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Drivers and version."""
        return f"{', '.join(self.drivers)} {self.version}"

    @property
    def quotas(self) -> Declared:
        """How each class is charged, as the writer of mappings takes it."""
        return {each.name: (each.quota.value, each.dimension) for each in self.classes}

    @property
    def helpers(self) -> frozenset[str]:
        """The classes that are not for quota."""
        return frozenset(each.name for each in self.classes if each.quota is Quota.NONE)

    def place(self, path: str) -> str:
        """Give file and line of a field."""
        return f"{self.document.file}:{self.document.line_of(path)}"


def descriptor_of(path: Path) -> Descriptor:
    """Read a descriptor.

    Raises:
        DocumentError: it cannot be read, or is not as its schema says.

    """
    document = document_of(path, published("kueue_dra_vendor", "descriptor"))
    written = document.manifest
    driver = written["driver"]
    entries = enumerate(written["classes"])
    return Descriptor(
        document=document,
        drivers=(driver,) if isinstance(driver, str) else tuple(driver),
        version=written["version"],
        classes=tuple(_declared(each, f"classes[{index}]") for index, each in entries),
        gates=written.get("kubernetesFeatureGates", {}),
        kueue_gates=written.get("featureGates", {}),
    )


def inferred(inventory: Inventory) -> Sequence[ClassIntent]:
    """Infer the intent of each class from its devices; one that matches none may be a helper."""
    chosen, left = mapped(inventory)
    found = {}
    for each in chosen:
        kind = next(iter(each.source), "count")
        found[each.device_class.name] = ClassIntent(
            name=each.device_class.name,
            quota=Quota(kind),
            dimension=each.source.get(kind, {}).get("name", ""),
            extended_resource=_extended(each.device_class.spec),
            why=each.why,
        )
    for device_class, why in left:
        found[device_class.name] = ClassIntent(
            name=device_class.name, quota=Quota.NONE, why=why
        )
    names = dict.fromkeys(each.name for each in inventory.files.classes)
    return [found[name] for name in names]


def _declared(written: dict[str, Any], path: str) -> ClassIntent:
    quota = Quota(written["quota"])
    return ClassIntent(
        name=written["name"],
        quota=quota,
        dimension=written.get(quota.value, ""),
        extended_resource=written.get("extendedResourceName", ""),
        devices_per_node=written.get("devicesPerNode", 0),
        path=path,
    )


def _extended(spec: dict[str, Any]) -> str:
    return str(spec.get("extendedResourceName") or "")
