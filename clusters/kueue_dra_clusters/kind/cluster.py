"""An existing kind cluster: its kubeconfig, its versions and its images."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from kubernetes import config as kubeconfig
from kubernetes.client import ApiClient

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.kind.cluster_records import Record, records
from kueue_dra_clusters.kind.components import (
    KIND,
    KIND_VARIABLE,
    KUBECTL,
    KUBECTL_VARIABLE,
    tool,
)
from kueue_dra_clusters.kind.driver_description import (
    EXAMPLE_DRIVER,
    DriverDescription,
    description_from,
)
from kueue_dra_clusters.kind.host import NETWORK_VARIABLES
from kueue_dra_clusters.kind.image_source import Images, ImageSource
from kueue_dra_clusters.kind.provider import Provider, engine, run
from kueue_dra_clusters.releases import Release, release
from kueue_dra_clusters.waiting import WaitLimits

STATE = "cluster.json"
APPLIED = "applied.json"
"""The file with the applied manifests, by reference, as text."""
COMMAND_SECONDS = 180.0
LOAD_SECONDS = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCluster:
    """A kind cluster that this process may use: its own, or one that was kept."""

    record: Record
    engine: Provider
    release: Release
    images: Images
    driver: DriverDescription = EXAMPLE_DRIVER
    nodes: int = 1

    @property
    def kubeconfig(self) -> Path:
        """The kubeconfig of the cluster."""
        return self.record.folder / "kubeconfig"

    def write(self) -> None:
        """Write its versions and images to a file, for the run that takes it over."""
        state = {
            "kueue": self.release.minor,
            "images": asdict(self.images),
            "driver": self.driver.document(),
            "nodes": self.nodes,
        }
        (self.record.folder / STATE).write_text(json.dumps(state), encoding="utf-8")

    @property
    def workers(self) -> int:
        """The number of nodes that run the driver: the control plane if it is the only node, else all workers."""
        return max(1, self.nodes - 1)

    def client(self) -> ApiClient:
        """Connect to it."""
        client: ApiClient = kubeconfig.new_client_from_config(str(self.kubeconfig))  # type: ignore[no-untyped-call] # ships no types
        return client

    def objects(self, limits: WaitLimits | None = None) -> APIClient:
        """Give a client for its objects, as its administrator."""
        return APIClient(api=self.client(), limits=limits or WaitLimits())

    def kubectl(
        self, *words: str, stdin: str = "", within: float = COMMAND_SECONDS
    ) -> str:
        """Run kubectl against it."""
        argv = [
            str(tool(KUBECTL, KUBECTL_VARIABLE)),
            "--kubeconfig",
            str(self.kubeconfig),
            *words,
        ]
        return run(argv, stdin=stdin, within=within)

    def load(self, archives: Sequence[Path]) -> None:
        """Load image archives into its nodes."""
        for archive in archives:
            self.kind(
                "load",
                "image-archive",
                str(archive),
                "--name",
                self.record.name,
                within=LOAD_SECONDS,
            )

    def server_version(self) -> str:
        """The Kubernetes version of its API server."""
        return str(self.objects().call("GET", "/version").body.get("gitVersion", ""))

    def kind(self, *words: str, within: float = COMMAND_SECONDS) -> str:
        """Run kind with the engine and network of the cluster."""
        return run_kind(self.engine, *words, within=within)


def with_images(
    chosen: ImageSource, record: Record, used: Provider, minor: Release, nodes: int = 1
) -> NodeCluster:
    """Give a cluster with the images and the driver of a source."""
    return NodeCluster(
        record=record,
        engine=used,
        release=minor,
        images=chosen.images(),
        driver=chosen.driver,
        nodes=nodes,
    )


def existing(name: str) -> NodeCluster | None:
    """Give a finished cluster by its name: one that was kept, or one of another process; None without it."""
    for record in records():
        if record.name == name and (record.folder / STATE).exists():
            state = json.loads((record.folder / STATE).read_text(encoding="utf-8"))
            images, minor = Images(**state["images"]), release(state["kueue"])
            return NodeCluster(
                record=record,
                engine=engine(),
                release=minor,
                images=images,
                driver=description_from(state["driver"]),
                nodes=state["nodes"],
            )
    return None


def run_kind(used: Provider, *words: str, within: float = COMMAND_SECONDS) -> str:
    """Run kind with our engine and network."""
    return run(
        [str(tool(KIND, KIND_VARIABLE)), *words], env=environment(used), within=within
    )


def environment(used: Provider) -> Mapping[str, str]:
    """Give kind's environment variables: the engine and the network."""
    return {**used.environment, **NETWORK_VARIABLES}
