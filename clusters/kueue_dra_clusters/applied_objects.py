"""The objects that a live target applied since its last clean-up: their order, namespaces and queues."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from kueue_dra_ref.api.job_kind import JobKind
from kueue_dra_ref.api.job_kinds import JOB_KINDS, SUBMITTED
from kueue_dra_ref.api.jobs import queue_named_by
from kueue_dra_ref.target import Manifest, Ref

QUEUES = frozenset({"ClusterQueue", "LocalQueue", "Cohort"})
NAMED = frozenset({"ResourceFlavor", "AdmissionCheck", "Topology"})
"""Kinds that queues name; without them, queues are inactive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectPosition:
    """A reference to an object, without its API version."""

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
    """The objects that the cases applied since the last clean-up, as last applied."""

    _written: dict[ObjectPosition, Manifest] = field(default_factory=dict)
    _writings: dict[ObjectPosition, int] = field(default_factory=dict)
    _writing: int = 0
    _named: int = 0
    """The number of the last write of an object that queues name."""
    selector: Manifest = field(default_factory=dict)
    """The ``managedJobsNamespaceSelector`` of Kueue's Configuration."""
    manages_all: bool = False
    """Whether Kueue manages work without a queue name, too."""
    frameworks: frozenset[str] = frozenset()
    """The ``integrations.frameworks`` of Kueue's Configuration; empty if it names none."""
    unread: frozenset[str] = frozenset()
    """The frameworks whose work gets no Workload, because Kueue cannot read its pods."""

    def add(self, manifest: Manifest, *, changed: bool = True) -> None:
        """Record one object, in the order of creation; ``changed`` marks what depends on it as changed."""
        place = ObjectPosition.of(Ref.of(manifest))
        self._written[place] = manifest
        if changed:
            self._note(place)

    def forget(self, ref: Ref) -> None:
        """Forget one object."""
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
        """Give an object as last applied, or an empty one."""
        return self._written.get(ObjectPosition.of(ref), {})

    def refs(self, *kinds: str) -> list[Ref]:
        """Give the objects of some kinds (all, without any), oldest first."""
        return [
            Ref.of(manifest)
            for place, manifest in self._written.items()
            if not kinds or place.kind in kinds
        ]

    def precedes(self, earlier: Ref, later: Ref) -> bool:
        """Whether both objects are recorded, and one was created before the other."""
        pair = [ObjectPosition.of(earlier), ObjectPosition.of(later)]
        return pair == [place for place in self._written if place in pair]

    @property
    def namespaces(self) -> list[str]:
        """The namespaces that were created, and those of the objects."""
        found = {ref.name for ref in self.refs("Namespace")}
        for place in self._written:
            if place.namespace:
                found.add(place.namespace)
        return sorted(found)

    @property
    def has_jobs(self) -> bool:
        """Whether any object could request quota."""
        return any(place.kind in SUBMITTED for place in self._written)

    @property
    def job_kinds(self) -> list[JobKind]:
        """The kinds of work, other than Workloads, of which an object was applied."""
        kinds = {place.kind for place in self._written}
        return [kind for name, kind in JOB_KINDS.items() if name in kinds]

    def surroundings(self, cluster_queues: Iterable[str]) -> dict[str, Hashable]:
        """Give a value for each ClusterQueue that changes when an object changes that its status depends on.

        These are the queues of its cohort tree, and the objects that queues name; not the workloads.
        """
        trees: dict[str, set[tuple[ObjectPosition, int]]] = defaultdict(set)
        for place in self._written:
            if place.kind in QUEUES:
                writing = self._writings.get(place, 0)
                trees[self._tree_at(place)].add((place, writing))
        found: dict[str, Hashable] = {}
        for name in cluster_queues:
            queues = frozenset(trees[self._tree(name)])
            found[name] = (self._named, queues)
        return found

    def behind(self, stopped: Ref, waiting: Manifest) -> bool:
        """Whether work names a LocalQueue, or a LocalQueue of a ClusterQueue."""
        if stopped.kind == "LocalQueue":
            namespace = Ref.of(waiting).namespace
            return (stopped.namespace, stopped.name) == (namespace, queue_name(waiting))
        return self.cluster_queue_of(waiting) == stopped.name

    def tree_of(self, manifest: Manifest) -> str:
        """Name the root cohort of a Job or Workload, or else its queue; empty without a queue."""
        queue = queue_name(manifest)
        if not queue:
            return ""
        cluster_queue = self.cluster_queue_of(manifest)
        return self._tree(cluster_queue or f"{Ref.of(manifest).namespace}/{queue}")

    def cluster_queue_of(self, manifest: Manifest) -> str:
        """Name the ClusterQueue of a LocalQueue, or of the LocalQueue of work; empty without one."""
        if manifest["kind"] == "LocalQueue":
            return str(manifest["spec"].get("clusterQueue") or "")
        namespace = Ref.of(manifest).namespace
        local = self._spec("LocalQueue", queue_name(manifest), namespace)
        return str(local.get("clusterQueue") or "")

    def _note(self, place: ObjectPosition) -> None:
        self._writing += 1
        self._writings[place] = self._writing
        if place.kind in NAMED:
            self._named = self._writing

    def is_nested(self, cluster_queue: str) -> bool:
        """Whether the Cohort of a ClusterQueue has a parent."""
        return bool(self._parent(self._cohort(cluster_queue)))

    def _tree(self, cluster_queue: str) -> str:
        cohort = self._cohort(cluster_queue)
        if not cohort:
            return f"queue {cluster_queue}"
        return f"cohort {self._root(cohort)}"

    def _tree_at(self, place: ObjectPosition) -> str:
        """Name the root cohort of a queue or a cohort, or else the queue."""
        match place.kind:
            case "Cohort":
                return f"cohort {self._root(place.name)}"
            case "LocalQueue":
                return self._tree(self.cluster_queue_of(self._written[place]))
        return self._tree(place.name)

    def _root(self, cohort: str) -> str:
        """Name the root of a cohort; in a cycle, the last cohort before it closes."""
        seen: set[str] = set()
        parent = self._parent(cohort)
        while parent and parent not in seen:
            seen.add(cohort)
            cohort, parent = parent, self._parent(parent)
        return cohort

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
    """Give the LocalQueue that a Job's label or a Workload's spec names, or an empty string."""
    if manifest["kind"] == "Workload":
        return str((manifest.get("spec") or {}).get("queueName") or "")
    return queue_named_by(manifest)
