"""What users write on a Job for Kueue to read."""

from __future__ import annotations

from kueue_dra_ref.target import Manifest

FRAMEWORK = "batch/job"
"""What a Configuration calls Jobs among its integrations."""
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
PRIORITY_LABEL = "kueue.x-k8s.io/priority-class"
LEAST_ANNOTATION = "kueue.x-k8s.io/job-min-parallelism"
POD_PATH = "spec.template.spec"
INDEXED, BY_NUMBER = "Indexed", "NonIndexed"
"""The modes in which a Job completes: index by index, or when so many of its pods have."""


def template_of(job: Manifest) -> Manifest:
    """What pods are made from."""
    found: Manifest = job["spec"].get("template") or {}
    return found


def pod_of(job: Manifest) -> Manifest:
    """What a Job says of its pods."""
    found: Manifest = template_of(job).get("spec") or {}
    return found


def queue_named_by(job: Manifest) -> str:
    """The queue that a Job names; empty for none."""
    return str((job["metadata"].get("labels") or {}).get(QUEUE_LABEL, ""))
