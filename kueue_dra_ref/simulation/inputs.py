"""What a user gave: objects of many documents, each object once, and the one Configuration among them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kueue_dra_ref.api.conversion import converted
from kueue_dra_ref.api.documents import ManifestDocument, configurations, objects
from kueue_dra_ref.api.scheme import KINDS
from kueue_dra_ref.api.status_errors import ManifestError
from kueue_dra_ref.target import Manifest, Ref

DEFAULT_NAMESPACE = "default"
"""Where an object without a namespace goes, as with kubectl."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationInputs:
    """One object and the documents that it was put together from, the earliest first."""

    ref: Ref
    manifest: Manifest
    documents: tuple[ManifestDocument, ...]

    def place(self, field: str) -> tuple[str, int]:
        """The file and line of a field, or of the deepest part of it that a document has."""
        document = max(reversed(self.documents), key=lambda each: each.depth_of(field))
        return document.file, document.line_of(field)


def configuration_of(documents: Iterable[ManifestDocument]) -> ManifestDocument | None:
    """The one Configuration, also when a ConfigMap holds it.

    Raises:
        DocumentFault: there is more than one.

    """
    found = configurations(documents)
    if len(found) > 1:
        first = f"{found[0].file} line {found[0].line}"
        raise found[1].fault(
            "", f"a second Configuration, after the one in {first}", "one Configuration"
        )
    return found[0] if found else None


def given(documents: Iterable[ManifestDocument]) -> tuple[SimulationInputs, ...]:
    """Every object in the order in which it first appears; what comes again is merged into it field by field.

    Raises:
        DocumentFault: a document has no apiVersion, kind or name, or cannot be merged.

    """
    found: dict[tuple[str, str, str], SimulationInputs] = {}
    for document in objects(_named(documents)):
        new = _given(document)
        key = (new.ref.kind, new.ref.namespace, new.ref.name)
        found[key] = _merged(found[key], new) if key in found else new
    return tuple(found.values())


def _named(documents: Iterable[ManifestDocument]) -> Sequence[ManifestDocument]:
    """Give each object with a ``generateName`` a name, as the API server does, but the same one every time."""
    numbers = itertools.count(1)
    return [_with_name(document, numbers) for document in documents]


def _with_name(document: ManifestDocument, numbers: Iterable[int]) -> ManifestDocument:
    meta = document.manifest.get("metadata")
    if (
        not isinstance(meta, dict)
        or meta.get("name")
        or not isinstance(meta.get("generateName"), str)
    ):
        return document
    name = f"{meta['generateName']}{next(iter(numbers)):05}"
    return replace(
        document, manifest={**document.manifest, "metadata": {**meta, "name": name}}
    )


def _given(document: ManifestDocument) -> SimulationInputs:
    keeps_status = (
        document.manifest["kind"] == "ResourceClaim"
    )  # whether it is allocated is not for Kueue to decide
    manifest = {
        key: value
        for key, value in document.manifest.items()
        if key != "status" or keeps_status
    }
    kind = KINDS.get(manifest["kind"])
    if kind and kind.namespaced and manifest["metadata"].get("namespace") in (None, ""):
        manifest["metadata"] = {**manifest["metadata"], "namespace": DEFAULT_NAMESPACE}
    if kind and not kind.namespaced:
        manifest["metadata"] = {
            key: value
            for key, value in manifest["metadata"].items()
            if key != "namespace"
        }
    if not isinstance(manifest["metadata"].get("namespace", ""), str):
        found = f"namespace {manifest['metadata']['namespace']!r}"
        raise document.fault(
            "metadata.namespace", found, "metadata.namespace as a string"
        )
    return SimulationInputs(
        ref=Ref.of(manifest), manifest=manifest, documents=(document,)
    )


def _merged(old: SimulationInputs, new: SimulationInputs) -> SimulationInputs:
    left, right = old.manifest, new.manifest
    if left["apiVersion"] != right["apiVersion"]:
        left, right = _in_storage_shape(old), _in_storage_shape(new)
    return SimulationInputs(
        ref=old.ref,
        manifest=_overlaid(left, right),
        documents=(*old.documents, *new.documents),
    )


def _in_storage_shape(given: SimulationInputs) -> Manifest:
    try:
        return converted(given.manifest)
    except ManifestError as fault:
        error = fault.error
        found = f"{error.type}{f': {error.value}' if error.value else ''}"
        raise given.documents[-1].fault(error.field, found, error.detail) from None


def _overlaid(old: Any, new: Any) -> Any:
    if not isinstance(old, dict) or not isinstance(new, dict):
        return new
    return old | {key: _overlaid(old.get(key), value) for key, value in new.items()}
