"""The Jobs and Workloads of a live target at one moment, and their inconsistencies (Kueue v1beta2 status)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kueue_dra_clusters.applied_objects import AppliedObjects, queue_name
from kueue_dra_clusters.conditions import condition_of
from kueue_dra_clusters.fence_objects import KUEUE
from kueue_dra_clusters.informer import InformerCache
from kueue_dra_clusters.pod_groups import PodGroups, group_of
from kueue_dra_clusters.pod_owners import PodOwners, owners_in
from kueue_dra_clusters.reclaimed_pods import has_fewer, reports_fewer
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.elastic_work import ELASTIC, annotation, in_chain
from kueue_dra_ref.api.job_kinds import (
    JOB,
    JOB_KINDS,
    POD,
    is_suspended,
    pod_set_places,
    pod_sets_of,
    priority_class_of,
)
from kueue_dra_ref.api.job_kinds import is_active as is_job_active
from kueue_dra_ref.api.jobs import PRIORITY_LABEL
from kueue_dra_ref.api.labels import selects
from kueue_dra_ref.api.metadata import labels_of, owners_of
from kueue_dra_ref.api.ownership import owner_chain
from kueue_dra_ref.api.queued_pods import is_gated, prebuilt_name
from kueue_dra_ref.api.ray_kinds import RAY_JOB, is_invalid, uses_existing_cluster
from kueue_dra_ref.api.workloads import admission_of, evictions, is_active
from kueue_dra_ref.target import Manifest, Ref

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """The Jobs and Workloads of the applied objects at one moment."""

    jobs: list[Manifest]
    workloads: list[Manifest]
    without_workload_uids: frozenset[str] = frozenset()
    """The UIDs of Jobs without a Workload: their priority class is missing, or Kueue does not manage the namespace."""
    owners: Sequence[Manifest] = ()
    """The work whose pods are queued."""
    ancestors: Mapping[str, str] = field(default_factory=dict)
    """By the UID of work that belongs to other work that Kueue manages, the UID of that."""
    frameworks: frozenset[str] = frozenset()
    """The frameworks that the Configuration names: Kueue suspends running work of these, and creates its Workload."""

    @classmethod
    def at(cls, informers: InformerCache, applied: AppliedObjects) -> Observation:
        """Read the Jobs that were applied, and the Workloads that were applied or belong to them."""
        jobs: list[Manifest] = []
        workloads: list[Manifest] = []
        owners: list[Manifest] = []
        for namespace in applied.namespaces if applied.has_jobs else []:
            jobs += _jobs_in(informers, applied, namespace)
            owners += owners_in(informers, applied, namespace)
            uids = _uids([*jobs, *owners])
            workloads += _workloads_in(informers, applied, namespace, uids)
        alone = cls(jobs=jobs, workloads=workloads).alone
        unmade = [job for job in alone if not _gets_workload(informers, job, applied)]
        ancestors = {}
        for job in unmade:
            if ancestor := _ancestor_of(job, informers, applied):
                ancestors[job["metadata"]["uid"]] = ancestor["metadata"]["uid"]
        return cls(
            ancestors=ancestors,
            jobs=jobs,
            workloads=workloads,
            owners=owners,
            without_workload_uids=frozenset(_uids(unmade)),
            frameworks=applied.frameworks,
        )

    @property
    def charged(self) -> list[Manifest]:
        """The Workloads that hold quota: a deactivated one does not, even if no job of its takes its condition off."""
        return [
            found for found in self.workloads if holds_quota(found) and is_active(found)
        ]

    @property
    def versions(self) -> dict[Key, str]:
        """The resourceVersion of each object."""
        return {
            _key(found): found["metadata"]["resourceVersion"]
            for found in (*self.jobs, *self.workloads)
        }

    @property
    def pending(self) -> list[Manifest]:
        """The Workloads that neither hold quota nor are finished."""
        return [
            found
            for found in self.workloads
            if not is_true(found, "QuotaReserved") and not is_true(found, "Finished")
        ]

    @property
    def is_undecided(self) -> bool:
        """Whether the scheduler or an eviction may still change something: a Workload is pending or evicted."""
        return bool(self.pending) or any(
            is_true(found, "Evicted") for found in self.workloads
        )

    @property
    def without_conditions(self) -> list[Manifest]:
        """The pending Workloads without a condition, or with one from before they became active or inactive."""
        return [
            found
            for found in self.pending
            if not condition_of(found, "QuotaReserved") or _is_outdated(found)
        ]

    @property
    def refused(self) -> list[Manifest]:
        """The pending Workloads that Kueue rejected for their devices."""
        return [
            found
            for found in self.pending
            if condition_of(found, "Requeued").get("reason") == "Inadmissible"
        ]

    @property
    def is_change_expected(self) -> bool:
        """Whether a change is expected: a first condition of a Workload, or the end of an inconsistency."""
        return bool(self.without_conditions) or any(self.inconsistencies())

    @property
    def is_all_admitted(self) -> bool:
        """Whether every Job has a Workload, all of them are admitted, and every Job runs, so that nothing follows."""
        admitted = all(
            is_true(found, "Admitted")
            and not is_true(found, "Evicted")
            and not is_true(found, "Finished")
            for found in self.workloads
        )
        alone = [job for job in self.alone if not group_of(job)]
        if alone or self._groups.has_conflict(self.workloads):
            return False
        return admitted and not any(self.inconsistencies())

    @property
    def alone(self) -> list[Manifest]:
        """The Jobs that own no Workload."""
        owned = {uid for workload in self.workloads for uid in owner_uids(workload)}
        return [job for job in self.jobs if job["metadata"]["uid"] not in owned]

    @property
    def without_workload(self) -> list[Manifest]:
        """The Jobs that Kueue manages and that have no Workload."""
        return [
            job
            for job in self.alone
            if job["metadata"]["uid"] not in self.without_workload_uids
            and not group_of(job)
            and self._fault_of(job, None)
        ]

    def moved_since(self, earlier: Observation) -> list[str]:
        """Name the objects that were created, deleted or changed between two observations."""
        before, after = earlier.versions, self.versions
        return sorted(
            " ".join(key)
            for key in before.keys() | after.keys()
            if before.get(key) != after.get(key)
        )

    def freed_since(self, earlier: Observation) -> bool:
        """Whether quota may have been released between two observations: a reservation ended or was evicted."""
        after = {_key(found): found for found in self.workloads}
        return any(
            _released(found, after.get(_key(found))) for found in earlier.workloads
        ) or any(
            evictions(found).total()
            for key, found in after.items()
            if key not in {_key(old) for old in earlier.workloads}
        )

    def inconsistencies(self) -> Iterator[str]:
        """Name each Job that does not match its Workload yet, and each Workload that Kueue has to evict."""
        for found in self.workloads:
            if holds_quota(found) and _is_to_be_evicted(found):
                yield f"Workload {found['metadata']['name']} is inactive, but not evicted"
        by_owner = self._by_owner
        yield from self._groups.faults(self.workloads)
        yield from self._faults_of_owners()
        yield from self._running_too_early(by_owner)
        yield from self._gated_too_long()
        for job in self.jobs:
            uid = job["metadata"]["uid"]
            if uid in self.without_workload_uids or group_of(job):
                continue
            fault = self._fault_of(job, by_owner.get(uid))
            if fault:
                yield f"{job['kind']} {job['metadata']['name']} {fault}"

    @property
    def _by_owner(self) -> dict[str, Manifest]:
        """Give the Workload that counts for each owner: of elastic work the newest one that is not finished."""
        found: dict[str, Manifest] = {}
        for workload in in_chain(self.workloads):
            for uid in owner_uids(workload):
                if uid not in found or not is_true(workload, "Finished"):
                    found[uid] = workload
        return found

    def _faults_of_owners(self) -> Iterator[str]:
        by_owner: dict[str, list[Manifest]] = {}
        for workload in self.workloads:
            for uid in owner_uids(workload):
                by_owner.setdefault(uid, []).append(workload)
        owners = PodOwners(owners=self.owners, frameworks=self.frameworks)
        yield from owners.faults(self.jobs, by_owner)

    @property
    def _groups(self) -> PodGroups:
        return PodGroups.among(self.jobs)

    def _newest_of(self, uid: str) -> Manifest | None:
        """Give the newest Workload of elastic work, finished or not."""
        own = [each for each in self.workloads if uid in owner_uids(each)]
        return in_chain(own)[-1] if own else None

    def _gated_too_long(self) -> Iterator[str]:
        """Name the elastic work whose pods Kueue has yet to start."""
        for workload in self.workloads:
            if not annotation(workload, ELASTIC):
                continue
            uids = owner_uids(workload)
            pods = [each for each in self.jobs if uids & owner_uids(each)]
            if fault := _gated_pods_fault(workload, pods):
                yield f"Workload {workload['metadata']['name']} {fault}"

    def _running_too_early(self, by_owner: Mapping[str, Manifest]) -> Iterator[str]:
        """Name the work that Kueue has yet to suspend, because the work that owns it is not admitted."""
        for job in self.jobs:
            ancestor = self.ancestors.get(job["metadata"]["uid"])
            if ancestor and _runs_too_early(job, by_owner.get(ancestor)):
                yield f"{job['kind']} {job['metadata']['name']} runs before its owner"

    def _can_own(self, job: Manifest) -> bool:
        """Whether the Workload that work names exists, and nothing owns it."""
        wanted = job["metadata"]["namespace"], prebuilt_name(job)
        for workload in self.workloads:
            meta = workload["metadata"]
            if (meta["namespace"], meta["name"]) == wanted and not owner_uids(workload):
                return True
        return False

    def _fault_of(self, job: Manifest, workload: Manifest | None) -> str:
        if workload is None and prebuilt_name(job):
            return "does not own its Workload" if self._can_own(job) else ""
        if workload is None and _is_to_be_suspended(job, self.frameworks):
            return "has no Workload"
        if workload is not None and annotation(workload, ELASTIC):
            newest = self._newest_of(job["metadata"]["uid"])
            return _fault_of_slice(job, workload, newest or workload)
        return _fault_of(job, workload)


def _workloads_in(
    informers: InformerCache, applied: AppliedObjects, namespace: str, uids: set[str]
) -> list[Manifest]:
    """Read the Workloads of a namespace that were applied or belong to work, and their variants."""
    found = informers.list(KUEUE, "Workload", namespace)
    own = _uids([each for each in found if _belongs(each, applied, uids)])
    return [
        each
        for each in found
        if each["metadata"]["uid"] in own or own & owner_uids(each)
    ]


def _belongs(workload: Manifest, applied: AppliedObjects, uids: set[str]) -> bool:
    """Whether a Workload was applied, or belongs to work with one of these UIDs."""
    return Ref.of(workload) in applied or bool(uids & owner_uids(workload))


def _jobs_in(
    informers: InformerCache, applied: AppliedObjects, namespace: str
) -> list[Manifest]:
    """Read the applied work of a namespace, of every kind but Workloads."""
    jobs: list[Manifest] = []
    for kind in applied.job_kinds:
        found = informers.list(kind.api_version, kind.name, namespace)
        jobs += [job for job in found if Ref.of(job) in applied]
    return jobs


def _is_to_be_suspended(job: Manifest, frameworks: frozenset[str]) -> bool:
    """Whether Kueue has yet to suspend work: it ran already when Kueue started with its framework.

    Kueue's webhook suspends a batch Job when it is created, under any Configuration here.
    """
    if job["kind"] == "Job" or not queue_name(job):
        return False
    if job["kind"] == POD.name:
        return False  # Kueue does not manage those that ran before
    if _is_done(job) or job["metadata"].get("deletionTimestamp"):
        return False
    return JOB_KINDS[job["kind"]].framework in frameworks


def _gets_workload(
    informers: InformerCache, job: Manifest, applied: AppliedObjects
) -> bool:
    """Whether Kueue creates a Workload for a Job."""
    if _ancestor_of(job, informers, applied) or _selects_cluster(job):
        return False
    if JOB_KINDS[job["kind"]].framework in applied.unread or _requests_pods(job):
        return False
    return not _lacks_class(informers, job) and _is_selected(informers, job, applied)


def _requests_pods(job: Manifest) -> bool:
    """Whether a container requests pods, so that the webhook denies the Workload."""
    for pod_set in pod_sets_of(job):
        for container in pod_set["template"]["spec"].get("containers") or ():
            resources = container.get("resources") or {}
            if "pods" in (resources.get("requests") or {}):
                return True
    return False


def _selects_cluster(job: Manifest) -> bool:
    """Whether Kueue skips a RayJob, because it selects an existing cluster."""
    return bool(job["kind"] == RAY_JOB.name and uses_existing_cluster(job))


def _ancestor_of(
    job: Manifest, informers: InformerCache, applied: AppliedObjects
) -> Manifest | None:
    """Give the topmost work that Kueue manages among the owners of work that it looks at."""

    def find(kind: str, name: str, namespace: str) -> Manifest | None:
        api_version = JOB_KINDS[kind].api_version
        ref = Ref(api_version=api_version, kind=kind, name=name, namespace=namespace)
        return informers.read(ref)

    enabled = {JOB.framework, *applied.frameworks}
    if not owners_of(job) or JOB_KINDS[job["kind"]].framework not in enabled:
        return None
    for owner in reversed(owner_chain(job, find, str.__ne__).owners):
        framework = JOB_KINDS[owner["kind"]].framework
        named = applied.manages_all or bool(queue_name(owner))
        if named and framework in enabled:
            return owner
    return None


def _runs_too_early(job: Manifest, workload: Manifest | None) -> bool:
    """Whether Kueue has yet to suspend work that belongs to other work, by the Workload of that."""
    if is_suspended(job) or _is_done(job):
        return False
    if workload is None:
        return True
    if annotation(workload, ELASTIC) or annotation(job, ELASTIC):
        return is_true(workload, "Evicted")  # it may wait while another one is admitted
    return not is_true(workload, "Admitted")


def _lacks_class(informers: InformerCache, job: Manifest) -> bool:
    """Whether a Job names a priority class that does not exist."""
    if name := labels_of(job).get(PRIORITY_LABEL):
        ref = Ref(api_version=KUEUE, kind="WorkloadPriorityClass", name=name)
    elif name := priority_class_of(job):
        ref = Ref(api_version="scheduling.k8s.io/v1", kind="PriorityClass", name=name)
    return bool(name) and informers.read(ref) is None


def _is_selected(
    informers: InformerCache, job: Manifest, applied: AppliedObjects
) -> bool:
    """Whether Kueue manages the Jobs of a namespace, according to its Configuration."""
    if not applied.selector:
        return True
    namespace = informers.read(
        Ref(api_version="v1", kind="Namespace", name=job["metadata"]["namespace"])
    )
    return namespace is None or selects(applied.selector, labels_of(namespace))


def _uids(found: list[Manifest]) -> set[str]:
    return {each["metadata"]["uid"] for each in found}


def owner_uids(manifest: Manifest) -> set[str]:
    """Give the UIDs of an object's owners."""
    return {owner["uid"] for owner in owners_of(manifest)}


def cluster_queue_of(workload: Manifest) -> str:
    """Name the ClusterQueue of a Workload's admission; empty without one."""
    return str(admission_of(workload).get("clusterQueue", ""))


def _fault_of(job: Manifest, workload: Manifest | None) -> str:
    """Describe how a Job does not match its Workload yet; empty if it does."""
    suspended = is_suspended(job)
    if job["metadata"].get("deletionTimestamp"):
        return "is deleted, but still there" if job["kind"] == POD.name else ""
    if not queue_name(job):
        return ""
    if workload is None:
        return _fault_without_workload(job)
    if _is_left_alone(job, workload):
        return ""
    if _is_done(job):
        return "is finished, its Workload is not"
    if _is_to_be_released(workload, job):
        return "has no pods, but its evicted Workload keeps its quota"
    return _suspension_fault(workload, suspended)


def _is_left_alone(job: Manifest, workload: Manifest) -> bool:
    """Whether Kueue leaves work as it is: it has ended, is invalid, or its Workload is denied a change."""
    if is_true(workload, "Finished") or is_invalid(job):
        return True
    return not _is_done(job) and reports_fewer(job, workload)


def _fault_without_workload(job: Manifest) -> str:
    """Say that Kueue has yet to create the Workload of a Job; one that is finished gets none."""
    return "has no Workload" if is_suspended(job) and not _is_done(job) else ""


def _fault_of_slice(job: Manifest, workload: Manifest, newest: Manifest) -> str:
    """Describe how elastic work does not match its Workload yet: it may run while a newer one waits.

    Kueue leaves the one before it alone if the newest one is finished with the work, or was deactivated.
    """
    if is_true(newest, "Finished") and (_is_done(job) or not is_active(newest)):
        return ""
    if not is_true(workload, "Finished") and _has_another_size(job, workload):
        return "has another number of pods than its Workload"
    if not is_suspended(job) and not _holds(workload):
        return ""
    return _fault_of(job, workload)


def _gated_pods_fault(workload: Manifest, pods: list[Manifest]) -> str:
    """Say that pods of elastic work have yet to start."""
    ended = is_true(workload, "Finished") or is_true(workload, "Evicted")
    if ended or not is_true(workload, "Admitted"):
        return ""
    granted = sum(each["count"] for each in workload["spec"]["podSets"])
    started = sum(not is_gated(pod, ELASTIC) for pod in pods)
    return "has gated pods" if started < min(granted, len(pods)) else ""


def _has_another_size(job: Manifest, workload: Manifest) -> bool:
    """Whether Kueue has yet to create or to resize the Workload of elastic work."""
    if _is_done(job) or job["metadata"].get("deletionTimestamp"):
        return False
    counts = {each["name"]: each["count"] for each in workload["spec"]["podSets"]}
    places = {place.name: place.count for place in pod_set_places(job)}
    if counts.keys() != places.keys() or has_fewer(workload, places):
        return False
    return counts != places


def _holds(workload: Manifest) -> bool:
    return is_true(workload, "Admitted") or is_true(workload, "Evicted")


def _suspension_fault(workload: Manifest, suspended: bool) -> str:
    admitted = is_true(workload, "Admitted")
    if not suspended:
        return "" if admitted else "runs, but is not admitted"
    if admitted and not is_true(workload, "Evicted"):
        return "is admitted, but suspended"
    return ""


def holds_quota(workload: Manifest) -> bool:
    """Whether a Workload holds quota; a finished one keeps the condition, but not the quota."""
    return is_true(workload, "QuotaReserved") and not is_true(workload, "Finished")


def _is_to_be_evicted(workload: Manifest) -> bool:
    """Whether Kueue has to evict a Workload; its controller may still retry."""
    return not is_active(workload) and not is_true(workload, "Evicted")


def _is_to_be_released(workload: Manifest, job: Manifest) -> bool:
    """Whether Kueue has to release the quota of an evicted Workload; a write may have failed and be retried."""
    return (
        is_true(workload, "Evicted")
        and holds_quota(workload)
        and not is_job_active(job)
    )


def _is_outdated(workload: Manifest) -> bool:
    """Whether the condition is from before the Workload became inactive, or active again."""
    deactivated = condition_of(workload, "Requeued").get("reason") == "Deactivated"
    return _is_to_be_evicted(workload) or (is_active(workload) and deactivated)


def _is_done(job: Manifest) -> bool:
    return JOB_KINDS[job["kind"]].outcome(job) is not None


def _released(before: Manifest, after: Manifest | None) -> bool:
    held = holds_quota(before)
    if after is None:
        return held
    if is_true(after, "Finished") and not is_true(before, "Finished"):
        return True  # it may have held quota in between
    if held and not holds_quota(after):
        return True
    return evictions(after) != evictions(before)


def _key(manifest: Manifest) -> Key:
    meta = manifest["metadata"]
    return manifest["kind"], meta.get("namespace", ""), meta["name"]
