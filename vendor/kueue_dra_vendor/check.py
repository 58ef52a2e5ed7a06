"""A check: what it looks for, what goes wrong for a Kueue user who ignores it, and how to fix it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from kueue_dra_ref.api.configuration import Configuration, DeviceClassMapping
from kueue_dra_ref.api.documents import ManifestDocument
from kueue_dra_ref.apiserver import Kubernetes
from kueue_dra_vendor.files import (
    Gates,
    VendorFiles,
    VendorObject,
    kubernetes_with,
)
from kueue_dra_vendor.intent import Descriptor
from kueue_dra_vendor.inventory import Inventory, InventoryDevice


class Level(StrEnum):
    """How grave a finding is."""

    ERROR = "error"
    WARNING = "warning"
    ADVICE = "advice"
    OPEN = "open"
    """It cannot be decided offline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that a check found."""

    check: Check
    place: str
    """File and line."""
    object: str
    """Kind and name."""
    text: str
    level: Level

    def __str__(self) -> str:
        return f"{self.place}: {self.level} {self.check.id}: {self.object}: {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorContext:
    """What checks look at."""

    files: VendorFiles
    inventory: Inventory
    kubernetes: str
    configuration: Configuration | None = None
    """The mapping, where one was given."""
    configuration_document: ManifestDocument | None = None
    """Where the mapping was read from."""
    descriptor: Descriptor | None = None
    """What the vendor declares, where a descriptor was given."""
    gates: Gates = field(default_factory=dict)
    """The feature gates of Kubernetes that an administrator set."""
    kueue_gates: Gates = field(default_factory=dict)
    """The same of Kueue."""

    @property
    def api_server(self) -> Kubernetes:
        """The minor of Kubernetes, with the gates that are set."""
        return kubernetes_with(self.kubernetes, self.gates)

    @property
    def mappings(self) -> Sequence[DeviceClassMapping]:
        """The device class mappings; none where no Configuration was given."""
        return self.configuration.mappings if self.configuration else ()

    @property
    def helpers(self) -> frozenset[str]:
        """The classes that are declared not to be for quota."""
        return self.descriptor.helpers if self.descriptor else frozenset()

    def place_of_mapping(self, path: str) -> str:
        """Give file and line of a field of the Configuration."""
        document = self.configuration_document
        if document is None:
            return "(mapping)"
        return f"{document.file}:{document.line_of(path)}"


class Spot(NamedTuple):
    """What a check found somewhere."""

    place: str
    """File and line."""
    object: str
    text: str
    level: Level | None = None
    """Another level than that of the check."""


Found = Iterator[Spot]


def about(found: VendorObject | InventoryDevice, path: str, text: str) -> Spot:
    """Say something about a field of an object or of a device."""
    name = found.title if isinstance(found, VendorObject) else f"device {found.title}"
    return Spot(found.place(path), name, text)


def elsewhere(spot: Spot) -> Spot:
    """Make a warning of what is wrong only if no node has other hardware than what was given."""
    text = f"{spot.text}; give slices of the hardware that it is for"
    return spot._replace(text=text, level=Level.WARNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check; IDs are permanent."""

    id: str
    level: Level
    title: str
    effect: str
    """What goes wrong for a Kueue user."""
    remedy: str
    since: str = ""
    """Since which Kubernetes or Kueue it matters; empty: always."""
    run: Callable[[VendorContext], Found] = field(repr=False)

    def findings(self, context: VendorContext) -> Iterator[Finding]:
        """Look at everything."""
        for spot in self.run(context):
            yield Finding(
                check=self,
                place=spot.place,
                object=spot.object,
                text=spot.text,
                level=spot.level or self.level,
            )


CHECKS: dict[str, Check] = {}
"""Every check by its ID."""


def check(
    id_: str, level: Level, title: str, *, effect: str, remedy: str, since: str = ""
) -> Callable[[Callable[[VendorContext], Found]], Check]:
    """Register a function as a check.

    Raises:
        ValueError: the ID is taken.

    """

    def registered(run: Callable[[VendorContext], Found]) -> Check:
        if id_ in CHECKS:
            raise ValueError(f"{id_} is taken")
        CHECKS[id_] = Check(
            id=id_,
            level=level,
            title=title,
            effect=effect,
            remedy=remedy,
            since=since,
            run=run,
        )
        return CHECKS[id_]

    return registered


def run_checks(context: VendorContext, only: Sequence[str] = ()) -> list[Finding]:
    """Run every check, or some of them by ID, and give what they find, the most severe first."""
    chosen = [each for each in CHECKS.values() if not only or each.id in only]
    found = [finding for each in chosen for finding in each.findings(context)]
    order = list(Level)
    return sorted(
        found, key=lambda each: (order.index(each.level), each.check.id, each.place)
    )
