"""What a live target has applied since it last cleaned up: in which order, where it lives, what waits in which line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from kueue_dra_ref.api.jobs import queue_named_by
from kueue_dra_ref.target import Manifest, Ref

JOBS = frozenset({"Job", "Workload"})
QUEUES = frozenset({"ClusterQueue", "LocalQueue", "Cohort"})
NAMED = frozenset({"ResourceFlavor", "AdmissionCheck", "Topology"})
"""Kinds that queues name, and are inactive without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectPosition:
    """An object without the version it was written in."""

    group: str
    kind: str
    namespace: str
    name: str

    @classmethod
    def of(cls, ref: Ref) -> ObjectPosition:
        """Drop the version of a reference."""
        group = ref.api_version.rpartition("/")[0]
        return cls(group=group, kind=ref.kind, namespace=ref.namespace, name=ref.name)


@dataclass(slots=True)
class AppliedObjects:
    """The objects of the cases since the last clean-up, as they were last written."""

    _written: dict[ObjectPosition, Manifest] = field(default_factory=dict)
    _writings: dict[ObjectPosition, int] = field(default_factory=dict)
    _writing: int = 0
    _named: int = 0
    """The last writing of anything that queues name."""
    selector: Manifest = field(default_factory=dict)
    """Of the namespaces whose Jobs Kueue manages, where its Configuration says so."""

    def add(self, manifest: Manifest, *, changed: bool = True) -> None:
        """Remember one object, in the order of first writing; what depends on it is another one if it ``changed``."""
        place = ObjectPosition.of(Ref.of(manifest))
        self._written[place] = manifest
        if changed:
            self._note(place)

    def forget(self, ref: Ref) -> None:
        """Drop one object."""
        place = ObjectPosition.of(ref)
        self._written.pop(place, None)
        self._note(place)

    def clear(self) -> None:
        """Drop everything."""
        self._written.clear()
        self._writings.clear()

    def __contains__(self, ref: Ref) -> bool:
        return ObjectPosition.of(ref) in self._written

    def written(self, ref: Ref) -> Manifest:
        """Give an object as it was last written, or an empty one."""
        return self._written.get(ObjectPosition.of(ref), {})

    def refs(self, *kinds: str) -> list[Ref]:
        """Name the objects of some kinds (of all, without any), oldest first."""
        return [
            Ref.of(manifest)
            for place, manifest in self._written.items()
            if not kinds or place.kind in kinds
        ]

    def precedes(self, earlier: Ref, later: Ref) -> bool:
        """Whether both are there, and one was written before the other."""
        places = [
            place
            for place in self._written
            if place in (ObjectPosition.of(earlier), ObjectPosition.of(later))
        ]
        return places == [ObjectPosition.of(earlier), ObjectPosition.of(later)]

    @property
    def namespaces(self) -> list[str]:
        """Every namespace that something lies in, or that was made."""
        made = {ref.name for ref in self.refs("Namespace")}
        return sorted(
            made | {place.namespace for place in self._written if place.namespace}
        )

    @property
    def has_jobs(self) -> bool:
        """Whether anything could ask for quota."""
        return any(place.kind in JOBS for place in self._written)

    def surroundings(self, cluster_queues: Iterable[str]) -> dict[str, Hashable]:
        """Give for each ClusterQueue what is another value once anything was written that its figures depend on.

        That is its line of queues, and what queues name; the work itself is left out.
        """
        lines: dict[str, set[tuple[ObjectPosition, int]]] = defaultdict(set)
        for place in self._written:
            if place.kind in QUEUES:
                lines[self._line_at(place)].add((place, self._writings.get(place, 0)))
        return {
            name: (self._named, frozenset(lines[self._line(name)]))
            for name in cluster_queues
        }

    def behind(self, stopped: Ref, waiting: Manifest) -> bool:
        """Whether a Workload waits in a LocalQueue, or in one of those of a ClusterQueue."""
        if stopped.kind == "LocalQueue":
            return (stopped.namespace, stopped.name) == (
                Ref.of(waiting).namespace,
                queue_name(waiting),
            )
        return self.cluster_queue_of(waiting) == stopped.name

    def line_of(self, manifest: Manifest) -> str:
        """Name the line of a Job or Workload: its queue's outermost cohort, or its queue; empty without a queue."""
        queue = queue_name(manifest)
        if not queue:
            return ""
        return self._line(
            self.cluster_queue_of(manifest) or f"{Ref.of(manifest).namespace}/{queue}"
        )

    def cluster_queue_of(self, manifest: Manifest) -> str:
        """Name the ClusterQueue of a LocalQueue, or of the one that work is submitted to; empty without one."""
        if manifest["kind"] == "LocalQueue":
            return str(manifest["spec"].get("clusterQueue") or "")
        local = self._spec(
            "LocalQueue", queue_name(manifest), Ref.of(manifest).namespace
        )
        return str(local.get("clusterQueue") or "")

    def _note(self, place: ObjectPosition) -> None:
        self._writing += 1
        self._writings[place] = self._writing
        if place.kind in NAMED:
            self._named = self._writing

    def is_nested(self, cluster_queue: str) -> bool:
        """Tell whether a ClusterQueue is in a Cohort that has another one above it."""
        return bool(self._parent(self._cohort(cluster_queue)))

    def _line(self, cluster_queue: str) -> str:
        cohort = self._cohort(cluster_queue)
        return (
            f"cohort {self._root(cohort, set())}"
            if cohort
            else f"queue {cluster_queue}"
        )

    def _line_at(self, place: ObjectPosition) -> str:
        """Name the line of a queue or a cohort."""
        match place.kind:
            case "Cohort":
                return f"cohort {self._root(place.name, set())}"
            case "LocalQueue":
                return self._line(self.cluster_queue_of(self._written[place]))
        return self._line(place.name)

    def _root(self, cohort: str, seen: set[str]) -> str:
        parent = self._parent(cohort)
        return (
            cohort
            if not parent or parent in seen
            else self._root(parent, seen | {cohort})
        )

    def _cohort(self, cluster_queue: str) -> str:
        spec = self._spec("ClusterQueue", cluster_queue)
        return str(spec.get("cohortName") or spec.get("cohort") or "")

    def _parent(self, cohort: str) -> str:
        spec = self._spec("Cohort", cohort)
        return str(spec.get("parentName") or spec.get("parent") or "")

    def _spec(self, kind: str, name: str, namespace: str = "") -> Manifest:
        place = ObjectPosition(
            group="kueue.x-k8s.io", kind=kind, namespace=namespace, name=name
        )
        found: Manifest = self._written.get(place, {}).get("spec") or {}
        return found


def queue_name(manifest: Manifest) -> str:
    """Give the LocalQueue that a Job's label or a Workload's spec names, or nothing."""
    if manifest["kind"] == "Workload":
        return str((manifest.get("spec") or {}).get("queueName") or "")
    return queue_named_by(manifest)
