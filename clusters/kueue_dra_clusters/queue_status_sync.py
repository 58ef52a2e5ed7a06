"""Waits until the status of the queues agrees with their Workloads (Kueue updates it up to a second late)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kueue_dra_clusters.applied_objects import AppliedObjects
from kueue_dra_clusters.fence import Fence
from kueue_dra_clusters.fence_objects import KUEUE
from kueue_dra_clusters.informer import InformerCache
from kueue_dra_clusters.observation import Observation, cluster_queue_of
from kueue_dra_clusters.queue_inconsistencies import is_not_updated, queue_faults
from kueue_dra_clusters.waiting import NotYet, WaitLimits, elapsed_since, moment_now
from kueue_dra_ref.api.deepcopy import packed
from kueue_dra_ref.api.metadata import finalizers_of
from kueue_dra_ref.target import Manifest, Ref


@dataclass(slots=True, kw_only=True)
class QueueStatusSync:
    """Triggers a status update of the queues for which anything has changed since the last time.

    The status of a queue depends on its own Workloads, on the queues and cohorts that it can borrow from, and on the
    objects that it names (flavors, checks).  A ClusterQueue and its LocalQueues are updated together.

    ``sweeps`` is called after an update of a queue in a nested Cohort: a second later Kueue requeues the whole tree.
    """

    informers: InformerCache
    applied: AppliedObjects
    fence: Fence
    limits: WaitLimits = field(default_factory=WaitLimits)
    sweeps: Callable[[], None] = lambda: None
    _counted: Mapping[str, Hashable] = field(default_factory=dict)
    _disagreeing: float | None = None

    def forget(self) -> None:
        """Update every queue the next time: the objects were deleted, or Kueue has restarted."""
        self._counted = {}

    def settle(self) -> None:
        """Wait until the status of every queue agrees with the Workloads; without a change it returns at once."""
        self._disagreeing = None
        self.informers.eventually(
            self._count, within=self.limits.settle, what="the status of the queues"
        )

    def _count(self) -> None:
        now = self._standings()
        stale = {name for name in now if self._counted.get(name) != now[name]}
        if not stale:
            return
        cluster_queues, local_queues = self._queues(stale)
        self._await_flavor_informer()
        self.fence.pass_queues(cluster_queues, local_queues)
        if any(map(self.applied.is_nested, stale)):
            self.sweeps()
        if not self._matches(cluster_queues, local_queues):
            for name in stale:
                del now[name]
        self._counted = now

    def _await_flavor_informer(self) -> None:
        """Wait until Kueue has observed each flavor, and so added its finalizer, before the queues that name it."""
        unobserved = []
        for flavor in self._stored(self.applied.refs("ResourceFlavor")):
            if not finalizers_of(flavor):
                unobserved.append(flavor["metadata"]["name"])
        if unobserved:
            raise NotYet("Kueue has not observed " + ", ".join(unobserved))

    def _standings(self) -> dict[str, Hashable]:
        """Give for each ClusterQueue what its status, and that of its LocalQueues, depends on."""
        applied = self.applied
        held: dict[str, set[Hashable]] = defaultdict(set)
        for workload in Observation.at(self.informers, applied).workloads:
            queued_in, admitted_to = (
                applied.cluster_queue_of(workload),
                cluster_queue_of(workload),
            )
            for name in {queued_in, admitted_to}:
                held[name].add(_as_counted(workload))
        names = {ref.name for ref in applied.refs("ClusterQueue")}
        for ref in applied.refs("LocalQueue"):
            local_queue = applied.written(ref)
            names.add(applied.cluster_queue_of(local_queue))
        found: dict[str, Hashable] = {}
        for name, surroundings in applied.surroundings(names).items():
            found[name] = (surroundings, frozenset(held[name]))
        return found

    def _queues(self, names: Iterable[str]) -> tuple[list[Ref], list[Ref]]:
        """Give the ClusterQueues of these names, and their LocalQueues."""
        applied = self.applied
        cluster_queues = [
            ref for ref in applied.refs("ClusterQueue") if ref.name in names
        ]
        local_queues = []
        for ref in applied.refs("LocalQueue"):
            if applied.cluster_queue_of(applied.written(ref)) in names:
                local_queues.append(ref)
        return cluster_queues, local_queues

    def _matches(
        self, cluster_queues: Iterable[Ref], local_queues: Iterable[Ref]
    ) -> bool:
        """Wait until the counts agree with the Workloads, but not for ever: Kueue may leave them one event behind."""
        look = Observation.at(self.informers, self.applied)
        own = [
            each for each in self._stored(cluster_queues) if not is_not_updated(each)
        ]
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
            if found := self.informers.read(asked):
                yield found


def _as_counted(workload: Manifest) -> Hashable:
    """Give what the status of a queue depends on: not labels and annotations, one of which the target changes."""
    meta = workload["metadata"]
    return (
        meta["uid"],
        "deletionTimestamp" in meta,
        packed([workload["spec"], workload.get("status")]),
    )
