"""The fence: small objects of our own whose conditions prove how far Kueue has got (Kueue 0.14 to 0.19).

What Kueue decides *after* it has observed a change of the fence, it decides with all earlier changes in view:

1. *Chain.* Kueue's Job and Workload controllers process their queues in order.  When a change of the fence's Job
   shows in the condition of its Workload, both controllers have reconciled every Job and Workload that changed before.
   (If a Kueue has several workers, one may still be busy: `Settle` repeats while anything changes or is inconsistent.)
2. *Sweep.* Released quota or an updated queue requeues the inadmissible workloads of a queue, in order, after a delay
   (`Pauses`).  After all other changes the fence changes the quota of a queue of its own.  A workload there requests
   more than any quota; when its message names the new quota, Kueue has retried the other inadmissible workloads too.
3. *Cycles.* Each scheduling cycle takes one head of every active ClusterQueue.  When the conditions of n probes of one
   queue, each with a new request that never fits, name these requests, n cycles have passed, and the scheduler has
   tried the first n pending workloads of every other queue.  (Admitting the probes costs five times as much.)
4. *Queues.* One worker for each kind writes the status of queues, up to a second late.  The fence changes an annotation
   of each queue, which triggers a reconcile, and then its own queue: when its observedGeneration is current, the status
   of all of them is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from kueue_dra_clusters.api_client import APIClient, body_of
from kueue_dra_clusters.conditions import seen_generation
from kueue_dra_clusters.fence_objects import KUEUE, TOO_MUCH, a_queue, fence_manifests
from kueue_dra_clusters.informer import InformerCache
from kueue_dra_clusters.probe_workloads import ProbeWorkload
from kueue_dra_clusters.waiting import NotYet, Pauses, WaitLimits, elapsed_since
from kueue_dra_ref.api.jobs import JOB_UID
from kueue_dra_ref.api.metadata import labels_of
from kueue_dra_ref.target import Manifest, Ref

PREFIX = "kueue-dra-fence-"
LOOK_AGAIN = "kueue-dra.dev/look-again"


@dataclass(slots=True, kw_only=True)
class Fence:
    """The namespace, flavor, queues, Job and probe workloads of one target; created at first use."""

    objects: APIClient
    informers: InformerCache
    run: str
    labels: Mapping[str, str] = field(default_factory=dict)
    limits: WaitLimits = field(default_factory=WaitLimits)
    pauses: Pauses = field(default_factory=Pauses)
    _serial: int = 0
    """For names, amounts and marks that are never used twice."""
    _uses: Counter[str] = field(default_factory=Counter)
    """The number of uses of each step since the fence was built: for a value that differs from the current one."""
    _job_uid: str = ""
    _chained: str = ""
    _sweeper: ProbeWorkload | None = None
    _probes: list[ProbeWorkload] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name of the fence's namespace, flavor and ClusterQueue, and the prefix of every other name."""
        return PREFIX + self.run

    def build(self) -> None:
        """Create the fence's objects, once."""
        if self._job_uid:
            return
        for manifest in fence_manifests(self.name, self.labels):
            body_of(
                self.objects.create(manifest), f"create the fence's {Ref.of(manifest)}"
            )
        self._job_uid = str((self.informers.read(self._job) or {})["metadata"]["uid"])

    def pass_chain(self, *, unless: Callable[[], bool] = lambda: False) -> None:
        """Wait until Kueue's Job and Workload controllers have observed all earlier changes, or never will."""
        self.build()
        wanted = self._use("chain") % 1000 + 1
        self._must_patch(self._job, {"spec": {"parallelism": wanted}})

        def arrived() -> None:
            found = self._chain_workload()
            count = found["spec"]["podSets"][0]["count"] if found else 0
            if count != wanted:
                raise NotYet(
                    f"the Job controller has not updated the Workload of a changed Job: {count} pods"
                )
            if (
                seen_generation(found, "QuotaReserved")
                != found["metadata"]["generation"]
                and not unless()
            ):
                raise NotYet(
                    "the Workload controller has not updated the condition of a changed Workload"
                )

        self.informers.eventually(
            arrived,
            within=self.limits.chain,
            what="Kueue's Job and Workload controllers",
        )

    def pass_cycles(self, count: int) -> None:
        """Wait until the scheduler has run at least ``count`` cycles."""
        self.build()
        while len(self._probes) < count:
            self._probes.append(self._create("probe", queue="probes"))
        for probe in self._probes[:count]:
            probe.request(self._another())
        for probe in self._probes[:count]:
            self._await_rejection(probe)

    def pass_sweep(self, *, since: float) -> None:
        """Wait until Kueue has requeued all workloads that a change at ``since`` concerns."""
        self.build()
        if self._sweeper is None:
            self._sweeper = self._create("sweeper", queue="sweep")
            self._await_message(self._sweeper, self._sweeper.asked)
        self._sweep_once(self._sweeper)
        while elapsed_since(since) < self.pauses.sweep:
            # The first requeue may belong to an earlier change, such as the creation of the fence.
            self._sweep_once(self._sweeper)

    def pass_queues(
        self, cluster_queues: Iterable[Ref], local_queues: Iterable[Ref]
    ) -> None:
        """Wait until Kueue has written the status of these queues again."""
        self.build()
        stop, preempt = (
            ("Hold", "LowerPriority") if self._use("queues") % 2 else ("None", "Never")
        )
        own_queue = Ref(api_version=KUEUE, kind="ClusterQueue", name=self.name)
        own_local = Ref(
            api_version=KUEUE, kind="LocalQueue", name="status", namespace=self.name
        )
        self._reobserve_all(
            cluster_queues, own_queue, {"preemption": {"withinClusterQueue": preempt}}
        )
        self._reobserve_all(local_queues, own_local, {"stopPolicy": stop})

    def refs(self) -> list[Ref]:
        """Give all objects of the fence, in the order of their deletion."""
        if not self._job_uid:
            return []
        workloads = [
            Ref.of(each) for each in self.informers.list(KUEUE, "Workload", self.name)
        ]
        job, *rest = [
            Ref.of(each) for each in reversed(fence_manifests(self.name, self.labels))
        ]
        return [job, *workloads, *rest]

    def forget(self) -> None:
        """Record that all objects were deleted; the next use creates them again."""
        self._job_uid = self._chained = ""
        self._sweeper = None
        self._uses.clear()
        self._probes.clear()

    def _sweep_once(self, sweeper: ProbeWorkload) -> None:
        amount = self._use("sweep") % (TOO_MUCH - 1) + 1
        queue = Ref(api_version=KUEUE, kind="ClusterQueue", name=f"{self.name}-sweep")
        self._must_patch(queue, {"spec": a_queue(self.name, amount=amount)})
        self._await_message(sweeper, amount)

    def _await_message(self, sweeper: ProbeWorkload, number: int) -> None:
        what = "Kueue to retry the fence's workload"
        self.informers.eventually(
            lambda: sweeper.assert_observed(number), within=self.limits.sweep, what=what
        )

    def _await_rejection(self, probe: ProbeWorkload) -> None:
        """Wait until the condition of a probe names its request, or a later one."""

        def refused() -> None:
            if probe.is_ignored:
                probe.request(self._another())
            probe.assert_observed(probe.asked)

        what = "Kueue's scheduler to try the fence's probes"
        self.informers.eventually(refused, within=self.limits.cycles, what=what)

    def _reobserve_all(self, refs: Iterable[Ref], own: Ref, change: Manifest) -> None:
        for ref in refs:
            reobserve(self.objects, ref, str(self._next()))
        generation = self._must_patch(own, {"spec": change})["metadata"]["generation"]

        def written() -> None:
            seen = seen_generation(self.informers.read(own) or {}, "Active")
            if seen != generation:
                raise NotYet(
                    f"{own} was observed at generation {seen}, not {generation}"
                )

        self.informers.eventually(
            written, within=self.limits.queues, what=f"Kueue's {own.kind} controller"
        )

    def _another(self) -> int:
        """Give a new amount; an odd one is printed without a unit."""
        return TOO_MUCH + 2 * self._next()

    def _create(self, role: str, *, queue: str) -> ProbeWorkload:
        ref = self._workload(f"{role}-{self._next()}")
        return ProbeWorkload(
            objects=self.objects, informers=self.informers, ref=ref
        ).create(self.labels, role, queue)

    def _must_patch(self, ref: Ref, change: Manifest) -> Manifest:
        return body_of(self.objects.patch(ref, change), f"change the fence's {ref}")

    def _chain_workload(self) -> Manifest:
        if not self._chained:
            found = self.informers.list(KUEUE, "Workload", self.name)
            self._chained = next(
                (
                    each["metadata"]["name"]
                    for each in found
                    if self._is_of_the_job(each)
                ),
                "",
            )
        return (
            self._chained and self.informers.read(self._workload(self._chained))
        ) or {}

    def _is_of_the_job(self, workload: Manifest) -> bool:
        return labels_of(workload).get(JOB_UID) == self._job_uid

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
    """Change an annotation, so that Kueue reconciles an object at once; with another ``mark`` each time."""
    objects.patch(ref, {"metadata": {"annotations": {LOOK_AGAIN: mark}}})
