"""What a Kueue has decided and not written yet, and what it has decided before it had heard of everything."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from kueue_dra_clusters.applied_objects import AppliedObjects
from kueue_dra_clusters.conditions import condition_of
from kueue_dra_clusters.fence import Fence
from kueue_dra_clusters.informer import TEMPLATE_VERSIONS, InformerCache
from kueue_dra_clusters.observation import (
    Observation,
    cluster_queue_of,
    holds_quota,
    owners_of,
)
from kueue_dra_ref.api.workloads import is_active
from kueue_dra_ref.target import Manifest, Ref

HOLDERS = re.compile(
    r'^kueue_reserving_active_workloads\{[^}]*cluster_queue="([^"]+)"[^}]*\} (\S+)$',
    re.MULTILINE,
)
"""How many Workloads the scheduler holds quota for in a ClusterQueue (all releases)."""
BUSY = re.compile(
    r'^(?:controller_runtime_active_workers|workqueue_depth)\{controller="(job|workload(?:_controller)?)"[^}]*\} [1-9]',
    re.MULTILINE,
)
"""A controller of Jobs or Workloads that has something in its hand, or in its queue (all releases)."""
NOT_FOUND = re.compile(
    r"ResourceClaimTemplate (\S+) in podset .* not found$", re.DOTALL
)
"""How a Workload is refused whose template Kueue knows nothing of (all releases)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InFlight:
    """Looks into Kueue's own books once everything else is at rest.

    The scheduler takes note of an admission at once, and has it written beside its next cycles: no cycle of the fence
    proves that it was.  And a controller whose write was refused lets the fence by before it tries again.
    """

    mirror: InformerCache
    world: AppliedObjects
    fence: Fence
    metrics: Callable[[], str] = lambda: ""
    """Gives Kueue's metrics; where it has none, the status of the queues is asked for."""

    def faults(self, look: Observation, *, for_long: bool = False) -> Iterator[str]:
        """While something waits, name each controller that is at work, and each ClusterQueue whose holders differ.

        Where everything is at rest ``for_long``, the holders are as they are: what Kueue holds quota for and is refused
        to write, over and over, agrees by chance only.
        """
        if look.pending:
            told = self.metrics()
            yield from (
                f"Kueue's controller {name} is at work"
                for name in sorted(set(BUSY.findall(told)))
            )
            if not for_long:
                yield from self._unwritten(look, told)

    def misjudged(self, look: Observation) -> Iterator[Manifest]:
        """Give each Workload of a Job that was refused for a template that was there before the Job.

        Kueue had not heard of the template.  It tries again at once, but does not say so where the Workload then waits
        for another one, and sweeps pass it over.
        """
        jobs = {job["metadata"]["uid"]: job for job in look.jobs}
        for found in look.refused:
            missed = NOT_FOUND.search(
                condition_of(found, "Requeued").get("message", "")
            )
            job = next((jobs[uid] for uid in owners_of(found) if uid in jobs), None)
            if (
                missed
                and job
                and self.world.precedes(_template(missed[1], job), Ref.of(job))
            ):
                yield found

    def _unwritten(self, look: Observation, told: str) -> Iterator[str]:
        shown = Counter(
            cluster_queue_of(found)
            for found in look.workloads
            if holds_quota(found) and is_active(found)
        )
        for name, held in self._holders(told).items():
            if held != shown[name]:
                yield f"Kueue holds quota for {held} Workloads in ClusterQueue {name}, {shown[name]} say so"

    def _holders(self, told: str) -> Mapping[str, int]:
        """Give how many hold quota in each ClusterQueue of the world that Kueue has counted."""
        queues = self.world.refs("ClusterQueue")
        if told:
            names = {ref.name for ref in queues}
            return {
                name: int(float(count))
                for name, count in HOLDERS.findall(told)
                if name in names
            }
        flat = [
            ref for ref in queues if not self.world.is_nested(ref.name)
        ]  # others sweep their tree at a touch
        self.fence.pass_queues(flat, ())
        stored = [
            each
            for each in map(self.mirror.read, flat)
            if each and "deletionTimestamp" not in each["metadata"]
        ]
        return {
            each["metadata"]["name"]: (each.get("status") or {}).get(
                "reservingWorkloads", 0
            )
            for each in stored
        }


def _template(name: str, work: Manifest) -> Ref:
    namespace = Ref.of(work).namespace
    return Ref(
        api_version=TEMPLATE_VERSIONS[0],
        kind="ResourceClaimTemplate",
        name=name,
        namespace=namespace,
    )
