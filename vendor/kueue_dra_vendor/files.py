"""A vendor's files: classes, slices, templates and work, each with the document that it was read from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kueue_dra_ref.api.documents import SUFFIXES, ManifestDocument, read
from kueue_dra_ref.api.unstructured import part
from kueue_dra_ref.apiserver import MINORS, AcceptedRequest, RequestContext, admitted
from kueue_dra_ref.target import Manifest

GROUP = "resource.k8s.io/"
RESOURCE_KINDS = (
    "DeviceClass",
    "ResourceSlice",
    "ResourceClaimTemplate",
    "ResourceClaim",
)
ADMIN_NAMESPACE = {"resource.kubernetes.io/admin-access": "true"}


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorObject:
    """One object of resource.k8s.io as the API server stores it, in the shape of v1."""

    kind: str
    name: str
    manifest: Manifest
    """In the shape of v1, defaulted; as written where the API server rejects it."""
    document: ManifestDocument
    rejected: str = ""
    """What the API server answers instead of storing it; empty when it stores it."""
    warnings: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Kind and name."""
        return f"{self.kind} {self.name}"

    @property
    def spec(self) -> dict[str, Any]:
        """The spec; empty where there is none."""
        return part(self.manifest, "spec")

    def place(self, path: str = "") -> str:
        """Give file and line of a field, or of the deepest part of it that was written."""
        return f"{self.document.file}:{self.document.line_of(path) if path else self.document.line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorFiles:
    """Everything that was given."""

    objects: tuple[VendorObject, ...]
    work: tuple[ManifestDocument, ...] = ()
    """Other documents that hold pods: Jobs, Deployments, Pods and the like."""
    _by_kind: dict[str, list[VendorObject]] = field(default_factory=dict)

    def of(self, kind: str) -> list[VendorObject]:
        """Give the objects of a kind in the order in which they were given."""
        if not self._by_kind:
            for each in self.objects:
                self._by_kind.setdefault(each.kind, []).append(each)
        return self._by_kind.get(kind, [])

    @property
    def classes(self) -> list[VendorObject]:
        """The DeviceClasses."""
        return self.of("DeviceClass")

    @property
    def slices(self) -> list[VendorObject]:
        """The ResourceSlices."""
        return self.of("ResourceSlice")


def load(paths: Iterable[Path], kubernetes: str) -> VendorFiles:
    """Read files and folders, nested ones too, and ask the API server of a Kubernetes minor about each object.

    Raises:
        DocumentError: a file cannot be read, is not YAML, or holds something else than objects.

    """
    documents = [document for path in paths for document in _documents(path)]
    objects = [_object(each, kubernetes) for each in documents if _is_resource(each)]
    work = [
        each
        for each in documents
        if not _is_resource(each) and any(pod_specs(each.manifest))
    ]
    return VendorFiles(objects=tuple(objects), work=tuple(work))


def pod_specs(manifest: Any, path: str = "") -> Iterator[tuple[str, Manifest]]:
    """Give every pod spec inside an object of any kind, with its path."""
    if isinstance(manifest, list):
        for index, each in enumerate(manifest):
            yield from pod_specs(each, f"{path}[{index}]")
    elif isinstance(manifest, dict):
        if isinstance(manifest.get("containers"), list):
            yield path, manifest
        for key, part in manifest.items():
            yield from pod_specs(part, f"{path}.{key}" if path else key)


def name_of(manifest: Manifest) -> str:
    """Give the name of an object, or the beginning of a generated one; empty where there is none."""
    metadata = manifest.get("metadata") or {}
    return str(metadata.get("name") or metadata.get("generateName") or "")


def _documents(path: Path) -> Iterator[ManifestDocument]:
    if not path.is_dir():
        yield from read(path)
        return
    for file in sorted(path.rglob("*")):
        if file.suffix in SUFFIXES and file.is_file():
            yield from read(file)


def _is_resource(document: ManifestDocument) -> bool:
    manifest = document.manifest
    return (
        str(manifest.get("apiVersion", "")).startswith(GROUP)
        and manifest.get("kind") in RESOURCE_KINDS
    )


def _object(document: ManifestDocument, kubernetes: str) -> VendorObject:
    context = RequestContext(
        kubernetes=MINORS[kubernetes],
        namespace_labels=ADMIN_NAMESPACE,
        only_served=True,
    )
    answer = admitted(document.manifest, None, context)
    name = name_of(document.manifest)
    kind = document.manifest["kind"]
    if isinstance(answer, AcceptedRequest):
        return VendorObject(
            kind=kind,
            name=name,
            manifest=answer.obj,
            document=document,
            warnings=answer.warnings,
        )
    return VendorObject(
        kind=kind,
        name=name,
        manifest=document.manifest,
        document=document,
        rejected=f"{answer.code} {answer.message}",
        warnings=answer.warnings,
    )
