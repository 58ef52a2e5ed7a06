"""A vendor's files: classes, slices, templates and work, each with the document that it was read from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from kueue_dra_ref.api.configuration_documents import configurations
from kueue_dra_ref.api.documents import ManifestDocument, read
from kueue_dra_ref.api.unstructured import part
from kueue_dra_ref.apiserver import (
    MINORS,
    AcceptedRequest,
    Kubernetes,
    RequestContext,
    admitted,
)
from kueue_dra_ref.target import Manifest

GROUP = "resource.k8s.io/"
DESCRIPTOR = "kueue-dra-vendor.yaml"
"""The name of a descriptor; it is no manifest."""
KNOWN_FINDINGS = "kueue-dra-known.yaml"
"""The name of a list of known findings; it is no manifest either."""
NOT_MANIFESTS = (DESCRIPTOR, KNOWN_FINDINGS)
RESOURCE_KINDS = (
    "DeviceClass",
    "ResourceSlice",
    "ResourceClaimTemplate",
    "ResourceClaim",
)
NAMESPACED = ("ResourceClaimTemplate", "ResourceClaim")
INVALID = 422
"""The answer to an object that was decoded, and is not valid; one that cannot be decoded gets 400."""
Gates = Mapping[str, bool]
"""Feature gates that an administrator set, by name."""
NO_GATES: Gates = {}
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
    written: Manifest
    """As written, without nulls; empty where the API server cannot decode it."""

    @property
    def is_readable(self) -> bool:
        """Whether the API server can decode the object, so that every field has its type."""
        return bool(self.written)

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
    others: tuple[ManifestDocument, ...] = ()
    """Documents of any other kind: Nodes, Namespaces, custom resources."""
    configurations: tuple[ManifestDocument, ...] = ()
    """Every Kueue Configuration, those inside other documents too."""
    templates: tuple[ManifestDocument, ...] = ()
    """Files of Helm charts that are not rendered."""
    _by_kind: dict[str, list[VendorObject]] = field(default_factory=dict)

    def of(self, kind: str) -> list[VendorObject]:
        """Give the objects of a kind in the order in which they were given."""
        if not self._by_kind:
            for each in self.objects:
                self._by_kind.setdefault(each.kind, []).append(each)
        return self._by_kind.get(kind, [])

    @property
    def classes(self) -> list[VendorObject]:
        """The DeviceClasses; of those with one name the last, which replaces the others when it is applied."""
        return _last_of_each_name(self.of("DeviceClass"))

    @property
    def slices(self) -> list[VendorObject]:
        """The ResourceSlices; of those with one name the last."""
        return _last_of_each_name(self.of("ResourceSlice"))


def load(
    paths: Iterable[Path],
    kubernetes: str,
    gates: Gates = NO_GATES,
    dump: Iterable[ManifestDocument] = (),
) -> VendorFiles:
    """Read files and folders, nested ones too, and ask the API server of a Kubernetes minor about each object.

    ``dump`` has the documents of a cluster that was read already; those of the files come after them.

    Raises:
        DocumentError: a file cannot be read, is not YAML, or holds something else than objects.

    """
    in_files = [document for path in paths for document in _documents(path)]
    documents = [*dump, *in_files]
    api_server = kubernetes_with(kubernetes, gates)
    objects: list[VendorObject] = []
    work: list[ManifestDocument] = []
    others: list[ManifestDocument] = []
    templates: list[ManifestDocument] = []
    for each in documents:
        if each.is_template:
            templates.append(each)
        elif _is_resource(each):
            objects.append(_object(each, api_server))
        elif any(pod_specs(each.manifest)):
            work.append(each)
        else:
            others.append(each)
    return VendorFiles(
        objects=tuple(objects),
        work=tuple(work),
        others=tuple(others),
        configurations=configurations(others),
        templates=tuple(templates),
    )


def kubernetes_with(minor: str, gates: Gates) -> Kubernetes:
    """Give a minor with the gates that an administrator set; always the same one, so that answers are remembered."""
    known = MINORS[minor].gates
    return _with_gates(minor, tuple((n, gates[n]) for n in sorted(gates) if n in known))


@cache
def _with_gates(minor: str, gates: tuple[tuple[str, bool], ...]) -> Kubernetes:
    return MINORS[minor].with_gates(**dict(gates)) if gates else MINORS[minor]


def named_in(paths: Iterable[Path], name: str) -> Path | None:
    """Find a file of a name in the folders that were given; the first one, None where there is none."""
    candidates = [path / name for path in paths if path.is_dir()]
    return next((each for each in candidates if each.is_file()), None)


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


def written_devices(
    files: VendorFiles,
) -> Iterator[tuple[VendorObject, str, dict[str, Any]]]:
    """Give slice, path and entry of each device as it was written, with fields that the API server drops."""
    for each in files.slices:
        spec = part(each.written, "spec")
        for index, device in enumerate(spec.get("devices") or ()):
            is_wrapped = isinstance(device.get("basic"), dict)
            path = f"spec.devices[{index}]"
            if is_wrapped:
                yield each, f"{path}.basic", {**device, **device["basic"]}
            else:
                yield each, path, device


def name_of(manifest: Manifest) -> str:
    """Give the name of an object, or the beginning of a generated one; empty where there is none."""
    metadata = part(manifest, "metadata")
    return str(metadata.get("name") or metadata.get("generateName") or "")


def _last_of_each_name(objects: Iterable[VendorObject]) -> list[VendorObject]:
    """Leave out objects that a later one of the same name replaces; an object without a name replaces none."""
    found: dict[str | int, VendorObject] = {}
    for each in objects:
        name = part(each.document.manifest, "metadata").get("name")
        found[str(name) if name else id(each)] = each
    return list(found.values())


def _documents(path: Path) -> Iterator[ManifestDocument]:
    """Read a file or a folder; what a vendor writes for these commands is no manifest."""
    for document in read(path):
        if Path(document.file).name not in NOT_MANIFESTS:
            yield document


def _is_resource(document: ManifestDocument) -> bool:
    manifest = document.manifest
    return (
        str(manifest.get("apiVersion", "")).startswith(GROUP)
        and manifest.get("kind") in RESOURCE_KINDS
    )


def _object(document: ManifestDocument, kubernetes: Kubernetes) -> VendorObject:
    context = RequestContext(
        kubernetes=kubernetes,
        namespace_labels=ADMIN_NAMESPACE,
        only_served=True,
    )
    answer = admitted(in_a_namespace(document.manifest), None, context)
    written = _without_nulls(document.manifest)
    manifest, rejected = written, ""
    if isinstance(answer, AcceptedRequest):
        manifest = answer.obj
    else:
        rejected = f"{answer.code} {answer.message}"
        if answer.code != INVALID:
            manifest, written = {}, {}
    return VendorObject(
        kind=document.manifest["kind"],
        name=name_of(document.manifest),
        manifest=manifest,
        document=document,
        rejected=rejected,
        warnings=answer.warnings,
        written=written,
    )


def in_a_namespace(manifest: Manifest) -> Manifest:
    """Give an object that names no namespace the default one, as kubectl does."""
    metadata = manifest.get("metadata")
    is_namespaced = manifest["kind"] in NAMESPACED
    if not is_namespaced or not isinstance(metadata, dict):
        return manifest
    if metadata.get("namespace"):
        return manifest
    return {**manifest, "metadata": {**metadata, "namespace": "default"}}


def entries(value: Any) -> list[dict[str, Any]]:
    """Give the objects of a list, whatever else it holds; none where it is no list."""
    found = value if isinstance(value, list) else []
    return [each for each in found if isinstance(each, dict)]


def _without_nulls(value: Any) -> Any:
    """Leave out fields that are null, and make an empty object of a null in a list, as the API server does."""
    if isinstance(value, dict):
        pairs = value.items()
        return {key: _without_nulls(one) for key, one in pairs if one is not None}
    if isinstance(value, list):
        return [{} if one is None else _without_nulls(one) for one in value]
    return value
