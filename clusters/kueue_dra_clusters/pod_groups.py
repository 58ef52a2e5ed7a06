"""The groups of pods that a live target applied, and what their Workloads do not show yet (Kueue, Pod integration)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.job_kinds import POD
from kueue_dra_ref.api.jobs import queue_named_by
from kueue_dra_ref.api.queued_pods import (
    GROUP,
    MANAGED,
    annotations_of,
    has_finalizer,
    is_gated,
    is_of_group,
    labels_of,
)
from kueue_dra_ref.model.pod_group import PodGroup
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
            if name := group_of(job):
                found.setdefault((job["metadata"]["namespace"], name), []).append(job)
        return cls(
            groups={
                key: PodGroup(pods=pods, name=key[1]) for key, pods in found.items()
            }
        )

    def faults(self, workloads: Sequence[Manifest]) -> Iterator[str]:
        """Name each group that does not match its Workload yet."""
        by_name = {
            (found["metadata"]["namespace"], found["metadata"]["name"]): found
            for found in workloads
            if is_of_group(found)
        }
        for key, group in self.groups.items():
            if labels_of(group.first).get(MANAGED) != "true":
                continue
            if fault := _fault_of(group, by_name.get(key)):
                yield f"the group of pods {key[1]} {fault}"


def _fault_of(group: PodGroup, workload: Manifest | None) -> str:
    if workload is None:
        return "has no Workload" if _is_complete(group) else ""
    if is_true(workload, "Finished"):
        kept = any(map(has_finalizer, group.pods))
        return "is finished, but its pods have finalizers" if kept else ""
    if group.ends and len(group.succeeded) == group.total:
        return "is finished, its Workload is not"
    if is_true(workload, "Admitted") and not is_true(workload, "Evicted"):
        gated = any(map(is_gated, group.usable))
        return "is admitted, but has gated pods" if gated else ""
    if any(not is_gated(pod) for pod in group.usable if _may_run(pod)):
        return "runs, but is not admitted"
    return ""


def _may_run(pod: Manifest) -> bool:
    status = pod.get("status") or {}
    return status.get("phase") not in ("Succeeded", "Failed")


def _is_complete(group: PodGroup) -> bool:
    """Whether Kueue creates a Workload for a group."""
    said = {(queue_named_by(pod), _total(pod)) for pod in group.usable}
    if len(said) != 1 or not group.usable:
        return False
    return group.is_fast or len(group.usable) >= group.total


def _total(pod: Manifest) -> int:
    return PodGroup(pods=[pod]).total
