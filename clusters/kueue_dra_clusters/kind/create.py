"""A kind cluster from nothing to ready, and away again: nodes, and the images on them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from pathlib import Path

from kueue_dra_clusters.go_tool import progress
from kueue_dra_clusters.kind import pytest_kind_cluster
from kueue_dra_clusters.kind.cluster import NodeCluster, environment
from kueue_dra_clusters.kind.cluster_records import PREFIX, Record, a_record, records
from kueue_dra_clusters.kind.components import (
    KIND,
    KIND_VARIABLE,
    KUBECTL,
    KUBECTL_VARIABLE,
    tool,
)
from kueue_dra_clusters.kind.existing import give_back
from kueue_dra_clusters.kind.host import Host
from kueue_dra_clusters.kind.image_source import ImageSource
from kueue_dra_clusters.kind.progress import told
from kueue_dra_clusters.kind.provider import Provider, engine
from kueue_dra_clusters.releases import Release
from kueue_dra_clusters.waiting import NotYet, eventually
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.target import Manifest, Ref

GATES = (
    "DynamicResourceAllocation",
    "DRAExtendedResource",
    "DRAPartitionableDevices",
    "DRAConsumableCapacity",
)
"""Of Kubernetes; on by default from 1.36 on, named so that an older node image serves too."""
CGROUPFS_CONTAINERD = '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]\n  SystemdCgroup = false'
"""For containerd 1.7, which is what the node image built here has."""
CGROUPFS_KUBELET = "kind: KubeletConfiguration\ncgroupDriver: cgroupfs\n"
UNSYNCED = """\
apiVersion: kubeadm.k8s.io/v1beta{version}
kind: ClusterConfiguration
etcd:
  local:
    extraArgs: {arguments}
"""
UNSYNCED_AS = {
    3: '{unsafe-no-fsync: "true"}',
    4: '[{name: unsafe-no-fsync, value: "true"}]',
}
"""Nobody mends a cluster of one run after a power cut; each write waits for the disk otherwise."""
READY_SECONDS = 240.0


def create(
    supply: Callable[[Provider], ImageSource],
    minor: Release,
    *,
    nodes: int = 1,
    name: str = "",
    kept: bool = False,
) -> NodeCluster:
    """Create a cluster, with its images on the nodes; Kueue and the driver come with the first profile.

    Raises:
        ClusterTrouble: something is missing or fails; what was begun is taken away again.

    """
    used = engine()
    with told("the parts of the cluster"):
        chosen = supply(used)
        images, archives = chosen.images(), chosen.archives()
    record = a_record(name or f"{PREFIX}{secrets.token_hex(3)}", kept=kept)
    record.write()
    try:
        Host(engine=used).prepare(closed=chosen.closed)
        cluster = NodeCluster(
            record=record, engine=used, release=minor, images=images, nodes=nodes
        )
        with told(
            f"kind cluster {record.name}: {nodes} node(s), {used.name}, images {chosen.name}"
        ):
            _create_nodes(cluster, chosen)
        with told(f"loading {len(archives)} image archives"):
            cluster.load(archives)
        cluster.write()
    except BaseException:
        delete(record, used)
        raise
    return cluster


def delete(record: Record, used: Provider) -> None:
    """Delete a cluster, or give it back; and put the machine back as it was when it was the last one."""
    if record.foreign:
        give_back(record)
    else:
        _delete_nodes(record, used)
    if not any(True for _ in records()):
        Host(engine=used).restore()


def _delete_nodes(record: Record, used: Provider) -> None:
    with told(f"deleting the cluster {record.name}"):
        record.folder.mkdir(parents=True, exist_ok=True)
        kind, kubectl = tool(KIND, KIND_VARIABLE), tool(KUBECTL, KUBECTL_VARIABLE)
        pytest_kind_cluster.delete(
            record.name,
            folder=record.folder,
            kind=kind,
            kubectl=kubectl,
            environment=environment(used),
        )
        record.forget()


def remove_orphans() -> None:
    """Delete, or give back, clusters whose owner was killed before it could."""
    for record in list(records()):
        if record.orphaned:
            progress(f"found the cluster {record.name}, whose run was killed")
            delete(record, engine())


def _create_nodes(cluster: NodeCluster, chosen: ImageSource) -> None:
    """Have kind make the nodes, and wait until they and the default service account are there."""
    file = cluster.record.folder / "kind.json"
    file.write_text(
        json.dumps(
            kind_config(cluster.nodes, cgroupfs=chosen.closed and needs_cgroupfs())
        ),
        encoding="utf-8",
    )
    pytest_kind_cluster.create(
        cluster.record.name,
        folder=cluster.record.folder,
        image=cluster.images.node,
        config=file,
        kind=tool(KIND, KIND_VARIABLE),
        kubectl=tool(KUBECTL, KUBECTL_VARIABLE),
        environment=environment(cluster.engine),
    )
    objects = cluster.objects()

    def ready() -> None:
        nodes = objects.list("v1", "Node")
        waiting = [
            node["metadata"]["name"] for node in nodes if not is_true(node, "Ready")
        ]
        if waiting or len(nodes) < cluster.nodes:
            raise NotYet(
                f"{len(nodes)} nodes, not ready: {', '.join(waiting) or 'none'}"
            )
        if (
            objects.read(
                Ref(
                    api_version="v1",
                    kind="ServiceAccount",
                    name="default",
                    namespace="default",
                )
            )
            is None
        ):
            raise NotYet("no service account named default")

    eventually(
        ready,
        within=READY_SECONDS,
        every=0.5,
        at_most=1.0,
        what="the nodes to be ready",
    )


def kind_config(nodes: int, *, cgroupfs: bool = False) -> Manifest:
    """Write kind's configuration: one control plane, and workers when there is more than one node.

    ``cgroupfs`` keeps systemd out of the containers' cgroups.
    """
    workers = [{"role": "worker"} for _ in range(nodes - 1)]
    unsynced = [
        UNSYNCED.format(version=version, arguments=text)
        for version, text in UNSYNCED_AS.items()
    ]
    return {
        "kind": "Cluster",
        "apiVersion": "kind.x-k8s.io/v1alpha4",
        "featureGates": dict.fromkeys(GATES, True),
        "runtimeConfig": {"resource.k8s.io/v1": "true"},
        "nodes": [{"role": "control-plane"}, *workers],
        "containerdConfigPatches": [CGROUPFS_CONTAINERD] if cgroupfs else [],
        "kubeadmConfigPatches": [*([CGROUPFS_KUBELET] if cgroupfs else []), *unsynced],
    }


def needs_cgroupfs() -> bool:
    """Whether this machine has cgroup v1: there runc freezes what systemd manages, and on a busy machine fails to."""
    return not Path("/sys/fs/cgroup/cgroup.controllers").exists()
