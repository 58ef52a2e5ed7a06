"""Groups of pods: their name and roles, when they have a Workload, when they finish, and what they need no more.

Kueue: pkg/controller/jobs/pod/pod_controller.go (Pod)
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.jobs import queue_named_by
from kueue_dra_ref.api.metadata import annotations_of, labels_of
from kueue_dra_ref.api.queued_pods import (
    GROUP,
    INDEX_LABEL,
    ROLE,
    is_of_group,
    is_terminated,
    is_usable,
    phase_of,
    pod_template,
)
from kueue_dra_ref.api.role_hash import role_hash
from kueue_dra_ref.model.pod_group import PodGroup, total_of
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import Manifest


@rule("PODS-019")
def group_of_annotation(pod: Manifest) -> str | None:
    """A pod belongs to the group that its annotation names.

    Kueue: pkg/util/pod/pod.go (GetPodGroupName)
    """
    return annotations_of(pod).get(GROUP) or None


@rule("PODS-008")
def group_of_label(pod: Manifest) -> str | None:
    """A pod belongs to the group that its label names.

    Kueue: pkg/util/pod/pod.go (GetPodGroupName)
    """
    return labels_of(pod).get(GROUP) or None


@rule("PODS-007", "PODS-039")
def role_of_containers(pod: Manifest) -> str | None:
    """Up to Kueue 0.17 pods have one role even if they request different amounts as a whole.

    Kueue: pkg/controller/jobs/pod/pod_controller.go (getRoleHash); pkg/util/pod/pod.go (GenerateRoleHash)
    """
    spec = pod.get("spec") or {}
    return annotations_of(pod).get(ROLE) or role_hash(spec, whole=False)


@rule("PODS-007", "PODS-040")
def role_of_pod(pod: Manifest) -> str | None:
    """Pods of a group with the same requests, claims, node selection, tolerations and priority have one role.

    Kueue: pkg/controller/jobs/pod/pod_controller.go (getRoleHash); pkg/util/pod/pod.go (GenerateRoleHash)
    """
    return annotations_of(pod).get(ROLE) or role_hash(pod.get("spec") or {})


@rule("PODS-008")
def group_lacks_pods(group: PodGroup) -> bool:
    """Kueue waits for the pods that a group announces before it creates the Workload.

    Kueue: pkg/controller/jobs/pod/pod_controller.go (validatePodGroupMetadata)
    """
    return not group.is_fast and len(group.usable) < group.total


@rule("PODS-020")
def group_contradicts_itself(group: PodGroup) -> bool:
    """Kueue creates no Workload for a group whose pods name different queues, or announce different totals.

    Kueue: pkg/controller/jobs/pod/pod_controller.go (validatePodGroupMetadata)
    """
    announced = queue_named_by(group.first), group.total
    return any(
        (queue_named_by(pod), total_of(pod)) != announced
        for pod in group.pods
        if phase_of(pod) != "Failed"
    )


@rule("PODS-059")
def group_index_is_too_high(group: PodGroup) -> bool:
    """Kueue creates no Workload for a group with a pod whose index is no number below the total.

    Kueue: pkg/controller/jobs/pod/pod_controller.go (validatePodGroupMetadata);
        pkg/util/pod/pod.go (ReadUIntFromLabelBelowBound)
    """
    return not group.is_numbered


@rule("PODS-060")
def index_of_named_label(pod: Manifest) -> str | None:
    """The webhook gives a pod the index in the label that an annotation names, or an empty one without that label.

    Kueue: pkg/controller/jobs/pod/pod_webhook.go (Default)
    """
    label = annotations_of(pod).get(INDEX_LABEL)
    return None if label is None else labels_of(pod).get(label, "")


@rule("PODS-009")
def pod_set_of_fast_group(group: PodGroup, roles: list[str]) -> list[Manifest] | None:
    """A group with fast admission is one pod set of all pods that it announces, with the role of its first pod.

    Kueue: pkg/controller/jobs/pod/pod_controller.go (constructGroupPodSetsFast)
    """
    if not group.is_fast or not group.usable:
        return None
    pod, *_ = group.usable
    place = list(group.pods).index(pod)
    return [
        {
            "name": roles[place],
            "count": group.total,
            "template": pod_template(pod),
        }
    ]


@rule("PODS-007")
def pod_sets_of_group(group: PodGroup, roles: list[str]) -> list[Manifest] | None:
    """Kueue makes a pod set of each role of a group, in the order of their names.

    Kueue: pkg/controller/jobs/pod/pod_controller.go (constructGroupPodSets)
    """
    found: dict[str, dict[str, Any]] = {}
    of_roles = zip(group.pods, roles, strict=True)
    for pod, role in filter(_has_usable_pod, of_roles):
        if role not in found:
            template = pod_template(pod)
            found[role] = {"name": role, "count": 0, "template": template}
        found[role]["count"] += 1
    return [found[role] for role in sorted(found)]


def _has_usable_pod(of_role: tuple[Manifest, str]) -> bool:
    pod, _ = of_role
    return is_usable(pod)


@rule("PODS-010")
def succeeded_group_finishes_workload(group: PodGroup) -> tuple[str, str] | None:
    """Kueue sets Finished on the Workload of a group once all pods that it announces have succeeded.

    Kueue: pkg/controller/jobs/pod/pod_controller.go (Finished)
    """
    if not group.ends or len(group.succeeded) != group.total:
        return None
    return _finished(group)


@rule("PODS-011")
def unretriable_group_finishes_workload(group: PodGroup) -> tuple[str, str] | None:
    """Kueue sets Finished on the Workload of a group that is not retriable once all its pods have ended.

    Kueue: pkg/controller/jobs/pod/pod_controller.go (Finished)
    """
    if not group.ends or not group.is_unretriable:
        return None
    return _finished(group) if all(map(is_terminated, group.pods)) else None


def _finished(group: PodGroup) -> tuple[str, str]:
    message = f"Pods succeeded: {len(group.succeeded)}/{group.total}."
    return "Succeeded", message


@rule("PODS-012")
def reclaimable_pods_of_group(group: PodGroup, roles: list[str]) -> list[Manifest]:
    """Each pod of a group that succeeded releases its quota.

    Kueue: pkg/controller/jobs/pod/pod_controller.go (ReclaimablePods)
    """
    if group.is_serving:
        return []
    counted: Counter[str] = Counter()
    for pod, role in zip(group.pods, roles, strict=True):
        if phase_of(pod) == "Succeeded":
            counted[role] += 1
    return [{"name": role, "count": count} for role, count in counted.items()]


@rule("PODS-047")
def serving_group_keeps_its_queue(group: PodGroup) -> bool:
    """The Workload of a group that serves keeps its queue when the pods name another one.

    Kueue: pkg/controller/jobs/pod/pod_controller.go (CustomQueueNameChange)
    """
    return group.is_serving


@rule("PODS-013")
def delete_excess_pods(pods: int, count: int) -> int:
    """Kueue deletes the pods of a role that its pod set has no room for.

    Kueue: pkg/controller/jobs/pod/pod_controller.go (FindMatchingWorkloads, removeExcessPods)
    """
    return max(pods - count, 0)


@rule("PODS-041")
def prebuilt_workload_takes_pods_as_they_are(group: PodGroup) -> bool:
    """A Workload that Kueue created before its pods waits for no pods, and replaces none.

    Kueue: pkg/controller/jobframework/reconciler.go (ensureOneWorkload)
    """
    return group.is_prebuilt


@rule("PODS-071")
def failed_pods_are_not_compared(group: PodGroup) -> bool:
    """Kueue does nothing with the Workload of a StatefulSet while all of its pods that there are have failed.

    Kueue: pkg/controller/jobs/pod/pod_controller.go (EquivalentToWorkload, constructGroupPodSetsFast)
    """
    return group.is_fast and group.is_prebuilt and not group.usable


@rule("PODS-050")
def unmarked_workload_is_not_of_group(workload: Manifest) -> bool:
    """A Workload that has the name of a group, and is not marked as that of a group, is left to its owner.

    Kueue: pkg/controller/jobs/pod/pod_controller.go (FindMatchingWorkloads, ReasonWorkloadNameConflict);
        pkg/controller/jobs/pod/event_handlers.go (queueReconcileForBlockedPodGroup)
    """
    return not is_of_group(workload)


@rule("PODS-014", "PODS-044")
def wait_for_replacement_pods(pods: int, count: int, fast: bool) -> int:
    """A pod set with fewer pods than it has room for waits for others.

    Kueue: pkg/controller/jobs/pod/pod_controller.go (countAbsentPods, waitingForReplacementPodsCondition)
    """
    return max(count - pods, 0)


@rule("PODS-043")
def one_pod_is_enough_for_fast_admission(
    pods: int, count: int, fast: bool
) -> int | None:
    """A group with fast admission waits for other pods only if it has none.

    Kueue: pkg/controller/jobs/pod/pod_controller.go (countAbsentPods)
    """
    return int(not pods) if fast else None


@rule("PODS-027")
def not_admitted_while_pods_are_missing(workload: Manifest) -> bool:
    """Kueue does not queue a workload that waits for replacement pods.

    Kueue: pkg/workload/workload.go (IsAdmissible)
    """
    return is_true(workload, "WaitingForReplacementPods")
