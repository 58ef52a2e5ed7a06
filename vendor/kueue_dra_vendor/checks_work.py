"""Checks of templates and demos: what Kueue rejects, or does not count."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

from kueue_dra_ref.api.documents import ManifestDocument
from kueue_dra_ref.api.unstructured import part
from kueue_dra_vendor.check import Found, Level, Spot, VendorContext, about, check
from kueue_dra_vendor.files import VendorObject, entries, name_of, pod_specs

ALIKE = 0.85
"""From which similarity on a name is taken for a misspelt one."""
FIRST_LABEL = 0.6
"""The same of its first label alone."""


@check(
    "VENDOR-301",
    Level.ERROR,
    "A template uses no prioritized list.",
    effect="Kueue up to 0.19 rejects a workload with firstAvailable; 0.20 needs a gate that is off by default.",
    remedy="Publish a demo with `exactly` for clusters with quota.",
    since="Kueue 0.15",
)
def templates_have_no_lists(context: VendorContext) -> Found:
    """Look for firstAvailable."""
    for each, index, request in _requests(context):
        if request.get("firstAvailable"):
            yield about(
                each,
                f"{_path(each, index)}.firstAvailable",
                f"request {request.get('name')} is a list",
            )


@check(
    "VENDOR-302",
    Level.ERROR,
    "A template asks for a number of devices.",
    effect='Kueue rejects a workload whose request has the allocation mode All ("only ExactCount").',
    remedy="Use allocationMode ExactCount.",
    since="Kueue 0.15",
)
def templates_ask_for_a_count(context: VendorContext) -> Found:
    """Look for mode All."""
    for each, index, request in _requests(context):
        if (request.get("exactly") or {}).get("allocationMode") == "All":
            path = f"{_path(each, index)}.exactly.allocationMode"
            text = f"request {request.get('name')} has the allocation mode All"
            yield about(each, path, text)


@check(
    "VENDOR-303",
    Level.WARNING,
    "Administrative access is not part of a demo for tenants.",
    effect="Kueue up to 0.19 rejects the workload; 0.20 charges nothing for it.",
    remedy="Keep such a demo apart.",
    since="Kueue 0.15",
)
def templates_have_no_admin_access(context: VendorContext) -> Found:
    """Look for adminAccess."""
    for each, index, request in _requests(context):
        if (request.get("exactly") or {}).get("adminAccess"):
            path = f"{_path(each, index)}.exactly.adminAccess"
            text = f"request {request.get('name')} asks for administrative access"
            yield about(each, path, text)


@check(
    "VENDOR-304",
    Level.ERROR,
    "Work names templates, not ResourceClaims.",
    effect="Kueue rejects a workload that names a ResourceClaim directly; where its gate is off nothing is charged.",
    remedy="Use resourceClaimTemplateName.",
)
def work_names_templates(context: VendorContext) -> Found:
    """Look for resourceClaimName in pods."""
    for document, path, claim in _pod_claims(context):
        if name := claim.get("resourceClaimName"):
            yield _of_claim(document, path, f"names ResourceClaim {name}")


@check(
    "VENDOR-305",
    Level.ERROR,
    "A template names classes that exist.",
    effect="Kueue rejects the workload, and the pod stays pending.",
    remedy="Correct deviceClassName, or give the class, too.",
)
def templates_name_classes(context: VendorContext) -> Found:
    """Where classes are given, look for other names that are this vendor's."""
    for spot, name in _absent_classes(context):
        if _is_this_vendors(context, name):
            yield spot


@check(
    "VENDOR-314",
    Level.OPEN,
    "The classes that templates name are given, other vendors' and those of charts, too.",
    effect="Whether the class exists is not known; without it Kueue rejects the workload.",
    remedy="Give the classes, too: kubectl get deviceclasses -o yaml, or what helm template prints.",
)
def foreign_classes_are_given(context: VendorContext) -> Found:
    """Where classes are given, look for names of another vendor, or of a chart that is not rendered, each once."""
    found: dict[str, list[Spot]] = {}
    for spot, name in _absent_classes(context):
        if not _is_this_vendors(context, name):
            found.setdefault(name, []).append(spot)
    for spots in found.values():
        first = spots[0]
        others = len(spots) - 1
        more = f", nor for {others} other requests" if others else ""
        yield first._replace(text=f"{first.text}{more}")


@check(
    "VENDOR-306",
    Level.ERROR,
    "Work names templates that exist.",
    effect="Kueue rejects the workload until the template is there.",
    remedy="Correct the name, or give the template, too.",
)
def work_names_existing_templates(context: VendorContext) -> Found:
    """Where templates are given, look for other names."""
    known = {each.name for each in context.files.of("ResourceClaimTemplate")}
    for document, path, claim in _pod_claims(context) if known else ():
        name = str(claim.get("resourceClaimTemplateName") or "")
        if name and name not in known and not _generators(context, name):
            text = f"names ResourceClaimTemplate {name}, which is not among the files"
            yield _of_claim(document, path, text)


@check(
    "VENDOR-312",
    Level.OPEN,
    "No template is generated by a controller.",
    effect="Kueue rejects the workload, and tries again, until the controller has created the template.",
    remedy="Create the custom resource first, then: kubectl get resourceclaimtemplates -A",
)
def templates_are_not_generated(context: VendorContext) -> Found:
    """Look for templates that a custom resource among the files names."""
    known = {each.name for each in context.files.of("ResourceClaimTemplate")}
    for document, path, claim in _pod_claims(context):
        name = str(claim.get("resourceClaimTemplateName") or "")
        generators = _generators(context, name) if name not in known else []
        if generators:
            text = f"names ResourceClaimTemplate {name}, which {generators[0]} names"
            yield _of_claim(document, path, text)


def _absent_classes(context: VendorContext) -> Iterator[tuple[Spot, str]]:
    known = {each.name for each in context.files.classes}
    for each, index, request in _requests(context) if known else ():
        name = (request.get("exactly") or {}).get("deviceClassName")
        if name and name not in known:
            path = f"{_path(each, index)}.exactly.deviceClassName"
            text = f"request {request.get('name')} names DeviceClass {name}, which is not among the files"
            yield about(each, path, text), name


def _is_this_vendors(context: VendorContext, name: str) -> bool:
    """Tell whether a class that is absent has no domain, or one like that of a class or driver that is there.

    Where a chart is not rendered, the class may be in it, unless it is a class that is there, misspelt.
    """
    own = {each.name for each in context.files.classes} | _drivers_of_classes(context)
    is_near = _is_misspelt(name, own)
    domains = {_domain(each) for each in own}
    if context.files.templates:
        return is_near
    return "." not in name or is_near or _domain(name) in domains


def _is_misspelt(name: str, known: set[str]) -> bool:
    """Whether a name is like a known one, in its first label too: mig.example.com is no gpu.example.com."""
    for near in difflib.get_close_matches(name, known, cutoff=ALIKE):
        labels = name.partition(".")[0], near.partition(".")[0]
        if difflib.SequenceMatcher(None, *labels).ratio() >= FIRST_LABEL:
            return True
    return False


def _drivers_of_classes(context: VendorContext) -> set[str]:
    """Give the drivers whose devices a class matches; of any other driver the classes were not given."""
    inventory = context.inventory
    found = set()
    for each in context.files.classes:
        found |= {device.device.driver for device in inventory.matching(each)}
    return found


def _domain(name: str) -> str:
    """Give the last two labels, such as nvidia.com."""
    return ".".join(name.split(".")[-2:])


def _generators(context: VendorContext, name: str | None) -> list[str]:
    """Name the custom resources among the files that mention a template in their spec."""
    return [
        f"{each.manifest.get('kind')} {name_of(each.manifest)}"
        for each in context.files.others
        if name and name in _texts(each.manifest.get("spec"))
    ]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


@check(
    "VENDOR-316",
    Level.ERROR,
    "A pod template requests an extended resource of a class, and does not only limit it.",
    effect="Kueue reads the requests of the template: the workload waits for a quota of the name itself.",
    remedy="Write the amount under requests, too; only in a Pod does the API server copy it from limits.",
    since="Kueue 0.17, Kubernetes 1.34",
)
def extended_resources_are_requested(context: VendorContext) -> Found:
    """Look for names of classes in limits alone, in work that is no Pod."""
    names = {each.spec.get("extendedResourceName") for each in context.files.classes}
    for document in context.files.work:
        if document.manifest.get("kind") == "Pod":
            continue
        for path, pod in pod_specs(document.manifest):
            for index, container in enumerate(entries(pod["containers"])):
                resources = part(container, "resources")
                requested = part(resources, "requests")
                for name in part(resources, "limits"):
                    if name in names and name not in requested:
                        place = f"{path}.containers[{index}].resources.limits"
                        yield _of_claim(
                            document, place, f"limits {name} and does not request it"
                        )


def _pod_claims(
    context: VendorContext,
) -> Iterator[tuple[ManifestDocument, str, dict[str, Any]]]:
    """Give each entry of resourceClaims in a pod of the work, with its path."""
    for document in context.files.work:
        for path, pod in pod_specs(document.manifest):
            for index, claim in enumerate(entries(pod.get("resourceClaims"))):
                yield document, f"{path}.resourceClaims[{index}]", claim


def _of_claim(document: ManifestDocument, path: str, text: str) -> Spot:
    """Say something about a field of a pod."""
    manifest = document.manifest
    place = f"{document.file}:{document.line_of(path)}"
    return Spot(place, f"{manifest.get('kind')} {name_of(manifest)}", text)


def _requests(
    context: VendorContext,
) -> Iterator[tuple[VendorObject, int, dict[str, Any]]]:
    for kind in ("ResourceClaimTemplate", "ResourceClaim"):
        for each in context.files.of(kind):
            spec = (
                each.spec.get("spec") or {}
                if kind == "ResourceClaimTemplate"
                else each.spec
            )
            for index, request in enumerate(
                (spec.get("devices") or {}).get("requests") or ()
            ):
                yield each, index, request


def _path(each: VendorObject, index: int) -> str:
    root = "spec.spec" if each.kind == "ResourceClaimTemplate" else "spec"
    return f"{root}.devices.requests[{index}]"
