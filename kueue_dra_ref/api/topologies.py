"""Topologies: their levels, what pods request of them, and the annotations with which pods request it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kueue_dra_ref.api.unstructured import Object, child, mappings, text
from kueue_dra_ref.target import Manifest

TOPOLOGY = "Topology"
NODE = "Node"
HOSTNAME = "kubernetes.io/hostname"
"""The label of the lowest level if each domain of it is one node."""
_DOMAIN = "kueue.x-k8s.io"
REQUIRED = f"{_DOMAIN}/podset-required-topology"
PREFERRED = f"{_DOMAIN}/podset-preferred-topology"
UNCONSTRAINED = f"{_DOMAIN}/podset-unconstrained-topology"
PLACED_BY = frozenset({REQUIRED, PREFERRED, UNCONSTRAINED})
"""The annotations of pods that the reference places by."""
JOB_PODS = "batch.kubernetes.io/job-completion-index"
"""The label, and the annotation, that numbers the pods of a Job."""
TRAINING_PODS = "training.kubeflow.org/replica-index"
_JOBS = "jobset.sigs.k8s.io/job-index"
TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
"""What Go parses as true."""
FALSE = frozenset({"0", "f", "F", "FALSE", "false", "False"})
"""What Go parses as false."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyRequest:
    """What the pods of a pod set request: one domain of a level, if possible or in any case, or any nodes."""

    required: str | None = None
    preferred: str | None = None
    unconstrained: bool | None = None

    @property
    def is_explicit(self) -> bool:
        """Whether the pods request a placement by nodes."""
        fields = (self.required, self.preferred, self.unconstrained)
        return any(each is not None for each in fields)

    def level(self, levels: tuple[str, ...]) -> str | None:
        """Give the label of the level that is requested, which a topology may lack; None for no level."""
        named = self.required if self.required is not None else self.preferred
        if named is not None:
            return named
        return levels[-1] if self.unconstrained else None


NO_REQUEST = TopologyRequest()


def topology_request_of(pod_set: Object, path: str) -> TopologyRequest:
    """Read the topology request of a pod set of a Workload.

    Raises:
        ManifestError: a field is of the wrong type.

    """
    written = child(pod_set, "topologyRequest", dict, {}, path)
    return TopologyRequest(
        required=written.get("required"),
        preferred=written.get("preferred"),
        unconstrained=written.get("unconstrained"),
    )


def requested_by(annotations: Mapping[str, str]) -> Object:
    """Give the topology request that the annotations of pods make; empty for none."""
    for key, annotation in (("required", REQUIRED), ("preferred", PREFERRED)):
        if annotation in annotations:
            return {key: annotations[annotation]}
    written = annotations.get(UNCONSTRAINED)
    return {} if written is None else {"unconstrained": written in TRUE}


def with_request(pod_set: Manifest, request: Manifest) -> Manifest:
    """Give a pod set with a topology request; without one, if it is empty."""
    return {**pod_set, "topologyRequest": request} if request else pod_set


def numbered_by(label: str) -> Manifest:
    """Give the part of a topology request that names the label with the numbers of the pods."""
    return {"podIndexLabel": label}


def numbered_in_jobs(jobs: int) -> Manifest:
    """Give that part for the pods of some equal Jobs, which are numbered, too."""
    return {
        **numbered_by(JOB_PODS),
        "subGroupIndexLabel": _JOBS,
        "subGroupCount": jobs,
    }


def levels_of(topology: Manifest) -> tuple[str, ...]:
    """Give the node labels of the levels of a Topology, the highest first.

    Raises:
        ManifestError: a field is missing or of the wrong type.

    """
    spec = child(topology, "spec", dict, {})
    levels = []
    for index, each in enumerate(mappings(spec, "levels", "spec")):
        levels.append(text(each, "nodeLabel", f"spec.levels[{index}]"))
    return tuple(levels)
