"""Topology requests of work: the annotations of its pods, in the pod sets of its Workload.

Kueue: pkg/controller/jobframework/tas.go (NewPodSetTopologyRequest, Build)
"""

from __future__ import annotations

from typing import Any

from kueue_dra_ref.api.metadata import annotations_of
from kueue_dra_ref.api.topologies import requested_by
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import Manifest


@rule("TAS-001")
def annotated_pods_request_topology(
    pod_sets: list[dict[str, Any]], job: dict[str, Any]
) -> list[dict[str, Any]]:
    """A pod set requests the topology that the annotations of its pods name.

    Kueue: pkg/controller/jobframework/tas.go (NewPodSetTopologyRequest, Build)
    """
    found = []
    for pod_set in pod_sets:
        request = _requested(pod_set.get("template") or {})
        found.append({**pod_set, "topologyRequest": request} if request else pod_set)
    return found


@rule("TAS-001")
def pod_requests_topology(pod: Manifest) -> Manifest | None:
    """A pod set requests the topology that the annotations of its first pod name, or those of a template of its pods.

    Kueue: pkg/controller/jobs/pod/pod_controller.go (constructPodSet);
        pkg/controller/jobs/statefulset/statefulset_reconciler.go (constructWorkload);
        pkg/controller/jobs/leaderworkerset/leaderworkerset_reconciler.go (newPodSet)
    """
    return _requested(pod) or None


def _requested(template: Manifest) -> Manifest:
    return requested_by(annotations_of(template))
