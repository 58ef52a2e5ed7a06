"""Creates Jobs in an order that Kueue observes: creation times are whole seconds, and each kind has its own watch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.applied_objects import AppliedObjects
from kueue_dra_clusters.conditions import condition_of
from kueue_dra_clusters.fence_objects import KUEUE
from kueue_dra_clusters.group_stateful_sets import between
from kueue_dra_clusters.informer import InformerCache
from kueue_dra_clusters.observation import owner_uids
from kueue_dra_clusters.pod_groups import group_of
from kueue_dra_clusters.waiting import (
    NotYet,
    TimedOut,
    WaitLimits,
    eventually,
    let_second_pass,
)
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.job_kinds import JOB_KINDS, POD, SUBMITTED
from kueue_dra_ref.api.pod_owners import (
    DEPLOYMENT,
    POD_OWNERS,
    is_pod_of,
    replicas_of,
)
from kueue_dra_ref.target import Manifest, Ref

QUEUES = ("ClusterQueue", "LocalQueue")
RESERVED = "QuotaReserved"


@dataclass(slots=True, kw_only=True)
class CreationOrder:
    """Delays each Job until Kueue has observed its queues and templates, and the last Job is a second older."""

    objects: APIClient
    informers: InformerCache
    applied: AppliedObjects
    limits: WaitLimits = field(default_factory=WaitLimits)
    _last: dict[str, Ref] = field(default_factory=dict)
    _new_queues: list[Ref] = field(default_factory=list)
    _new_templates: list[Ref] = field(default_factory=list)

    def before(self, manifest: Manifest) -> None:
        """Wait until a Job or Workload may be created; other objects may be at once."""
        ref = Ref.of(manifest)
        if (
            manifest["kind"] in SUBMITTED
            and ref not in self.applied
            and self.informers.read(ref) is None
        ):
            self._await_queues()
            self._await_templates()
            self._await_second(self._last.get(self.applied.tree_of(manifest)))

    def created(self, manifest: Manifest) -> None:
        """Record an object that was created."""
        ref = Ref.of(manifest)
        if ref.kind in QUEUES:
            self._new_queues.append(ref)
        if ref.kind == "ResourceClaimTemplate":
            self._new_templates.append(ref)
        if ref.kind in SUBMITTED and (line := self.applied.tree_of(manifest)):
            self._last[line] = ref

    def clear(self) -> None:
        """Forget everything."""
        self._last.clear()
        self._new_queues.clear()
        self._new_templates.clear()

    def _await_queues(self) -> None:
        """Wait until Kueue has observed new queues, so that it decides about a Job with all queues in view."""

        def noticed() -> None:
            while self._new_queues:
                stored = self.informers.read(self._new_queues[0])
                if stored and not (stored.get("status") or {}).get("conditions"):
                    raise NotYet(f"{self._new_queues[0]} has no condition")
                self._new_queues.pop(0)

        self.informers.eventually(
            noticed,
            within=self.limits.queues,
            what="Kueue to observe the queues",
        )

    def _await_templates(self) -> None:
        """Wait until the informer has new templates: a Job that is rejected at once may stay inadmissible for ever.

        Kueue retries it within milliseconds, but later requeues skip it (QUEUE-034).
        """
        while self._new_templates:
            self.informers.read(self._new_templates.pop())

    def _await_second(self, last: Ref | None) -> None:
        if last is None:
            return
        try:
            made = self.informers.eventually(
                lambda: self._second_of(last),
                within=self.limits.workload,
                what=f"the Workload of {last}",
            )
        except TimedOut:
            return  # Kueue creates no Workload for it, so the order does not matter

        let_second_pass(made)  # by this machine's clock; then by the cluster's own

        def later() -> None:
            if self.objects.now() <= made:
                raise NotYet(f"the cluster's clock still shows second {made}")

        eventually(
            later,
            within=self.limits.request,
            every=0.02,
            what="the next second of the cluster's clock",
        )

    def _second_of(self, ref: Ref) -> int:
        """Give the second in which a Workload was created or reserved quota, the later one: Kueue orders by both."""
        is_workload = ref.kind == "Workload"
        refs = [ref] if is_workload else workloads_of(self.informers, ref)
        found = [each for each in map(self.informers.read, refs) if each]
        stored = self.informers.read(ref)
        if stored is not None and not found:
            if self._expects_workload(stored):
                raise NotYet(f"{ref} has no Workload")
            found = [stored]
        stamps = []
        for workload in found:
            stamps.append(workload["metadata"]["creationTimestamp"])
            if is_true(workload, RESERVED):
                stamps.append(condition_of(workload, RESERVED)["lastTransitionTime"])
        return max(
            (int(datetime.fromisoformat(stamp).timestamp()) for stamp in stamps),
            default=0,
        )

    def _expects_workload(self, stored: Manifest) -> bool:
        """Whether Kueue creates a Workload of stored work by itself, whatever else there is."""
        owner = POD_OWNERS.get(stored["kind"])
        if owner is None:
            return not group_of(stored)
        if owner is DEPLOYMENT or not replicas_of(stored):
            return False
        return owner.framework in self.applied.frameworks


def dependents_of(informers: InformerCache, ref: Ref) -> Sequence[Ref]:
    """Give what to delete together with work; the Workload of pods may have others that own it."""
    if ref.kind == POD.name:
        return ()
    workloads = workloads_of(informers, ref)
    if ref.kind not in POD_OWNERS:
        return workloads
    owner = informers.read(ref)
    if owner is None:
        return ()
    pods = informers.list("v1", POD.name, ref.namespace)
    own = [Ref.of(pod) for pod in pods if is_pod_of(owner, pod)]
    return [*own, *workloads, *between(ref)]


def with_variants(
    informers: InformerCache, workloads: Sequence[Ref], namespace: str
) -> Sequence[Ref]:
    """Give Workloads, and the variants that they own."""
    found = informers.list(KUEUE, "Workload", namespace)
    uids = {each["metadata"]["uid"] for each in found if Ref.of(each) in workloads}
    owned = [Ref.of(each) for each in found if uids.intersection(owner_uids(each))]
    return [*workloads, *owned]


def workloads_of(informers: InformerCache, ref: Ref) -> Sequence[Ref]:
    """Give the Workloads that stored work owns; none for other kinds."""
    is_work = ref.kind in JOB_KINDS or ref.kind in POD_OWNERS
    job = informers.read(ref) if is_work else None
    if job is None:
        return []
    workloads = informers.list(KUEUE, "Workload", ref.namespace)
    return [
        Ref.of(each) for each in workloads if job["metadata"]["uid"] in owner_uids(each)
    ]
