"""CRD validation of the work that Kueue queues, by the API server: after Kueue's webhook decoded and wrote it.

Kueue: pkg/controller/jobs/jobset/jobset_webhook.go (Default);
    pkg/controller/jobs/raycluster/raycluster_webhook.go (Default)
"""

from __future__ import annotations

from kueue_dra_ref.api.crd_validation import Faults, invalid, places, repeated
from kueue_dra_ref.api.job_kinds import (
    JOB_SET,
    RAY_CLUSTER,
    pod_set_places,
    template_at,
)
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError

_RAY_GROUPS = ("spec.headGroupSpec", "spec.workerGroupSpecs[]")


@rule("WORK-007")
def pods_have_containers(write: AdmissionRequest) -> Faults:
    """The API server rejects work whose pods have no containers: the webhook writes null for them.

    Kueue: pkg/controller/jobs/jobset/jobset_webhook.go (Default);
        pkg/controller/jobs/raycluster/raycluster_webhook.go (Default)
    """
    if not write.decoded:
        return
    for place in pod_set_places(write.new):
        spec = template_at(write.new, place.path).get("spec") or {}
        if spec.get("containers") is None:
            yield _null(f"{place.pod_path}.containers", "array")


@rule("WORK-009")
def ray_groups_have_start_params(write: AdmissionRequest) -> Faults:
    """The API server rejects a RayCluster without rayStartParams in each group: the webhook writes null for them.

    Kueue: pkg/controller/jobs/raycluster/raycluster_webhook.go (Default)
    """
    if not write.decoded or write.new["kind"] != RAY_CLUSTER.name:
        return
    for path in _RAY_GROUPS:
        for at, group in places(write.new, path, dict):
            if group.get("rayStartParams") is None:
                yield _null(f"{at}.rayStartParams", "object")


@rule("WORK-008")
def replicated_job_names_are_unique(write: AdmissionRequest) -> Faults:
    """The API server rejects a JobSet with two replicated jobs of one name.

    Kueue: pkg/controller/jobs/jobset/jobset_controller.go (JobSet)
    """
    if write.new["kind"] == JOB_SET.name:
        yield from repeated(write.new, "spec.replicatedJobs", "name")


def _null(field: str, wanted: str) -> FieldError:
    return invalid(field, f'{field} in body must be of type {wanted}: "null"', '"null"')
