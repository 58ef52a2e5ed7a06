"""The driver on a kind cluster's nodes: restarts, withdraws and restores it; ready once it serves pods.

A kubelet that calls a driver while the driver stops retries only after a minute or more (Kubernetes 1.36), and slices
may exist before the kubelet knows their driver.  So a driver is ready when a pod has got a device from it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from kueue_dra_clusters.kind.cluster import APPLIED, NodeCluster
from kueue_dra_clusters.kind.device_readiness import Probe, each_served
from kueue_dra_clusters.kind.driver_description import Ask, ProfileOfDriver
from kueue_dra_clusters.kind.driver_pools import by_node
from kueue_dra_clusters.kind.profiles import NOWHERE
from kueue_dra_clusters.waiting import NotYet, eventually
from kueue_dra_ref.target import Manifest

DRIVER_SECONDS = 180.0


ANY = Ask(amount="1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """The driver on a cluster."""

    cluster: NodeCluster

    def restart(self, settings: ProfileOfDriver) -> None:
        """Restart its pods, and wait until they serve devices on each node."""
        for each in self.daemon_sets():
            self._kubectl(each, "rollout", "restart", *_named(each))
        self.await_ready(settings)

    def withdraw(self) -> None:
        """Remove it from all nodes, and delete its slices."""
        self._select_nodes(NOWHERE)
        self._await_gone()

    def bring_back(self, settings: ProfileOfDriver) -> None:
        """Run it again, and wait until it serves devices on each node."""
        self._select_nodes(dict.fromkeys(NOWHERE))
        self.await_ready(settings)

    def daemon_sets(self) -> list[Manifest]:
        """Give its DaemonSets as they were applied; Kueue has none."""
        file = self.cluster.record.folder / APPLIED
        if not file.exists():
            return []
        text = file.read_text(encoding="utf-8")
        found = []
        for applied in json.loads(text).values():
            manifest = json.loads(applied)
            if manifest["kind"] == "DaemonSet":
                found.append(manifest)
        return found

    def await_ready(self, settings: ProfileOfDriver) -> None:
        """Wait until it runs on every node, has published its devices on each, and serves pods."""
        if not settings.devices:
            self._await_gone()
            return
        timeout = f"--timeout={DRIVER_SECONDS:g}s"
        for each in self.daemon_sets():
            self._kubectl(each, "rollout", "status", *_named(each), timeout)
        names = self._await_devices(settings.devices)
        each_served(
            self.cluster.objects(), names, self._probe(settings), within=DRIVER_SECONDS
        )

    def _probe(self, settings: ProfileOfDriver) -> Probe:
        """Give a pod that asks for the first request of the description, or for any device."""
        cluster = self.cluster
        asks = list(settings.asks.values())
        ask = asks[0] if asks else ANY
        return Probe(driver=cluster.driver, ask=ask, image=cluster.images.job)

    def _await_devices(self, devices: int) -> list[str]:
        """Wait until each node has published so many devices, and give the names of the nodes."""
        driver = self.cluster.driver.name
        objects, nodes = self.cluster.objects(), self.cluster.workers
        expected = [devices] * nodes

        def published() -> list[str]:
            found = by_node(objects, driver)
            numbers = sorted(found.values())
            if numbers != expected:
                raise NotYet(
                    f"devices in complete pools by node: {found}, expected {devices} on each of {nodes}"
                )
            return sorted(found)

        what = "the driver to publish its devices"
        return eventually(
            published, within=DRIVER_SECONDS, every=0.2, at_most=0.5, what=what
        )

    def _select_nodes(self, selector: Mapping[str, str | None]) -> None:
        change = {"spec": {"template": {"spec": {"nodeSelector": selector}}}}
        patch = json.dumps(change)
        for each in self.daemon_sets():
            self._kubectl(each, "patch", *_named(each), "--type=merge", "-p", patch)

    def _await_gone(self) -> None:
        timeout = f"--timeout={DRIVER_SECONDS:g}s"
        for each in self.daemon_sets():
            pods = ("pods", "-l", _selector(each))
            self._kubectl(each, "wait", *pods, "--for=delete", timeout)
        remove_slices(self.cluster)

    def _kubectl(self, daemon_set: Manifest, *words: str) -> None:
        namespace = daemon_set["metadata"]["namespace"]
        self.cluster.kubectl("-n", namespace, *words)


def _named(daemon_set: Manifest) -> tuple[str, str]:
    name = daemon_set["metadata"]["name"]
    return "daemonset", name


def _selector(daemon_set: Manifest) -> str:
    """Give the labels of its pods, as kubectl takes them."""
    selector = daemon_set["spec"]["selector"]
    labels = selector["matchLabels"]
    pairs = [f"{key}={value}" for key, value in labels.items()]
    return ",".join(pairs)


def remove_slices(cluster: NodeCluster) -> None:
    """Delete the slices of the driver."""
    field = f"spec.driver={cluster.driver.name}"
    cluster.kubectl("delete", "resourceslices", "--field-selector", field)
