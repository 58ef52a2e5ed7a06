"""The driver on a kind cluster's nodes: restarts, withdraws and restores it; ready once it serves pods.

A kubelet that calls a driver while the driver stops retries only after a minute or more (Kubernetes 1.36), and slices
may exist before the kubelet knows their driver.  So a driver is ready when a pod has got a device from it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.kind.charts import DRIVER_DAEMONSET, DRIVER_NAMESPACE
from kueue_dra_clusters.kind.cluster import NodeCluster
from kueue_dra_clusters.kind.device_readiness import each_served
from kueue_dra_clusters.kind.profiles import CLASS, NOWHERE
from kueue_dra_clusters.waiting import NotYet, eventually
from kueue_dra_ref.target import Manifest

DRIVER_SECONDS = 180.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """The DRA example driver on a cluster."""

    cluster: NodeCluster

    def restart(self, *, devices: int) -> None:
        """Restart its pods, and wait until they serve so many devices on each node."""
        self.cluster.kubectl("-n", DRIVER_NAMESPACE, "rollout", "restart", "daemonset")
        self.await_ready(devices=devices)

    def withdraw(self) -> None:
        """Remove it from all nodes, and delete its slices."""
        self._select_nodes(NOWHERE)
        self._await_gone()

    def bring_back(self, *, devices: int) -> None:
        """Run it again, and wait until it serves so many devices on each node."""
        self._select_nodes(None)
        self.await_ready(devices=devices)

    def await_ready(self, *, devices: int) -> None:
        """Wait until it runs on every node, has published so many devices on each, and serves pods."""
        if not devices:
            self._await_gone()
            return
        timeout = f"--timeout={DRIVER_SECONDS:g}s"
        self._kubectl("rollout", "status", "daemonset", timeout)
        objects, nodes = self.cluster.objects(), self.cluster.workers

        def published() -> list[str]:
            pools = complete_pools(objects)
            found = {pool: len(pools[pool]) for pool in pools}
            if sorted(found.values()) != [devices] * nodes:
                raise NotYet(
                    f"devices in complete pools: {found}, expected {nodes} pools of {devices}"
                )
            return sorted(found)  # each pool has its node's name

        what = "the driver to publish its devices"
        names = eventually(
            published, within=DRIVER_SECONDS, every=0.2, at_most=0.5, what=what
        )
        each_served(objects, names, self.cluster.images.job, within=DRIVER_SECONDS)

    def _select_nodes(self, selector: Mapping[str, str] | None) -> None:
        change = {"spec": {"template": {"spec": {"nodeSelector": selector}}}}
        patch = json.dumps(change)
        target = ("daemonset", DRIVER_DAEMONSET)
        self._kubectl("patch", *target, "--type=merge", "-p", patch)

    def _await_gone(self) -> None:
        timeout = f"--timeout={DRIVER_SECONDS:g}s"
        self._kubectl("wait", "pods", "--all", "--for=delete", timeout)
        remove_slices(self.cluster)

    def _kubectl(self, *words: str) -> None:
        self.cluster.kubectl("-n", DRIVER_NAMESPACE, *words)


def remove_slices(cluster: NodeCluster) -> None:
    """Delete the slices of the driver."""
    cluster.kubectl(
        "delete", "resourceslices", "--field-selector", f"spec.driver={CLASS}"
    )


def complete_pools(objects: APIClient) -> dict[str, list[Manifest]]:
    """Give the devices of each of the driver's pools whose newest generation is complete."""
    pools: dict[str, list[Manifest]] = {}
    for each in objects.list("resource.k8s.io/v1", "ResourceSlice"):
        spec = each["spec"]
        if spec["driver"] == CLASS:
            pools.setdefault(spec["pool"]["name"], []).append(spec)
    found = {}
    for name, specs in pools.items():
        newest = _newest(specs)
        if len(newest) == newest[0]["pool"]["resourceSliceCount"]:
            devices: list[Manifest] = []
            for spec in newest:
                devices += spec.get("devices") or ()
            found[name] = devices
    return found


def _newest(specs: list[Manifest]) -> list[Manifest]:
    """Give the slices of the newest generation of a pool."""
    generation = max(map(_generation, specs))
    return [spec for spec in specs if _generation(spec) == generation]


def _generation(spec: Manifest) -> int:
    return int(spec["pool"]["generation"])
