"""Work whose pods Kueue queues: what it writes on their pod templates.

Kueue: pkg/controller/jobs/deployment/deployment_webhook.go (Default);
    pkg/controller/jobs/statefulset/statefulset_webhook.go (Default);
    pkg/controller/jobs/leaderworkerset/leaderworkerset_webhook.go (Default)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kueue_dra_ref.api.job_kind import MAIN, template_at
from kueue_dra_ref.api.jobs import PRIORITY_LABEL, QUEUE_LABEL
from kueue_dra_ref.api.metadata import labels_of
from kueue_dra_ref.api.pod_owners import (
    DEPLOYMENT,
    LEADER_WORKER_SET,
    STATEFUL_SET,
    group_places,
    group_workload,
    has_leader,
    index_of,
    owner_name,
    replicas_of,
    size_of,
    template_paths,
)
from kueue_dra_ref.api.queued_pods import (
    FAST,
    GROUP,
    MANAGED,
    PARENT,
    PREBUILT,
    ROLE,
    SERVING,
    TOTAL,
    is_gated,
    is_held,
    is_leaving,
    is_terminated,
)
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import Manifest

_SETS = {
    STATEFUL_SET.name: STATEFUL_SET.framework,
    LEADER_WORKER_SET.name: LEADER_WORKER_SET.framework,
}
"""The integrations of work whose pods come one after another."""


class PodMarks(NamedTuple):
    """Labels and annotations of the pods of an object."""

    labels: Mapping[str, str]
    annotations: Mapping[str, str]


@rule("PODS-021")
def deployment_marks_its_pods(owner: Manifest) -> PodMarks | None:
    """Kueue hands the queue and the priority class of a Deployment on to its pods, which it gates one by one.

    Kueue: pkg/controller/jobs/deployment/deployment_webhook.go (Default)
    """
    if owner["kind"] != DEPLOYMENT.name:
        return None
    return PodMarks(
        labels={MANAGED: "true", **handed_on(owner)},
        annotations={PARENT: DEPLOYMENT.framework},
    )


def handed_on(owner: Manifest) -> dict[str, str]:
    """Give the labels of an object that its pods get."""
    labels = labels_of(owner)
    names = (QUEUE_LABEL, PRIORITY_LABEL)
    return {name: labels[name] for name in names if labels.get(name)}


@rule("PODS-028", "PODS-030")
def pod_set_of_stateful_set(owner: Manifest) -> Mapping[str, list[Manifest]] | None:
    """Kueue makes one Workload of a StatefulSet, with one pod set of all replicas.

    Kueue: pkg/controller/jobs/statefulset/statefulset_reconciler.go (constructWorkload)
    """
    if owner["kind"] != STATEFUL_SET.name:
        return None
    return {group_workload(owner): pod_sets_of_replicas(owner)}


def pod_sets_of_replicas(owner: Manifest) -> list[Manifest]:
    """Give the pod set of all replicas of an object."""
    path, *_ = template_paths(owner)
    template = {"spec": template_at(owner, path).get("spec") or {}}
    return [{"name": MAIN, "count": replicas_of(owner), "template": template}]


@rule("PODS-024")
def pod_sets_of_leader_worker_set(
    owner: Manifest,
) -> Mapping[str, list[Manifest]] | None:
    """Kueue makes a Workload of each group of a LeaderWorkerSet, with pod sets of its leader and its workers.

    Kueue: pkg/controller/jobs/leaderworkerset/leaderworkerset_reconciler.go (podSets, filterWorkloads)
    """
    if owner["kind"] != LEADER_WORKER_SET.name:
        return None
    pod_sets = []
    for place in group_places(owner):
        template = {"spec": {}, **template_at(owner, place.path)}
        pod_set = {"name": place.name, "count": place.count, "template": template}
        pod_sets.append(pod_set)
    groups = map(str, range(replicas_of(owner)))
    return {group_workload(owner, group): pod_sets for group in groups}


@rule("PODS-028", "PODS-029")
def pod_set_by_name(owner: Manifest) -> Mapping[str, list[Manifest]] | None:
    """Kueue 0.16 makes one Workload of the StatefulSets of a name, with one pod set of all replicas.

    Kueue: pkg/controller/jobs/statefulset/statefulset_reconciler.go (constructWorkload)
    """
    if owner["kind"] != STATEFUL_SET.name:
        return None
    return {group_workload(owner, by_uid=False): pod_sets_of_replicas(owner)}


@rule("PODS-023", "PODS-029", "PODS-032")
def marks_without_role(owner: Manifest, pod: Manifest) -> PodMarks | None:
    """Up to Kueue 0.15 the pods of a StatefulSet are a group as if a user had made it, with roles by their hash.

    Kueue: pkg/controller/jobs/statefulset/statefulset_webhook.go (Default)
    """
    if owner["kind"] != STATEFUL_SET.name:
        return None
    return marks_of_serving_group(owner, group_workload(owner, by_uid=False))


@rule("PODS-023", "PODS-029", "PODS-033")
def marks_by_name(owner: Manifest, pod: Manifest) -> PodMarks | None:
    """The pods of a StatefulSet are a group named by the name of the StatefulSet, which is admitted with its first pod.

    Kueue: pkg/controller/jobs/statefulset/statefulset_webhook.go (Default);
        pkg/controller/jobs/statefulset/statefulset_pod_reconciler.go (setDefault)
    """
    if owner["kind"] != STATEFUL_SET.name:
        return None
    return marks_of_own_workload(owner, group_workload(owner, by_uid=False))


@rule("PODS-023", "PODS-030", "PODS-033")
def marks_of_stateful_set_pod(owner: Manifest, pod: Manifest) -> PodMarks | None:
    """The pods of a StatefulSet are a group that serves, which is admitted with its first pod.

    Kueue: pkg/controller/jobs/statefulset/statefulset_pod_reconciler.go (setDefault)
    """
    if owner["kind"] != STATEFUL_SET.name:
        return None
    return marks_of_own_workload(owner, group_workload(owner))


def marks_of_own_workload(owner: Manifest, workload: str) -> PodMarks:
    """Give what Kueue writes on the pods of an object that has its Workload before them."""
    found = marks_of_serving_group(owner, workload)
    return PodMarks(
        labels={**found.labels, PREBUILT: workload},
        annotations={**found.annotations, ROLE: MAIN},
    )


def marks_of_serving_group(owner: Manifest, group: str) -> PodMarks:
    """Give what Kueue writes on the pods of a group of all replicas, which is admitted with its first pod."""
    return PodMarks(
        labels={MANAGED: "true", GROUP: group, **handed_on(owner)},
        annotations={TOTAL: str(replicas_of(owner)), FAST: "true", SERVING: "true"},
    )


@rule("PODS-024")
def marks_of_leader_worker_set_pod(owner: Manifest, pod: Manifest) -> PodMarks | None:
    """The pods of each group of a LeaderWorkerSet have the role of a leader or of a worker.

    Kueue: pkg/controller/jobs/leaderworkerset/leaderworkerset_reconciler.go (setDefault)
    """
    if owner["kind"] != LEADER_WORKER_SET.name:
        return None
    group, number = index_of(pod)
    role = MAIN
    if has_leader(owner):
        role = "worker" if int(number) else "leader"
    workload = group_workload(owner, group)
    labels = {MANAGED: "true", GROUP: workload, PREBUILT: workload}
    annotations = {TOTAL: str(size_of(owner)), ROLE: role, SERVING: "true"}
    return PodMarks(labels={**labels, **handed_on(owner)}, annotations=annotations)


@rule("PODS-075")
def pods_of_stateful_set_go_along(owner: Manifest, pod: Manifest) -> bool:
    """The pods of a StatefulSet get the queue that it names now; the webhook denies that to pods that run.

    Kueue: pkg/controller/jobs/statefulset/statefulset_reconciler.go (syncQueueLabel);
        pkg/controller/jobs/statefulset/statefulset_pod_reconciler.go (setDefault)
    """
    return owner["kind"] == STATEFUL_SET.name and is_held(pod)


@rule("PODS-076")
def gated_pods_of_leader_worker_set_go_along(owner: Manifest, pod: Manifest) -> bool:
    """The gated pods of a LeaderWorkerSet get the queue that it names now.

    Kueue: pkg/controller/jobs/leaderworkerset/leaderworkerset_reconciler.go (setDefault)
    """
    return owner["kind"] == LEADER_WORKER_SET.name and is_gated(pod)


@rule("PODS-023", "PODS-024")
def sets_suspend_their_pods(owner: Manifest) -> PodMarks:
    """Kueue gates the pods of a StatefulSet and of a LeaderWorkerSet by an annotation of their templates.

    Kueue: pkg/controller/jobs/statefulset/statefulset_webhook.go (Default);
        pkg/controller/jobs/leaderworkerset/leaderworkerset_webhook.go (podTemplateSpecDefault)
    """
    return PodMarks(labels={}, annotations={PARENT: _SETS[owner["kind"]]})


@rule("PODS-045")
def workload_goes_with_its_group() -> bool:
    """The Workload of a group that a LeaderWorkerSet has no more is deleted, and with it the pods of the group.

    Kueue: pkg/controller/jobs/leaderworkerset/leaderworkerset_reconciler.go (filterWorkloads)
    """
    return True


@rule("PODS-025")
def hold_without_replicas(owner: Manifest, releasing: bool) -> tuple[str, str] | None:
    """Kueue puts the Workload of a StatefulSet without replicas on hold if it has quota.

    Kueue: pkg/controller/jobs/statefulset/statefulset_reconciler.go (releaseScaleDownReservation, clearOnHold)
    """
    if owner["kind"] != STATEFUL_SET.name or replicas_of(owner) or not releasing:
        return None
    return "OnHold", "StatefulSet scaled to zero; workload on hold"


@rule("PODS-063")
def workload_is_disowned_without_replicas(owner: Manifest) -> bool:
    """A StatefulSet without replicas owns its Workload no longer, which goes with the last of its pods.

    Kueue 0.17: pkg/controller/jobs/statefulset/statefulset_reconciler.go (reconcileWorkload)
    """
    return owner["kind"] == STATEFUL_SET.name and not replicas_of(owner)


@rule("PODS-034", "PODS-036")
def pods_of_parent_have_finalizer() -> bool:
    """A pod of such work that is deleted stays until Kueue has let go of it.

    Kueue: pkg/controller/jobs/pod/pod_webhook.go (Default)
    """
    return True


@rule("PODS-061")
def let_go_of_ended_pod(pod: Manifest) -> bool:
    """Kueue lets go of a pod of a LeaderWorkerSet that has ended.

    Kueue 0.15: pkg/controller/jobs/leaderworkerset/leaderworkerset_pod_reconciler.go (Reconcile)
    """
    kind, _ = owner_name(pod)
    return kind == LEADER_WORKER_SET.name and is_terminated(pod)


@rule("PODS-062")
def let_go_of_pod_that_ends(pod: Manifest) -> bool:
    """Kueue lets go of a pod of a StatefulSet or a LeaderWorkerSet that has ended or is deleted.

    Kueue 0.17: pkg/controller/jobs/statefulset/statefulset_pod_reconciler.go (Reconcile);
        pkg/controller/jobs/leaderworkerset/leaderworkerset_pod_reconciler.go (Reconcile)
    """
    kind, _ = owner_name(pod)
    return bool(kind) and (is_terminated(pod) or is_leaving(pod))


@rule("PODS-038")
def workload_has_uid_of_owner() -> bool:
    """The Workload of a StatefulSet or of a group of a LeaderWorkerSet is labelled with the UID of its owner.

    Kueue: pkg/controller/jobs/statefulset/statefulset_reconciler.go (constructWorkload);
        pkg/controller/jobs/leaderworkerset/leaderworkerset_reconciler.go (constructWorkload)
    """
    return True
