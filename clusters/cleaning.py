"""Remove the objects of a case in the order in which nothing holds up anything else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clusters.fence import condition_of
from clusters.fence_world import KUEUE
from clusters.objects import Objects
from clusters.waiting import Limits, NotYet, eventually
from clusters.world import World, newest_first
from kueue_dra_ref.target import Manifest, Ref

JOBS = ("Job", "Workload")
LAST = "Namespace"


def clean(objects: Objects, world: World, limits: Limits) -> None:
    """Remove everything that a world holds; `TimedOut` names what is left, which the world then still holds."""
    workloads = [Ref.of(each) for namespace in world.namespaces for each in objects.list(KUEUE, "Workload", namespace)]
    remove(objects, [*world.refs("Job"), *workloads], limits)
    remove(objects, [ref for ref in newest_first(world.refs()) if ref.kind not in (*JOBS, LAST)], limits)
    remove_namespaces(objects, world.refs(LAST))
    world.clear()


def remove(objects: Objects, refs: Sequence[Ref], limits: Limits) -> None:
    """Delete objects and wait until they are gone, finalizers and all."""
    left = list(refs)
    for ref in left:
        objects.delete(ref)

    def gone() -> None:
        left[:] = [ref for ref in left if objects.read(ref) is not None]
        if left:
            raise NotYet("still there: " + ", ".join(str(ref) for ref in left))

    eventually(gone, within=limits.gone, what="deleted objects to be gone")


def remove_namespaces(objects: Objects, refs: Iterable[Ref]) -> None:
    """Delete namespaces that are empty, and finalize them as the namespace controller, which is not there, would."""
    for ref in refs:
        objects.delete(ref)
        if stored := objects.read(ref):
            objects.replace({**stored, "spec": {"finalizers": []}}, subresource="finalize")


def held_back(objects: Objects, ref: Ref) -> bool:
    """Whether Kueue rightly keeps a deleted object: a ClusterQueue in use, or a flavor that a ClusterQueue names."""
    if ref.kind == "ClusterQueue":
        return condition_of(objects.read(ref) or {}, "Active").get("reason") == "Terminating"
    if ref.kind == "ResourceFlavor":
        return any(ref.name in _flavors_of(queue) for queue in objects.list(KUEUE, "ClusterQueue"))
    return ref.kind == LAST


def _flavors_of(cluster_queue: Manifest) -> set[str]:
    groups = cluster_queue["spec"].get("resourceGroups") or []
    return {flavor["name"] for group in groups for flavor in group["flavors"]}
