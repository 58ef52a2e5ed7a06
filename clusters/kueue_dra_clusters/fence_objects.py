"""The manifests of the fence's own world (Kueue v1beta2): nothing in it can be confused with a case's objects."""

from __future__ import annotations

from collections.abc import Mapping

from kueue_dra_ref.api.jobs import QUEUE_LABEL
from kueue_dra_ref.target import Manifest

KUEUE = "kueue.x-k8s.io/v1beta2"
ASKED = "ephemeral-storage"
"""What the fence's pods ask for: a Configuration may well turn CPUs into something else, which no quota here is for."""
TOO_MUCH = 1001
"""Bytes that no queue of the fence has; an odd number is written as it is, without a unit."""


def fence_world(name: str, labels: Mapping[str, str]) -> list[Manifest]:
    """Give the fence's objects in the order in which they are made; ``name`` is its namespace and queue."""
    # The Job's queue does not exist: the Workload controller itself says so, the scheduler never sees it.
    chain = {"suspend": True, "parallelism": 1, "template": a_template()}
    world = [
        _an_object("v1", "Namespace", name),
        _an_object(KUEUE, "ResourceFlavor", name, spec={}),
        _an_object(KUEUE, "ClusterQueue", name, spec=a_queue(name, amount=1)),
        _an_object(
            KUEUE, "ClusterQueue", f"{name}-sweep", spec=a_queue(name, amount=1)
        ),
        _an_object(KUEUE, "LocalQueue", "pawns", name, spec={"clusterQueue": name}),
        _an_object(KUEUE, "LocalQueue", "status", name, spec={"clusterQueue": name}),
        _an_object(
            KUEUE, "LocalQueue", "sweep", name, spec={"clusterQueue": f"{name}-sweep"}
        ),
        _an_object("batch/v1", "Job", "chain", name, spec=chain),
    ]
    world[-1]["metadata"]["labels"] = {QUEUE_LABEL: "nowhere"}
    for manifest in world:
        manifest["metadata"].setdefault("labels", {}).update(labels)
    return world


def a_template(*, amount: int = 1) -> Manifest:
    """Give a pod template that asks for so many bytes; its image exists nowhere."""
    container = {
        "name": "main",
        "image": "none.invalid/none",
        "resources": {"requests": {ASKED: str(amount)}},
    }
    return {"spec": {"restartPolicy": "Never", "containers": [container]}}


def _an_object(
    api_version: str,
    kind: str,
    name: str,
    namespace: str = "",
    *,
    spec: Manifest | None = None,
) -> Manifest:
    place = {"namespace": namespace} if namespace else {}
    body = {} if spec is None else {"spec": spec}
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, **place},
        **body,
    }


def a_queue(name: str, *, amount: int) -> Manifest:
    """Give the spec of a queue with so many bytes, for the fence's namespace only."""
    flavor = {"name": name, "resources": [{"name": ASKED, "nominalQuota": amount}]}
    return {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}},
        "queueingStrategy": "BestEffortFIFO",
        "resourceGroups": [{"coveredResources": [ASKED], "flavors": [flavor]}],
    }
