"""The groups of pods that a live target applied, and what their Workloads do not show yet (Kueue, Pod integration)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from kueue_dra_clusters.informer import InformerCache
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.job_kinds import POD
from kueue_dra_ref.api.jobs import queue_named_by
from kueue_dra_ref.api.metadata import annotations_of, labels_of, owners_of
from kueue_dra_ref.api.pod_owners import LEADER_WORKER_SET, owner_name
from kueue_dra_ref.api.queued_pods import (
    GROUP,
    MANAGED,
    ROLE,
    has_finalizer,
    is_gated,
    is_held,
    is_of_group,
)
from kueue_dra_ref.model.pod_group import PodGroup, total_of
from kueue_dra_ref.target import Manifest

Key = tuple[str, str]


def group_of(job: Manifest) -> str:
    """Name the group of a pod; empty for a pod alone, and for other work."""
    if job["kind"] != POD.name:
        return ""
    return annotations_of(job).get(GROUP) or labels_of(job).get(GROUP, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class PodGroups:
    """Groups of pods by namespace and name."""

    groups: Mapping[Key, PodGroup]

    @classmethod
    def among(cls, jobs: Sequence[Manifest]) -> PodGroups:
        """Find the groups among work."""
        found: dict[Key, list[Manifest]] = {}
        for job in jobs:
            name = group_of(job)
            if not name:
                continue
            key = (job["metadata"]["namespace"], name)
            found.setdefault(key, []).append(job)
        groups = {}
        for key, pods in found.items():
            groups[key] = PodGroup(pods=pods, name=key[1])
        return cls(groups=groups)

    def has_conflict(self, workloads: Sequence[Manifest]) -> bool:
        """Whether a Workload has the name of a group, and is not marked: nothing shows that Kueue has seen it."""
        unmarked = [each for each in workloads if not is_of_group(each)]
        return not self.groups.keys().isdisjoint(map(_key_of, unmarked))

    def faults(self, workloads: Sequence[Manifest]) -> Iterator[str]:
        """Name each group that does not match its Workload yet."""
        by_name = {_key_of(found): found for found in workloads}
        for key, group in self.groups.items():
            labels = labels_of(group.first)
            if labels.get(MANAGED) != "true":
                continue
            workload = by_name.get(key)
            fault = _fault_of(group, workload)
            if fault:
                yield f"the group of pods {group.name} {fault}"


def _key_of(workload: Manifest) -> Key:
    meta = workload["metadata"]
    return meta["namespace"], meta["name"]


def lost_pods(informers: InformerCache, workload: Manifest) -> bool:
    """Whether pods alone owned a Workload, and none of them exists: Kueue deletes pods that lose their quota."""
    meta = workload["metadata"]
    owners = owners_of(workload)
    kinds = {owner["kind"] for owner in owners}
    if kinds != {POD.name}:
        return False
    namespace = meta["namespace"]
    pods = informers.list("v1", POD.name, namespace)
    existing = {pod["metadata"]["uid"] for pod in pods}
    owning = {owner["uid"] for owner in owners}
    return existing.isdisjoint(owning)


def _fault_of(group: PodGroup, workload: Manifest | None) -> str:
    if workload is None:
        return "has no Workload" if _is_complete(group) else ""
    if not is_of_group(workload):
        return ""  # from Kueue 0.18.6 on the group waits until that is gone
    if is_true(workload, "Finished"):
        is_kept = any(map(has_finalizer, group.pods))
        if is_kept:
            return "is finished, but its pods have finalizers"
        return ""
    if group.ends and len(group.succeeded) == group.total:
        return "is finished, its Workload is not"
    return _fault_of_gates(group, workload)


def _fault_of_gates(group: PodGroup, workload: Manifest) -> str:
    """Say which gates do not match the admission of a Workload."""
    if is_true(workload, "Admitted") and not is_true(workload, "Evicted"):
        roles = {pod_set["name"] for pod_set in workload["spec"]["podSets"]}
        taking_part = [pod for pod in group.usable if _may_take_part(pod, roles)]
        gated = any(map(is_gated, taking_part))
        return "is admitted, but has gated pods" if gated else ""
    running = [pod for pod in group.usable if not is_held(pod)]
    return "runs, but is not admitted" if running else ""


def _may_take_part(pod: Manifest, roles: Set[str]) -> bool:
    """Whether the Workload of a group has the role of a pod; a late pod of another role stays gated."""
    role = annotations_of(pod).get(ROLE)
    return role is None or role in roles


def _is_complete(group: PodGroup) -> bool:
    """Whether Kueue creates a Workload for a group."""
    usable = group.usable
    if not usable:
        return False
    first = usable[0]
    if owner_name(first)[0] == LEADER_WORKER_SET.name:
        return False  # its Workload is that of a group which may be gone already
    for pod in usable:
        if not _agrees(pod, first):
            return False
    if not group.is_numbered:
        return False
    return group.is_fast or len(usable) >= group.total


def _agrees(pod: Manifest, first: Manifest) -> bool:
    """Whether two pods name the same queue, and announce the same total."""
    if queue_named_by(pod) != queue_named_by(first):
        return False
    return total_of(pod) == total_of(first)
