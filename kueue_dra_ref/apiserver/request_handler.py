"""The API server's request handler: takes an object as it was written, gives what is stored or the rejection.

Kubernetes: k8s.io/apiserver/pkg/endpoints/handlers/create.go (CreateResource);
    k8s.io/apiserver/pkg/endpoints/handlers/update.go (UpdateResource)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from kueue_dra_ref.api.quantities import clamp
from kueue_dra_ref.api.scheme import version_of
from kueue_dra_ref.api.unstructured import Object, part
from kueue_dra_ref.apiserver.declarative_validation import also_declared, reported
from kueue_dra_ref.apiserver.disabled_fields import drop_disabled
from kueue_dra_ref.apiserver.go_types import GoStruct
from kueue_dra_ref.apiserver.kubernetes_version import Kubernetes
from kueue_dra_ref.apiserver.object_validation import errors_of_change, errors_of_new
from kueue_dra_ref.apiserver.request_decoding import Decoder, Undecodable
from kueue_dra_ref.apiserver.resource_conversion import set_defaults, to_v1
from kueue_dra_ref.apiserver.schema_claims import OBJECT_META
from kueue_dra_ref.apiserver.schema_slices import schema
from kueue_dra_ref.target import FieldError, Manifest

GROUP = "resource.k8s.io"
_DIGITS = 21


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedRequest:
    """An object that is stored, in v1's shape, and the warnings for its writer."""

    obj: Manifest
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedRequest:
    """An answer other than success: the HTTP status code, its message, and the fields at fault."""

    code: int
    message: str
    errors: tuple[FieldError, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestContext:
    """What an answer depends on, in addition to the object."""

    kubernetes: Kubernetes
    namespace_labels: Mapping[str, str]
    only_served: bool = False
    """Refuse the versions that this minor of Kubernetes does not serve; otherwise warn of them."""
    strict: bool = False
    """Refuse unknown fields, as kubectl asks the API server to; otherwise they are dropped."""


def admitted(
    manifest: Manifest, old: Manifest | None, under: RequestContext
) -> AcceptedRequest | RejectedRequest:
    """Answer the request to create an object, or to replace the stored ``old`` one.

    Raises:
        KeyError: the kind is not one of the four of resource.k8s.io.

    """
    k = under.kubernetes
    kind = manifest["kind"]
    version = version_of(manifest)
    if under.only_served and version not in k.served:
        message = "the server could not find the requested resource"
        return _refused(404, message)
    warnings = _of_the_version(kind, version, k)
    opened = decoded(manifest, schema(kind, version), k, strict=under.strict)
    if isinstance(opened, RejectedRequest):
        return replace(opened, warnings=warnings)
    obj = dict(opened.obj)
    obj["kind"] = kind
    obj["metadata"] = obj.get("metadata") or {}
    _keep_scope(obj)
    set_defaults(obj, version, k)
    to_v1(obj, version, k)
    drop_disabled(obj, old, k)
    return _answer(obj, old, under, version, (*warnings, *opened.warnings))


def decoded(
    manifest: Manifest, shape: GoStruct, k: Kubernetes, *, strict: bool = False
) -> AcceptedRequest | RejectedRequest:
    """Give an object with the fields that its type has, and a warning of each other one; this validates nothing."""
    decoder = Decoder(k.minor)
    try:
        obj = decoder.decoded(manifest, shape)
    except Undecodable as fault:
        return _undecodable(manifest, str(fault), fault.path, fault.found)
    unknown = [f'unknown field "{path}"' for path in decoder.unknown]
    if unknown and strict:
        fields = ", ".join(unknown)
        first = decoder.unknown[0]
        return _undecodable(manifest, f"strict decoding error: {fields}", first)
    return AcceptedRequest(obj=obj, warnings=tuple(unknown))


def identified(manifest: Manifest, k: Kubernetes) -> RejectedRequest | None:
    """Reject a custom resource whose metadata cannot be decoded, before any other check; None when it can."""
    try:
        Decoder(k.minor).decoded(part(manifest, "metadata"), OBJECT_META)
    except Undecodable as fault:
        path = f"metadata.{fault.path}".rstrip(".")
        return _undecodable(manifest, str(fault), path, fault.found)
    return None


def completed(
    manifest: Manifest, shape: GoStruct, k: Kubernetes
) -> RejectedRequest | Manifest:
    """Give a new object as Kueue's webhook receives it, or reject one that the webhook cannot decode."""
    if isinstance(decoded(manifest, shape, k), AcceptedRequest):
        return manifest
    sent = json.dumps(manifest, sort_keys=True)
    received: Manifest = json.loads(
        sent, parse_int=_sent_on_whole, parse_float=_sent_on
    )
    refused = decoded(received, shape, k)
    if isinstance(refused, AcceptedRequest):
        return received
    webhook = f"m{manifest['kind'].lower()}.kb.io"
    (fault,) = refused.errors
    message = f'admission webhook "{webhook}" denied the request: {fault.detail}'
    return replace(refused, message=message)


def _sent_on_whole(number: str) -> int | float:
    """Give a whole number as an API server sends it on: one beyond 64 bits as a float."""
    found = int(number)
    return found if clamp(found) == found else _sent_on(number)


def _sent_on(number: str) -> int | float:
    """Give a float as an API server sends it on: of one up to 21 digits all of them, without a fraction of zero."""
    found = float(number)
    digits = Decimal(repr(found))
    if digits.adjusted() < _DIGITS and digits % 1 == 0:
        return int(digits)
    return found


def _answer(
    obj: Object,
    old: Manifest | None,
    under: RequestContext,
    version: str,
    warnings: tuple[str, ...],
) -> AcceptedRequest | RejectedRequest:
    k = under.kubernetes
    try:
        errors = _errors(obj, old, under, version)
    except ZeroDivisionError:
        words = "the API server divides by a step of zero and closes the connection (Kubernetes 1.34 to 1.36)"
        return replace(_refused(500, words), warnings=warnings)
    if errors:
        return _invalid(obj, errors, warnings)
    obj["spec"] = obj.get("spec") or {}
    return AcceptedRequest(obj=obj, warnings=(*warnings, *_of_the_driver(obj, k)))


def _errors(
    obj: Object, old: Manifest | None, under: RequestContext, version: str
) -> tuple[FieldError, ...]:
    k = under.kubernetes
    found = _errors_in(k, obj, old, under)
    if not k.is_declarative:
        return reported(found, k)
    unstopped = _errors_in(k.unstopped, obj, old, under)
    return also_declared(obj, found, unstopped, version)


def _errors_in(
    k: Kubernetes, obj: Object, old: Manifest | None, under: RequestContext
) -> list[FieldError]:
    if old is None:
        return list(errors_of_new(obj, under.namespace_labels, k))
    return list(errors_of_change(obj, old, k))


def _keep_scope(obj: Object) -> None:
    if obj["kind"] in ("DeviceClass", "ResourceSlice"):
        obj["metadata"].pop("namespace", None)


def _refused(code: int, message: str) -> RejectedRequest:
    """Give the answer to an object as a whole."""
    error = FieldError(field="", type="Refused", detail=message)
    return RejectedRequest(code=code, message=message, errors=(error,))


def _undecodable(
    manifest: Manifest, fault: str, path: str, found: str | None = None
) -> RejectedRequest:
    kind = manifest["kind"]
    version = version_of(manifest)
    message = f'{kind} in version "{version}" cannot be handled as a {kind}: {fault}'
    error = FieldError(
        field=path,
        type="Wrong type",
        value=found,
        detail=fault,
    )
    return RejectedRequest(code=400, message=message, errors=(error,))


def _invalid(
    obj: Object, errors: tuple[FieldError, ...], warnings: tuple[str, ...]
) -> RejectedRequest:
    reasons = ", ".join(map(str, errors))
    if len(errors) > 1:
        reasons = f"[{reasons}]"
    name = obj["metadata"].get("name") or ""
    named = f'{obj["kind"]}.{GROUP} "{name}" is invalid'
    return RejectedRequest(
        code=422,
        message=f"{named}: {reasons}",
        errors=errors,
        warnings=warnings,
    )


def _of_the_version(kind: str, version: str, k: Kubernetes) -> tuple[str, ...]:
    named = f"{GROUP}/{version} {kind}"
    if version not in k.served:
        served = ", ".join(sorted(k.served))
        return (f"{named} is not served by Kubernetes {k.name}, which serves {served}",)
    lifetime = k.lifetimes.get(version)
    if lifetime is None:
        return ()
    deprecated, removed = lifetime
    if k.minor < deprecated:
        return ()
    return (f"{named} is deprecated in v1.{deprecated}+, unavailable in v1.{removed}+",)


def _of_the_driver(obj: Object, k: Kubernetes) -> tuple[str, ...]:
    driver = obj["spec"].get("driver") or ""
    if not k.warns_of_capitals or driver == driver.lower():
        return ()
    return (
        f'spec.driver: driver names should be lowercase; "{driver}" contains uppercase characters',
    )
