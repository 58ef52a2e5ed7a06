"""The images of the Containerfile, and a kind cluster with Kueue that has them; both are made once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.kind.cluster import NodeCluster, existing
from kueue_dra_clusters.kind.create import create, delete
from kueue_dra_clusters.kind.image_source import supply
from kueue_dra_clusters.kind.profiles import PROFILES
from kueue_dra_clusters.kind.provider import Provider, engine
from kueue_dra_clusters.kind.rollout import Rollout
from kueue_dra_clusters.releases import NEWEST, release
from kueue_dra_ref.target import Manifest, Ref
from tests.container_image import build

KEPT = "kueue-dra-pods"
"""A cluster of this name is used if there is one: kueue-dra cluster up --name kueue-dra-pods."""
QUEUE = "pods"
KUEUE = "kueue.x-k8s.io/v1beta2"
QUOTA: list[Manifest] = [{"name": "cpu", "nominalQuota": 8}, {"name": "memory", "nominalQuota": "16Gi"}]


@pytest.fixture(scope="session")
def podman() -> Provider:
    """Give the container engine."""
    return engine()


@pytest.fixture(scope="session")
def images() -> Mapping[str, str]:
    """Build the images; give their names by target."""
    return build([NEWEST])


@pytest.fixture(scope="session")
def kind_cluster(
    images: Mapping[str, str], podman: Provider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[NodeCluster]:
    """Create a cluster of one node with Kueue, and load the images."""
    archive = tmp_path_factory.mktemp("images") / "images.tar"
    podman.save(archive, *images.values())
    kept = existing(KEPT)
    found = kept or create(partial(supply, "source", release(NEWEST)), release(NEWEST))
    try:
        found.load([archive])
        with Rollout(cluster=found).under(PROFILES["whole-device"]):
            yield found
    finally:
        if not kept:
            delete(found.record, found.engine)


@pytest.fixture(scope="session")
def objects(kind_cluster: NodeCluster) -> Iterator[APIClient]:
    """Give a client, with a ClusterQueue in the cluster that has quota for some pods."""
    client = kind_cluster.objects()
    head: Manifest = {"apiVersion": KUEUE, "metadata": {"name": QUEUE}}
    flavors = [{"name": QUEUE, "resources": QUOTA}]
    groups = [{"coveredResources": [one["name"] for one in QUOTA], "flavors": flavors}]
    client.create({**head, "kind": "ResourceFlavor"})
    client.create({**head, "kind": "ClusterQueue", "spec": {"namespaceSelector": {}, "resourceGroups": groups}})
    yield client
    for kind in ("ClusterQueue", "ResourceFlavor"):
        client.delete(Ref(api_version=KUEUE, kind=kind, name=QUEUE))


@pytest.fixture
def kubeconfig(kind_cluster: NodeCluster) -> Path:
    """Give the kubeconfig of the cluster."""
    return kind_cluster.kubeconfig
