"""The driver on a kind cluster's nodes: restarts, withdraws and restores it; ready once it serves pods.

A kubelet that calls a driver while the driver stops retries only after a minute or more (Kubernetes 1.36), and slices
may exist before the kubelet knows their driver.  So a driver is ready when a pod has got a device from it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.kind.cluster import APPLIED, NodeCluster
from kueue_dra_clusters.kind.device_readiness import Probe, each_served
from kueue_dra_clusters.kind.driver_description import Ask, ProfileOfDriver
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
        applied = json.loads(file.read_text(encoding="utf-8")).values()
        found = map(json.loads, applied)
        return [each for each in found if each["kind"] == "DaemonSet"]

    def await_ready(self, settings: ProfileOfDriver) -> None:
        """Wait until it runs on every node, has published its devices on each, and serves pods."""
        if not settings.devices:
            self._await_gone()
            return
        timeout = f"--timeout={DRIVER_SECONDS:g}s"
        for each in self.daemon_sets():
            self._kubectl(each, "rollout", "status", *_named(each), timeout)
        names = self._await_devices(settings.devices)
        driver, image = self.cluster.driver, self.cluster.images.job
        ask = next(iter(settings.asks.values()), ANY)
        probe = Probe(driver=driver, ask=ask, image=image)
        each_served(self.cluster.objects(), names, probe, within=DRIVER_SECONDS)

    def _await_devices(self, devices: int) -> list[str]:
        """Wait until each node has published so many devices, and give the names of the nodes."""
        objects, nodes = self.cluster.objects(), self.cluster.workers

        def published() -> list[str]:
            found = by_node(objects, self.cluster.driver.name)
            if sorted(found.values()) != [devices] * nodes:
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
            labels = each["spec"]["selector"]["matchLabels"]
            selector = ",".join(f"{key}={value}" for key, value in labels.items())
            self._kubectl(each, "wait", "pods", "-l", selector, "--for=delete", timeout)
        remove_slices(self.cluster)

    def _kubectl(self, daemon_set: Manifest, *words: str) -> None:
        self.cluster.kubectl("-n", daemon_set["metadata"]["namespace"], *words)


def _named(daemon_set: Manifest) -> tuple[str, str]:
    return "daemonset", daemon_set["metadata"]["name"]


def remove_slices(cluster: NodeCluster) -> None:
    """Delete the slices of the driver."""
    field = f"spec.driver={cluster.driver.name}"
    cluster.kubectl("delete", "resourceslices", "--field-selector", field)


def by_node(objects: APIClient, driver: str) -> dict[str, int]:
    """Count the devices of a driver in complete pools, by the node that has them."""
    found: dict[str, int] = {}
    complete = complete_pools(objects, driver)
    nodes = {}
    for each in _specs(objects, driver):
        nodes[each["pool"]["name"]] = str(each.get("nodeName") or each["pool"]["name"])
    for pool, devices in complete.items():
        found[nodes[pool]] = found.get(nodes[pool], 0) + len(devices)
    return found


def complete_pools(objects: APIClient, driver: str) -> dict[str, list[Manifest]]:
    """Give the devices of each of a driver's pools whose newest generation is complete."""
    pools: dict[str, list[Manifest]] = {}
    for spec in _specs(objects, driver):
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


def _specs(objects: APIClient, driver: str) -> list[Manifest]:
    """Give the specs of a driver's slices."""
    slices = objects.list("resource.k8s.io/v1", "ResourceSlice")
    specs = [each["spec"] for each in slices]
    return [spec for spec in specs if spec["driver"] == driver]


def _newest(specs: list[Manifest]) -> list[Manifest]:
    """Give the slices of the newest generation of a pool."""
    generation = max(map(_generation, specs))
    return [spec for spec in specs if _generation(spec) == generation]


def _generation(spec: Manifest) -> int:
    return int(spec["pool"]["generation"])
