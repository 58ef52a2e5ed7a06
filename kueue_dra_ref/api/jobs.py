"""The labels and annotations of a Job that Kueue reads."""

from __future__ import annotations

from kueue_dra_ref.api.metadata import labels_of
from kueue_dra_ref.api.queued_pods import POD
from kueue_dra_ref.target import Manifest

FRAMEWORK = "batch/job"
"""The name of Jobs among the integrations of a Configuration."""
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
PRIORITY_LABEL = "kueue.x-k8s.io/priority-class"
JOB_UID = "kueue.x-k8s.io/job-uid"
"""The label of a Workload with the UID of the work that it is of."""
LEAST_ANNOTATION = "kueue.x-k8s.io/job-min-parallelism"
SYNC_ANNOTATION = "kueue.x-k8s.io/job-completions-equal-parallelism"
POD_PATH = "spec.template.spec"
INDEXED = "Indexed"
BY_NUMBER = "NonIndexed"
"""The completion modes of a Job: index by index, or by the number of its completed pods."""


def template_of(job: Manifest) -> Manifest:
    """Give the pod template of a Job; a pod is its own."""
    if job["kind"] == POD:
        return job
    found: Manifest = job["spec"].get("template") or {}
    return found


def pod_of(job: Manifest) -> Manifest:
    """Give the pod spec of a Job, or of a pod."""
    found: Manifest = template_of(job).get("spec") or {}
    return found


def pod_path(job: Manifest) -> str:
    """Give the path of the pod spec of a Job, or of a pod."""
    return "spec" if job["kind"] == POD else POD_PATH


def queue_named_by(job: Manifest) -> str:
    """Name the LocalQueue of a Job; empty for none."""
    return labels_of(job).get(QUEUE_LABEL, "")


def job_uid_of(workload: Manifest) -> str:
    """Give the UID of the work that a Workload is of, as its label has it; empty for none."""
    return labels_of(workload).get(JOB_UID, "")
