"""One run of the simulated Kueue: it dispatches events, reconciles and schedules until nothing changes.

No counterpart: the loop of the simulated controllers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

from kueue_dra_ref.api.admission_checks import ADMISSION_CHECK
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.configuration import Configuration
from kueue_dra_ref.api.job_kinds import JOB, JOB_KINDS, POD
from kueue_dra_ref.api.multikueue import CLUSTER, CONFIG, SECRET
from kueue_dra_ref.api.pod_owners import POD_OWNERS
from kueue_dra_ref.api.provisioning import CONFIG as PROVISIONING_CONFIG
from kueue_dra_ref.api.topologies import NODE, TOPOLOGY
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.controllers.concurrent_admission import FAMILY
from kueue_dra_ref.controllers.deviceclass import DeviceClassController
from kueue_dra_ref.controllers.elastic_pods import ElasticPods
from kueue_dra_ref.controllers.finalizers import FinalizerController
from kueue_dra_ref.controllers.job_reconcilers import JobReconcilers
from kueue_dra_ref.controllers.limitrange import LimitRangeController
from kueue_dra_ref.controllers.multikueue_clusters import Dial
from kueue_dra_ref.controllers.multikueue_setup import KINDS, MultiKueue
from kueue_dra_ref.controllers.pod_owners import PodOwnerController
from kueue_dra_ref.controllers.provisioning_setup import KINDS as ASKED
from kueue_dra_ref.controllers.provisioning_setup import Provisioning
from kueue_dra_ref.controllers.queue_status import QueueStatus
from kueue_dra_ref.controllers.queues import QueueControllers
from kueue_dra_ref.controllers.scheduler import Scheduler
from kueue_dra_ref.controllers.topologies import TopologyControllers
from kueue_dra_ref.controllers.workload import WorkloadReconciler
from kueue_dra_ref.controlplane.clock import Clock
from kueue_dra_ref.controlplane.kueue import Kueue, ToDo
from kueue_dra_ref.controlplane.store import Event, Store, is_deleted, key_of
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.reference.endless_changes import EndlessChanges, without_an_end
from kueue_dra_ref.reference.livelock import AlternatingMessages, StateLog, state_of

_INITIAL_LIST = (
    "WorkloadPriorityClass",
    "Namespace",
    NODE,
    TOPOLOGY,
    "ResourceFlavor",
    SECRET,
    CLUSTER,
    CONFIG,
    PROVISIONING_CONFIG,
    "AdmissionCheck",
    "Cohort",
    "ClusterQueue",
    "LocalQueue",
    "Workload",
    *JOB_KINDS,
    *POD_OWNERS,
)
"""The kinds whose objects a starting Kueue lists, in that order."""

_CYCLES, _CYCLES_EACH = 1000, 50
"""Cycles in which every scenario settles: a fixed number, and more for each of its Workloads."""
_PATIENCE = 20
"""Cycles before a run is watched for repetition; a Kueue that did not settle before is watched at once."""
_CYCLES_TO_REPORT = 4
"""Further cycles of a livelock, in which messages that alternate show up."""
_PREEMPTIONS, _PAUSE = 20, 0.5
"""Preemptions, beyond one for each Workload, after which time passes, and for how many seconds."""
_ROUND = 1.0
"""Seconds after which Kueue looks at inadmissible work again, which may then preempt."""
_PAUSES = 10
"""How often time passes before preemption counts as a livelock; all requeues and early retries are due by then."""

_WITH_COUNTS = ("Cohort", "ClusterQueue", "LocalQueue")
"""The kinds to whose status Kueue writes counts, which most controllers ignore."""

Handlers = Mapping[str, tuple[Callable[[Event], None], ...]]


class Manager:
    """The controllers and the scheduler over one store."""

    tries_all_heads = False
    """Whether Kueue goes through all other heads before the victims of a preemption release their quota."""

    def __init__(
        self,
        behaviour: Behaviour,
        configuration: Configuration,
        store: Store,
        clock: Clock,
        dial: Dial | None = None,
        *,
        continues: bool = False,
    ) -> None:
        self.kueue = Kueue(behaviour, configuration, store, clock, continues=continues)
        self.multikueue = MultiKueue(self.kueue, dial) if dial else None
        self.provisioning = Provisioning(self.kueue)
        self.workloads = WorkloadReconciler(self.kueue)
        self.reconcilers = JobReconcilers(self.kueue)
        self.pod_owners = PodOwnerController(self.kueue)
        self.jobs = self.reconcilers[JOB.name]
        self.queues = QueueControllers(self.kueue)
        self.status = QueueStatus(self.kueue)
        self.scheduler = Scheduler(self.kueue)
        self.finalizers = FinalizerController(self.kueue)
        self._after_preemptions: list[ToDo] = []
        """What to reconcile after cycles that preempted, by cycle."""
        self.restless: tuple[str, ...] = ()
        """What alternates without end since the last change: each Workload with its messages."""
        self._observer: AlternatingMessages | None = None
        self._pauses = 0
        self._deferred: dict[tuple[str, Key], None] = {}
        """Victims to reconcile after the next cycle: their preemptor has not been admitted for long."""
        self._endless = EndlessChanges()
        self._handlers = self._with_variants(self._with_checks(self._all_handlers()))
        self._list_all(store)

    def _list_all(self, store: Store) -> None:
        """Handle the objects that exist when Kueue starts."""
        for kind in _INITIAL_LIST:
            for found in store.every(kind):
                self.on_event(Event(kind=kind, key=key_of(found), old=None, new=found))

    def _with_checks(self, handlers: Handlers) -> Handlers:
        """Give handlers, and those of the controllers of admission checks."""
        if self.multikueue is not None:
            handlers = _merged(handlers, self.multikueue.handlers)
        return _merged(handlers, self.provisioning.handlers)

    def _with_variants(self, handlers: Handlers) -> Handlers:
        """Give handlers, and those of variants, which are deactivated with their parent before its work stops."""
        variants = self.workloads.variants
        first, *others = handlers["Workload"]
        return {
            **handlers,
            "Workload": (first, variants.on_workload, *others),
            "ClusterQueue": (*handlers["ClusterQueue"], variants.on_cluster_queue),
        }

    def _all_handlers(self) -> Handlers:
        limits = LimitRangeController(self.kueue)
        device_classes = DeviceClassController(self.kueue)
        return {
            **self._work_handlers(),
            **self._queue_handlers(),
            "Namespace": (self.queues.on_namespace,),
            "DeviceClass": (device_classes.on,),
            "ResourceSlice": (self.queues.on_slice,),
            "LimitRange": (limits.on_limit_range,),
            "RuntimeClass": (limits.on_runtime_class,),
            "WorkloadPriorityClass": (self.jobs.priorities.on_class,),
        }

    def _work_handlers(self) -> Handlers:
        elastic, work = ElasticPods(self.kueue), self.reconcilers
        parts = self.jobs.on_workload_of_owner
        pods = self.pod_owners.on_workload
        return {
            "Workload": (
                self.workloads.on,
                work.on_workload,
                parts,
                pods,
                elastic.on_workload,
            ),
            **dict.fromkeys(JOB_KINDS, (work.on,)),
            POD.name: (self.pod_owners.on_pod, work.on, elastic.on_pod),
            **dict.fromkeys(POD_OWNERS, (self.pod_owners.on,)),
        }

    def _queue_handlers(self) -> Handlers:
        queues, finalizers = self.queues, self.finalizers
        topologies = TopologyControllers(self.kueue)
        return {
            "Cohort": (queues.on_cohort,),
            "ClusterQueue": (queues.on_cluster_queue, finalizers.on_cluster_queue),
            "LocalQueue": (queues.on_local_queue,),
            "ResourceFlavor": (
                queues.on_flavor,
                topologies.on_flavor,
                finalizers.on_flavor,
            ),
            ADMISSION_CHECK: (queues.on_admission_check, finalizers.on_admission_check),
            TOPOLOGY: (topologies.on_topology,),
            NODE: (topologies.on_node,),
        }

    def on_event(self, event: Event) -> None:
        """Dispatch a change to the controllers."""
        if self._observer is not None:
            self._observer.on_event(event)
        if event.kind not in _WITH_COUNTS or _is_spec_change(event):
            for handle in self._handlers.get(event.kind, ()):
                handle(event)
        if event.kind == "ClusterQueue":
            self.queues.on_status(event)

    @property
    def goes_round(self) -> bool:
        """Whether workloads preempt each other until now, although time has passed."""
        return self.kueue.clock.seconds - self.scheduler.last_preemption < _ROUND

    def run_until_idle(self) -> None:
        """Reconcile and schedule until nothing changes at this moment, then write the status of the queues."""
        cycles, preemptions = 0, self.scheduler.preemptions
        states, patience = StateLog(), 0 if self.restless else _PATIENCE
        self.restless = ()
        self.scheduler.next_cycle_delay()
        while not self.restless and self._run_once():
            cycles += 1
            if self._is_livelocked(cycles, self.scheduler.preemptions - preemptions):
                self._pass_time()
                break
            if cycles > patience and self._repeats(states, cycles):
                break
        else:
            self._pauses = 0
        self._note_endless()
        stale = self.kueue.stale
        while stale:
            kind, key = next(iter(stale))
            del stale[kind, key]
            self.status.write(kind, key)

    def _note_endless(self) -> None:
        """Report what changes without an end, and go on with it in the next run."""
        endless = self._endless.end()
        self.restless += tuple(map(without_an_end, endless))
        self.kueue.to_do |= endless

    def _is_livelocked(self, cycles: int, preemptions: int) -> bool:
        """Whether workloads keep preempting each other, so that time passes; any other loop is reported at once."""
        if cycles <= _CYCLES and preemptions <= _PREEMPTIONS:
            return False
        workloads = self.kueue.store.count("Workload")
        if preemptions > _PREEMPTIONS + workloads:
            return True
        if cycles > _CYCLES + _CYCLES_EACH * workloads:
            self._give_up(f"no end after {cycles} cycles")
        return False

    def _repeats(self, states: StateLog, cycles: int) -> bool:
        """Whether a run repeats itself; then leave the state in which it would end after all cycles that it may have.

        A repetition in which no object changes is none for clients: Kueue has settled as far as they see.
        """
        state = state_of(self.kueue, self.scheduler)
        period = states.period(state, cycles)
        if not period:
            return False
        last = _CYCLES + _CYCLES_EACH * self.kueue.store.count("Workload") + 1
        for _ in range((last - cycles) % period):
            self._run_once()
        version = self.kueue.store.version
        self._give_up(f"no end after {last} cycles")
        if self.kueue.store.version == version:
            self.restless = ()
        return True

    def _pass_time(self) -> None:
        """Let time pass while workloads keep preempting each other; report it once that has not helped for long."""
        self._pauses += 1
        self.kueue.later(_PAUSE, lambda: None)
        if self._pauses > _PAUSES:
            self._give_up("workloads keep preempting each other")

    def _give_up(self, why: str) -> None:
        self.restless = tuple(self._report_livelock()) or (why,)

    def _report_livelock(self) -> Iterator[str]:
        """Run a few more cycles and report the workloads whose messages alternate."""
        self._observer = messages = AlternatingMessages(self.kueue)
        for _ in range(_CYCLES_TO_REPORT):
            self._reconcile_all()
            messages.note()
            self._schedule()
            messages.note()
        self._observer = None
        return messages.report()

    def _run_once(self) -> bool:
        """Reconcile and schedule once; False when nothing changed."""
        busy = self._reconcile_all()
        return self._schedule() or busy

    def _schedule(self) -> bool:
        """Run a cycle, and after one that preempts the next at once, as in Kueue, where releasing quota takes longer.

        What one cycle triggers is reconciled together, and what the next one triggers a cycle later, also if both do:
        it stops one Job after the other, so one that starts and is evicted comes after those that were evicted first.
        """
        scheduler = self.scheduler
        starts_next = self.kueue.behaviour.preempting.start_next_cycle
        before = scheduler.preemptions
        moved = scheduler.cycle()
        self.kueue.checks_when_queued.clear()
        self.kueue.just_queued.clear()
        goes_on = starts_next(scheduler.preemptions - before)
        while goes_on:
            before, heads = scheduler.preemptions, scheduler.heads
            self._queue_refused()
            self._after_preemptions.append(self.kueue.to_do)
            self.kueue.to_do = ToDo()
            scheduler.cycle()
            for earlier in self._after_preemptions:
                for triggered in self.kueue.to_do:
                    earlier.pop(triggered, None)
            tries_others = self.tries_all_heads and scheduler.heads != heads
            goes_on = tries_others or starts_next(scheduler.preemptions - before)
        return moved

    def _queue_refused(self) -> None:
        """Reconcile the heads that were refused before, so that Kueue tries them again before quota is released.

        Each of them is inadmissible until its new status is reconciled, and once more after that next attempt.
        """
        queue_again = self.kueue.behaviour.preempting.queue_refused_again
        for head in self.scheduler.heads:
            triggered = ("Workload", head.key)
            if queue_again(head.may_be_tried) and triggered in self.kueue.to_do:
                del self.kueue.to_do[triggered]
                self._reconcile(*triggered)

    def _reconcile_all(self) -> bool:
        """Reconcile until nothing is left to do; False when there was nothing to do."""
        if self._after_preemptions:
            self.kueue.to_do |= self._after_preemptions.pop(0)
        due, self._deferred = self._deferred, {}
        to_do = self.kueue.to_do
        to_do |= due
        busy = bool(to_do)
        done = defaultdict[tuple[str, Key], int](int)
        while to_do:
            (kind, key), _ = to_do.popitem(last=False)
            done[kind, key] += 1
            if self._endless.holds((kind, key), done[kind, key]):
                continue
            if (kind, key) not in due and self._is_deferred(kind, key):
                self._deferred[kind, key] = None
            else:
                self._reconcile(kind, key)
        return busy

    def _is_deferred(self, kind: str, key: Key) -> bool:
        """Whether time has passed for workloads that preempt each other, and this one is a victim with devices.

        It has released its quota, but Kueue queues it only when it reconciles it, as it requests devices.  Kueue may
        schedule the preemptor before that: sooner or later it does, which ends the mutual preemption.
        """
        if not self._pauses or kind != "Workload":
            return False
        found = self.kueue.store.get(kind, key)
        if found is None or not is_true(found, "Preempted"):
            return False
        if is_true(found, "QuotaReserved"):
            return False
        return self.kueue.asks_for_devices(found)

    def _reconcile(self, kind: str, key: Key) -> None:
        if kind in JOB_KINDS:
            self.reconcilers[kind].reconcile(key)
            return
        if self.multikueue is not None and kind in KINDS:
            self.multikueue.reconcile(kind, key)
            return
        if kind in ASKED:
            self.provisioning.reconcile(kind, key)
            return
        match kind:
            case "Workload":
                self.workloads.reconcile(key)
            case each if each == FAMILY:
                self.workloads.variants.reconcile(key)
            case owner if owner in POD_OWNERS:
                self.pod_owners.reconcile(kind, key)
            case _:
                self.finalizers.reconcile(kind, key)


def _merged(one: Handlers, other: Handlers) -> Handlers:
    """Give the handlers of both, those of the first one first."""
    kinds = dict.fromkeys([*one, *other])
    return {kind: (*one.get(kind, ()), *other.get(kind, ())) for kind in kinds}


def _is_spec_change(event: Event) -> bool:
    """Whether more than the status of an object has changed."""
    old, new = event.old, event.new
    if old is None or new is None or old["spec"] != new["spec"]:
        return True
    return is_deleted(old) != is_deleted(new)
