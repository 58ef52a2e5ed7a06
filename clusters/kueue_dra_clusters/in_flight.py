"""Finds decisions that Kueue has not written yet, and decisions from an informer that was not up to date."""

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
    owner_uids,
)
from kueue_dra_ref.api.variants import is_parent
from kueue_dra_ref.target import Manifest, Ref

HOLDERS = re.compile(
    r'^kueue_reserving_active_workloads\{[^}]*cluster_queue="([^"]+)"[^}]*\} (\S+)$',
    re.MULTILINE,
)
"""The number of Workloads with quota reservation in a ClusterQueue (all releases)."""
_CONTROLLERS = "job|v1_pod|workload(?:_controller)?|concurrent-admission-controller"
BUSY = re.compile(
    rf'^(?:controller_runtime_active_workers|workqueue_depth)\{{controller="({_CONTROLLERS})"[^}}]*\}} [1-9]',
    re.MULTILINE,
)
"""A controller of Jobs, pods or Workloads that reconciles something, or has something in its queue (all releases)."""
NOT_FOUND = re.compile(
    r"ResourceClaimTemplate (\S+) in podset .* not found$", re.DOTALL
)
"""The message of a Workload whose template Kueue does not find (all releases)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InFlight:
    """Reads Kueue's own metrics once everything else has settled.

    The scheduler records an admission in its cache at once, and writes it while its next cycles run: no cycle of the
    fence proves that it was written.  And a controller whose write failed may reconcile the fence before it retries.
    """

    informers: InformerCache
    applied: AppliedObjects
    fence: Fence
    metrics: Callable[[], str] = lambda: ""
    """Gives Kueue's metrics; without any, `faults` reads the status of the queues."""

    def faults(self, look: Observation, *, for_long: bool = False) -> Iterator[str]:
        """While a workload is pending, name each busy controller, and each ClusterQueue whose reservations differ.

        If nothing has changed ``for_long``, ignore the reservations: if the API server rejects an admission, Kueue
        retries it in every cycle, so the counts agree only for a moment.
        """
        if look.pending:
            metrics = self.metrics()
            for name in sorted(set(BUSY.findall(metrics))):
                yield f"Kueue's controller {name} is at work"
            if not for_long:
                yield from self._unwritten(look, metrics)

    def rejected_too_early(self, look: Observation) -> Iterator[Manifest]:
        """Give each Workload of a Job that Kueue rejected for a missing template, although it is older than the Job.

        Kueue's informer did not have the template.  Kueue retries at once, but if the Workload is then pending for
        another reason, its condition does not change, and requeues skip it.
        """
        jobs = {job["metadata"]["uid"]: job for job in look.jobs}
        for found in look.refused:
            message = condition_of(found, "Requeued").get("message", "")
            missing = NOT_FOUND.search(message)
            job = next((jobs[uid] for uid in owner_uids(found) if uid in jobs), None)
            if missing and job:
                template = _template(missing[1], job)
                if self.applied.precedes(template, Ref.of(job)):
                    yield found

    def _unwritten(self, look: Observation, metrics: str) -> Iterator[str]:
        shown: Counter[str] = Counter()
        for found in look.charged:
            if not is_parent(found):
                shown[cluster_queue_of(found)] += 1
        for name, held in self._holders(metrics).items():
            if held != shown[name]:
                yield f"Kueue holds quota for {held} Workloads in ClusterQueue {name}, {shown[name]} have the condition"

    def _holders(self, metrics: str) -> Mapping[str, int]:
        """Give the number of Workloads with quota reservation in each applied ClusterQueue."""
        queues = self.applied.refs("ClusterQueue")
        if metrics:
            return _reservations_in(metrics, {ref.name for ref in queues})
        # An update of a queue in a nested cohort requeues the workloads of the whole tree.
        flat = [ref for ref in queues if not self.applied.is_nested(ref.name)]
        self.fence.pass_queues(flat, ())
        found = {}
        for queue in map(self.informers.read, flat):
            if queue and "deletionTimestamp" not in queue["metadata"]:
                status = queue.get("status") or {}
                found[queue["metadata"]["name"]] = status.get("reservingWorkloads", 0)
        return found


def _reservations_in(metrics: str, names: set[str]) -> Mapping[str, int]:
    found = {}
    for name, count in HOLDERS.findall(metrics):
        if name in names:
            found[name] = int(float(count))
    return found


def _template(name: str, work: Manifest) -> Ref:
    namespace = Ref.of(work).namespace
    return Ref(
        api_version=TEMPLATE_VERSIONS[0],
        kind="ResourceClaimTemplate",
        name=name,
        namespace=namespace,
    )
