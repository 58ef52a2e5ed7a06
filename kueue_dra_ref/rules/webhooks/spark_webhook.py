"""Kueue's validating webhook for SparkApplications.

Kueue: pkg/controller/jobs/sparkapplication/sparkapplication_webhook.go (validateCreate)
"""

from __future__ import annotations

from collections.abc import Iterator

from kueue_dra_ref.api.job_kind import spec_of
from kueue_dra_ref.api.names import printed
from kueue_dra_ref.api.quantities import BadQuantity, parse
from kueue_dra_ref.api.spark_application import (
    ROLES,
    SPARK_APPLICATION,
    amounts_of,
    role_of,
)
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError

Faults = Iterator[FieldError]
_ONLY_ELASTIC = (
    "a kueue managed job can use dynamicAllocation only when the ElasticJobsViaWorkloadSlices feature gate is on "
    "and the job is an elastic job"
)


@rule("WORK-039")
def only_cluster_mode(write: AdmissionRequest) -> Faults:
    """The webhook denies a SparkApplication in a queue in another mode than cluster.

    Kueue: pkg/controller/jobs/sparkapplication/sparkapplication_webhook.go (validateCreate)
    """
    mode = spec_of(write.new).get("mode", "")
    if write.is_managed(SPARK_APPLICATION.name) and mode != "cluster":
        yield FieldError(
            field="spec.mode",
            type="Invalid value",
            value=printed(mode),
            detail="only Cluster mode is supported for a kueue managed job",
        )


@rule("WORK-039")
def only_elastic_work_allocates_dynamically(write: AdmissionRequest) -> Faults:
    """The webhook denies dynamic allocation to a SparkApplication in a queue that is not elastic.

    Kueue: pkg/controller/jobs/sparkapplication/sparkapplication_webhook.go (validateCreate)
    """
    if write.elastic or not write.is_managed(SPARK_APPLICATION.name):
        return
    allocation = spec_of(write.new).get("dynamicAllocation") or {}
    if allocation.get("enabled"):
        yield FieldError(
            field="spec.dynamicAllocation.enabled",
            type="Invalid value",
            value="true",
            detail=_ONLY_ELASTIC,
        )


@rule("WORK-039")
def amounts_can_be_read(write: AdmissionRequest) -> Faults:
    """The webhook denies a SparkApplication whose cores or memory are no quantities; other work has no such roles.

    Kueue: pkg/controller/jobs/sparkapplication/sparkapplication_webhook.go (validateTopologyRequest);
        pkg/controller/jobs/sparkapplication/sparkapplication_podset.go (addMemoryRequests)
    """
    for role in ROLES:
        for part, resource, amount in amounts_of(role_of(write.new, role)):
            try:
                parse(amount)
            except BadQuantity:
                yield FieldError(
                    field=f"spec.{role}",
                    type="Invalid value",
                    value=printed(amount),
                    detail=f"failed to parse {resource} {part}",
                )
