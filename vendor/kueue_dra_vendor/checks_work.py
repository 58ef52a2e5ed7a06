"""Checks of templates and demos: what Kueue rejects, or does not count."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kueue_dra_vendor.check import Found, Level, Spot, VendorContext, about, check
from kueue_dra_vendor.files import VendorObject, pod_specs


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
            place = each.place(f"{_path(each, index)}.exactly.allocationMode")
            yield Spot(
                place,
                each.title,
                f"request {request.get('name')} has the allocation mode All",
            )


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
            place = each.place(f"{_path(each, index)}.exactly.adminAccess")
            yield Spot(
                place,
                each.title,
                f"request {request.get('name')} asks for administrative access",
            )


@check(
    "VENDOR-304",
    Level.ERROR,
    "Work names templates, not ResourceClaims.",
    effect="Kueue rejects a workload that names a ResourceClaim directly; where its gate is off nothing is charged.",
    remedy="Use resourceClaimTemplateName.",
)
def work_names_templates(context: VendorContext) -> Found:
    """Look for resourceClaimName in pods."""
    for document in context.files.work:
        for path, pod in pod_specs(document.manifest):
            for index, claim in enumerate(pod.get("resourceClaims") or ()):
                if claim.get("resourceClaimName"):
                    line = document.line_of(f"{path}.resourceClaims[{index}]")
                    name = f"{document.manifest.get('kind')} {_name(document.manifest)}"
                    yield Spot(
                        f"{document.file}:{line}",
                        name,
                        f"names ResourceClaim {claim['resourceClaimName']}",
                    )


@check(
    "VENDOR-305",
    Level.ERROR,
    "A template names classes that exist.",
    effect="Kueue rejects the workload, and the pod stays pending.",
    remedy="Correct deviceClassName, or give the class, too.",
)
def templates_name_classes(context: VendorContext) -> Found:
    """Where classes are given, look for other names."""
    known = {each.name for each in context.files.classes}
    for each, index, request in _requests(context) if known else ():
        name = (request.get("exactly") or {}).get("deviceClassName")
        if name and name not in known:
            place = each.place(f"{_path(each, index)}.exactly.deviceClassName")
            yield Spot(
                place,
                each.title,
                f"request {request.get('name')} names DeviceClass {name}, which is not among the files",
            )


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
    for document in context.files.work if known else ():
        for path, pod in pod_specs(document.manifest):
            for index, claim in enumerate(pod.get("resourceClaims") or ()):
                name = claim.get("resourceClaimTemplateName")
                if name and name not in known:
                    line = document.line_of(f"{path}.resourceClaims[{index}]")
                    title = (
                        f"{document.manifest.get('kind')} {_name(document.manifest)}"
                    )
                    yield Spot(
                        f"{document.file}:{line}",
                        title,
                        f"names ResourceClaimTemplate {name}, which is not among the files",
                    )


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


def _name(manifest: dict[str, Any]) -> str:
    metadata = manifest.get("metadata") or {}
    return str(metadata.get("name") or metadata.get("generateName") or "")
