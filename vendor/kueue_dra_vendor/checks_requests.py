"""Checks of what templates request against the devices of their classes."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.devices import expressions_of
from kueue_dra_ref.api.unstructured import part
from kueue_dra_ref.cel import EvaluationError, Undecided
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
from kueue_dra_vendor.files import ADMIN_NAMESPACE, VendorObject, name_of
from kueue_dra_vendor.inventory import InventoryDevice, Match, match

MOST = 3
"""How many devices a finding names."""
ALIKE = 0.85
"""From which similarity on an attribute's name is taken for a misspelt one."""
NO_KEY = re.compile(r"no such key: (\S+)")
"""What an engine says of an attribute that a device does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateRequest:
    """A request of a template whose class matches devices, and what its selectors say about each of them."""

    template: VendorObject
    name: str
    body: Mapping[str, Any]
    path: str
    """The path of ``exactly``."""
    devices: Sequence[InventoryDevice]
    """Those of the class."""
    matches: Sequence[Match]

    @property
    def matching(self) -> list[InventoryDevice]:
        """Give the devices that the request matches."""
        pairs = zip(self.devices, self.matches, strict=True)
        return [device for device, found in pairs if found.holds]

    @property
    def is_decided(self) -> bool:
        """Whether every selector could be evaluated on every device."""
        outcomes = [each.outcome for each in self.matches]
        return not any(
            isinstance(each, EvaluationError | Undecided) for each in outcomes
        )

    @property
    def attributes(self) -> set[str]:
        """The attributes of its class's devices, without their domain."""
        names = (name for each in self.devices for name in each.device.attributes)
        return {name.rpartition("/")[2] for name in names}

    def spot(self, key: str, text: str) -> Spot:
        """Say something about a field of the request."""
        return about(self.template, f"{self.path}.{key}", f"request {self.name} {text}")


@check(
    "VENDOR-307",
    Level.ERROR,
    "No selector of a template fails on a device of its class.",
    effect="The scheduler aborts the pod, although matching devices exist; with counters Kueue rejects the workload.",
    remedy="Guard the attribute: `has(...)`, `.?` with orValue, or an earlier selector that excludes the device.",
)
def request_selectors_do_not_fail(context: VendorContext) -> Found:
    """Evaluate the selectors of each request on the devices of its class.

    The driver may have other devices on other nodes: where none of those that were given matches, and the name of the
    attribute is like none of theirs, it is a warning.
    """
    for request in _requests(context):
        failing: dict[tuple[int, str], list[str]] = {}
        for device, found in zip(request.devices, request.matches, strict=True):
            if isinstance(found.outcome, EvaluationError):
                key = (found.index, found.outcome.detail)
                failing.setdefault(key, []).append(device.title)
        for (index, detail), titles in failing.items():
            text = f"selector {index} fails on {listed(titles, MOST)}: {detail}"
            spot = request.spot(f"selectors[{index}].cel.expression", text)
            missing = NO_KEY.search(detail)
            is_elsewhere = missing and not _is_known(request, missing[1])
            yield elsewhere(spot) if is_elsewhere else spot


@check(
    "VENDOR-308",
    Level.WARNING,
    "A request matches a device of its class.",
    effect="Kueue may admit the workload by the number of devices, and its pod stays pending.",
    remedy="Compare the selectors with the attributes that the driver publishes, or give slices of that hardware.",
)
def requests_match_devices(context: VendorContext) -> Found:
    """Look for requests whose selectors keep out every device."""
    for request in _requests(context):
        if request.is_decided and not request.matching:
            text = f"matches none of the {len(request.devices)} devices of its class"
            yield request.spot("selectors", text)


@check(
    "VENDOR-309",
    Level.ERROR,
    "A request names capacities as the devices spell them.",
    effect="No device can serve the request: the pod stays pending, and Kueue charges the default.",
    remedy="Spell the capacity as the slices do, with its domain where they have one.",
    since="Kubernetes 1.34, Kueue 0.19",
)
def requested_capacities_exist(context: VendorContext) -> Found:
    """Look for requested capacities that no device of the class has."""
    for request in _requests(context):
        requested = part(dict(request.body), "capacity").get("requests") or {}
        known = {name for each in request.devices for name in each.published.capacities}
        for name in sorted(set(requested) - known):
            has = listed(sorted(known), MOST) or "none"
            text = f"asks for capacity {name}; the devices of its class have {has}"
            yield request.spot(f"capacity.requests[{name}]", text)


@check(
    "VENDOR-310",
    Level.ERROR,
    "A constraint names an attribute that devices of its classes have.",
    effect="The scheduler never finds devices: Kueue admits the workload, and its pod stays pending.",
    remedy="Correct matchAttribute or distinctAttribute, with its domain.",
)
def constraints_name_attributes(context: VendorContext) -> Found:
    """Look for constraints whose attribute is on no device of the requests' classes.

    It is a warning where a request matches none of the devices that were given: the template is for other hardware.
    """
    by_template: dict[int, list[TemplateRequest]] = {}
    for request in _requests(context):
        by_template.setdefault(id(request.template), []).append(request)
    for requests in by_template.values():
        template = requests[0].template
        known = {name for each in requests for name in _attribute_names(each)}
        for path, attribute in _constraints(template):
            if attribute not in known:
                text = f"no device of its classes has the attribute {attribute}"
                spot = about(template, path, text)
                fits = all(each.matching for each in requests)
                yield spot if fits else elsewhere(spot)


@check(
    "VENDOR-311",
    Level.WARNING,
    "No namespace for workloads allows administrative access.",
    effect="Its workloads may ask for admin access, which quota does not count.",
    remedy="Keep the label resource.kubernetes.io/admin-access to namespaces of administrators.",
    since="Kubernetes 1.34",
)
def namespaces_have_no_admin_access(context: VendorContext) -> Found:
    """Look for the label on Namespaces among the files."""
    ((label, value),) = ADMIN_NAMESPACE.items()
    for document in context.files.others:
        labels = part(part(document.manifest, "metadata"), "labels")
        if document.manifest.get("kind") == "Namespace" and labels.get(label) == value:
            place = f"{document.file}:{document.line_of(f'metadata.labels[{label}]')}"
            name = f"Namespace {name_of(document.manifest)}"
            yield Spot(place, name, f"has the label {label}")


@check(
    "VENDOR-313",
    Level.WARNING,
    "A request asks for no more devices than a pool has.",
    effect="Kueue admits the workload if the quota allows it; its pod stays pending.",
    remedy="Ask for fewer, or give slices of that hardware.",
)
def requests_fit_a_node(context: VendorContext) -> Found:
    """Compare the count with the largest number of matching devices on a node."""
    for request in _requests(context):
        count = request.body.get("count") or 1
        by_node = Counter(_reach(device) for device in request.matching)
        most = max(by_node.values(), default=0)
        if request.is_decided and 0 < most < count:
            text = f"asks for {count} devices; a node has at most {most} that match"
            yield request.spot("count", text)


@check(
    "VENDOR-315",
    Level.OPEN,
    "The engine here decides every selector of a template.",
    effect="Whether the request matches a device is not known.",
    remedy="Run the command again with --cel kubernetes: Kubernetes' own engine decides it.",
)
def request_selectors_are_decided(context: VendorContext) -> Found:
    """Name what the engine inside leaves undecided."""
    for request in _requests(context):
        reasons = {
            (found.index, found.outcome.reason)
            for found in request.matches
            if isinstance(found.outcome, Undecided)
        }
        for index, reason in sorted(reasons):
            path = f"selectors[{index}].cel.expression"
            yield request.spot(path, f"selector {index}: {reason}")


def _requests(context: VendorContext) -> Iterator[TemplateRequest]:
    """Give each exact request whose class is there and matches devices."""
    classes = {each.name: each for each in context.files.classes}
    for template in context.files.of("ResourceClaimTemplate"):
        devices = part(part(template.spec, "spec"), "devices")
        for index, written in enumerate(devices.get("requests") or ()):
            body = written.get("exactly") or {}
            device_class = classes.get(body.get("deviceClassName", ""))
            if device_class is None or template.rejected:
                continue
            candidates = context.inventory.matching(device_class)
            if candidates:
                path = f"spec.spec.devices.requests[{index}].exactly"
                name = str(written.get("name", ""))
                yield _request(template, name, body, path, candidates)


def _request(
    template: VendorObject,
    name: str,
    body: dict[str, Any],
    path: str,
    candidates: Sequence[InventoryDevice],
) -> TemplateRequest:
    selectors = expressions_of(body, path)
    return TemplateRequest(
        template=template,
        name=name,
        body=body,
        path=path,
        devices=candidates,
        matches=[match(selectors, each.device) for each in candidates],
    )


def _is_known(request: TemplateRequest, attribute: str) -> bool:
    """Whether a request is for the devices that were given: it matches some, or misspells an attribute of theirs."""
    if request.matching:
        return True
    name = attribute.strip("'\"").rpartition("/")[2]
    return bool(difflib.get_close_matches(name, request.attributes, 1, ALIKE))


def _constraints(template: VendorObject) -> Iterator[tuple[str, str]]:
    devices = part(part(template.spec, "spec"), "devices")
    for index, each in enumerate(devices.get("constraints") or ()):
        for key in ("matchAttribute", "distinctAttribute"):
            if attribute := each.get(key):
                yield f"spec.spec.devices.constraints[{index}].{key}", str(attribute)


def _attribute_names(request: TemplateRequest) -> Iterator[str]:
    for device in request.devices:
        for name in device.device.attributes:
            yield name if "/" in name else f"{device.device.driver}/{name}"


def _reach(device: InventoryDevice) -> str:
    """Name the node of a device, or the pool where it belongs to no node."""
    return device.node or device.device.pool
