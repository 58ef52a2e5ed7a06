"""The summary of a failed case: conditions of Workloads and pods, events, quota, devices and mappings."""

from __future__ import annotations

from collections.abc import Iterator

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.fence_objects import KUEUE
from kueue_dra_clusters.installation import ClusterFacts
from kueue_dra_clusters.kind.cluster import NodeCluster
from kueue_dra_clusters.kind.driver_pools import complete_pools
from kueue_dra_clusters.preflight import mappings
from kueue_dra_ref.target import Manifest


def summary(cluster: NodeCluster, namespace: str) -> str:
    """Give the conditions and warnings of a namespace, and the queues, devices and mappings of the cluster."""
    objects = cluster.objects()
    workloads = objects.list(KUEUE, "Workload", namespace)
    pods = objects.list("v1", "Pod", namespace)
    events = objects.list("v1", "Event", namespace)
    queues = objects.list(KUEUE, "ClusterQueue")
    facts = ClusterFacts.read(objects)
    parts = {
        "what was decided": _conditions(workloads),
        "pods": _conditions(pods),
        "warnings": _warnings(events),
        "what the queues cover": _covered(queues),
        "devices in complete pools": _devices(objects, cluster.driver.name),
        "mappings of Kueue's Configuration": _mappings(facts.configuration or {}),
    }
    text = []
    for title, lines in parts.items():
        text.append(f"{title}:")
        for line in lines:
            text.append(f"  {line}")
        text.append("")
    return "\n".join(text)


def _conditions(found: list[Manifest]) -> Iterator[str]:
    for each in found:
        name = each["metadata"]["name"]
        status = each.get("status") or {}
        conditions = status.get("conditions")
        for one in conditions or ():
            reason, message = one.get("reason"), one.get("message")
            texts = filter(None, (reason, message))
            detail = ": ".join(texts)
            line = f"{name}: {one['type']} {one['status']} {detail}"
            yield line.strip()


def _warnings(events: list[Manifest]) -> Iterator[str]:
    for each in events:
        if each.get("type") == "Warning":
            about = each["involvedObject"]
            kind, name = about["kind"], about["name"]
            reason = each.get("reason", "")
            message = each.get("message", "")
            yield f"{kind} {name}: {reason}: {message}"


def _covered(queues: list[Manifest]) -> Iterator[str]:
    for each in queues:
        covered: list[str] = []
        groups = each["spec"].get("resourceGroups")
        for group in groups or ():
            covered += group["coveredResources"]
        name = each["metadata"]["name"]
        names = ", ".join(covered)
        yield f"{name}: {names}"


def _devices(objects: APIClient, driver: str) -> Iterator[str]:
    found = complete_pools(objects, driver)
    for pool in sorted(found):
        devices = len(found[pool])
        yield f"{pool}: {devices}"
    if not found:
        yield "none: no driver has published a complete pool"


def _mappings(configuration: Manifest) -> Iterator[str]:
    for row in mappings(configuration):
        classes = ", ".join(row["deviceClassNames"])
        yield f"{row['name']}: {classes}"
