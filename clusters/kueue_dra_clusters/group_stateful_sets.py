"""The StatefulSet between a LeaderWorkerSet and its pods, which the controller of that kind would create.

Kueue adopts a pod of a LeaderWorkerSet only while the StatefulSet that controls it exists
(pkg/controller/jobs/leaderworkerset/leaderworkerset_reconciler.go, reconcilePods).
"""

from __future__ import annotations

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_ref.api.metadata import owners_of
from kueue_dra_ref.api.pod_owners import LEADER_WORKER_SET, owner_name
from kueue_dra_ref.target import Manifest, Ref

API_VERSION = "apps/v1"
NAME_LABEL = "leaderworkerset.sigs.k8s.io/name"


def controlled(objects: APIClient, manifest: Manifest) -> Manifest:
    """Give a pod of a LeaderWorkerSet its StatefulSet as controller, which is created; other objects as they are."""
    kind, name = owner_name(manifest) if manifest["kind"] == "Pod" else ("", "")
    meta = manifest["metadata"]
    if kind != LEADER_WORKER_SET.name or owners_of(manifest):
        return manifest
    owner = _stored(objects, meta["namespace"], name)
    if owner is None:
        return manifest
    reference = {
        "apiVersion": API_VERSION,
        "kind": "StatefulSet",
        "name": name,
        "uid": owner["metadata"]["uid"],
        "controller": True,
    }
    return {**manifest, "metadata": {**meta, "ownerReferences": [reference]}}


def between(ref: Ref) -> list[Ref]:
    """Name the StatefulSet between a LeaderWorkerSet and its pods; none for other work."""
    if ref.kind != LEADER_WORKER_SET.name:
        return []
    return [Ref.of(_stateful_set(ref.namespace, ref.name))]


def _stored(objects: APIClient, namespace: str, name: str) -> Manifest | None:
    """Give the StatefulSet of a LeaderWorkerSet as it is stored; None if the API server refuses it."""
    wanted = _stateful_set(namespace, name)
    ref = Ref.of(wanted)
    found = objects.read(ref)
    if found is None and objects.create(wanted).ok:
        found = objects.read(ref)
    return found


def _stateful_set(namespace: str, name: str) -> Manifest:
    labels = {NAME_LABEL: name}
    container = {"name": "main", "image": "registry.k8s.io/pause:3.10"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    return {
        "apiVersion": API_VERSION,
        "kind": "StatefulSet",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {
            "replicas": 0,
            "serviceName": name,
            "selector": {"matchLabels": labels},
            "template": template,
        },
    }
