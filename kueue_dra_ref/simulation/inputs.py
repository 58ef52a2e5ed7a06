"""Inputs of a simulation: the objects of all documents, each object once, and the Configuration among them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kueue_dra_ref.api.configuration_documents import configurations
from kueue_dra_ref.api.conversion import converted
from kueue_dra_ref.api.documents import ManifestDocument, identified
from kueue_dra_ref.api.scheme import KINDS
from kueue_dra_ref.api.status_errors import ManifestError
from kueue_dra_ref.api.topologies import NODE
from kueue_dra_ref.apiserver import (
    CONTROL_PLANE,
    AcceptedRequest,
    RequestContext,
    admitted,
)
from kueue_dra_ref.simulation.other_kinds import sorted_documents
from kueue_dra_ref.simulation.running_cluster import is_restored
from kueue_dra_ref.target import Manifest, Ref

DEFAULT_NAMESPACE = "default"
"""The namespace of an object that names none, as with kubectl."""

_IMMUTABLE = ("ResourceClaim", "ResourceClaimTemplate")
"""Kinds whose spec cannot be changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationInputs:
    """One object and the documents that it is merged from, the earliest first."""

    ref: Ref
    manifest: Manifest
    documents: tuple[ManifestDocument, ...]
    restored: bool = False
    """Whether the object is one of a running cluster, with the status that it has there."""

    def place(self, field: str) -> tuple[str, int]:
        """Give the file and line of a field, or of the deepest parent of it that a document has."""
        latest_first = reversed(self.documents)
        deepest = max(latest_first, key=lambda each: each.depth_of(field))
        return deepest.file, deepest.line_of(field)


def configuration_of(
    documents: Iterable[ManifestDocument], *, named: bool = False
) -> ManifestDocument | None:
    """Give Kueue's Configuration, which may be inside another document; ``named``: the documents are named as it.

    Raises:
        DocumentFault: there is more than one.

    """
    found = configurations(documents, named=named)
    if len(found) > 1:
        first, second = found[:2]
        place = f"{first.file} line {first.line}"
        text = f"a second Configuration, after the one in {place}"
        raise second.fault("", text, "one Configuration")
    return found[0] if found else None


def given(
    documents: Iterable[ManifestDocument], *, running: bool = False
) -> tuple[SimulationInputs, ...]:
    """Give every object in the order of first appearance; later documents of it are merged field by field.

    Objects of a running cluster keep their status; in other inputs only ResourceClaims and Nodes do.

    Raises:
        DocumentFault: a document has no apiVersion, kind or name, or cannot be merged.

    """
    found: dict[tuple[str, str, str], SimulationInputs] = {}
    chosen = sorted_documents(documents, running=running).simulated
    for document in identified(_named(chosen)):
        new = _given(document, running=running)
        ref = new.ref
        key = (ref.kind, ref.namespace, ref.name)
        old = found.get(key)
        if old:
            new = _merged(old, new)
        found[key] = new
    return tuple(found.values())


def _named(documents: Iterable[ManifestDocument]) -> Sequence[ManifestDocument]:
    """Give each object with a ``generateName`` a name, as the API server does, but the same one every time."""
    numbers = itertools.count(1)
    return [_with_name(document, numbers) for document in documents]


def _with_name(document: ManifestDocument, numbers: Iterator[int]) -> ManifestDocument:
    meta = document.manifest.get("metadata")
    if not isinstance(meta, dict):
        return document
    if meta.get("name"):
        return document
    prefix = meta.get("generateName")
    if not isinstance(prefix, str):
        return document
    number = next(numbers)
    name = f"{prefix}{number:05}"
    named = {**meta, "name": name}
    manifest = {**document.manifest, "metadata": named}
    return replace(document, manifest=manifest)


def _given(document: ManifestDocument, *, running: bool) -> SimulationInputs:
    manifest = dict(document.manifest)
    restored = running and is_restored(manifest)
    # Kueue decides neither whether a ResourceClaim is allocated nor what a Node has, so their status is input.
    if manifest["kind"] not in ("ResourceClaim", NODE) and not restored:
        manifest.pop("status", None)
    meta = _metadata(manifest)
    manifest["metadata"] = meta
    if not isinstance(meta.get("namespace", ""), str):
        found = f"namespace {meta['namespace']!r}"
        expected = "metadata.namespace as a string"
        raise document.fault("metadata.namespace", found, expected)
    ref = Ref.of(manifest)
    return SimulationInputs(
        ref=ref,
        manifest=manifest,
        documents=(document,),
        restored=restored,
    )


def _metadata(manifest: Manifest) -> Manifest:
    """Give the metadata with the default namespace, or for a kind of cluster scope without any namespace."""
    kind = KINDS.get(manifest["kind"])
    meta = dict(manifest["metadata"])
    if kind is None:
        return meta
    if not kind.namespaced:
        meta.pop("namespace", None)
    elif meta.get("namespace") in (None, ""):
        meta["namespace"] = DEFAULT_NAMESPACE
    return meta


def _merged(old: SimulationInputs, new: SimulationInputs) -> SimulationInputs:
    left = old.manifest
    right = new.manifest
    if left["apiVersion"] != right["apiVersion"]:
        left = _in_storage_version(old)
        right = _in_storage_version(new)
    if old.ref.kind in _IMMUTABLE:
        _insist_on_spec(old, new)
    return SimulationInputs(
        ref=old.ref,
        manifest=overlaid(left, right),
        documents=(*old.documents, *new.documents),
        restored=old.restored or new.restored,
    )


def _insist_on_spec(old: SimulationInputs, new: SimulationInputs) -> None:
    """Reject another spec for an object whose spec an API server does not change."""
    before, after = _stored_spec(old), _stored_spec(new)
    if before is None or after is None or before == after:
        return
    first = old.documents[0]
    place = f"{first.file} line {first.line}"
    found = f"another spec of {new.ref}, after the one in {place}"
    raise new.documents[-1].fault("spec", found, "the same spec: it is immutable")


def _stored_spec(given: SimulationInputs) -> Any:
    """Give the spec that an API server stores, with its defaults; None if it rejects the object."""
    context = RequestContext(kubernetes=CONTROL_PLANE, namespace_labels={})
    answer = admitted(given.manifest, None, context)
    if isinstance(answer, AcceptedRequest):
        return answer.obj.get("spec")
    return None


def _in_storage_version(given: SimulationInputs) -> Manifest:
    try:
        return converted(given.manifest)
    except ManifestError as fault:
        error = fault.error
        found = str(error.type)
        if error.value:
            found += f": {error.value}"
        document = given.documents[-1]
        raise document.fault(error.field, found, error.detail) from None


def overlaid(old: Any, new: Any) -> Any:
    """Merge a value into another one field by field; a list replaces a list."""
    if not isinstance(old, dict):
        return new
    if not isinstance(new, dict):
        return new
    merged = dict(old)
    for key, value in new.items():
        before = old.get(key)
        merged[key] = overlaid(before, value)
    return merged
