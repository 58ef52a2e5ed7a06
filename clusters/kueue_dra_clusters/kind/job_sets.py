"""The real controller of JobSets on a kind cluster: installed with its own chart when a case first needs it."""

from __future__ import annotations

import fcntl
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.build_cache import program
from kueue_dra_clusters.kind import charts
from kueue_dra_clusters.kind.cluster import NodeCluster
from kueue_dra_clusters.kind.components import JOBSET, jobset_chart
from kueue_dra_clusters.kind.images import BUSYBOX, archive_of
from kueue_dra_clusters.kind.progress import reported
from kueue_dra_clusters.kind.rollout import Rollout
from kueue_dra_clusters.waiting import NotYet, eventually
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.target import Manifest, Ref

JOB_SET = "jobset.x-k8s.io/v1alpha2"
NAMESPACE = "jobset-system"
USER = "65532:65532"
READY_SECONDS = 120.0
PROBE: dict[str, Any] = {
    "apiVersion": JOB_SET,
    "kind": "JobSet",
    "metadata": {"name": "probe"},
    "spec": {"replicatedJobs": []},
}
"""A JobSet for a dry run, which the webhooks of JobSet and of Kueue check."""


def install(cluster: NodeCluster) -> None:
    """Install the controller, once for a cluster; one that the cluster has is used as it is.

    Raises:
        ClusterError: it cannot be built, or is rejected.
        TimedOut: it is not ready in time.

    """
    with (cluster.record.folder / "job-sets.lock").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        objects = cluster.objects()
        if objects.call("GET", f"/apis/{JOB_SET}").ok:
            return
        with reported(f"JobSet {JOBSET.version}"):
            if cluster.images.job == BUSYBOX:  # nothing is pulled
                cluster.load([_archive(cluster)])
            Rollout(cluster=cluster).apply_once(manifests(cluster.images.job_set))
            _await_ready(objects)


def manifests(ref: str) -> Sequence[Manifest]:
    """Render JobSet's own chart with an image."""
    repository, _, tag = ref.rpartition(":")
    image = {"repository": repository, "tag": tag, "pullPolicy": "IfNotPresent"}
    resources = {"requests": {"cpu": "50m", "memory": "64Mi"}}
    values = {"image": image, "controller": {"resources": resources}}
    rendered = charts.rendered("jobset", jobset_chart(), NAMESPACE, values)
    return [charts.namespace(NAMESPACE), *rendered]


def _archive(cluster: NodeCluster) -> Path:
    ref = cluster.images.job_set
    return archive_of(cluster.engine, ref, "/manager", program(JOBSET), user=USER)


def _await_ready(objects: APIClient) -> None:
    """Wait until the pod is ready and the webhooks answer.

    As Kueue, it waits for its certificate in a volume, which the kubelet updates at once when the pod changes.
    """
    touches = 0

    def ready() -> None:
        nonlocal touches
        pods = objects.list("v1", "Pod", NAMESPACE)
        for pod in pods:
            touches += 1
            annotations = {"kueue-dra.dev/look": str(touches)}
            objects.patch(Ref.of(pod), {"metadata": {"annotations": annotations}})
        if not pods or not all(is_true(pod, "Ready") for pod in pods):
            raise NotYet(f"{len(pods)} pods of JobSet's, not all ready")
        path = f"/apis/{JOB_SET}/namespaces/default/jobsets?dryRun=All"
        answer = objects.call("POST", path, PROBE)
        if not answer.ok:
            raise NotYet(f"a JobSet is answered with {answer.code} {answer.message}")

    eventually(
        ready,
        within=READY_SECONDS,
        every=0.5,
        at_most=1.0,
        what=f"JobSet in {NAMESPACE} to be ready",
    )
