"""When the status of the queues says what their Workloads say (Kueue writes it up to a second late)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kueue_dra_clusters.applied_objects import AppliedObjects
from kueue_dra_clusters.fence import Fence
from kueue_dra_clusters.fence_objects import KUEUE
from kueue_dra_clusters.informer import InformerCache
from kueue_dra_clusters.observation import Observation, cluster_queue_of
from kueue_dra_clusters.queue_inconsistencies import is_left_alone, queue_faults
from kueue_dra_clusters.waiting import NotYet, WaitLimits, elapsed_since, moment_now
from kueue_dra_ref.api.deepcopy import packed
from kueue_dra_ref.target import Manifest, Ref


@dataclass(slots=True, kw_only=True)
class QueueStatusSync:
    """Has Kueue write the status of queues anew: of those for which anything is different since the last time.

    What a queue counts follows from its own Workloads, from the queues and cohorts that it can borrow from, and from
    what it names (flavors, checks).  A ClusterQueue and its LocalQueues are counted together.

    ``sweeps`` hears of it when a queue in an inner Cohort was counted: a second later Kueue tries the whole tree again.
    """

    mirror: InformerCache
    world: AppliedObjects
    fence: Fence
    limits: WaitLimits = field(default_factory=WaitLimits)
    sweeps: Callable[[], None] = lambda: None
    _counted: Mapping[str, Hashable] = field(default_factory=dict)
    _disagreeing: float | None = None

    def forget(self) -> None:
        """Have every queue counted the next time: the world is another one, or Kueue has begun anew."""
        self._counted = {}

    def settle(self) -> None:
        """Return when the status of every queue says what the Workloads say; nothing to do until something changed."""
        self._disagreeing = None
        self.mirror.eventually(
            self._count, within=self.limits.settle, what="the queues to be counted"
        )

    def _count(self) -> None:
        now = self._standings()
        if stale := {
            name
            for name, standing in now.items()
            if self._counted.get(name) != standing
        }:
            cluster_queues, local_queues = self._queues(stale)
            self._await_flavor_informer()
            self.fence.pass_queues(cluster_queues, local_queues)
            if any(map(self.world.is_nested, stale)):
                self.sweeps()
            agreed = self._matches(cluster_queues, local_queues)
            self._counted = {
                name: seen for name, seen in now.items() if agreed or name not in stale
            }

    def _await_flavor_informer(self) -> None:
        """Have Kueue know of each flavor before it judges the queues that name it: it marks all that it knows of."""
        stored = self._stored(self.world.refs("ResourceFlavor"))
        if unheard := [
            each["metadata"]["name"]
            for each in stored
            if not each["metadata"].get("finalizers")
        ]:
            raise NotYet("Kueue has not heard of " + ", ".join(unheard))

    def _standings(self) -> dict[str, Hashable]:
        """Say of each ClusterQueue what its figures, and those of its LocalQueues, follow from."""
        held: dict[str, set[Hashable]] = defaultdict(set)
        for workload in Observation.at(self.mirror, self.world).workloads:
            for name in {
                self.world.cluster_queue_of(workload),
                cluster_queue_of(workload),
            }:
                held[name].add(_as_counted(workload))
        own = [ref.name for ref in self.world.refs("ClusterQueue")]
        named = [
            self.world.cluster_queue_of(self.world.written(ref))
            for ref in self.world.refs("LocalQueue")
        ]
        around = self.world.surroundings({*own, *named})
        return {name: (seen, frozenset(held[name])) for name, seen in around.items()}

    def _queues(self, names: Iterable[str]) -> tuple[list[Ref], list[Ref]]:
        """Name the ClusterQueues of these names, and their LocalQueues."""
        refs, written = self.world.refs, self.world.written
        return [ref for ref in refs("ClusterQueue") if ref.name in names], [
            ref
            for ref in refs("LocalQueue")
            if self.world.cluster_queue_of(written(ref)) in names
        ]

    def _matches(
        self, cluster_queues: Iterable[Ref], local_queues: Iterable[Ref]
    ) -> bool:
        """Wait for queues to count what the Workloads say, but only so long: Kueue may leave them one event behind."""
        look = Observation.at(self.mirror, self.world)
        own = [each for each in self._stored(cluster_queues) if not is_left_alone(each)]
        faults = list(queue_faults(look, own, list(self._stored(local_queues))))
        if not faults:
            return True
        self._disagreeing = self._disagreeing or moment_now()
        if elapsed_since(self._disagreeing) < self.limits.disagreement:
            raise NotYet("; ".join(faults))
        return False

    def _stored(self, refs: Iterable[Ref]) -> Iterator[Manifest]:
        for ref in refs:
            asked = Ref(
                api_version=KUEUE, kind=ref.kind, name=ref.name, namespace=ref.namespace
            )
            if found := self.mirror.read(asked):
                yield found


def _as_counted(workload: Manifest) -> Hashable:
    """Give what a queue counts a Workload by: all but its labels and annotations, one of which we change ourselves."""
    meta = workload["metadata"]
    return (
        meta["uid"],
        "deletionTimestamp" in meta,
        packed([workload["spec"], workload.get("status")]),
    )
