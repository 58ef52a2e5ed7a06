"""An order that Kueue can see: seconds are whole, a second is ordered by UID, and each kind has a watch of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.applied_objects import JOBS, AppliedObjects
from kueue_dra_clusters.conditions import condition_of
from kueue_dra_clusters.fence_objects import KUEUE
from kueue_dra_clusters.informer import InformerCache
from kueue_dra_clusters.observation import owners_of
from kueue_dra_clusters.waiting import (
    NotYet,
    TimedOut,
    WaitLimits,
    eventually,
    let_second_pass,
)
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.target import Manifest, Ref

QUEUES = ("ClusterQueue", "LocalQueue")
RESERVED = "QuotaReserved"


@dataclass(slots=True, kw_only=True)
class CreationOrder:
    """Holds each Job back until Kueue knows its queues and templates, and the clock has moved on since the last one."""

    objects: APIClient
    mirror: InformerCache
    world: AppliedObjects
    limits: WaitLimits = field(default_factory=WaitLimits)
    _last: dict[str, Ref] = field(default_factory=dict)
    _new_queues: list[Ref] = field(default_factory=list)
    _new_templates: list[Ref] = field(default_factory=list)

    def before(self, manifest: Manifest) -> None:
        """Return when a Job or Workload may be created; anything else may be at once."""
        ref = Ref.of(manifest)
        if (
            manifest["kind"] in JOBS
            and ref not in self.world
            and self.mirror.read(ref) is None
        ):
            self._await_queues()
            self._await_templates()
            self._await_second(self._last.get(self.world.line_of(manifest)))

    def created(self, manifest: Manifest) -> None:
        """Take note of an object that was created."""
        ref = Ref.of(manifest)
        if ref.kind in QUEUES:
            self._new_queues.append(ref)
        if ref.kind == "ResourceClaimTemplate":
            self._new_templates.append(ref)
        if ref.kind in JOBS and (line := self.world.line_of(manifest)):
            self._last[line] = ref

    def clear(self) -> None:
        """Forget everything."""
        self._last.clear()
        self._new_queues.clear()
        self._new_templates.clear()

    def _await_queues(self) -> None:
        """Let Kueue take notice of new queues first, so that no Job is judged by half of what was applied."""

        def noticed() -> None:
            while self._new_queues:
                stored = self.mirror.read(self._new_queues[0])
                if stored and not (stored.get("status") or {}).get("conditions"):
                    raise NotYet(f"{self._new_queues[0]} has no condition")
                self._new_queues.pop(0)

        self.mirror.eventually(
            noticed,
            within=self.limits.queues,
            what="Kueue to take notice of the queues",
        )

    def _await_templates(self) -> None:
        """Let new templates be told to who watches them first: a Job that is refused at once may be held back for ever.

        Kueue tries it again within milliseconds, but then sweeps pass it over (QUEUE-034).
        """
        while self._new_templates:
            self.mirror.read(self._new_templates.pop())

    def _await_second(self, last: Ref | None) -> None:
        if last is None:
            return
        try:
            made = self.mirror.eventually(
                lambda: self._second_of(last),
                within=self.limits.workload,
                what=f"the Workload of {last}",
            )
        except TimedOut:
            return  # Kueue makes none for it, so there is nothing to come after

        let_second_pass(
            made
        )  # most clusters agree with this machine's clock; the cluster's own is asked all the same

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
        """Give the second in which the Workload was made, of a Job its own, or got its quota: Kueue orders by both."""
        refs = workloads_of(self.mirror, ref) if ref.kind == "Job" else [ref]
        found = [workload for each in refs if (workload := self.mirror.read(each))]
        if not found and self.mirror.read(ref) is not None:
            raise NotYet(f"{ref} has no Workload")
        stamps = [each["metadata"]["creationTimestamp"] for each in found]
        stamps += [
            condition_of(each, RESERVED)["lastTransitionTime"]
            for each in found
            if is_true(each, RESERVED)
        ]
        return max(
            (int(datetime.fromisoformat(stamp).timestamp()) for stamp in stamps),
            default=0,
        )


def workloads_of(mirror: InformerCache, ref: Ref) -> Sequence[Ref]:
    """Name the Workloads that a stored Job owns; none for anything else."""
    job = mirror.read(ref) if ref.kind == "Job" else None
    if job is None:
        return []
    workloads = mirror.list(KUEUE, "Workload", ref.namespace)
    return [
        Ref.of(each) for each in workloads if job["metadata"]["uid"] in owners_of(each)
    ]
