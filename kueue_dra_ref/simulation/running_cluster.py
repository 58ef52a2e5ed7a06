"""The objects of a running cluster among the inputs: what is restored, what is left alone, and which gates are on.

No counterpart: reads what ``kubectl get -o yaml`` and ``kueue-dra dump`` write.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kueue_dra_ref.api.documents import ManifestDocument
from kueue_dra_ref.api.scheme import KINDS
from kueue_dra_ref.controlplane.clock import seconds_of
from kueue_dra_ref.target import Manifest

HEAD = "ClusterDump"
"""The kind of the first document that ``kueue-dra dump`` writes."""
MANAGER = "manager"
"""The container of Kueue's Deployment that runs Kueue."""
_GATES = "--feature-gates"
_DEFAULTED = (
    "imagePullPolicy",
    "terminationMessagePath",
    "terminationMessagePolicy",
)
"""Fields of a container that an API server fills in, and that decide nothing."""
_MINOR = re.compile(r"v?(\d+\.\d+)")

JobKey = tuple[str, Any]
"""The namespace and the name of a Job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningCluster:
    """What the documents of a running cluster say, except for its objects."""

    documents: tuple[ManifestDocument, ...]
    """The documents of kinds that the reference knows, and Configurations."""
    ignored: Mapping[str, int]
    """The number of objects of each kind that the reference does not decide about."""
    gates: Mapping[str, bool]
    """The feature gates in the arguments of Kueue's Deployment."""
    kubernetes: str = ""
    """The minor of the API server, such as ``1.36``; empty if the dump does not say."""
    seconds: float = 0.0
    """The newest time in the documents: what happens next happens then."""


def is_running(documents: Iterable[ManifestDocument]) -> bool:
    """Whether the documents come from a running cluster: an API server, or Kueue, has written to them."""
    return any(_is_written(each.manifest) for each in documents)


def _is_written(manifest: Manifest) -> bool:
    kind = manifest.get("kind")
    status = _mapping(manifest, "status")
    if kind == HEAD or is_stored(manifest):
        return True
    if kind == "Workload":
        return bool(status.get("conditions") or status.get("admission"))
    if kind == "Job":
        return bool(status.get("startTime") or status.get("active"))
    return False


def is_stored(manifest: Manifest) -> bool:
    """Whether an API server has stored an object."""
    meta = _mapping(manifest, "metadata")
    return bool(meta.get("uid") and meta.get("creationTimestamp"))


def is_restored(manifest: Manifest) -> bool:
    """Whether an object of a running cluster is restored, instead of applied as a new one."""
    meta = _mapping(manifest, "metadata")
    return bool(meta.get("uid") or meta.get("creationTimestamp")) or _is_written(
        manifest
    )


def running_cluster(documents: Sequence[ManifestDocument]) -> RunningCluster:
    """Read the documents of a running cluster."""
    kept = []
    uids = _owner_uids(documents)
    ignored: Counter[str] = Counter()
    for document in documents:
        kind = str(document.manifest.get("kind", ""))
        if _is_known(document.manifest):
            kept.append(_with_uid(document, uids))
        elif kind != HEAD:
            ignored[kind] += 1
    return RunningCluster(
        documents=tuple(map(_normalized, kept)),
        ignored=dict(sorted(ignored.items())),
        gates=_gates(documents),
        kubernetes=_kubernetes(documents),
        seconds=_newest(documents),
    )


def _is_known(manifest: Manifest) -> bool:
    kind = manifest.get("kind")
    if kind in (None, "", "Configuration", "ConfigMap"):
        return kind != "ConfigMap" or _has_configuration(manifest)
    known = KINDS.get(str(kind))
    group = str(manifest.get("apiVersion", "")).rpartition("/")[0]
    return known is not None and known.group == group


def _has_configuration(manifest: Manifest) -> bool:
    data = _mapping(manifest, "data")
    return any("config.kueue.x-k8s.io" in str(text) for text in data.values())


def _owner_uids(documents: Sequence[ManifestDocument]) -> dict[JobKey, str]:
    """Give the UIDs that Workloads name for the Jobs that own them."""
    uids = {}
    for document in documents:
        if document.manifest.get("kind") != "Workload":
            continue
        meta = _mapping(document.manifest, "metadata")
        for owner in meta.get("ownerReferences") or ():
            if owner.get("kind") == "Job" and owner.get("uid"):
                uids[_namespace(meta), owner.get("name")] = owner["uid"]
    return uids


def _with_uid(
    document: ManifestDocument, uids: Mapping[JobKey, str]
) -> ManifestDocument:
    """Give a Job without a UID the one that its Workload names, so that they belong together."""
    manifest = document.manifest
    meta = _mapping(manifest, "metadata")
    if manifest.get("kind") != "Job" or meta.get("uid"):
        return document
    uid = uids.get((_namespace(meta), meta.get("name")))
    if uid is None:
        return document
    return replace(document, manifest={**manifest, "metadata": {**meta, "uid": uid}})


def _namespace(meta: Mapping[str, Any]) -> str:
    return meta.get("namespace") or "default"


def _normalized(document: ManifestDocument) -> ManifestDocument:
    """Drop fields that the API server fills in, which a Job may have and its Workload may not."""
    if document.manifest.get("kind") not in ("Job", "Workload"):
        return document
    return replace(document, manifest=_without_defaults(document.manifest))


def _without_defaults(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_defaults(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _without_defaults(each)
        for key, each in value.items()
        if key not in _DEFAULTED
    }


def _gates(documents: Sequence[ManifestDocument]) -> Mapping[str, bool]:
    gates: dict[str, bool] = {}
    for document in documents:
        if document.manifest.get("kind") == "Deployment" and _is_kueue(document):
            for argument in _arguments(document.manifest):
                gates |= dict(_gates_of(argument))
    return gates


def _is_kueue(document: ManifestDocument) -> bool:
    meta = _mapping(document.manifest, "metadata")
    labels = _mapping(meta, "labels")
    if labels.get("app.kubernetes.io/name") == "kueue":
        return True
    return "kueue" in str(meta.get("name", ""))


def _arguments(deployment: Manifest) -> Iterator[str]:
    """Give the values of ``--feature-gates`` of Kueue's container."""
    pods = _mapping(_mapping(deployment, "spec"), "template")
    for container in _mapping(pods, "spec").get("containers") or ():
        if container.get("name") != MANAGER:
            continue
        written = " ".join(map(str, container.get("args") or ())).split()
        for argument, following in zip(written, [*written[1:], ""], strict=True):
            name, has_value, value = argument.partition("=")
            if name == _GATES:
                yield value if has_value else following


def _gates_of(argument: str) -> Iterator[tuple[str, bool]]:
    for pair in argument.split(","):
        name, _, switch = pair.partition("=")
        if name.strip() and switch.strip().lower() in ("true", "false"):
            yield name.strip(), switch.strip().lower() == "true"


def _kubernetes(documents: Sequence[ManifestDocument]) -> str:
    for document in documents:
        if document.manifest.get("kind") == HEAD:
            spec = _mapping(document.manifest, "spec")
            found = _MINOR.match(str(spec.get("kubernetes", "")))
            if found:
                return found[1]
    return ""


def _newest(documents: Sequence[ManifestDocument]) -> float:
    return max((_last(each.manifest) for each in documents), default=0.0)


def _last(manifest: Manifest) -> float:
    """Give the newest time at which something happened to an object."""
    meta, status = _mapping(manifest, "metadata"), _mapping(manifest, "status")
    times = [meta.get("creationTimestamp"), meta.get("deletionTimestamp")]
    times += [status.get("startTime"), status.get("completionTime")]
    for condition in status.get("conditions") or ():
        times.append(condition.get("lastTransitionTime"))
    return max(map(_seconds, times))


def _seconds(timestamp: Any) -> float:
    try:
        return seconds_of(str(timestamp))
    except ValueError:
        return float("-inf")


def _mapping(holder: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = holder.get(key)
    return found if isinstance(found, dict) else {}
