"""What a live target has applied since it last cleaned up: in which order, where it lives, what waits in which line."""

from __future__ import annotations

from dataclasses import dataclass, field

from clusters.fence_world import QUEUE_LABEL
from kueue_dra_ref.target import Manifest, Ref

JOBS = frozenset({"Job", "Workload"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """An object without the version it was written in."""

    group: str
    kind: str
    namespace: str
    name: str

    @classmethod
    def of(cls, ref: Ref) -> Place:
        """Drop the version of a reference."""
        group = ref.api_version.rpartition("/")[0]
        return cls(group=group, kind=ref.kind, namespace=ref.namespace, name=ref.name)


@dataclass(slots=True)
class World:
    """The objects of the cases since the last clean-up, as they were last written."""

    _written: dict[Place, Manifest] = field(default_factory=dict)

    def add(self, manifest: Manifest) -> None:
        """Remember one object, in the order of first writing."""
        self._written[Place.of(Ref.of(manifest))] = manifest

    def forget(self, ref: Ref) -> None:
        """Drop one object."""
        self._written.pop(Place.of(ref), None)

    def clear(self) -> None:
        """Drop everything."""
        self._written.clear()

    def __contains__(self, ref: Ref) -> bool:
        return Place.of(ref) in self._written

    def written(self, ref: Ref) -> Manifest:
        """Give an object as it was last written, or an empty one."""
        return self._written.get(Place.of(ref), {})

    def refs(self, *kinds: str) -> list[Ref]:
        """Name the objects of some kinds (of all, without any), oldest first."""
        return [Ref.of(manifest) for place, manifest in self._written.items() if not kinds or place.kind in kinds]

    @property
    def namespaces(self) -> list[str]:
        """Every namespace that something lies in, or that was made."""
        made = {ref.name for ref in self.refs("Namespace")}
        return sorted(made | {place.namespace for place in self._written if place.namespace})

    @property
    def has_jobs(self) -> bool:
        """Whether anything could ask for quota."""
        return any(place.kind in JOBS for place in self._written)

    def behind(self, stopped: Ref, waiting: Manifest) -> bool:
        """Whether a Workload waits in a LocalQueue, or in one of those of a ClusterQueue."""
        queue, namespace = queue_name(waiting), Ref.of(waiting).namespace
        if stopped.kind == "LocalQueue":
            return (stopped.namespace, stopped.name) == (namespace, queue)
        return bool(self._spec("LocalQueue", queue, namespace).get("clusterQueue") == stopped.name)

    def line_of(self, manifest: Manifest) -> str:
        """Name the line of a Job or Workload: its queue's outermost cohort, or its queue; empty without a queue."""
        queue = queue_name(manifest)
        if not queue:
            return ""
        namespace = Ref.of(manifest).namespace
        local = self._spec("LocalQueue", queue, namespace)
        cluster_queue = local.get("clusterQueue") or f"{namespace}/{queue}"
        spec = self._spec("ClusterQueue", cluster_queue)
        cohort = spec.get("cohortName") or spec.get("cohort") or ""
        return f"cohort {self._root(cohort, set())}" if cohort else f"queue {cluster_queue}"

    def _root(self, cohort: str, seen: set[str]) -> str:
        spec = self._spec("Cohort", cohort)
        parent = spec.get("parentName") or spec.get("parent") or ""
        return cohort if not parent or parent in seen else self._root(parent, seen | {cohort})

    def _spec(self, kind: str, name: str, namespace: str = "") -> Manifest:
        place = Place(group="kueue.x-k8s.io", kind=kind, namespace=namespace, name=name)
        found: Manifest = self._written.get(place, {}).get("spec") or {}
        return found


def queue_name(manifest: Manifest) -> str:
    """Give the LocalQueue that a Job's label or a Workload's spec names, or nothing."""
    if manifest["kind"] == "Workload":
        return str((manifest.get("spec") or {}).get("queueName") or "")
    return str((manifest["metadata"].get("labels") or {}).get(QUEUE_LABEL, ""))
