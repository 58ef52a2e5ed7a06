"""The first page about a case that failed: who waits for what, in the words of Kueue, the scheduler and the driver."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.fence_objects import KUEUE
from kueue_dra_clusters.kind.cluster import NodeCluster
from kueue_dra_clusters.kind.driver import complete_pools
from kueue_dra_clusters.preflight import ClusterFacts, mappings
from kueue_dra_ref.target import Manifest


def summary(cluster: NodeCluster, namespace: str) -> str:
    """Tell of a namespace what was decided, what is published and mapped, and what went wrong."""
    objects = cluster.objects()
    parts: dict[str, Callable[[], Iterator[str]]] = {
        "what was decided": lambda: _conditions(
            objects.list(KUEUE, "Workload", namespace)
        ),
        "pods": lambda: _conditions(objects.list("v1", "Pod", namespace)),
        "warnings": lambda: _warnings(objects.list("v1", "Event", namespace)),
        "what the queues cover": lambda: _covered(objects.list(KUEUE, "ClusterQueue")),
        "devices in complete pools": lambda: _devices(objects),
        "mappings of Kueue's Configuration": lambda: _mappings(
            ClusterFacts.read(objects).configuration or {}
        ),
    }
    return "\n".join(
        f"{title}:\n" + "".join(f"  {line}\n" for line in part())
        for title, part in parts.items()
    )


def _conditions(found: list[Manifest]) -> Iterator[str]:
    for each in found:
        for one in (each.get("status") or {}).get("conditions") or ():
            words = ": ".join(filter(None, (one.get("reason"), one.get("message"))))
            yield f"{each['metadata']['name']}: {one['type']} {one['status']} {words}".strip()


def _warnings(events: list[Manifest]) -> Iterator[str]:
    for each in events:
        if each.get("type") == "Warning":
            about = each["involvedObject"]
            yield f"{about['kind']} {about['name']}: {each.get('reason', '')}: {each.get('message', '')}"


def _covered(queues: list[Manifest]) -> Iterator[str]:
    for each in queues:
        groups = each["spec"].get("resourceGroups") or ()
        yield f"{each['metadata']['name']}: {', '.join(name for one in groups for name in one['coveredResources'])}"


def _devices(objects: APIClient) -> Iterator[str]:
    found = complete_pools(objects)
    yield from (f"{pool}: {len(devices)}" for pool, devices in sorted(found.items()))
    if not found:
        yield "none: no driver has published a complete pool"


def _mappings(configuration: Manifest) -> Iterator[str]:
    for row in mappings(configuration):
        yield f"{row['name']}: {', '.join(row['deviceClassNames'])}"
