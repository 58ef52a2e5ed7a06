"""Work whose pods Kueue queues, instead of the object itself: Deployments, StatefulSets and LeaderWorkerSets.

Kueue: pkg/controller/jobs/deployment/deployment_webhook.go (Default);
    pkg/controller/jobs/statefulset/statefulset_controller.go (FrameworkName);
    pkg/controller/jobs/leaderworkerset/leaderworkerset_controller.go (FrameworkName)
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kueue_dra_ref.api.job_kind import Path, PodSetPlace, spec_of, template_at
from kueue_dra_ref.api.metadata import annotations_of, labels_of, owners_of
from kueue_dra_ref.api.ownership import is_owned_by
from kueue_dra_ref.api.queued_pods import is_of_group
from kueue_dra_ref.api.workload_names import LONGEST, hashed_name
from kueue_dra_ref.target import Manifest

_LWS = "leaderworkerset.sigs.k8s.io"
_POD_INDEX = "apps.kubernetes.io/pod-index"
_WORKER_INDEX = f"{_LWS}/worker-index"
_REPLICAS: Path = ("spec", "template")
_GROUP = "leaderWorkerTemplate"
_NAME_OF_WORKLOAD = re.compile(
    r"((?:statefulset|leaderworkerset)-[a-z0-9.-]+)-[0-9a-f]{5}"
)
LEADER: Path = ("spec", _GROUP, "leaderTemplate")
WORKER: Path = ("spec", _GROUP, "workerTemplate")
NUMBERED_BY: Mapping[Path, str] = {
    _REPLICAS: _POD_INDEX,
    LEADER: "",
    WORKER: _WORKER_INDEX,
}
"""The label that numbers the pods of a template in their Workload; empty for leaders, as a group has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodOwner:
    """One kind of such work."""

    name: str
    group: str
    version: str
    plural: str
    framework: str

    @property
    def api_version(self) -> str:
        """The version that Kueue reads."""
        return f"{self.group}/{self.version}"


DEPLOYMENT = PodOwner(
    name="Deployment",
    group="apps",
    version="v1",
    plural="deployments",
    framework="deployment",
)
STATEFUL_SET = PodOwner(
    name="StatefulSet",
    group="apps",
    version="v1",
    plural="statefulsets",
    framework="statefulset",
)
LEADER_WORKER_SET = PodOwner(
    name="LeaderWorkerSet",
    group="leaderworkerset.x-k8s.io",
    version="v1",
    plural="leaderworkersets",
    framework="leaderworkerset.x-k8s.io/leaderworkerset",
)
POD_OWNERS: Mapping[str, PodOwner] = {
    each.name: each for each in (DEPLOYMENT, STATEFUL_SET, LEADER_WORKER_SET)
}
"""Each kind by its name."""


def replicas_of(owner: Manifest) -> int:
    """Give how many pods an object has, or how many groups a LeaderWorkerSet."""
    found = spec_of(owner).get("replicas")
    return 1 if found is None else int(found)


def has_ready_pods(owner: Manifest) -> bool:
    """Whether pods of an object are ready; Kueue's webhooks take one without as suspended."""
    return bool((owner.get("status") or {}).get("readyReplicas"))


def size_of(owner: Manifest) -> int:
    """Give how many pods a group of a LeaderWorkerSet has."""
    found = (spec_of(owner).get(_GROUP) or {}).get("size")
    return 1 if found is None else int(found)


def has_leader(owner: Manifest) -> bool:
    """Whether the leaders of a LeaderWorkerSet have a template of their own."""
    return (spec_of(owner).get(_GROUP) or {}).get("leaderTemplate") is not None


def group_places(owner: Manifest) -> Iterator[PodSetPlace]:
    """Give the pod sets of one group of a LeaderWorkerSet."""
    workers = size_of(owner)
    name = "main"
    if has_leader(owner):
        yield PodSetPlace(name="leader", count=1, path=LEADER)
        name, workers = "worker", workers - 1
    yield PodSetPlace(name=name, count=workers, path=WORKER)


def template_paths(owner: Manifest) -> tuple[Path, ...]:
    """Give where the pod templates of an object are."""
    if owner["kind"] != LEADER_WORKER_SET.name:
        return (_REPLICAS,)
    return (LEADER, WORKER) if has_leader(owner) else (WORKER,)


def index_of(pod: Manifest) -> tuple[str, str]:
    """Give the group of a pod of a LeaderWorkerSet, and its number in the group."""
    labels = labels_of(pod)
    return labels.get(f"{_LWS}/group-index", ""), labels.get(_WORKER_INDEX, "")


def owner_name(pod: Manifest) -> tuple[str, str]:
    """Give kind and name of the work that a pod belongs to; empty for none."""
    if name := labels_of(pod).get(f"{_LWS}/name"):
        return LEADER_WORKER_SET.name, name
    for owner in owners_of(pod):
        if owner.get("kind") == STATEFUL_SET.name:
            return STATEFUL_SET.name, str(owner.get("name", ""))
    return "", ""


def group_workload(owner: Manifest, group: str = "", *, by_uid: bool = True) -> str:
    """Name the Workload of an object, or of a group of it, by its UID, too, or by its name alone."""
    meta, kind = owner["metadata"], POD_OWNERS[owner["kind"]]
    name = f"{meta['name']}-{group}" if group else meta["name"]
    uid = meta["uid"] if by_uid else ""
    return hashed_name(
        f"{kind.name.lower()}-{name}",
        *(kind.name, kind.group, name, uid),
        longest=LONGEST,
    )


def group_of_workload(workload: Manifest) -> str:
    """Name an object, or a group of it, by its Workload, whose name ends in a hash; empty for other Workloads."""
    if not is_of_group(workload):
        return ""
    name = str(workload["metadata"]["name"])
    found = _NAME_OF_WORKLOAD.fullmatch(name)
    return found.group(1) if found else ""


def made_pods(owner: Manifest) -> list[Manifest]:
    """Give the pods that the controllers of Kubernetes, or of the kind, make of a stored object."""
    makers = {
        DEPLOYMENT.name: _of_deployment,
        STATEFUL_SET.name: _of_stateful_set,
        LEADER_WORKER_SET.name: _of_leader_worker_set,
    }
    return list(makers[owner["kind"]](owner))


def is_pod_of(owner: Manifest, pod: Manifest) -> bool:
    """Whether a pod belongs to an object."""
    meta = owner["metadata"]
    if pod["metadata"]["namespace"] != meta["namespace"]:
        return False
    if owner_name(pod) == (owner["kind"], meta["name"]):
        return True
    return is_owned_by(pod, meta["uid"])


def _of_deployment(owner: Manifest) -> Iterator[Manifest]:
    """Make the pods of the one ReplicaSet of a new Deployment; their names are random in a cluster."""
    meta = owner["metadata"]
    named = str(meta["name"])
    digest = hashlib.sha256(named.encode()).hexdigest()[:10]
    name = f"{named}-{digest}"
    controller = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": name,
        "uid": str(meta.get("uid", "")),
    }
    for number in range(replicas_of(owner)):
        labels = {"pod-template-hash": digest}
        named = f"{name}-{number:05}"
        yield _pod(owner, _REPLICAS, named, controller, labels)


def _of_stateful_set(owner: Manifest) -> Iterator[Manifest]:
    for number in range(replicas_of(owner)):
        named = f"{owner['metadata']['name']}-{number}"
        labels = {
            _POD_INDEX: str(number),
            "statefulset.kubernetes.io/pod-name": named,
        }
        yield _pod(owner, _REPLICAS, named, _reference(owner), labels)


def _of_leader_worker_set(owner: Manifest) -> Iterator[Manifest]:
    for group in range(replicas_of(owner)):
        yield from _of_group(owner, group)


def _of_group(owner: Manifest, group: int) -> Iterator[Manifest]:
    """Make a leader and its workers; the StatefulSets between a LeaderWorkerSet and its pods do not exist here."""
    name = owner["metadata"]["name"]
    leader = f"{name}-{group}"
    for number in range(size_of(owner)):
        path = LEADER if has_leader(owner) and not number else WORKER
        named = f"{leader}-{number}" if number else leader
        labels = {
            f"{_LWS}/name": name,
            f"{_LWS}/group-index": str(group),
            _WORKER_INDEX: str(number),
        }
        pod = _pod(owner, path, named, None, labels)
        if number:
            annotations = {f"{_LWS}/leader-name": leader}
            pod["metadata"]["annotations"] = {**annotations_of(pod), **annotations}
        yield pod


def _reference(owner: Manifest) -> Manifest:
    meta = owner["metadata"]
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": meta["name"],
        "uid": meta["uid"],
    }


def _pod(
    owner: Manifest,
    path: Path,
    name: str,
    controller: Manifest | None,
    labels: Mapping[str, str],
) -> Manifest:
    template = template_at(owner, path)
    head = template.get("metadata") or {}
    meta = {
        "name": name,
        "namespace": owner["metadata"]["namespace"],
        "labels": {**labels_of({"metadata": head}), **labels},
        "annotations": dict(annotations_of({"metadata": head})),
    }
    if controller is not None:
        meta["ownerReferences"] = [{**controller, "controller": True}]
    spec = dict(template.get("spec") or {})
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
