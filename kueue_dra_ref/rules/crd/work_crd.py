"""CRD validation of the work that Kueue queues, by the API server: after Kueue's webhook decoded and wrote it.

Kueue: pkg/controller/jobs/jobset/jobset_webhook.go (Default);
    pkg/controller/jobs/raycluster/raycluster_webhook.go (Default)
"""

from __future__ import annotations

from collections.abc import Collection

from kueue_dra_ref.api.crd_validation import Faults, invalid, places, repeated
from kueue_dra_ref.api.job_kind import template_of
from kueue_dra_ref.api.job_kinds import JOB_KINDS, JOB_SET, pod_set_places
from kueue_dra_ref.api.pod_owners import LEADER_WORKER_SET, replicas_of
from kueue_dra_ref.api.ray_kinds import CLUSTER_PATHS, cluster_of
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError

_RAY_GROUPS = ("headGroupSpec", "workerGroupSpecs[]")


@rule("WORK-007")
def pods_have_containers(write: AdmissionRequest) -> Faults:
    """The API server rejects work whose pods have no containers: the webhook writes null for them.

    Kueue: pkg/controller/jobs/jobset/jobset_webhook.go (Default);
        pkg/controller/jobs/raycluster/raycluster_webhook.go (Default)
    """
    if not write.decoded:
        return
    work = write.new
    kind = JOB_KINDS[work["kind"]]
    if kind.raw:
        return
    for place in pod_set_places(work):
        template = template_of(work, place)
        spec = template.get("spec") or {}
        if spec.get("containers") is None:
            yield _null(f"{place.pod_path}.containers", "array")


@rule("WORK-009")
def ray_groups_have_start_params(write: AdmissionRequest) -> Faults:
    """The API server rejects a cluster of Ray without rayStartParams in each group: the webhook writes null for them.

    Kueue: pkg/controller/jobs/raycluster/raycluster_webhook.go (Default)
    """
    kind = write.new["kind"]
    cluster_path = CLUSTER_PATHS.get(kind)
    if not write.decoded or cluster_path is None:
        return
    prefix = ".".join(map(str, cluster_path))
    cluster = cluster_of(write.new)
    for path in _RAY_GROUPS:
        for at, group in places(cluster, path, dict):
            if group.get("rayStartParams") is None:
                field = f"{prefix}.{at}.rayStartParams"
                yield _null(field, "object")


@rule("WORK-061")
def replicas_are_not_negative(write: AdmissionRequest) -> Faults:
    """The API server rejects a LeaderWorkerSet with replicas below zero, as any kind that can be scaled.

    Kubernetes: k8s.io/apiextensions-apiserver/pkg/registry/customresource/validator.go (ValidateScaleSpec)
    """
    if write.new["kind"] == LEADER_WORKER_SET.name and replicas_of(write.new) < 0:
        replicas = str(replicas_of(write.new))
        yield invalid(".spec.replicas", "should be a non-negative integer", replicas)


@rule("WORK-043")
def mpi_job_pods_have_no_resources(kind: str) -> Collection[str]:
    """The API server drops what the pods of an MPIJob request as a whole: mpi-operator 0.6 does not have that field.

    Kueue: pkg/controller/jobs/mpijob/mpijob_controller.go (MPIJob)
    """
    if kind != "MPIJob":
        return ()
    fields = []
    for role in ("Launcher", "Worker"):
        fields.append(f"spec.mpiReplicaSpecs.{role}.template.spec.resources")
    return fields


@rule("WORK-008")
def replicated_job_names_are_unique(write: AdmissionRequest) -> Faults:
    """The API server rejects a JobSet with two replicated jobs of one name.

    Kueue: pkg/controller/jobs/jobset/jobset_controller.go (JobSet)
    """
    if write.new["kind"] == JOB_SET.name:
        yield from repeated(write.new, "spec.replicatedJobs", "name")


def _null(field: str, wanted: str) -> FieldError:
    return invalid(field, f'{field} in body must be of type {wanted}: "null"', '"null"')
