"""From which Kubernetes minor and Kueue release on each class of a driver can be charged as it is meant to be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from kueue_dra_ref.apiserver import MINORS
from kueue_dra_ref.behaviours.releases import REGISTRY, RegisteredRelease
from kueue_dra_vendor.check import Level, VendorContext, run_checks
from kueue_dra_vendor.checks_served import dropped_fields
from kueue_dra_vendor.files import GROUP, VendorObject
from kueue_dra_vendor.intent import ClassIntent, Quota, inferred

EXTENDED_GATES = ("KueueDRAIntegrationExtendedResource", "DRAExtendedResources")
"""Kueue's gate for extended resources, and its name in 0.17."""
QUOTA_GATES = {
    Quota.COUNTER: ("KueueDRAIntegrationPartitionableDevices",),
    Quota.CAPACITY: ("KueueDRAIntegrationConsumableCapacity",),
}
QUOTA_FIELDS = {
    Quota.COUNTER: ("sharedCounters", "consumesCounters"),
    Quota.CAPACITY: ("allowMultipleAllocations", "requestPolicy"),
}
"""The fields of slices that each kind of quota reads, in addition to the devices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MinorAnswer:
    """Whether a class can be charged as intended under one Kubernetes minor with its gates by default."""

    intent: ClassIntent
    kubernetes: str
    kueue: str
    """The first Kueue that charges it so; empty where none does."""
    obstacles: tuple[str, ...] = ()
    """What is missing."""

    @property
    def works(self) -> bool:
        """Whether nothing is missing."""
        return bool(self.kueue) and not self.obstacles


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverAnswer:
    """All answers, and the checks of level error that fail under the newest minor."""

    answers: tuple[MinorAnswer, ...]
    errors: tuple[str, ...]

    @property
    def since(self) -> tuple[str, str]:
        """Give the Kubernetes minor and the Kueue from which on every class works; empty texts where none does."""
        since = ""
        for minor in reversed(list(MINORS)):
            of_minor = [each for each in self.answers if each.kubernetes == minor]
            if not of_minor or not all(each.works for each in of_minor):
                break
            since = minor
        kueues = [each.kueue for each in self.answers if each.kubernetes == since]
        return since, max(kueues, key=_number, default="")


def answer(load: Callable[[str], VendorContext]) -> DriverAnswer:
    """Read the files once for each Kubernetes minor, and answer for each class that is for quota."""
    newest = load(list(MINORS)[-1])
    intents = _intents(newest)
    answers = [
        _answer(load(minor), intent)
        for intent in intents
        if intent.quota is not Quota.NONE
        for minor in MINORS
    ]
    found = run_checks(newest)
    errors = {each.check.id for each in found if each.level is Level.ERROR}
    return DriverAnswer(answers=tuple(answers), errors=tuple(sorted(errors)))


def _intents(context: VendorContext) -> Sequence[ClassIntent]:
    if context.descriptor:
        return context.descriptor.classes
    return inferred(context.inventory)


def _answer(context: VendorContext, intent: ClassIntent) -> MinorAnswer:
    classes = {each.name: each for each in context.files.classes}
    device_class = classes.get(intent.name)
    obstacles: Iterable[str] = ("no file has this DeviceClass",)
    if device_class:
        obstacles = dict.fromkeys(_obstacles(context, intent, device_class))
    return MinorAnswer(
        intent=intent,
        kubernetes=context.kubernetes,
        kueue=_first_kueue(context.kubernetes, intent),
        obstacles=tuple(obstacles),
    )


def _obstacles(
    context: VendorContext, intent: ClassIntent, device_class: VendorObject
) -> Iterator[str]:
    """Name what keeps a class from being charged as intended; what the API server does not serve comes first."""
    slices = _slices_of(context, device_class)
    objects = [device_class, *slices]
    served = list(_not_served(context, objects))
    if served:
        yield from served
        return
    if device_class.rejected:
        yield "the API server refuses the class"
    if any(each.rejected for each in slices):
        yield "the API server refuses slices"
    yield from _dropped(context, intent, objects)
    devices = context.inventory.matching(device_class)
    if not devices:
        yield "the class matches no device that was given"


def _not_served(
    context: VendorContext, objects: Sequence[VendorObject]
) -> Iterator[str]:
    served = MINORS[context.kubernetes].served_by_default
    for each in objects:
        version = str(each.document.manifest.get("apiVersion", ""))
        if version.removeprefix(GROUP) not in served:
            yield f"{version} is not served by default"


def _dropped(
    context: VendorContext, intent: ClassIntent, objects: Sequence[VendorObject]
) -> Iterator[str]:
    minor = context.api_server
    fields = ("extendedResourceName", *QUOTA_FIELDS.get(intent.quota, ()))
    for each in objects:
        for field, gate in dropped_fields(each, minor):
            if field in fields:
                is_set = "" if gate in context.gates else " by default"
                yield f"{gate} is off{is_set}"


def _slices_of(
    context: VendorContext, device_class: VendorObject
) -> Sequence[VendorObject]:
    """Give the slices of the drivers that a class matches; all of them where it matches none."""
    devices = context.inventory.matching(device_class)
    drivers = {each.device.driver for each in devices}
    slices = context.files.slices
    return [
        each for each in slices if not drivers or each.spec.get("driver") in drivers
    ]


def _first_kueue(kubernetes: str, intent: ClassIntent) -> str:
    """Give the first Kueue that reads a version that the minor serves by default and charges as intended."""
    served = MINORS[kubernetes].served_by_default
    for release in REGISTRY:
        is_kueue = bool(release.version) and release.reads in served
        if is_kueue and _charges(release, intent):
            return release.minor
    return ""


def _charges(release: RegisteredRelease, intent: ClassIntent) -> bool:
    gates = release.behaviour().gates.table
    needed: list[tuple[str, ...]] = []
    if intent.dimension:
        needed.append(QUOTA_GATES[intent.quota])
    if intent.extended_resource:
        needed.append(EXTENDED_GATES)
    return all(any(name in gates for name in names) for names in needed)


def _number(minor: str) -> tuple[int, ...]:
    return tuple(int(part) for part in minor.split(".") if part)
