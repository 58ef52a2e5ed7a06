"""Deletes the objects of a case in an order in which no object blocks another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.applied_objects import AppliedObjects
from kueue_dra_clusters.fence import reobserve
from kueue_dra_clusters.fence_objects import KUEUE
from kueue_dra_clusters.group_stateful_sets import between
from kueue_dra_clusters.informer import InformerCache
from kueue_dra_clusters.observation import (
    Observation,
    cluster_queue_of,
    holds_quota,
    owner_uids,
)
from kueue_dra_clusters.pod_groups import group_of, lost_pods
from kueue_dra_clusters.waiting import NotYet, TimedOut, WaitLimits, moment_now
from kueue_dra_ref.api.admission_checks import ADMISSION_CHECK, checks_named_by
from kueue_dra_ref.api.cluster_queues import flavors_named_by
from kueue_dra_ref.api.job_kinds import JOB_KINDS, POD, SUBMITTED
from kueue_dra_ref.api.metadata import owners_of
from kueue_dra_ref.api.pod_owners import POD_OWNERS
from kueue_dra_ref.api.queued_pods import has_finalizer
from kueue_dra_ref.api.topologies import TOPOLOGY
from kueue_dra_ref.api.variants import is_variant
from kueue_dra_ref.api.workloads import is_active
from kueue_dra_ref.target import Manifest, Ref

NAMESPACE = "Namespace"
FLAVOR = "ResourceFlavor"

_OWNERS = (JOB_KINDS.keys() | POD_OWNERS.keys() | {"Workload"}) - {POD.name}
"""The kinds of what its Workloads go with: work, and parents of variants; those of pods go with the last of these."""

DEFAULT_CLASS = ("WorkloadPriorityClass", "default")
"""The kind and the name of the class that Kueue gives to Jobs without one, from 0.20 on by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleanup:
    """Deletes objects and waits until they are gone.

    ``finalizes`` is set if no namespace controller runs, so that this class finalizes namespaces.  A namespace
    controller takes some five seconds for each namespace, so only `finish` waits for it.  Objects of the kinds in
    ``leaves`` are not deleted, in a cluster that ends with the run.
    """

    objects: APIClient
    informers: InformerCache
    limits: WaitLimits = field(default_factory=WaitLimits)
    finalizes: bool = True
    leaves: frozenset[str] = frozenset()
    _going: list[Ref] = field(default_factory=list)
    _kept: dict[Ref, str] = field(default_factory=dict)
    """Deleted objects that exist as long as they are in use, with their UIDs."""
    _deleted_jobs: set[str] = field(default_factory=set)
    """The UIDs of deleted Jobs, and of other work that owned Workloads."""

    def clean(self, applied: AppliedObjects) -> None:
        """Delete the applied objects; `TimedOut` names those that still exist, which then stay recorded."""
        look = Observation.at(self.informers, applied)
        work = [*look.jobs, *look.workloads]
        refs = [Ref.of(each) for each in work]
        self._let_go(look.jobs)
        self.remove(refs)
        self.collect_orphans()
        rest = [ref for ref in reversed(applied.refs()) if not self._is_skipped(ref)]
        named = [*_of_kind(FLAVOR, rest), *_of_kind(ADMISSION_CHECK, rest)]
        topologies = _of_kind(TOPOLOGY, rest)
        namespaces = _of_kind(NAMESPACE, rest)
        self.remove(self._left_in(namespaces))
        rest += self._between(rest)
        last = {*named, *topologies, *namespaces}
        self.remove([ref for ref in rest if ref not in last])
        for ref in self._kept:
            # Kueue loses track of some flavors (see docs/explanation/differences.md).
            now = str(moment_now())
            reobserve(self.objects, ref, now)
        self.remove(named)
        self.remove(topologies)
        self.collect_orphans()
        self._remove_namespaces(namespaces)
        self._kept.clear()
        applied.clear()

    def _is_skipped(self, ref: Ref) -> bool:
        """Whether an object is gone already, or may stay; a default priority class is given to every later Job."""
        if (ref.kind, ref.name) == DEFAULT_CLASS:
            return False
        return ref.kind in (SUBMITTED - POD_OWNERS.keys()) | self.leaves

    def _between(self, refs: Sequence[Ref]) -> list[Ref]:
        """Name what was created between LeaderWorkerSets and their pods, where no controller removes it."""
        if not self.finalizes:
            return []
        found = []
        for ref in refs:
            found += between(ref)
        return found

    def _let_go(self, jobs: Sequence[Manifest]) -> None:
        """Remove the finalizers of pods: Kueue keeps those of a group, deleted or not, until others replace them."""
        bare = {"metadata": {"finalizers": None}}
        for job in jobs:
            if job["kind"] != POD.name:
                continue
            if has_finalizer(job):
                ref = Ref.of(job)
                self.objects.patch(ref, bare)

    def collect_orphans(self) -> bool:
        """Delete each Workload of a deleted Job, and wait until they are gone; True if there was one.

        Kueue may create it after the Job was deleted, and takes it for the Workload of a later Job of that name.
        """
        orphans = self._orphans()
        self.remove(orphans)
        variants = self._orphans() if orphans else []
        self.remove(variants)
        return bool(orphans)

    def _orphans(self) -> list[Ref]:
        """Name each Workload that the garbage collector deletes, where one runs.

        Pods are looked for only in a cluster of our own: elsewhere a Workload may be new, and its pods not seen yet.
        """
        orphans = []
        for workload in self.informers.list(KUEUE, "Workload"):
            is_orphan = owner_uids(workload) & self._deleted_jobs
            is_lost = self.finalizes and self._has_lost_owner(workload)
            if is_orphan or is_lost:
                ref = Ref.of(workload)
                orphans.append(ref)
        return orphans

    def _left_in(self, namespaces: Sequence[Ref]) -> list[Ref]:
        """Name the Workloads that are still there; up to Kueue 0.17 a StatefulSet without replicas owns none."""
        names = {ref.name for ref in namespaces}
        found = map(Ref.of, self.informers.list(KUEUE, "Workload"))
        return [ref for ref in found if ref.namespace in names]

    def _has_lost_owner(self, workload: Manifest) -> bool:
        """Whether the pods of a Workload are gone, or the work that Kueue has deactivated, and deleted since."""
        if lost_pods(self.informers, workload):
            return True
        owners = owners_of(workload)
        if is_active(workload) and not is_variant(workload):
            return False
        return any(self._is_gone(owner, workload) for owner in owners)

    def _is_gone(self, owner: Manifest, workload: Manifest) -> bool:
        """Whether work does not exist any more that owns a Workload."""
        if owner["kind"] not in _OWNERS:
            return False
        namespace = workload["metadata"]["namespace"]
        ref = Ref(
            api_version=owner["apiVersion"],
            kind=owner["kind"],
            name=owner["name"],
            namespace=namespace,
        )
        return self.informers.watches(ref) and not self._exists(
            ref, {ref: owner["uid"]}
        )

    def _remove_namespaces(self, namespaces: Sequence[Ref]) -> None:
        if self.finalizes:
            self.remove(namespaces)
            return
        for ref in namespaces:
            if not self._delete(ref):
                self._going.append(ref)

    def finish(self) -> None:
        """Wait until the deleted namespaces are gone; `TimedOut` names those that are not."""
        within = self.limits.gone + len(self._going)
        self._await_gone(self._going, within=within)
        self._going.clear()

    def remove(self, refs: Sequence[Ref], *, entirely: bool = True) -> None:
        """Delete objects and wait until they are gone, or if not ``entirely`` those that are not in use."""
        uids = self._uids(refs)
        going = []
        for ref in refs:
            if ref.kind in _OWNERS:
                self._deleted_jobs.add(uids[ref])
            if not self._delete(ref) or self.informers.watches(ref):
                going.append(ref)
        self._await_gone(going, within=self.limits.gone, entirely=entirely, uids=uids)
        if entirely:
            return
        for ref in going:
            if self._exists(ref, uids):
                self._kept[ref] = uids.get(ref, "")

    def _uids(self, refs: Sequence[Ref]) -> dict[Ref, str]:
        """Give the UIDs of the objects that the informers watch."""
        uids = {}
        for ref in refs:
            if self.informers.watches(ref):
                stored = self.informers.read(ref) or {}
                uids[ref] = _meta(stored).get("uid", "")
        return uids

    def keeps(self, ref: Ref) -> bool:
        """Whether an object was deleted, and exists as long as it is in use."""
        return ref in self._kept

    def released(self) -> list[Ref]:
        """Give the kept objects that are gone by now, after those are gone that are not in use any more.

        It does not fail for a flavor that remains.
        """
        kept, limits = self._kept, self.limits
        flavors = _of_kind(FLAVOR, kept)
        others = [ref for ref in kept if ref.kind != FLAVOR]
        self._await_gone(others, within=limits.gone, entirely=False, uids=kept)
        with suppress(TimedOut):
            within = limits.disagreement
            self._await_gone(flavors, within=within, entirely=False, uids=kept)
        gone = [ref for ref in kept if not self._exists(ref, kept)]
        for ref in gone:
            del self._kept[ref]
        return gone

    def _await_gone(
        self,
        refs: Sequence[Ref],
        *,
        within: float,
        entirely: bool = True,
        uids: Mapping[Ref, str] | None = None,
    ) -> None:
        def gone() -> None:
            # Kueue may create and admit a Workload of a deleted Job, which keeps its queue.
            for orphan in self._orphans():
                self._delete(orphan)
            left = [ref for ref in refs if self._exists(ref, uids or {})]
            if not entirely:
                left = [ref for ref in left if not self._is_in_use(ref)]
            if left:
                names = ", ".join(map(str, left))
                raise NotYet(f"still there: {names}")

        self.informers.eventually(
            gone, within=within, what="deleted objects to be gone"
        )

    def _exists(self, ref: Ref, uids: Mapping[Ref, str]) -> bool:
        """Whether an object exists, not only another one of its name, as Kueue creates Workloads again."""
        stored = self.informers.read(ref)
        if stored is None:
            return False
        uid = uids.get(ref, "")
        return not uid or _meta(stored)["uid"] == uid

    def _delete(self, ref: Ref) -> bool:
        """Delete an object; whether it is gone already according to the answer."""
        answer = self.objects.delete(ref)
        if ref.kind == NAMESPACE and self.finalizes and answer.ok:
            finalized = {**answer.body, "spec": {"finalizers": []}}
            return self.objects.replace(finalized, subresource="finalize").ok
        if answer.ok:
            return "deletionTimestamp" not in _meta(answer.body)
        return answer.code == HTTPStatus.NOT_FOUND

    def _is_in_use(self, ref: Ref) -> bool:
        """Whether a finalizer of Kueue keeps a deleted object: a queue with admitted work, a flavor, a check.

        Up to Kueue 0.18 the status of a deleted ClusterQueue does not show it.
        """
        if ref.kind == "ClusterQueue":
            workloads = self.informers.list(KUEUE, "Workload")
            holding = filter(holds_quota, workloads)
            return any(cluster_queue_of(each) == ref.name for each in holding)
        if ref.kind == POD.name:
            pod = self.informers.read(ref)
            if pod is None:
                return False
            return bool(group_of(pod))
        if ref.kind == FLAVOR:
            queues = self.informers.list(KUEUE, "ClusterQueue")
            return any(ref.name in flavors_named_by(queue) for queue in queues)
        if ref.kind == ADMISSION_CHECK:
            queues = self.informers.list(KUEUE, "ClusterQueue")
            return any(ref.name in checks_named_by(queue) for queue in queues)
        return ref.kind == TOPOLOGY and self._is_named(ref.name)

    def _is_named(self, topology: str) -> bool:
        """Whether a flavor names a topology."""
        for flavor in self.informers.list(KUEUE, FLAVOR):
            spec = flavor.get("spec") or {}
            if spec.get("topologyName") == topology:
                return True
        return False


def _of_kind(kind: str, refs: Iterable[Ref]) -> list[Ref]:
    return [ref for ref in refs if ref.kind == kind]


def _meta(body: Manifest) -> Manifest:
    found: Manifest = body.get("metadata") or {}
    return found
