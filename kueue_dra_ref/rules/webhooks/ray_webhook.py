"""Kueue's validating webhooks for the kinds of Ray.

Kueue: pkg/controller/jobs/raycluster/common.go (ValidateCreate);
    pkg/controller/jobs/raycluster/raycluster_webhook.go (validateCreate);
    pkg/controller/jobs/rayjob/rayjob_webhook.go (validateCreate)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kueue_dra_ref.api.elastic_work import ELASTIC
from kueue_dra_ref.api.job_kind import spec_of, template_of
from kueue_dra_ref.api.job_kinds import pod_set_places
from kueue_dra_ref.api.jobs import queue_named_by
from kueue_dra_ref.api.names import printed
from kueue_dra_ref.api.queued_pods import is_gated
from kueue_dra_ref.api.ray_kinds import (
    CLUSTER_PATHS,
    HEAD,
    RAY_CLUSTER,
    RAY_JOB,
    cluster_of,
    uses_existing_cluster,
)
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError, Manifest

Faults = Iterator[FieldError]
_OF_CLUSTER_0_18 = (
    "a kueue managed job can use autoscaling only when the ElasticJobsViaWorkloadSlices feature gate is on "
    "and the job is an elastic job"
)
_OF_CLUSTER = (
    "a kueue-managed RayCluster can use autoscaling only as an elastic job: enable the ElasticJobsViaWorkloadSlices "
    'feature gate and set the "kueue.x-k8s.io/elastic-job": "true" annotation'
)
_OF_OTHERS_0_14 = "a kueue managed job should not use autoscaling"
_OF_OTHERS = (
    "a kueue managed job should only use autoscaling when workload slicing is enabled"
)


@rule("WORK-015", "WORK-059")
def existing_cluster_is_refused(write: AdmissionRequest) -> Faults:
    """The webhook denies a RayJob in a queue that selects an existing RayCluster, whatever else is wrong with it.

    Kueue 0.14: pkg/controller/jobs/rayjob/rayjob_webhook.go (validateCreate)
    """
    if write.is_managed(RAY_JOB.name) and uses_existing_cluster(write.new):
        yield _existing_cluster(write)


@rule("WORK-060")
def no_cluster_is_a_panic(write: AdmissionRequest) -> bool:
    """The webhook reads the cluster of a RayJob in a queue without asking whether there is one.

    Kueue 0.14: pkg/controller/jobs/rayjob/rayjob_webhook.go (validateCreate)
    """
    return write.is_managed(RAY_JOB.name) and not _makes_cluster(write.new)


@rule("WORK-015", "WORK-057")
def cluster_is_made_or_selected(write: AdmissionRequest) -> Faults:
    """The webhook denies a RayJob in a queue that both makes and selects a RayCluster, or neither.

    Kueue: pkg/controller/jobs/rayjob/rayjob_webhook.go (validateCreate)
    """
    if not write.is_managed(RAY_JOB.name):
        return
    makes = _makes_cluster(write.new)
    selects = uses_existing_cluster(write.new)
    if makes and selects:
        yield _existing_cluster(write)
    if not makes and not selects:
        yield FieldError(
            field="spec.rayClusterSpec",
            type="Required value",
            detail="rayClusterSpec is required for Kueue-managed jobs that don't use clusterSelector",
        )


@rule("WORK-058")
def ray_job_makes_no_cluster_of_its_own(write: AdmissionRequest) -> bool:
    """The webhook looks at nothing else of a RayJob in a queue that selects a RayCluster, or makes none.

    Kueue: pkg/controller/jobs/rayjob/rayjob_webhook.go (validateCreate)
    """
    if not write.is_managed(RAY_JOB.name):
        return False
    return uses_existing_cluster(write.new) or not _makes_cluster(write.new)


@rule("WORK-016")
def cluster_is_deleted_at_the_end(write: AdmissionRequest) -> Faults:
    """The webhook denies a RayJob in a queue whose RayCluster outlives it.

    Kueue: pkg/controller/jobs/rayjob/rayjob_webhook.go (validateCreate)
    """
    if not write.is_managed(RAY_JOB.name):
        return
    if not spec_of(write.new).get("shutdownAfterJobFinishes"):
        yield FieldError(
            field="spec.shutdownAfterJobFinishes",
            type="Invalid value",
            value="false",
            detail="a kueue managed job should delete the cluster after finishing",
        )


@rule("WORK-017")
def only_elastic_work_autoscales_0_14(write: AdmissionRequest) -> Faults:
    """The webhook denies autoscaling to Ray work in a queue, except to an elastic RayCluster.

    Kueue 0.14: pkg/controller/jobs/raycluster/raycluster_webhook.go (validateCreate);
        pkg/controller/jobs/rayjob/rayjob_webhook.go (validateCreate)
    """
    yield from _autoscaling(write, _OF_CLUSTER_0_18, _OF_OTHERS_0_14)


@rule("WORK-017")
def only_elastic_work_autoscales_0_18(write: AdmissionRequest) -> Faults:
    """The webhook denies autoscaling to Ray work in a queue that is not elastic.

    Kueue 0.18: pkg/controller/jobs/raycluster/raycluster_webhook.go (validateCreate)
    """
    yield from _autoscaling(write, _OF_CLUSTER_0_18, _OF_OTHERS)


@rule("WORK-017")
def only_elastic_work_autoscales(write: AdmissionRequest) -> Faults:
    """The webhook denies autoscaling to Ray work in a queue that is not elastic.

    Kueue: pkg/controller/jobs/raycluster/raycluster_webhook.go (validateCreate);
        pkg/controller/jobs/raycluster/common.go (ValidateCreate)
    """
    yield from _autoscaling(write, _OF_CLUSTER, _OF_OTHERS)


@rule("WORK-048")
def new_ray_job_that_autoscales_is_elastic(job: Manifest, elastic: bool) -> Faults:
    """The mutating webhook denies a new RayJob with autoscaling that is not elastic, or that is suspended.

    Kueue 0.15: pkg/controller/jobs/rayjob/rayjob_webhook.go (Default)
    """
    if job["kind"] != RAY_JOB.name:
        return
    cluster = spec_of(job).get("rayClusterSpec") or {}
    if not cluster.get("enableInTreeAutoscaling"):
        return
    wrong = ""
    if not elastic:
        wrong = "RayJob should enable workload slicing if autoscaling is enabled"
    elif spec_of(job).get("suspend"):
        wrong = "RayJob should not set suspend to true if autoscaling is enabled"
    if wrong:
        yield FieldError(field="", type="", detail=wrong)


@rule("ELASTIC-027")
def elastic_cluster_keeps_its_gates(write: AdmissionRequest) -> Faults:
    """The webhook denies an elastic RayCluster in a queue with pods that lack the scheduling gate.

    Kueue: pkg/controller/jobs/raycluster/raycluster_webhook.go (validateElasticJob)
    """
    if not write.elastic or not write.is_managed(RAY_CLUSTER.name):
        return
    head, *workers = pod_set_places(write.new)
    for place in (*workers, head):
        template = template_of(write.new, place)
        if is_gated(template, ELASTIC):
            continue
        gates = (template.get("spec") or {}).get("schedulingGates")
        yield FieldError(
            field=f"{place.pod_path}.schedulingGates",
            type="Invalid value",
            value=printed(gates),
            detail="an elastic job must have the ElasticJobSchedulingGate",
        )


@rule("WORK-018")
def at_most_7_worker_groups(write: AdmissionRequest) -> Faults:
    """The webhook denies Ray work in a queue with more than seven worker groups.

    Kueue 0.17: pkg/controller/jobs/raycluster/common.go (ValidateCreate)
    """
    groups = len(_groups(write))
    if groups > 7:
        yield _too_many_groups(write, groups, 7)


@rule("WORK-018")
def at_most_10_ray_pod_sets(write: AdmissionRequest) -> Faults:
    """The webhook denies Ray work in a queue whose head and worker groups are more than ten.

    Kueue 0.18: pkg/controller/jobs/raycluster/common.go (ValidateCreate)
    """
    pod_sets = len(_groups(write)) + 1
    if pod_sets > 10:
        yield _too_many_groups(write, pod_sets, 10)


@rule("WORK-018")
def at_most_18_ray_pod_sets(write: AdmissionRequest) -> Faults:
    """The webhook denies Ray work in a queue whose head and worker groups are more than eighteen.

    Kueue: pkg/controller/jobs/raycluster/common.go (ValidateCreate)
    """
    pod_sets = len(_groups(write)) + 1
    if pod_sets > 18:
        yield _too_many_groups(write, pod_sets, 18)


@rule("WORK-020")
def no_worker_group_is_called_head(write: AdmissionRequest) -> Faults:
    """The webhook denies Ray work in a queue with a worker group of the name head.

    Kueue: pkg/controller/jobs/raycluster/common.go (ValidateCreate)
    """
    for index, group in enumerate(_groups(write)):
        if group.get("groupName") == HEAD:
            yield FieldError(
                field=f"{_path(write)}.workerGroupSpecs[{index}].groupName",
                type="Forbidden",
                detail='"head" is reserved for the head group',
            )


@rule("WORK-036")
def update_without_queue_is_not_validated(write: AdmissionRequest) -> bool:
    """The webhook accepts any change of Ray work that leaves it without a queue name.

    Kueue 0.18: pkg/controller/jobs/raycluster/raycluster_webhook.go (ValidateUpdate)
    """
    if write.old is None or write.manages_all:
        return False
    return write.new["kind"] in CLUSTER_PATHS and not queue_named_by(write.new)


def _makes_cluster(job: Manifest) -> bool:
    """Whether a RayJob makes a RayCluster."""
    return "rayClusterSpec" in spec_of(job)


def _groups(write: AdmissionRequest) -> Sequence[Manifest]:
    """Give the worker groups that are checked."""
    if not write.is_managed(*CLUSTER_PATHS):
        return ()
    return cluster_of(write.new).get("workerGroupSpecs") or ()


def _path(write: AdmissionRequest) -> str:
    """Give the field of the cluster that messages name; that of a RayService is called rayClusterConfig."""
    is_cluster = write.new["kind"] == RAY_CLUSTER.name
    return "spec" if is_cluster else "spec.rayClusterSpec"


def _existing_cluster(write: AdmissionRequest) -> FieldError:
    return FieldError(
        field="spec.clusterSelector",
        type="Invalid value",
        value=printed(spec_of(write.new)["clusterSelector"]),
        detail="a kueue managed job should not use an existing cluster",
    )


def _autoscaling(write: AdmissionRequest, of_cluster: str, of_others: str) -> Faults:
    if write.elastic or not write.is_managed(*CLUSTER_PATHS):
        return
    if cluster_of(write.new).get("enableInTreeAutoscaling"):
        is_cluster = write.new["kind"] == RAY_CLUSTER.name
        yield FieldError(
            field=f"{_path(write)}.enableInTreeAutoscaling",
            type="Invalid value",
            value="true",
            detail=of_cluster if is_cluster else of_others,
        )


def _too_many_groups(write: AdmissionRequest, count: int, limit: int) -> FieldError:
    return FieldError(
        field=f"{_path(write)}.workerGroupSpecs",
        type="Too many",
        value=str(count),
        detail=f"must have at most {limit} items",
    )
