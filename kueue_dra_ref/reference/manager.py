"""One run of the simulated Kueue: events to controllers, and everything that is to do done until nothing changes.

No counterpart: the loop of the simulated controllers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from kueue_dra_ref.api.conditions import condition, is_true
from kueue_dra_ref.api.configuration import Configuration
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.cache.cluster_queue import Key
from kueue_dra_ref.controllers.deviceclass import DeviceClassController
from kueue_dra_ref.controllers.finalizers import FinalizerController
from kueue_dra_ref.controllers.job import JobController
from kueue_dra_ref.controllers.limitrange import LimitRangeController
from kueue_dra_ref.controllers.queue_status import QueueStatus
from kueue_dra_ref.controllers.queues import QueueControllers
from kueue_dra_ref.controllers.scheduler import Scheduler
from kueue_dra_ref.controllers.workload import WorkloadController
from kueue_dra_ref.controlplane.clock import Clock
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import Event, Store, is_deleted, key_of

_STARTING = (
    "WorkloadPriorityClass",
    "Namespace",
    "ResourceFlavor",
    "Cohort",
    "ClusterQueue",
    "LocalQueue",
    "Workload",
    "Job",
)
"""The kinds whose objects a starting Kueue is told of, in the order in which they are told."""

_CYCLES, _CYCLES_EACH = 1000, 50
"""Far more cycles than a world, and each of its Workloads, needs to come to rest."""
_TURNS = 4
"""Cycles more in which what is told in turns shows itself."""
_ROUNDS, _PAUSE = 20, 0.5
"""Preemptions beyond one for each Workload after which time passes, and seconds: some workloads preempt in turns."""
_PAUSES = 10
"""How often time passes for them; by then every sweep and early retry that could part them has come."""

_HAVING_FIGURES = ("Cohort", "ClusterQueue", "LocalQueue")
"""The kinds to whose status Kueue writes figures, which concern nobody."""


class Manager:
    """The controllers and the scheduler over one store."""

    def __init__(
        self,
        behaviour: Behaviour,
        configuration: Configuration,
        store: Store,
        clock: Clock,
    ) -> None:
        self.kueue = Kueue(behaviour, configuration, store, clock)
        self.workloads = WorkloadController(self.kueue)
        self.jobs = JobController(self.kueue)
        self.queues, self.status = QueueControllers(self.kueue), QueueStatus(self.kueue)
        self.scheduler = Scheduler(self.kueue)
        self.finalizers = FinalizerController(self.kueue)
        self.stopped = False
        self._to_follow: list[dict[tuple[str, Key], None]] = []
        """What is to be reconciled after cycles that preempted; of each cycle by itself."""
        self.restless: tuple[str, ...] = ()
        """What would be told in turns for ever, since the last change: who is told it, and the words."""
        self._pauses = 0
        self._late: dict[tuple[str, Key], None] = {}
        """Who is looked at after the next cycle only: victims whose preemptor has not got in for long."""
        surroundings = LimitRangeController(self.kueue)
        self._handlers: Mapping[str, tuple[Callable[[Event], None], ...]] = {
            "Workload": (self.workloads.on, self.jobs.on_workload),
            "Job": (self.jobs.on,),
            "Cohort": (self.queues.on_cohort,),
            "ClusterQueue": (
                self.queues.on_cluster_queue,
                self.finalizers.on_cluster_queue,
            ),
            "LocalQueue": (self.queues.on_local_queue,),
            "ResourceFlavor": (self.queues.on_flavor, self.finalizers.on_flavor),
            "Namespace": (self.queues.on_namespace,),
            "DeviceClass": (DeviceClassController(self.kueue).on,),
            "ResourceSlice": (self.queues.on_slice,),
            "LimitRange": (surroundings.on_limit_range,),
            "RuntimeClass": (surroundings.on_runtime_class,),
            "WorkloadPriorityClass": (self.jobs.priorities.on_class,),
        }
        for kind in _STARTING:
            for found in store.every(kind):
                self.on_event(Event(kind=kind, key=key_of(found), old=None, new=found))

    def on_event(self, event: Event) -> None:
        """Tell the controllers of a change."""
        for handle in self._handlers.get(event.kind, ()):
            if event.kind not in _HAVING_FIGURES or _matters(event):
                handle(event)
        if event.kind == "ClusterQueue":
            self.queues.on_figures(event)

    def run_until_idle(self) -> None:
        """Reconcile and schedule until nothing is left to do at this moment, then write the queues' figures."""
        cycles, preemptions, self.restless = 0, self.scheduler.preemptions, ()
        self.scheduler.next_cycle_delay()
        while not self.restless and self._turn():
            cycles += 1
            if self._is_livelocked(cycles, self.scheduler.preemptions - preemptions):
                self._pass_time()
                break
        else:
            self._pauses = 0
        while self.kueue.stale:
            kind, key = next(iter(self.kueue.stale))
            del self.kueue.stale[kind, key]
            self.status.write(kind, key)

    def _is_livelocked(self, cycles: int, preemptions: int) -> bool:
        """Whether workloads preempt each other in turns, after which time passes; any other loop has no end."""
        if cycles <= _CYCLES and preemptions <= _ROUNDS:
            return False
        workloads = sum(1 for _ in self.kueue.store.every("Workload"))
        if preemptions > _ROUNDS + workloads:
            return True
        if cycles > _CYCLES + _CYCLES_EACH * workloads:
            self._give_up(f"no end after {cycles} cycles")
        return False

    def _pass_time(self) -> None:
        """Leave those that preempt each other to a later moment; when that has not helped for long, it never does."""
        self._pauses += 1
        self.kueue.later(_PAUSE, lambda: None)
        if self._pauses > _PAUSES:
            self._give_up("workloads preempt each other in turns")

    def _give_up(self, why: str) -> None:
        self.restless = tuple(self._report_livelock()) or (why,)

    def _report_livelock(self) -> Iterator[str]:
        """Go on for a few cycles and see who is told one thing and then another."""
        told: dict[Key, dict[str, None]] = {}
        for _ in range(_TURNS):
            for turn in (self._reconciled, self._scheduled):
                turn()
                for found in self.kueue.store.every("Workload"):
                    words = (condition(found, "QuotaReserved") or {}).get(
                        "message", "nothing"
                    )
                    told.setdefault(key_of(found), {})[words] = None
        for (namespace, name), words in told.items():
            if len(words) > 1:
                yield f"Workload {namespace}/{name} is told in turns: {' | '.join(words)}"

    def _turn(self) -> bool:
        """Reconcile and schedule once; False when nothing came of either."""
        busy = self._reconciled()
        return self._scheduled() or busy

    def _scheduled(self) -> bool:
        """Run a cycle, and after one that preempts the next at once, as Kueue does: to give quota back takes longer.

        What follows from one cycle is reconciled together, and what follows from the next one a cycle later.
        """
        rules, before = (
            self.kueue.behaviour.preempting.start_next_cycle,
            self.scheduler.preemptions,
        )
        moved = self.scheduler.cycle()
        while any(rule(self.scheduler.preemptions - before) for rule in rules):
            self._to_follow.append(self.kueue.to_do)
            before, self.kueue.to_do = self.scheduler.preemptions, {}
            self.scheduler.cycle()
        return moved

    def _reconciled(self) -> bool:
        if self._to_follow:
            self.kueue.to_do |= self._to_follow.pop(0)
        late, self._late = self._late, {}
        self.kueue.to_do |= late
        busy = bool(self.kueue.to_do)
        while self.kueue.to_do:
            kind, key = next(iter(self.kueue.to_do))
            del self.kueue.to_do[kind, key]
            if self._pauses and (kind, key) not in late and self._comes_back(kind, key):
                self._late[kind, key] = None
            else:
                self._reconcile(kind, key)
        return busy

    def _comes_back(self, kind: str, key: Key) -> bool:
        """Whether a victim has given back its quota, and is in line only when it is looked at, as it asks for devices.

        Kueue may come to the preemptor before that.  Sooner or later it does, and who preempt in turns are parted.
        """
        found = (
            self.kueue.store.find(kind, key[1], key[0]) if kind == "Workload" else None
        )
        if (
            found is None
            or not is_true(found, "Preempted")
            or is_true(found, "QuotaReserved")
        ):
            return False
        return self.kueue.asks_for_devices(found)

    def _reconcile(self, kind: str, key: Key) -> None:
        match kind:
            case "Job":
                self.jobs.reconcile(key)
            case "Workload":
                self.workloads.reconcile(key)
            case _:
                self.finalizers.reconcile(kind, key)


def _matters(event: Event) -> bool:
    """Whether more than a queue's own status has changed."""
    if event.old is None or event.new is None:
        return True
    return bool(event.old["spec"] != event.new["spec"]) or is_deleted(
        event.old
    ) != is_deleted(event.new)
