"""The manifests of the fence's own objects (Kueue v1beta2), with names that no case uses."""

from __future__ import annotations

from collections.abc import Mapping

from kueue_dra_ref.api.jobs import QUEUE_LABEL
from kueue_dra_ref.target import Manifest

KUEUE = "kueue.x-k8s.io/v1beta2"
ASKED = "ephemeral-storage"
"""The resource of the fence's pods: not cpu, because a Configuration may transform it."""
TOO_MUCH = 1001
"""More bytes than any queue of the fence has; an odd number is printed without a unit."""


def fence_manifests(name: str, labels: Mapping[str, str]) -> list[Manifest]:
    """Give the fence's objects in the order of creation; ``name`` is its namespace and queue."""
    # The Job's queue does not exist: the Workload controller sets its condition, the scheduler never tries it.
    chain = {"suspend": True, "parallelism": 1, "template": a_template()}
    manifests = [
        _an_object("v1", "Namespace", name),
        _an_object(KUEUE, "ResourceFlavor", name, spec={}),
        _an_object(KUEUE, "ClusterQueue", name, spec=a_queue(name, amount=1)),
        _an_object(
            KUEUE, "ClusterQueue", f"{name}-sweep", spec=a_queue(name, amount=1)
        ),
        _an_object(KUEUE, "LocalQueue", "probes", name, spec={"clusterQueue": name}),
        _an_object(KUEUE, "LocalQueue", "status", name, spec={"clusterQueue": name}),
        _an_object(
            KUEUE, "LocalQueue", "sweep", name, spec={"clusterQueue": f"{name}-sweep"}
        ),
        _an_object("batch/v1", "Job", "chain", name, spec=chain),
    ]
    manifests[-1]["metadata"]["labels"] = {QUEUE_LABEL: "nowhere"}
    for manifest in manifests:
        manifest["metadata"].setdefault("labels", {}).update(labels)
    return manifests


def a_template(*, amount: int = 1) -> Manifest:
    """Give a pod template that requests an amount of bytes; its image does not exist."""
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
    """Give the spec of a queue with a quota in bytes, for the fence's namespace only."""
    flavor = {"name": name, "resources": [{"name": ASKED, "nominalQuota": amount}]}
    return {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}},
        "queueingStrategy": "BestEffortFIFO",
        "resourceGroups": [{"coveredResources": [ASKED], "flavors": [flavor]}],
    }
