"""The devices that a driver has published, by pool and by node, as far as the pools are complete."""

from __future__ import annotations

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_ref.target import Manifest


def by_node(objects: APIClient, driver: str) -> dict[str, int]:
    """Count the devices of a driver in complete pools, by the node that has them."""
    nodes = {}
    for spec in _specs(objects, driver):
        pool = spec["pool"]["name"]
        nodes[pool] = spec.get("nodeName") or pool
    found: dict[str, int] = {}
    for pool, devices in complete_pools(objects, driver).items():
        node = nodes[pool]
        before = found.get(node, 0)
        found[node] = before + len(devices)
    return found


def complete_pools(objects: APIClient, driver: str) -> dict[str, list[Manifest]]:
    """Give the devices of each of a driver's pools whose newest generation is complete."""
    pools: dict[str, list[Manifest]] = {}
    for spec in _specs(objects, driver):
        name = spec["pool"]["name"]
        pools.setdefault(name, []).append(spec)
    found = {}
    for name, specs in pools.items():
        newest = _newest(specs)
        pool = newest[0]["pool"]
        if len(newest) == pool["resourceSliceCount"]:
            found[name] = _devices(newest)
    return found


def _devices(specs: list[Manifest]) -> list[Manifest]:
    found: list[Manifest] = []
    for spec in specs:
        devices = spec.get("devices")
        found += devices or ()
    return found


def _specs(objects: APIClient, driver: str) -> list[Manifest]:
    """Give the specs of a driver's slices."""
    found = []
    for each in objects.list("resource.k8s.io/v1", "ResourceSlice"):
        spec = each["spec"]
        if spec["driver"] == driver:
            found.append(spec)
    return found


def _newest(specs: list[Manifest]) -> list[Manifest]:
    """Give the slices of the newest generation of a pool."""
    generation = max(map(_generation, specs))
    return [spec for spec in specs if _generation(spec) == generation]


def _generation(spec: Manifest) -> int:
    pool = spec["pool"]
    return int(pool["generation"])
