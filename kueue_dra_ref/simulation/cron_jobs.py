"""The Job that a CronJob makes: Kueue queues each of its Jobs by itself, and the simulation has one.

Kubernetes: pkg/controller/cronjob/utils.go (getJobFromTemplate2)
"""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.api.documents import ManifestDocument
from kueue_dra_ref.api.unstructured import part
from kueue_dra_ref.api.yaml_text import steps
from kueue_dra_ref.target import Manifest

_TEMPLATE = "spec.jobTemplate"


def is_cron_job(group: str, kind: str) -> bool:
    """Whether an object is a CronJob."""
    return (group, kind) == ("batch", "CronJob")


def makes_jobs(cron_job: Manifest) -> bool:
    """Whether a CronJob makes Jobs: it is not suspended."""
    return part(cron_job, "spec").get("suspend") is not True


def job_of(document: ManifestDocument) -> ManifestDocument:
    """Give the next Job of a CronJob, with the labels and annotations of its template."""
    cron_job = document.manifest
    template = part(part(cron_job, "spec"), "jobTemplate")
    own = part(cron_job, "metadata")
    meta = dict(part(template, "metadata"))
    meta["name"] = f"{own.get('name', '')}-1"
    if "namespace" in own:
        meta["namespace"] = own["namespace"]
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": meta,
        "spec": part(template, "spec"),
    }
    span = document.span.part(steps(_TEMPLATE))
    return replace(document, manifest=job, span=span)
