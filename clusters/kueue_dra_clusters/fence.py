"""The fence: small objects of our own whose fate proves how far Kueue has got (Kueue 0.14 to 0.19).

What Kueue did *after* it did something for the fence, it did with everything applied before the fence in view:

1. *Chain.* Kueue's Job and Workload controllers take their work in order.  When a change of the fence's Job shows in
   the condition of its Workload, every Job and Workload changed before it has been through both controllers.  (Where
   a Kueue has several workers, one may still be busy: `Settling` goes on while anything changes or is at odds.)
2. *Sweep.* A release or an edit puts a queue's inadmissible workloads on a list that is worked off in order, after a
   pause of the Kueue's own (`Pauses`).  After the others' changes the fence edits the quota of a queue of its own; when
   the workload that waits there for more than any quota has been told of the new one, theirs have been tried again too.
3. *Cycles.* Each scheduling cycle takes one head of every active ClusterQueue.  When n pawns of one queue, each asking
   for a new amount that never fits, have been told so, n cycles have passed, and the first n waiting workloads of every
   other queue were looked at.  (To admit the pawns would tell as much, at five times the cost.)
4. *Queues.* The status of queues is written by one worker each, up to a second late.  We touch an annotation of each
   queue, which brings it forward, and then change the fence's own: when its observedGeneration is there, so are they.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from kueue_dra_clusters.api_client import APIClient, body_of
from kueue_dra_clusters.conditions import seen_generation
from kueue_dra_clusters.fence_objects import KUEUE, TOO_MUCH, a_queue, fence_world
from kueue_dra_clusters.informer import InformerCache
from kueue_dra_clusters.probe_workloads import ProbeWorkload
from kueue_dra_clusters.waiting import NotYet, Pauses, WaitLimits, elapsed_since
from kueue_dra_ref.target import Manifest, Ref

PREFIX = "kueue-dra-fence-"
LOOK_AGAIN = "kueue-dra.dev/look-again"
JOB_UID_LABEL = "kueue.x-k8s.io/job-uid"


@dataclass(slots=True, kw_only=True)
class Fence:
    """One target's own namespace, flavor, queues, Job and workloads; built at first use."""

    objects: APIClient
    mirror: InformerCache
    run: str
    labels: Mapping[str, str] = field(default_factory=dict)
    limits: WaitLimits = field(default_factory=WaitLimits)
    pauses: Pauses = field(default_factory=Pauses)
    _serial: int = 0
    """For names, amounts and marks that never come twice."""
    _uses: Counter[str] = field(default_factory=Counter)
    """How often each step was taken since the fence was built: for a value that is never the standing one."""
    _job_uid: str = ""
    _chained: str = ""
    _sweeper: ProbeWorkload | None = None
    _pawns: list[ProbeWorkload] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name of the fence's namespace, flavor and ClusterQueue, and the beginning of every other name."""
        return PREFIX + self.run

    def build(self) -> None:
        """Make the fence's world, once."""
        if self._job_uid:
            return
        for manifest in fence_world(self.name, self.labels):
            body_of(
                self.objects.create(manifest), f"create the fence's {Ref.of(manifest)}"
            )
        self._job_uid = str((self.mirror.read(self._job) or {})["metadata"]["uid"])

    def pass_chain(self, *, unless: Callable[[], bool] = lambda: False) -> None:
        """Return when Kueue's Job and Workload controllers have seen everything that came before, or never will."""
        self.build()
        wanted = self._use("chain") % 1000 + 1
        self._must_patch(self._job, {"spec": {"parallelism": wanted}})

        def arrived() -> None:
            found = self._chain_workload()
            count = found["spec"]["podSets"][0]["count"] if found else 0
            if count != wanted:
                raise NotYet(
                    f"the Job controller has not brought a change of a Job to its Workload: {count} pods"
                )
            if (
                seen_generation(found, "QuotaReserved")
                != found["metadata"]["generation"]
                and not unless()
            ):
                raise NotYet(
                    "the Workload controller has not written its condition of a changed Workload"
                )

        self.mirror.eventually(
            arrived,
            within=self.limits.chain,
            what="Kueue's Job and Workload controllers",
        )

    def pass_cycles(self, count: int) -> None:
        """Return when the scheduler has made at least ``count`` cycles."""
        self.build()
        while len(self._pawns) < count:
            self._pawns.append(self._create("pawn", queue="pawns"))
        for pawn in self._pawns[:count]:
            pawn.request(self._another())
        for pawn in self._pawns[:count]:
            self._await_refusal(pawn)

    def pass_sweep(self, *, since: float) -> None:
        """Return when a sweep of inadmissible workloads has passed that covers what changed at ``since``."""
        self.build()
        if self._sweeper is None:
            self._sweeper = self._create("sweeper", queue="sweep")
            self._await_words(self._sweeper, self._sweeper.asked)
        self._sweep_once(self._sweeper)
        if elapsed_since(since) < self.pauses.sweep:
            self._sweep_once(
                self._sweeper
            )  # the first one rode along with an earlier notice, of the build for example

    def pass_queues(
        self, cluster_queues: Iterable[Ref], local_queues: Iterable[Ref]
    ) -> None:
        """Return when Kueue has written the status of these queues anew."""
        self.build()
        stop, preempt = (
            ("Hold", "LowerPriority") if self._use("queues") % 2 else ("None", "Never")
        )
        own_queue = Ref(api_version=KUEUE, kind="ClusterQueue", name=self.name)
        own_local = Ref(
            api_version=KUEUE, kind="LocalQueue", name="status", namespace=self.name
        )
        self._look_again(
            cluster_queues, own_queue, {"preemption": {"withinClusterQueue": preempt}}
        )
        self._look_again(local_queues, own_local, {"stopPolicy": stop})

    def refs(self) -> list[Ref]:
        """Name everything that the fence has made, what has to go first in front."""
        if not self._job_uid:
            return []
        workloads = [
            Ref.of(each) for each in self.mirror.list(KUEUE, "Workload", self.name)
        ]
        job, *rest = [
            Ref.of(each) for each in reversed(fence_world(self.name, self.labels))
        ]
        return [job, *workloads, *rest]

    def forget(self) -> None:
        """Take note that everything was removed; the next use builds it anew."""
        self._job_uid = self._chained = ""
        self._sweeper = None
        self._uses.clear()
        self._pawns.clear()

    def _sweep_once(self, sweeper: ProbeWorkload) -> None:
        amount = self._use("sweep") % (TOO_MUCH - 1) + 1
        queue = Ref(api_version=KUEUE, kind="ClusterQueue", name=f"{self.name}-sweep")
        self._must_patch(queue, {"spec": a_queue(self.name, amount=amount)})
        self._await_words(sweeper, amount)

    def _await_words(self, sweeper: ProbeWorkload, number: int) -> None:
        what = "the fence's workload to be tried"
        self.mirror.eventually(
            lambda: sweeper.assert_observed(number), within=self.limits.sweep, what=what
        )

    def _await_refusal(self, pawn: ProbeWorkload) -> None:
        """Return when a pawn was refused what it asked for, or what it asked for after that."""

        def refused() -> None:
            if pawn.is_passed_over:
                pawn.request(self._another())
            pawn.assert_observed(pawn.asked)

        what = "Kueue's scheduler to try the fence's pawns"
        self.mirror.eventually(refused, within=self.limits.cycles, what=what)

    def _look_again(self, refs: Iterable[Ref], own: Ref, change: Manifest) -> None:
        for ref in refs:
            reobserve(self.objects, ref, str(self._next()))
        generation = self._must_patch(own, {"spec": change})["metadata"]["generation"]

        def written() -> None:
            seen = seen_generation(self.mirror.read(own) or {}, "Active")
            if seen != generation:
                raise NotYet(f"{own} was seen at generation {seen}, not {generation}")

        self.mirror.eventually(
            written, within=self.limits.queues, what=f"Kueue's {own.kind} controller"
        )

    def _another(self) -> int:
        """Give an amount that nobody asked for yet; an odd one is written as it is, without a unit."""
        return TOO_MUCH + 2 * self._next()

    def _create(self, role: str, *, queue: str) -> ProbeWorkload:
        ref = self._workload(f"{role}-{self._next()}")
        return ProbeWorkload(objects=self.objects, mirror=self.mirror, ref=ref).create(
            self.labels, role, queue
        )

    def _must_patch(self, ref: Ref, change: Manifest) -> Manifest:
        return body_of(self.objects.patch(ref, change), f"change the fence's {ref}")

    def _chain_workload(self) -> Manifest:
        if not self._chained:
            found = self.mirror.list(KUEUE, "Workload", self.name)
            self._chained = next(
                (
                    each["metadata"]["name"]
                    for each in found
                    if self._is_of_the_job(each)
                ),
                "",
            )
        return (self._chained and self.mirror.read(self._workload(self._chained))) or {}

    def _is_of_the_job(self, workload: Manifest) -> bool:
        return bool(
            (workload["metadata"].get("labels") or {}).get(JOB_UID_LABEL)
            == self._job_uid
        )

    def _workload(self, name: str) -> Ref:
        return Ref(api_version=KUEUE, kind="Workload", name=name, namespace=self.name)

    def _use(self, step: str) -> int:
        self._uses[step] += 1
        return self._uses[step]

    def _next(self) -> int:
        self._serial += 1
        return self._serial

    @property
    def _job(self) -> Ref:
        return Ref(
            api_version="batch/v1", kind="Job", name="chain", namespace=self.name
        )


def reobserve(objects: APIClient, ref: Ref, mark: str) -> None:
    """Change an annotation, so that Kueue looks at an object at once; another ``mark`` each time."""
    objects.patch(ref, {"metadata": {"annotations": {LOOK_AGAIN: mark}}})
