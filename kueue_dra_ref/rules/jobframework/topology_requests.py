"""Topology requests of work: the annotations of its pods, in the pod sets of its Workload.

Kueue: pkg/controller/jobframework/tas.go (NewPodSetTopologyRequest, Build)
"""

from __future__ import annotations

from typing import Any

from kueue_dra_ref.api.topologies import requested_by
from kueue_dra_ref.model.rule import rule


@rule("TAS-001")
def annotated_pods_request_topology(
    pod_sets: list[dict[str, Any]], job: dict[str, Any]
) -> list[dict[str, Any]]:
    """A pod set requests the topology that the annotations of its pods name.

    Kueue: pkg/controller/jobframework/tas.go (NewPodSetTopologyRequest, Build)
    """
    found = []
    for pod_set in pod_sets:
        template = pod_set.get("template") or {}
        meta = template.get("metadata") or {}
        request = requested_by(meta.get("annotations") or {})
        found.append({**pod_set, "topologyRequest": request} if request else pod_set)
    return found
