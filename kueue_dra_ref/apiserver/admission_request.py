"""One write: an object as it would be stored, and the stored one.

Kubernetes: k8s.io/apiserver/pkg/admission/attributes.go (NewAttributesRecord)
"""

from __future__ import annotations

from dataclasses import dataclass

from kueue_dra_ref.api.jobs import queue_named_by
from kueue_dra_ref.apiserver.kubernetes_version import Kubernetes
from kueue_dra_ref.apiserver.kubernetes_versions import CONTROL_PLANE
from kueue_dra_ref.target import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionRequest:
    """What is written of one object: ``new`` is what would be stored, ``old`` what is, None before it is made."""

    new: Manifest
    old: Manifest | None = None
    has_default_queue: bool = False
    """Whether a LocalQueue in the namespace of a Job that is changed is called default, and runs."""
    decoded: bool = False
    """Whether a webhook of Kueue has decoded and written it, with null for what it lacks."""
    manages_all: bool = False
    """Whether Kueue manages work without a queue name, too."""
    is_off: bool = False
    """Whether it is work of a kind that Kueue does not queue."""
    queues_pods: bool = False
    """Whether it is work that Kueue manages by its pods."""
    group_workload: Manifest | None = None
    """The Workload of all pods of a StatefulSet that is changed."""
    elastic: bool = False
    """Whether work is elastic."""
    missing_runtime: str = ""
    """The runtime that a TrainJob names and that does not exist."""
    kubernetes: Kubernetes = CONTROL_PLANE

    @property
    def before(self) -> Manifest:
        """What is there; of an object that is being made the object itself, so that nothing of it has changed."""
        return self.new if self.old is None else self.old

    def is_managed(self, *kinds: str) -> bool:
        """Whether it is work of some kinds that a webhook decoded, and Kueue manages it or would."""
        if not self.decoded or self.new["kind"] not in kinds:
            return False
        return self.manages_all or bool(queue_named_by(self.new))
