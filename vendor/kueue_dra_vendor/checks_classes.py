"""Checks of DeviceClasses: selectors, overlaps, names."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterator

from kueue_dra_ref.api.names import label_key_faults
from kueue_dra_ref.api.unstructured import part
from kueue_dra_ref.cel import (
    CompileError,
    Device,
    EvaluationError,
    Undecided,
    compiled,
    cost_trap,
)
from kueue_dra_ref.explain.step import listed
from kueue_dra_vendor.check import (
    Found,
    Level,
    Spot,
    VendorContext,
    about,
    check,
    elsewhere,
)
from kueue_dra_vendor.files import VendorObject
from kueue_dra_vendor.inventory import InventoryDevice, match, selectors_of

DRIVER = re.compile(r"device\.driver\s*==\s*['\"]([^'\"]+)['\"]")
ALIKE = 0.85
"""From which similarity on a driver's name is taken for a misspelt one."""
FOREIGN = Device(name="device", driver="other.vendor.invalid", pool="pool")
"""A device that no vendor publishes, without attributes."""
MOST = 3
"""How many devices a finding names."""
NOT_FOUND = "404 "
"""How the answer to an object of a version begins that is not served."""


@check(
    "VENDOR-001",
    Level.ERROR,
    "The API server stores every class, slice and template.",
    effect="A class that is not stored cannot be mapped; the devices of a rejected slice are not seen.",
    remedy="Change the field that the message names, or require a Kubernetes minor that takes it.",
)
def objects_are_stored(context: VendorContext) -> Found:
    """Ask the API server of the chosen Kubernetes minor about each object."""
    for each in context.files.objects:
        if each.rejected:
            text = f"Kubernetes {context.kubernetes} answers {each.rejected}"
            if each.rejected.startswith(NOT_FOUND):
                version = each.document.manifest.get("apiVersion")
                text = f"{text}: it does not serve {version}"
            yield about(each, "", text)


@check(
    "VENDOR-002",
    Level.ERROR,
    "Every selector of a class compiles.",
    effect='Kueue rejects each workload of the class ("DeviceClass has invalid CEL selector").',
    remedy="Correct the expression.",
)
def selectors_compile(context: VendorContext) -> Found:
    """Compile as Kueue does."""
    for each, index, expression in _selectors(context):
        outcome = compiled(expression)
        if isinstance(outcome, CompileError):
            first = outcome.detail.splitlines()[0]
            yield about(each, _selector_path(index), f"selector {index}: {first}")


@check(
    "VENDOR-003",
    Level.OPEN,
    "The engine here decides every selector.",
    effect="Whether the class matches a device is not known.",
    remedy="Run the command again with --cel kubernetes: Kubernetes' own engine decides it.",
)
def selectors_are_decided(context: VendorContext) -> Found:
    """Name what the engine inside leaves undecided."""
    for each, index, expression in _selectors(context):
        outcome = compiled(expression)
        if isinstance(outcome, Undecided):
            yield about(
                each, _selector_path(index), f"selector {index}: {outcome.reason}"
            )


@check(
    "VENDOR-004",
    Level.ERROR,
    "A class matches at least one device.",
    effect="Quota is configured and reserved for devices that do not exist; pods stay pending.",
    remedy="Compare the selectors with the attributes that the driver publishes; `kueue-dra devices` shows both.",
)
def a_class_matches_a_device(context: VendorContext) -> Found:
    """Where slices are given, look for a device that every selector accepts.

    The driver may have other devices on other nodes: where selectors keep out those that were given, and nothing else
    is wrong, it is a warning.
    """
    for each in _unmatched(context):
        absent = _absent_driver(context, each)
        if each.name in context.helpers:
            continue
        if not absent:
            spot = about(each, "spec.selectors", _why_none(context, each))
            yield spot if _can_not_match(context, each) else elsewhere(spot)
        elif near := _alike(context, absent):
            text = f"names the driver {absent}, which publishes nothing; did you mean {near}?"
            yield about(each, "spec.selectors", text)


@check(
    "VENDOR-015",
    Level.OPEN,
    "Slices of the driver of each class are given.",
    effect="Whether the class matches a device is not known.",
    remedy="Give the driver's slices, too: kubectl get resourceslices -o yaml.",
)
def slices_of_the_driver_are_given(context: VendorContext) -> Found:
    """Name the classes whose driver publishes nothing among the files."""
    if not context.inventory.devices:
        yield from _without_devices(context.files.classes)
    for each in _unmatched(context):
        absent = _absent_driver(context, each)
        if absent and not _alike(context, absent) and each.name not in context.helpers:
            yield about(each, "", f"no ResourceSlice of the driver {absent} was given")


@check(
    "VENDOR-005",
    Level.ERROR,
    "No selector of a class fails on a device of the class's own driver.",
    effect="Kueue rejects each workload of the class, although matching devices exist.",
    remedy="Guard the attribute: `has(...)`, `.?` with orValue, or an earlier selector that excludes the device.",
)
def own_devices_do_not_fail(context: VendorContext) -> Found:
    """Evaluate on the devices of the drivers that the class matches."""
    yield from _failures(context, own=True)


@check(
    "VENDOR-006",
    Level.ERROR,
    "No selector of a class fails on a device of another driver.",
    effect="In a cluster with that driver Kueue rejects each workload of the class, and the scheduler aborts the pod.",
    remedy="Begin with a driver guard: `device.driver == '...' && ...`.",
)
def foreign_devices_do_not_fail(context: VendorContext) -> Found:
    """Evaluate on every device of other drivers that was given."""
    yield from _failures(context, own=False)


@check(
    "VENDOR-007",
    Level.WARNING,
    "The first selector of a class names the driver.",
    effect="Attributes of other drivers are read: a selector that fails there rejects every workload of the class.",
    remedy="Begin with `device.driver == '...'`, in the first selector or before `&&`.",
)
def a_driver_guard_comes_first(context: VendorContext) -> Found:
    """Evaluate the selectors on a device of another driver that has no attributes."""
    for each in context.files.classes:
        found = match(selectors_of(each), FOREIGN)
        if not each.is_readable:
            continue
        if found.holds:
            text = "matches any device of any driver: no selector names the driver"
            yield about(each, "spec", text)
        elif isinstance(found.outcome, EvaluationError) and not _is_broken(each):
            detail = found.outcome.detail
            text = (
                f"selector {found.index} fails on a device of another driver: {detail}"
            )
            yield about(each, _selector_path(found.index), text)


@check(
    "VENDOR-008",
    Level.WARNING,
    "Two classes do not match the same device.",
    effect="One device is charged under two quotas, or one quota is bypassed through the other class.",
    remedy="Exclude the devices of the narrower class from the wider one, or map both to one resource.",
)
def classes_do_not_overlap(context: VendorContext) -> Found:
    """Compare the devices of each pair of classes; a class is named once, with all that it shares devices with."""
    quota = [each for each in _compiling(context) if each.name not in context.helpers]
    sharing: dict[str, list[str]] = {}
    devices: dict[str, list[InventoryDevice]] = {}
    for one, other in itertools.combinations(quota, 2):
        shared = _shared(context, one, other)
        if shared and not _mapped_together(context, one.name, other.name):
            sharing.setdefault(one.name, []).append(other.name)
            devices.setdefault(one.name, shared)
    for each in quota:
        if each.name in sharing:
            others = _also(sharing[each.name])
            text = f"matches {_named(devices[each.name])} as {others}"
            yield about(each, "spec.selectors", text)


@check(
    "VENDOR-009",
    Level.ERROR,
    "A class name is a label key.",
    effect="Kueue's Configuration refuses the name, and the manager does not start.",
    remedy="Use a name of at most 63 characters, with at most one prefix and slash.",
)
def class_names_are_label_keys(context: VendorContext) -> Found:
    """Apply the grammar that Kueue's Configuration applies."""
    for each in context.files.classes:
        for fault in label_key_faults(each.name):
            yield about(each, "metadata.name", fault)


@check(
    "VENDOR-010",
    Level.ERROR,
    "No two classes have one extended resource name.",
    effect="The newest class takes the name: installing one driver moves the quota of the other.",
    remedy="Use a name with the vendor's own domain.",
    since="Kueue 0.17, Kubernetes 1.34",
)
def extended_names_are_unique(context: VendorContext) -> Found:
    """Compare spec.extendedResourceName."""
    by_name: dict[str, VendorObject] = {}
    for each in context.files.classes:
        name = each.spec.get("extendedResourceName")
        if name and name in by_name:
            text = f"extendedResourceName {name} is that of DeviceClass {by_name[name].name}, too"
            yield about(each, "spec.extendedResourceName", text)
        elif name:
            by_name[name] = each


@check(
    "VENDOR-011",
    Level.WARNING,
    "An extended resource name has no domain of another vendor.",
    effect="Where the other vendor's driver is installed, one name means two kinds of devices.",
    remedy="Use a name with the vendor's own domain.",
    since="Kueue 0.17, Kubernetes 1.34",
)
def extended_names_are_the_vendors(context: VendorContext) -> Found:
    """Compare the domain of the name with those of the class and its drivers."""
    for each in context.files.classes:
        name = str(each.spec.get("extendedResourceName") or "")
        domain = name.partition("/")[0]
        own = {
            each.name,
            *(device.device.driver for device in context.inventory.matching(each)),
        }
        if name and not any(_related(domain, other) for other in own):
            text = f"extendedResourceName {name} has the domain of another vendor than {', '.join(sorted(own))}"
            yield about(each, "spec.extendedResourceName", text)


@check(
    "VENDOR-012",
    Level.ADVICE,
    "A class has an explicit extended resource name, or none is needed.",
    effect="Kueue does not know the implicit name deviceclass.resource.kubernetes.io/CLASS: such pods are not charged.",
    remedy="Set spec.extendedResourceName if users request the class as an extended resource.",
    since="Kubernetes 1.35",
)
def implicit_names_are_not_charged(context: VendorContext) -> Found:
    """Look for the implicit name in the work that was given."""
    names = {
        f"deviceclass.resource.kubernetes.io/{each.name}": each
        for each in context.files.classes
    }
    for document in context.files.work:
        text = str(document.manifest)
        for name, each in names.items():
            if f"'{name}'" in text:
                yield Spot(
                    f"{document.file}:{document.line}",
                    each.title,
                    f"is requested as {name}",
                )


@check(
    "VENDOR-013",
    Level.WARNING,
    "A selector stays below the API server's cost limit.",
    effect="The API server rejects the class.",
    remedy="Avoid traversals of lists and maps of unknown size.",
)
def selectors_are_cheap(context: VendorContext) -> Found:
    """Look for the known traps of the cost estimate."""
    for each, index, expression in _selectors(context):
        if trap := cost_trap(expression):
            yield about(each, _selector_path(index), f"selector {index}: {trap}")


@check(
    "VENDOR-014",
    Level.WARNING,
    "No selector reads device.allowMultipleAllocations.",
    effect="Kueue always evaluates it as false, the scheduler does not: quota and allocation differ.",
    remedy="Tell the devices apart by an attribute.",
    since="Kueue 0.18",
)
def selectors_do_not_read_allow_multiple(context: VendorContext) -> Found:
    """Look for the field in selectors."""
    for each, index, expression in _selectors(context):
        if "allowMultipleAllocations" in expression:
            yield about(each, _selector_path(index), f"selector {index}: {expression}")


@check(
    "VENDOR-016",
    Level.WARNING,
    "The files define each object once.",
    effect="The one that is applied last replaces the other; what was checked may not be what runs.",
    remedy="Give one version of the driver's files at a time.",
)
def objects_are_defined_once(context: VendorContext) -> Found:
    """Compare kind, namespace and name; a second one that says the same changes nothing."""
    seen: dict[tuple[str, str, str], VendorObject] = {}
    for each in context.files.objects:
        namespace = part(each.document.manifest, "metadata").get("namespace", "")
        key = (each.kind, str(namespace), each.name)
        first = seen.setdefault(key, each)
        if each.name and each.spec != first.spec:
            yield about(each, "", f"is defined otherwise in {first.place()}")


def _without_devices(classes: list[VendorObject]) -> Found:
    """Say once that no class can be compared with devices."""
    if not classes:
        return
    text = "no ResourceSlice with devices was given"
    others = len(classes) - 1
    if others:
        text = f"{text}, nor for {others} other DeviceClasses"
    yield about(classes[0], "", text)


def _selectors(context: VendorContext) -> Iterator[tuple[VendorObject, int, str]]:
    for each in context.files.classes:
        for index, expression in enumerate(selectors_of(each)):
            yield each, index, expression


def _compiling(context: VendorContext) -> list[VendorObject]:
    return [each for each in context.files.classes if not _is_broken(each)]


def _is_broken(each: VendorObject) -> bool:
    if not each.is_readable:
        return True
    return any(isinstance(compiled(text), CompileError) for text in selectors_of(each))


def _selector_path(index: int) -> str:
    return f"spec.selectors[{index}].cel.expression"


def _unmatched(context: VendorContext) -> Iterator[VendorObject]:
    """Give the classes that match no device, where devices were given."""
    for each in _compiling(context) if context.inventory.devices else ():
        matches = context.inventory.matches(each)
        if not any(
            found.holds or isinstance(found.outcome, Undecided) for found in matches
        ):
            yield each


def _can_not_match(context: VendorContext, each: VendorObject) -> bool:
    """Tell whether a class fails on devices, names no driver, or reads what Kueue evaluates as false."""
    text = " ".join(selectors_of(each))
    matches = context.inventory.matches(each)
    fails = any(isinstance(found.outcome, EvaluationError) for found in matches)
    names_driver = DRIVER.search(text) is not None
    return fails or not names_driver or "allowMultipleAllocations" in text


def _alike(context: VendorContext, name: str) -> str:
    """Give the driver whose name a misspelt one may mean; empty where there is none.

    A name that is the other's with words before or after it is another driver's: vfio-npu.example.com.
    """
    drivers = [
        each
        for each in context.inventory.drivers
        if each not in name and name not in each
    ]
    found = difflib.get_close_matches(name, drivers, n=1, cutoff=ALIKE)
    return found[0] if found else ""


def _absent_driver(context: VendorContext, each: VendorObject) -> str:
    """Give the driver that the selectors of a class name and that publishes nothing; empty where there is none."""
    named = [name for text in selectors_of(each) for name in DRIVER.findall(text)]
    return next((name for name in named if name not in context.inventory.drivers), "")


def _why_none(context: VendorContext, each: VendorObject) -> str:
    matches = context.inventory.matches(each)
    count = len(context.inventory.devices)
    by_selector: dict[int, int] = {}
    for found in matches:
        by_selector[found.index] = by_selector.get(found.index, 0) + 1
    reasons = [
        f"selector {index} keeps out {number}"
        for index, number in sorted(by_selector.items())
    ]
    return f"matches none of {count} devices: {', '.join(reasons)}"


def _failures(context: VendorContext, *, own: bool) -> Found:
    for each in _compiling(context):
        drivers = {device.device.driver for device in context.inventory.matching(each)}
        failing = _failing(context, each, drivers, own=own)
        for (index, detail), devices in failing.items():
            text = f"selector {index} fails on {_named(devices)}: {detail}"
            yield about(each, _selector_path(index), text)


def _failing(
    context: VendorContext, device_class: VendorObject, drivers: set[str], *, own: bool
) -> dict[tuple[int, str], list[InventoryDevice]]:
    found: dict[tuple[int, str], list[InventoryDevice]] = {}
    pairs = zip(
        context.inventory.devices, context.inventory.matches(device_class), strict=True
    )
    for device, outcome in pairs:
        is_own = device.device.driver in drivers or not drivers
        if isinstance(outcome.outcome, EvaluationError) and is_own is own:
            found.setdefault((outcome.index, outcome.outcome.detail), []).append(device)
    return found


def _shared(
    context: VendorContext, one: VendorObject, other: VendorObject
) -> list[InventoryDevice]:
    theirs = {id(device) for device in context.inventory.matching(other)}
    return [
        device for device in context.inventory.matching(one) if id(device) in theirs
    ]


def _mapped_together(context: VendorContext, one: str, other: str) -> bool:
    return any(
        one in each.device_classes and other in each.device_classes
        for each in context.mappings
    )


def _also(names: list[str]) -> str:
    """Name the class that the devices are compared with, and how many share devices, too."""
    if len(names) == 1:
        return f"DeviceClass {names[0]} does"
    others = listed(names[1:], MOST)
    return f"DeviceClass {names[0]} does, and shares devices with {others}, too"


def _named(devices: list[InventoryDevice]) -> str:
    return listed([device.title for device in devices], MOST)


def _related(domain: str, name: str) -> bool:
    """Whether two names share their last two labels, such as nvidia.com."""
    return domain.split(".")[-2:] == name.partition("/")[0].split(".")[-2:]
