"""The objects of a running cluster among the inputs: which are restored, and which gates are on.

No counterpart: reads what ``kubectl get -o yaml`` and ``kueue-dra dump`` write.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kueue_dra_ref.api.documents import ManifestDocument
from kueue_dra_ref.api.job_kinds import JOB_KINDS, SUBMITTED
from kueue_dra_ref.api.unstructured import part
from kueue_dra_ref.controlplane.clock import seconds_of
from kueue_dra_ref.features.manager_flags import MANAGER_CONTAINER, gates_of_arguments
from kueue_dra_ref.target import Manifest

HEAD = "ClusterDump"
"""The kind of the first document that ``kueue-dra dump`` writes."""
_DEFAULTED = (
    "imagePullPolicy",
    "terminationMessagePath",
    "terminationMessagePolicy",
)
"""Fields of a container that an API server fills in, and that decide nothing."""
_MINOR = re.compile(r"v?(\d+\.\d+)")
_IMAGE = re.compile(r":v?(\d+\.\d+\.\d+)")

JobKey = tuple[str, str, str]
"""The namespace and the name of a Job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningCluster:
    """What the documents of a running cluster say, except for its objects."""

    documents: tuple[ManifestDocument, ...]
    """The documents, with the Jobs that belong to Workloads."""
    kubernetes: str = ""
    """The minor of the API server, such as ``1.36``; empty if the dump does not say."""
    gates: Mapping[str, bool] = field(default_factory=dict)
    """The feature gates of the API server that the dump tells."""
    kueue: str = ""
    """The version of Kueue that its Deployment runs, such as ``0.19.2``; empty if the input does not say."""
    seconds: float = 0.0
    """The newest time in the documents: what happens next happens then."""


def is_running(documents: Iterable[ManifestDocument]) -> bool:
    """Whether the documents come from a running cluster: an API server, or Kueue, has written to them."""
    return any(_is_written(each.manifest) for each in documents)


def _is_written(manifest: Manifest) -> bool:
    kind = str(manifest.get("kind"))
    status = part(manifest, "status")
    if kind == HEAD or _is_stored(manifest):
        return True
    if kind == "Workload":
        return bool(status.get("conditions") or status.get("admission"))
    if kind in JOB_KINDS:
        return bool(status.get("startTime") or status.get("active"))
    return False


def _is_stored(manifest: Manifest) -> bool:
    """Whether an API server has stored an object."""
    meta = part(manifest, "metadata")
    return bool(meta.get("uid") and meta.get("creationTimestamp"))


def is_restored(manifest: Manifest) -> bool:
    """Whether an object of a running cluster is restored, instead of applied as a new one."""
    meta = part(manifest, "metadata")
    if meta.get("uid") or meta.get("creationTimestamp"):
        return True
    return _is_written(manifest)


def running_cluster(documents: Sequence[ManifestDocument]) -> RunningCluster:
    """Read the documents of a running cluster."""
    uids = _owner_uids(documents)
    owned = [_with_uid(document, uids) for document in documents]
    return RunningCluster(
        documents=tuple(map(_normalized, owned)),
        kubernetes=_kubernetes(documents),
        gates=_gates(documents),
        kueue=_kueue(documents),
        seconds=_newest(documents),
    )


def _kueue(documents: Iterable[ManifestDocument]) -> str:
    """Read the version of Kueue from the image of its manager."""
    for document in documents:
        if document.manifest.get("kind") != "Deployment":
            continue
        if "kueue" not in str(part(document.manifest, "metadata").get("name", "")):
            continue
        template = part(part(document.manifest, "spec"), "template")
        for container in _mappings(part(template, "spec"), "containers"):
            found = _IMAGE.search(str(container.get("image", "")))
            if found and container.get("name") == MANAGER_CONTAINER:
                return found[1]
    return ""


def _owner_uids(documents: Sequence[ManifestDocument]) -> dict[JobKey, str]:
    """Give the UIDs that Workloads name for the Jobs that own them."""
    uids = {}
    for document in documents:
        if document.manifest.get("kind") != "Workload":
            continue
        meta = part(document.manifest, "metadata")
        for owner in _mappings(meta, "ownerReferences"):
            kind = str(owner.get("kind"))
            if kind in JOB_KINDS and owner.get("uid"):
                uids[kind, _namespace(meta), str(owner.get("name"))] = owner["uid"]
    return uids


def _with_uid(
    document: ManifestDocument, uids: Mapping[JobKey, str]
) -> ManifestDocument:
    """Give a Job without a UID the one that its Workload names, so that they belong together."""
    manifest = document.manifest
    meta = part(manifest, "metadata")
    kind = str(manifest.get("kind"))
    if kind not in JOB_KINDS or meta.get("uid"):
        return document
    uid = uids.get((kind, _namespace(meta), str(meta.get("name"))))
    if uid is None:
        return document
    return replace(document, manifest={**manifest, "metadata": {**meta, "uid": uid}})


def _namespace(meta: Mapping[str, Any]) -> str:
    return str(meta.get("namespace") or "default")


def _normalized(document: ManifestDocument) -> ManifestDocument:
    """Drop fields that the API server fills in, which a Job may have and its Workload may not."""
    if str(document.manifest.get("kind")) not in SUBMITTED:
        return document
    return replace(document, manifest=_without_defaults(document.manifest))


def _without_defaults(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_defaults(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {}
    for key, each in value.items():
        if key not in _DEFAULTED:
            kept[key] = _without_defaults(each)
    return kept


def gates_of_deployments(documents: Iterable[ManifestDocument]) -> dict[str, bool]:
    """Give the feature gates in the arguments of Kueue's Deployment."""
    gates: dict[str, bool] = {}
    for document in documents:
        manifest = document.manifest
        if manifest.get("kind") == "Deployment" and _is_kueue(manifest):
            for arguments in _manager_arguments(manifest):
                gates |= gates_of_arguments(arguments)
    return gates


def _is_kueue(deployment: Manifest) -> bool:
    meta = part(deployment, "metadata")
    labels = part(meta, "labels")
    if labels.get("app.kubernetes.io/name") == "kueue":
        return True
    name = str(meta.get("name", ""))
    return "kueue" in name


def _manager_arguments(deployment: Manifest) -> Iterator[list[str]]:
    """Give the arguments of Kueue's container."""
    spec = part(deployment, "spec")
    pods = part(spec, "template")
    pod = part(pods, "spec")
    for container in _mappings(pod, "containers"):
        if container.get("name") == MANAGER_CONTAINER:
            yield _texts(container.get("args"))


def _kubernetes(documents: Sequence[ManifestDocument]) -> str:
    for document in documents:
        manifest = document.manifest
        if manifest.get("kind") != HEAD:
            continue
        spec = part(manifest, "spec")
        version = str(spec.get("kubernetes", ""))
        found = _MINOR.match(version)
        if found:
            return found[1]
    return ""


def _gates(documents: Sequence[ManifestDocument]) -> Mapping[str, bool]:
    for document in documents:
        if document.manifest.get("kind") == HEAD:
            spec = part(document.manifest, "spec")
            gates = part(spec, "kubernetesFeatureGates")
            return {name: on for name, on in gates.items() if isinstance(on, bool)}
    return {}


def _newest(documents: Sequence[ManifestDocument]) -> float:
    newest = float("-inf")
    for document in documents:
        for timestamp in _timestamps(document.manifest):
            newest = max(newest, _seconds(timestamp))
    return newest if newest > float("-inf") else 0.0


def _timestamps(manifest: Manifest) -> Iterator[Any]:
    """Give the times at which something happened to an object."""
    meta = part(manifest, "metadata")
    status = part(manifest, "status")
    yield meta.get("creationTimestamp")
    yield meta.get("deletionTimestamp")
    yield status.get("startTime")
    yield status.get("completionTime")
    for condition in _mappings(status, "conditions"):
        yield condition.get("lastTransitionTime")


def _seconds(timestamp: Any) -> float:
    try:
        return seconds_of(str(timestamp))
    except ValueError:
        return float("-inf")


def _mappings(holder: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    items = holder.get(key)
    if not isinstance(items, list):
        return []
    mappings = []
    for each in items:
        if isinstance(each, dict):
            mappings.append(each)
    return mappings


def _texts(items: Any) -> list[str]:
    return [str(each) for each in items] if isinstance(items, list) else []
