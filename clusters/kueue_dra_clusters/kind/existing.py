"""Uses a kind cluster of another tool for a run, and restores it afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace

from kueue_dra_clusters.errors import ClusterError
from kueue_dra_clusters.kind import charts
from kueue_dra_clusters.kind.cluster import (
    APPLIED,
    NodeCluster,
    existing,
    run_kind,
    with_images,
)
from kueue_dra_clusters.kind.cluster_records import Record, a_record
from kueue_dra_clusters.kind.driver import remove_slices
from kueue_dra_clusters.kind.driver_install import profile_manifests
from kueue_dra_clusters.kind.image_source import ImageSource
from kueue_dra_clusters.kind.profiles import WHOLE_DEVICE
from kueue_dra_clusters.kind.progress import reported
from kueue_dra_clusters.kind.provider import Provider, engine
from kueue_dra_clusters.releases import Release
from kueue_dra_ref.target import Manifest


class NotOwned(ClusterError):
    """A cluster has objects that a run would have to change."""


def adopted(
    name: str, supply: Callable[[Provider], ImageSource], minor: Release
) -> NodeCluster | None:
    """Use a cluster that kind knows by its name, with our images loaded into its nodes; None without it.

    Raises:
        NotOwned: it has a Kueue, a driver or classes already, which the profiles would replace.
        ClusterError: something is missing or fails.

    """
    used = engine()
    if name not in run_kind(used, "get", "clusters").split():
        return None
    chosen = supply(used)
    record = a_record(name, kept=False, foreign=True)
    record.write()
    try:
        with reported(f"kind cluster {name}: used as it is, images {chosen.name}"):
            (record.folder / "kubeconfig").write_text(
                run_kind(used, "get", "kubeconfig", "--name", name), "utf-8"
            )
            cluster = with_images(chosen, record, used, minor)
            _insist_on_room(cluster)
            cluster.load(chosen.archives())
        found = replace(cluster, nodes=len(cluster.objects().list("v1", "Node")))
        found.write()
    except BaseException:
        record.forget()
        raise
    return found


def restore(record: Record) -> None:
    """Delete everything that a run has created in a cluster of another tool."""
    cluster = existing(record.name)
    file = record.folder / APPLIED
    if cluster and file.exists():
        with reported(f"restoring the cluster {record.name}"):
            made = [
                json.loads(text)
                for text in json.loads(file.read_text("utf-8")).values()
            ]
            _remove(
                cluster,
                [each for each in made if each["kind"] == "CustomResourceDefinition"],
            )
            _remove(cluster, made)
            remove_slices(cluster)
    record.forget()


def _remove(cluster: NodeCluster, manifests: Iterable[Manifest]) -> None:
    """Delete objects and wait until they are gone; CRDs first, while Kueue still removes the finalizers."""
    cluster.kubectl(
        "delete", "--ignore-not-found", "-f", "-", stdin=charts.a_list(manifests)
    )


def _insist_on_room(cluster: NodeCluster) -> None:
    """Reject a cluster that cannot allocate devices, or has any object of the profiles already."""
    if not cluster.objects().call("GET", "/apis/resource.k8s.io/v1").ok:
        raise NotOwned(
            f"the cluster {cluster.record.name} does not serve resource.k8s.io/v1 (Kubernetes 1.34)"
        )
    brought = profile_manifests(
        cluster.release, cluster.images, WHOLE_DEVICE, cluster.driver
    )
    there = cluster.kubectl(
        "get",
        "--ignore-not-found",
        "-o",
        "name",
        "-f",
        "-",
        stdin=charts.a_list(brought),
    )
    if there:
        raise NotOwned(
            f"the cluster {cluster.record.name} has what the profiles would replace: {', '.join(there.split())}.\n"
            "Name a cluster without; to check its own Kueue, use `kueue-dra run --target kueue --context NAME`."
        )
