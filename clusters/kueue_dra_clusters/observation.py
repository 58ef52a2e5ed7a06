"""One look at a live world, and what in it is still at odds with itself (Kueue v1beta2 status)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kueue_dra_clusters.applied_objects import AppliedObjects, queue_name
from kueue_dra_clusters.conditions import condition_of
from kueue_dra_clusters.fence_objects import KUEUE
from kueue_dra_clusters.informer import InformerCache
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.jobs import PRIORITY_LABEL
from kueue_dra_ref.api.labels import selects
from kueue_dra_ref.api.workloads import evictions, is_active
from kueue_dra_ref.target import Manifest, Ref

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """The Jobs and Workloads of a world at one moment."""

    jobs: list[Manifest]
    workloads: list[Manifest]
    unmade: frozenset[str] = frozenset()
    """The UIDs of Jobs for which Kueue makes no Workload: they lack their priority class, or live where it does not."""

    @classmethod
    def at(cls, mirror: InformerCache, world: AppliedObjects) -> Observation:
        """Read the Jobs that were applied, and the Workloads that were applied or belong to them."""
        jobs, workloads = [], []
        for namespace in world.namespaces if world.has_jobs else []:
            jobs += [
                job
                for job in mirror.list("batch/v1", "Job", namespace)
                if Ref.of(job) in world
            ]
            uids = {job["metadata"]["uid"] for job in jobs}
            workloads += [
                workload
                for workload in mirror.list(KUEUE, "Workload", namespace)
                if Ref.of(workload) in world or uids & owners_of(workload)
            ]
        alone = cls(jobs=jobs, workloads=workloads).alone
        unmade = (
            job
            for job in alone
            if _lacks_class(mirror, job) or not _is_selected(mirror, job, world)
        )
        return cls(
            jobs=jobs,
            workloads=workloads,
            unmade=frozenset(job["metadata"]["uid"] for job in unmade),
        )

    @property
    def versions(self) -> dict[Key, str]:
        """The resourceVersion of everything seen."""
        return {
            _key(found): found["metadata"]["resourceVersion"]
            for found in (*self.jobs, *self.workloads)
        }

    @property
    def pending(self) -> list[Manifest]:
        """The Workloads that neither hold quota nor are done."""
        return [
            found
            for found in self.workloads
            if not is_true(found, "QuotaReserved") and not is_true(found, "Finished")
        ]

    @property
    def is_undecided(self) -> bool:
        """Whether the scheduler or an eviction may still have something to do: something waits, or loses its quota."""
        return bool(self.pending) or any(
            is_true(found, "Evicted") for found in self.workloads
        )

    @property
    def without_conditions(self) -> list[Manifest]:
        """The pending Workloads that Kueue has said nothing about, or nothing since they became active or inactive."""
        return [
            found
            for found in self.pending
            if not condition_of(found, "QuotaReserved") or _is_outdated(found)
        ]

    @property
    def refused(self) -> list[Manifest]:
        """The pending Workloads whose devices could not be resolved."""
        return [
            found
            for found in self.pending
            if condition_of(found, "Requeued").get("reason") == "Inadmissible"
        ]

    @property
    def is_on_its_way(self) -> bool:
        """Whether something is to be expected: a first word to a Workload, or what `at_odds` names."""
        return bool(self.without_conditions) or any(self.inconsistencies())

    @property
    def is_all_in(self) -> bool:
        """Whether every Job has a Workload, all of them are admitted, and every Job runs: nothing is to follow."""
        admitted = all(
            is_true(found, "Admitted")
            and not is_true(found, "Evicted")
            and not is_true(found, "Finished")
            for found in self.workloads
        )
        return admitted and not self.alone and not any(self.inconsistencies())

    @property
    def alone(self) -> list[Manifest]:
        """The Jobs that own no Workload."""
        owned = {uid for workload in self.workloads for uid in owners_of(workload)}
        return [job for job in self.jobs if job["metadata"]["uid"] not in owned]

    @property
    def not_retried(self) -> list[Manifest]:
        """The Jobs that are to have a Workload and have none."""
        return [
            job
            for job in self.alone
            if job["metadata"]["uid"] not in self.unmade and _fault_of(job, None)
        ]

    def moved_since(self, earlier: Observation) -> list[str]:
        """Name what came, went or changed between two looks."""
        before, after = earlier.versions, self.versions
        return sorted(
            " ".join(key)
            for key in before.keys() | after.keys()
            if before.get(key) != after.get(key)
        )

    def freed_since(self, earlier: Observation) -> bool:
        """Whether quota can have come free between two looks: a reservation ended, or was taken away in between."""
        after = {_key(found): found for found in self.workloads}
        return any(
            _released(found, after.get(_key(found))) for found in earlier.workloads
        ) or any(
            evictions(found).total()
            for key, found in after.items()
            if key not in {_key(old) for old in earlier.workloads}
        )

    def inconsistencies(self) -> Iterator[str]:
        """Name each Job that does not follow its Workload yet, and each Workload that is to lose its quota."""
        for found in self.workloads:
            if holds_quota(found) and _is_to_be_evicted(found):
                yield f"Workload {found['metadata']['name']} is inactive, but not evicted"
        by_owner = {
            uid: workload for workload in self.workloads for uid in owners_of(workload)
        }
        for job in (
            job for job in self.jobs if job["metadata"]["uid"] not in self.unmade
        ):
            fault = _fault_of(job, by_owner.get(job["metadata"]["uid"]))
            if fault:
                yield f"Job {job['metadata']['name']} {fault}"


def _lacks_class(mirror: InformerCache, job: Manifest) -> bool:
    """Whether a Job names a priority class that is not there."""
    if name := (job["metadata"].get("labels") or {}).get(PRIORITY_LABEL):
        ref = Ref(api_version=KUEUE, kind="WorkloadPriorityClass", name=name)
    elif name := job["spec"]["template"]["spec"].get("priorityClassName"):
        ref = Ref(api_version="scheduling.k8s.io/v1", kind="PriorityClass", name=name)
    return bool(name) and mirror.read(ref) is None


def _is_selected(mirror: InformerCache, job: Manifest, world: AppliedObjects) -> bool:
    """Whether the Configuration has Kueue manage the Jobs of a namespace."""
    if not world.selector:
        return True
    namespace = mirror.read(
        Ref(api_version="v1", kind="Namespace", name=job["metadata"]["namespace"])
    )
    return namespace is None or selects(
        world.selector, namespace["metadata"].get("labels") or {}
    )


def owners_of(manifest: Manifest) -> set[str]:
    """Give the UIDs of an object's owners."""
    return {owner["uid"] for owner in manifest["metadata"].get("ownerReferences") or []}


def cluster_queue_of(workload: Manifest) -> str:
    """Name the ClusterQueue that a Workload is admitted to, or none."""
    return str(
        ((workload.get("status") or {}).get("admission") or {}).get("clusterQueue", "")
    )


def _fault_of(job: Manifest, workload: Manifest | None) -> str:
    suspended = bool(job["spec"].get("suspend"))
    if not queue_name(job) or job["metadata"].get("deletionTimestamp"):
        return ""
    if workload is None:
        return "has no Workload" if suspended else ""
    if is_true(workload, "Finished"):
        return ""
    if _is_done(job):
        return "is done, its Workload is not"
    if _is_to_be_released(workload, job):
        return "has no pods, but its evicted Workload keeps its quota"
    if is_true(workload, "Admitted") and not is_true(workload, "Evicted") and suspended:
        return "is admitted, but suspended"
    return (
        ""
        if is_true(workload, "Admitted") or suspended
        else "runs, but is not admitted"
    )


def holds_quota(workload: Manifest) -> bool:
    """Whether it has quota; a finished one keeps the condition, but not the quota."""
    return is_true(workload, "QuotaReserved") and not is_true(workload, "Finished")


def _is_to_be_evicted(workload: Manifest) -> bool:
    """Whether Kueue will evict it: until it has, the change may be waiting for a second try of a busy controller."""
    return not is_active(workload) and not is_true(workload, "Evicted")


def _is_to_be_released(workload: Manifest, job: Manifest) -> bool:
    """Whether Kueue will take its quota back: until it has, the Job controller may have been refused a write."""
    return (
        is_true(workload, "Evicted")
        and holds_quota(workload)
        and not (job.get("status") or {}).get("active")
    )


def _is_outdated(workload: Manifest) -> bool:
    """Whether what it is told is from before it became inactive, or active again."""
    deactivated = condition_of(workload, "Requeued").get("reason") == "Deactivated"
    return _is_to_be_evicted(workload) or (is_active(workload) and deactivated)


def _is_done(job: Manifest) -> bool:
    return is_true(job, "Complete") or is_true(job, "Failed")


def _released(before: Manifest, after: Manifest | None) -> bool:
    held = holds_quota(before)
    if after is None:
        return held
    ended = is_true(after, "Finished") and not is_true(
        before, "Finished"
    )  # it may have held quota in between
    return (
        ended
        or (held and not holds_quota(after))
        or evictions(after) != evictions(before)
    )


def _key(manifest: Manifest) -> Key:
    meta = manifest["metadata"]
    return manifest["kind"], meta.get("namespace", ""), meta["name"]
