"""StatefulSets up to Kueue 0.16: their Workloads are named by their names alone.

Kueue: pkg/controller/jobs/statefulset/statefulset_webhook.go (GetWorkloadName)
"""

from __future__ import annotations

from collections.abc import Mapping

from kueue_dra_ref.api.pod_owners import STATEFUL_SET, group_workload
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.rules.jobframework.pod_owners import (
    PodMarks,
    marks_of_serving_group,
    pod_sets_of_replicas,
)
from kueue_dra_ref.target import Manifest


@rule("PODS-028", "PODS-029")
def pod_set_by_name(owner: Manifest) -> Mapping[str, list[Manifest]] | None:
    """Kueue 0.16 makes one Workload of the StatefulSets of a name, with one pod set of all replicas.

    Kueue: pkg/controller/jobs/statefulset/statefulset_reconciler.go (constructWorkload)
    """
    if owner["kind"] != STATEFUL_SET.name:
        return None
    return {group_workload(owner, by_uid=False): pod_sets_of_replicas(owner)}


@rule("PODS-023", "PODS-029")
def marks_by_name(owner: Manifest, pod: Manifest) -> PodMarks | None:
    """The pods of a StatefulSet are a group named by the name of the StatefulSet, which is admitted with its first pod.

    Kueue: pkg/controller/jobs/statefulset/statefulset_webhook.go (Default);
        pkg/controller/jobs/statefulset/statefulset_pod_reconciler.go (setDefault)
    """
    if owner["kind"] != STATEFUL_SET.name:
        return None
    return marks_of_serving_group(owner, group_workload(owner, by_uid=False))
