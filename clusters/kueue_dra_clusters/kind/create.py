"""Creates and deletes kind clusters: nodes, and the images on them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from pathlib import Path

from kueue_dra_clusters.go_tool import progress
from kueue_dra_clusters.kind import pytest_kind_cluster
from kueue_dra_clusters.kind.cluster import NodeCluster, environment, with_images
from kueue_dra_clusters.kind.cluster_records import PREFIX, Record, a_record, records
from kueue_dra_clusters.kind.components import (
    KIND,
    KIND_VARIABLE,
    KUBECTL,
    KUBECTL_VARIABLE,
    tool,
)
from kueue_dra_clusters.kind.existing import restore
from kueue_dra_clusters.kind.host import Host
from kueue_dra_clusters.kind.image_source import ImageSource
from kueue_dra_clusters.kind.progress import reported
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
"""Gates of Kubernetes; on by default from 1.36, set so that an older node image also works."""
CGROUPFS_CONTAINERD = '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]\n  SystemdCgroup = false'
"""For containerd 1.7, which the node image built here has."""
NRI = '[plugins."io.containerd.nri.v1.nri"]\n  disable = false'
"""For containerd 1.7; newer ones serve NRI by default."""
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
"""etcd without fsync: a cluster of one run need not survive a power cut, and each write would wait for the disk."""
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
        ClusterError: something is missing or fails; everything that was created is deleted.

    """
    used = engine()
    with reported("the parts of the cluster"):
        chosen = supply(used)
        archives = chosen.archives()
    record = a_record(name or f"{PREFIX}{secrets.token_hex(3)}", kept=kept)
    record.write()
    try:
        Host(engine=used).prepare(closed=chosen.closed)
        cluster = with_images(chosen, record, used, minor, nodes=nodes)
        with reported(
            f"kind cluster {record.name}: {nodes} node(s), {used.name}, images {chosen.name}"
        ):
            _create_nodes(cluster, chosen)
        with reported(f"loading {len(archives)} image archives"):
            cluster.load(archives)
        cluster.write()
    except BaseException:
        delete(record, used)
        raise
    return cluster


def delete(record: Record, used: Provider) -> None:
    """Delete a cluster, or restore one of another tool; after the last one, restore the machine."""
    if record.foreign:
        restore(record)
    else:
        _delete_nodes(record, used)
    if not any(True for _ in records()):
        Host(engine=used).restore()


def _delete_nodes(record: Record, used: Provider) -> None:
    with reported(f"deleting the cluster {record.name}"):
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
    """Delete, or restore, clusters whose owner was killed."""
    for record in list(records()):
        if record.orphaned:
            progress(f"found the cluster {record.name}, whose run was killed")
            delete(record, engine())


def _create_nodes(cluster: NodeCluster, chosen: ImageSource) -> None:
    """Create the nodes with kind, and wait until they and the default service account are ready."""
    config = kind_config(
        cluster.nodes,
        cgroupfs=chosen.closed and needs_cgroupfs(),
        nri=cluster.driver.nri,
    )
    file = cluster.record.folder / "kind.json"
    file.write_text(json.dumps(config), encoding="utf-8")
    pytest_kind_cluster.create(
        cluster.record.name,
        folder=cluster.record.folder,
        image=cluster.images.node,
        config=file,
        kind=tool(KIND, KIND_VARIABLE),
        kubectl=tool(KUBECTL, KUBECTL_VARIABLE),
        environment=environment(cluster.engine),
    )
    _await_nodes(cluster)


def _await_nodes(cluster: NodeCluster) -> None:
    objects = cluster.objects()
    account = Ref(
        api_version="v1", kind="ServiceAccount", name="default", namespace="default"
    )

    def ready() -> None:
        nodes = objects.list("v1", "Node")
        unready = [node for node in nodes if not is_true(node, "Ready")]
        if unready or len(nodes) < cluster.nodes:
            names = ", ".join(node["metadata"]["name"] for node in unready)
            raise NotYet(f"{len(nodes)} nodes, not ready: {names or 'none'}")
        if objects.read(account) is None:
            raise NotYet("no service account named default")

    eventually(
        ready,
        within=READY_SECONDS,
        every=0.5,
        at_most=1.0,
        what="the nodes to be ready",
    )


def kind_config(nodes: int, *, cgroupfs: bool = False, nri: bool = False) -> Manifest:
    """Give kind's configuration: one control plane, and workers if there is more than one node.

    With ``cgroupfs``, systemd does not manage the containers' cgroups; with ``nri``, containerd serves NRI plugins.
    """
    patches = [CGROUPFS_CONTAINERD] if cgroupfs else []
    patches += [NRI] if nri else []
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
        "containerdConfigPatches": patches,
        "kubeadmConfigPatches": [*([CGROUPFS_KUBELET] if cgroupfs else []), *unsynced],
    }


def needs_cgroupfs() -> bool:
    """Whether this machine has cgroup v1, on which runc fails to freeze cgroups of systemd under load."""
    return not Path("/sys/fs/cgroup/cgroup.controllers").exists()
