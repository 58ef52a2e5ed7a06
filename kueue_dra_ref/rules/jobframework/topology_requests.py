"""Topology requests of work: the annotations of its pods, in the pod sets of its Workload.

Kueue: pkg/controller/jobframework/tas.go (NewPodSetTopologyRequest, Build)
"""

from __future__ import annotations

from typing import Any

from kueue_dra_ref.api.job_kinds import pod_set_places
from kueue_dra_ref.api.metadata import annotations_of
from kueue_dra_ref.api.topologies import numbered_by, requested_by, with_request
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
        found.append(with_request(pod_set, request))
    return found


@rule("TAS-054")
def pods_are_numbered(
    pod_sets: list[dict[str, Any]], job: dict[str, Any]
) -> list[dict[str, Any]]:
    """The topology request of a pod set names the labels that number its pods, whatever the pods request.

    Kueue: pkg/controller/jobframework/tas.go (PodIndexLabel, SubGroup, Build)
    """
    numbered = {place.name: place.numbered for place in pod_set_places(job)}
    found = []
    for pod_set in pod_sets:
        labels = numbered.get(pod_set["name"], {})
        request = {**pod_set.get("topologyRequest", {}), **labels}
        found.append(with_request(pod_set, request))
    return found


@rule("TAS-001", "TAS-054")
def pod_requests_topology(pod: Manifest, label: str) -> Manifest | None:
    """A pod set requests the topology that the annotations of its first pod name, or those of a template of its pods.

    It names the label that numbers them, if there is one.

    Kueue: pkg/controller/jobs/pod/pod_controller.go (constructPodSet);
        pkg/controller/jobs/statefulset/statefulset_reconciler.go (constructWorkload);
        pkg/controller/jobs/leaderworkerset/leaderworkerset_reconciler.go (newPodSet)
    """
    numbered = numbered_by(label) if label else {}
    return {**_requested(pod), **numbered} or None


def _requested(template: Manifest) -> Manifest:
    return requested_by(annotations_of(template))
