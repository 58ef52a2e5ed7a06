"""When a live world has come to rest: everything passed the fence, nothing moved meanwhile, the counts agree."""

from __future__ import annotations

from dataclasses import dataclass, field

from clusters.fence import Fence
from clusters.fence_world import KUEUE
from clusters.look import Look, queue_faults
from clusters.objects import Objects
from clusters.waiting import Limits, NotYet, elapsed_since, eventually, moment_now
from clusters.world import World
from kueue_dra_ref.target import Ref

NOTHING = Look(jobs=[], workloads=[])


@dataclass(slots=True, kw_only=True)
class Settling:
    """Brings one world to rest; told by its target of every change that may let a waiting workload in."""

    objects: Objects
    world: World
    fence: Fence
    limits: Limits = field(default_factory=Limits)
    _changed: float | None = None
    _last: Look = NOTHING
    _quiet: int = 0
    _disagreeing: float | None = None

    def note_change(self) -> None:
        """Remember that something changed which may free quota or open a queue: a sweep has to pass."""
        self._changed = moment_now()

    def forget(self) -> None:
        """Start anew, with an empty world."""
        self._changed, self._last = None, NOTHING

    def settle(self) -> None:
        """Return at rest; `TimedOut` names what still moves."""
        self._quiet, self._disagreeing = 0, None
        eventually(self._pass, within=self.limits.settle, every=0.001, what="the world to come to rest")

    def _pass(self) -> None:
        if self.world.has_jobs:
            self._pass_workloads()
        before = self._see()
        cluster_queues, local_queues = self.world.refs("ClusterQueue"), self.world.refs("LocalQueue")
        if cluster_queues or local_queues:
            self.fence.pass_queues(cluster_queues, local_queues)
        after = self._note(before.again(self.objects))
        if moved := after.moved_since(before):
            self._quiet = 0
            raise NotYet("still moving: " + ", ".join(moved))
        self._require_rest(after)

    def _pass_workloads(self) -> None:
        self.fence.pass_chain()
        waiting = self._see().pending
        if self._changed is not None and waiting:
            changed, self._changed = self._changed, None
            self.fence.pass_sweep(since=changed)
        self.fence.pass_cycles(len(waiting) + 1)

    def _require_rest(self, look: Look) -> None:
        self._quiet += 1
        if self._changed is not None and look.pending:
            raise NotYet("quota came free while others wait")
        if faults := list(look.at_odds()):
            raise NotYet("; ".join(faults))
        if look.bare and self._quiet < 2:
            raise NotYet("no condition on " + ", ".join(found["metadata"]["name"] for found in look.bare))
        self._require_agreement(look)
        self._changed = None

    def _require_agreement(self, look: Look) -> None:
        """Wait for queues to count what the Workloads say, but only so long: Kueue may leave them one event behind."""
        queues = [self._stored("ClusterQueue"), self._stored("LocalQueue")]
        faults = list(queue_faults(look, *queues))
        if not faults:
            return
        self._disagreeing = self._disagreeing or moment_now()
        if elapsed_since(self._disagreeing) < self.limits.disagreement:
            raise NotYet("; ".join(faults))

    def _stored(self, kind: str) -> list[dict[str, object]]:
        refs = [
            Ref(api_version=KUEUE, kind=kind, name=ref.name, namespace=ref.namespace) for ref in self.world.refs(kind)
        ]
        return [found for ref in refs if (found := self.objects.read(ref)) is not None]

    def _see(self) -> Look:
        return self._note(Look.at(self.objects, self.world))

    def _note(self, look: Look) -> Look:
        if look.freed_since(self._last):
            self.note_change()
        self._last = look
        return look
