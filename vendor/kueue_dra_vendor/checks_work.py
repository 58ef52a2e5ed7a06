"""Checks of templates and demos: what Kueue rejects, or does not count."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kueue_dra_ref.api.documents import ManifestDocument
from kueue_dra_vendor.check import Found, Level, Spot, VendorContext, about, check
from kueue_dra_vendor.files import VendorObject, name_of, pod_specs


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
    """Where classes are given, look for other names."""
    known = {each.name for each in context.files.classes}
    for each, index, request in _requests(context) if known else ():
        name = (request.get("exactly") or {}).get("deviceClassName")
        if name and name not in known:
            path = f"{_path(each, index)}.exactly.deviceClassName"
            text = f"request {request.get('name')} names DeviceClass {name}, which is not among the files"
            yield about(each, path, text)


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
        name = claim.get("resourceClaimTemplateName")
        if name and name not in known:
            text = f"names ResourceClaimTemplate {name}, which is not among the files"
            yield _of_claim(document, path, text)


def _pod_claims(
    context: VendorContext,
) -> Iterator[tuple[ManifestDocument, str, dict[str, Any]]]:
    """Give each entry of resourceClaims in a pod of the work, with its path."""
    for document in context.files.work:
        for path, pod in pod_specs(document.manifest):
            for index, claim in enumerate(pod.get("resourceClaims") or ()):
                yield document, f"{path}.resourceClaims[{index}]", claim


def _of_claim(document: ManifestDocument, path: str, text: str) -> Spot:
    """Say something about a claim of a pod."""
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
