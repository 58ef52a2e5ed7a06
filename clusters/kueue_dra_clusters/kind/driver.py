"""The driver on a kind cluster's nodes: restarted, withdrawn, brought back; ready once it serves pods.

A kubelet that asks a driver which is just going tries again only after a minute or more (Kubernetes 1.36), and slices
may be there before the kubelet knows who published them.  So a driver is ready when a pod has got a device from it.
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
    """The DRA example driver, wherever it runs on a cluster."""

    cluster: NodeCluster

    def restart(self, *, devices: int) -> None:
        """End its pods, and wait until the next ones serve so many devices on each node."""
        self.cluster.kubectl("-n", DRIVER_NAMESPACE, "rollout", "restart", "daemonset")
        self.await_ready(devices=devices)

    def withdraw(self) -> None:
        """Let it run on no node, and take its slices away."""
        self._select_nodes(NOWHERE)
        self._await_gone()

    def bring_back(self, *, devices: int) -> None:
        """Let it run again, and wait until it serves so many devices on each node."""
        self._select_nodes(None)
        self.await_ready(devices=devices)

    def await_ready(self, *, devices: int) -> None:
        """Wait until it runs on every node that it is for, has published so many devices on each, and serves pods."""
        if not devices:
            self._await_gone()
            return
        self.cluster.kubectl(
            "-n",
            DRIVER_NAMESPACE,
            "rollout",
            "status",
            "daemonset",
            "--timeout",
            f"{DRIVER_SECONDS:g}s",
        )
        objects, nodes = self.cluster.objects(), self.cluster.workers

        def published() -> list[str]:
            found = {
                pool: len(those) for pool, those in complete_pools(objects).items()
            }
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
        self.cluster.kubectl(
            "-n",
            DRIVER_NAMESPACE,
            "patch",
            "daemonset",
            DRIVER_DAEMONSET,
            "--type=merge",
            "-p",
            json.dumps(change),
        )

    def _await_gone(self) -> None:
        self.cluster.kubectl(
            "-n",
            DRIVER_NAMESPACE,
            "wait",
            "pods",
            "--all",
            "--for=delete",
            f"--timeout={DRIVER_SECONDS:g}s",
        )
        remove_slices(self.cluster)


def remove_slices(cluster: NodeCluster) -> None:
    """Take away what the driver has published."""
    cluster.kubectl(
        "delete", "resourceslices", "--field-selector", f"spec.driver={CLASS}"
    )


def complete_pools(objects: APIClient) -> dict[str, list[Manifest]]:
    """Give the devices of each of the driver's pools whose newest generation is all there."""
    pools: dict[str, list[Manifest]] = {}
    slices = objects.list("resource.k8s.io/v1", "ResourceSlice")
    for each in (one for one in slices if one["spec"]["driver"] == CLASS):
        pools.setdefault(each["spec"]["pool"]["name"], []).append(each["spec"])
    newest = {
        name: [one for one in specs if _generation(one) == max(map(_generation, specs))]
        for name, specs in pools.items()
    }
    return {
        name: [device for spec in specs for device in spec.get("devices") or ()]
        for name, specs in newest.items()
        if len(specs) == specs[0]["pool"]["resourceSliceCount"]
    }


def _generation(spec: Manifest) -> int:
    return int(spec["pool"]["generation"])
