"""Validation of whole objects, new or changed: metadata, spec, and what must not change any more.

Kubernetes: pkg/apis/resource/validation/validation.go (ValidateResourceClaimUpdate, ValidateDeviceClassUpdate,
    ValidateResourceClaimTemplateUpdate, ValidateResourceSliceUpdate)
"""

from __future__ import annotations

from collections.abc import Mapping

from kueue_dra_ref.api.unstructured import Object
from kueue_dra_ref.apiserver import resource_names
from kueue_dra_ref.apiserver.claims import claim
from kueue_dra_ref.apiserver.classes import device_class
from kueue_dra_ref.apiserver.fielderrors import Errors, forbidden, invalid_as, required
from kueue_dra_ref.apiserver.go_json import internal
from kueue_dra_ref.apiserver.go_types import GoField, GoSlice
from kueue_dra_ref.apiserver.kubernetes_version import Kubernetes
from kueue_dra_ref.apiserver.resource_conversion import claims_of, requests_of
from kueue_dra_ref.apiserver.schema_claims import OBJECT_META
from kueue_dra_ref.apiserver.schema_slices import schema
from kueue_dra_ref.apiserver.semantic_equality import canonical
from kueue_dra_ref.apiserver.slices import slice_spec

_CLAIMS = ("ResourceClaim", "ResourceClaimTemplate")
_FIRST_WITH_EXACTLY = 33
_GIVEN_ON = ("annotations", "labels")
"""What a template gives to its claims."""
_NAMES = {"uid": "uID"}
"""What an API server calls a field of the metadata otherwise than a client does: it makes a name of Go's."""


def errors_of_new(
    obj: Object, namespace_labels: Mapping[str, str], k: Kubernetes
) -> Errors:
    """Check an object that is not there yet, in v1's shape."""
    yield from _admin_access(obj, namespace_labels, k)
    yield from _metadata(obj, k)
    yield from _spec(obj, None, k)


def errors_of_change(obj: Object, old: Object, k: Kubernetes) -> Errors:
    """Check what an object is changed to, both in v1's shape."""
    is_claim = obj["kind"] == "ResourceClaim"
    yield from _metadata(obj, k)
    if not is_claim or k.checks_stored_specs:
        yield from _spec(obj, old, k)
    if obj["kind"] in _CLAIMS:
        yield from _immutable(obj, old, k)
    if is_claim and k.checks_stored_specs:
        yield from claim(claims_of(obj), "spec", k, stored=True)


def _spec(obj: Object, old: Object | None, k: Kubernetes) -> Errors:
    spec = obj.get("spec") or {}
    before = None if old is None else old.get("spec") or {}
    match obj["kind"]:
        case "ResourceClaim":
            yield from claim(spec, "spec", k)
        case "ResourceClaimTemplate":
            metadata = spec.get("metadata") or {}
            yield from _template_metadata(metadata, "spec.metadata", k)
            yield from claim(spec.get("spec") or {}, "spec.spec", k)
        case "DeviceClass":
            yield from device_class(spec, "spec", k, before)
        case _:
            yield from slice_spec(spec, "spec", k, before)


def _admin_access(
    obj: Object, namespace_labels: Mapping[str, str], k: Kubernetes
) -> Errors:
    """Require the namespace's label; the path is a claim's, in templates too, and that of the flat shape."""
    if not k.admin_label or namespace_labels.get(k.admin_label) == "true":
        return
    words = f"admin access to devices requires the `{k.admin_label}: true` label on the containing namespace"
    for index, request in enumerate(requests_of(claims_of(obj))):
        exact = request.get("exactly") or {}
        if exact.get("adminAccess"):
            yield forbidden(f"spec.devices.requests[{index}].adminAccess", words)
            return


def _metadata(obj: Object, k: Kubernetes) -> Errors:
    meta = obj.get("metadata") or {}
    if meta.get("name"):
        yield from resource_names.subdomain(meta["name"], "metadata.name")
    else:
        yield required("metadata.name", "name or generateName is required")
    yield from _labels(meta, k)


def errors_of_metadata(obj: Object, k: Kubernetes) -> Errors:
    """Check the metadata of an object of another group, which has a name."""
    meta = obj["metadata"]
    if obj["kind"] == "Namespace":
        yield from resource_names.label(meta["name"], "metadata.name")
    elif (
        obj["kind"] != "ClusterRole"
    ):  # a role may be called by anything that fits into a path
        yield from resource_names.subdomain(meta["name"], "metadata.name")
    yield from _labels(meta, k)


def _labels(meta: Object, k: Kubernetes) -> Errors:
    yield from resource_names.label_map(meta.get("labels"), "metadata.labels", k)
    yield from resource_names.annotation_map(
        meta.get("annotations"), "metadata.annotations", k
    )


def _template_metadata(meta: Object, path: str, k: Kubernetes) -> Errors:
    yield from resource_names.annotation_map(
        meta.get("annotations"), f"{path}.annotations", k
    )
    yield from resource_names.label_map(meta.get("labels"), f"{path}.labels", k)
    for field in OBJECT_META.fields:
        if field.key in _GIVEN_ON:
            continue
        if _is_set(meta, field):
            name = _NAMES.get(field.key, field.key)
            yield forbidden(f"{path}.{name}", "cannot be set")


def _is_set(meta: Object, field: GoField) -> bool:
    """Tell whether a field is not Go's zero; an empty list is none."""
    return bool(meta.get(field.key)) or (
        field.key in meta and (field.pointer or isinstance(field.shape, GoSlice))
    )


def _immutable(obj: Object, old: Object, k: Kubernetes) -> Errors:
    """Compare specs; up to 1.33 Go prints addresses where this prints the whole spec."""
    shape = schema(obj["kind"], "v1").known(k.minor)["spec"].shape
    spec = obj.get("spec") or {}
    before = old.get("spec") or {}
    if canonical(spec, shape) != canonical(before, shape):
        minor = max(k.minor, _FIRST_WITH_EXACTLY)
        whole = internal(spec, shape, minor)
        yield invalid_as("spec", whole, "field is immutable")
