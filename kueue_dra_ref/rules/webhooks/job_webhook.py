"""Kueue's validating webhook for Jobs (Kueue 0.19, jobframework/validation.go and job_webhook.go).

Kueue: pkg/controller/jobframework/validation.go (ValidateJobOnUpdate);
    pkg/controller/jobs/job/job_webhook.go (validatePartialAdmissionCreate)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kueue_dra_ref.api.app_wrapper import APP_WRAPPER
from kueue_dra_ref.api.elastic_work import ELASTIC
from kueue_dra_ref.api.execution_time import LIMIT_LABEL, limit_label_of
from kueue_dra_ref.api.job_kind import pods_of_job
from kueue_dra_ref.api.job_kinds import JOB, JOB_KINDS, fewest_pods_of, is_suspended
from kueue_dra_ref.api.jobs import (
    INDEXED,
    LEAST_ANNOTATION,
    PRIORITY_LABEL,
    QUEUE_LABEL,
    SYNC_ANNOTATION,
)
from kueue_dra_ref.api.metadata import annotations_of, labels_of
from kueue_dra_ref.api.names import dns_subdomain_faults, printed
from kueue_dra_ref.api.pod_owners import LEADER_WORKER_SET, POD_OWNERS, has_ready_pods
from kueue_dra_ref.api.quantities import MAX_INT64
from kueue_dra_ref.api.queued_pods import PREBUILT, prebuilt_name
from kueue_dra_ref.api.topologies import FALSE, TRUE
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError, Manifest

_LABELS = "metadata.labels"
_IMMUTABLE = "field is immutable"
JAX_JOB = "JAXJob"
_LABEL_READ_ONCE = frozenset(
    {
        APP_WRAPPER,
        JAX_JOB,
        JOB.name,
        "PaddleJob",
        "Pod",
        "PyTorchJob",
        "TFJob",
        "XGBoostJob",
    }
)
"""Kinds whose webhook reads the label max-exec-time-seconds of a change by another rule, or not at all."""
_ELASTIC_KINDS = ("Job", "RayCluster", "RayJob", "RayService")


@rule("WORK-055")
def work_is_off(write: AdmissionRequest) -> bool:
    """The webhooks accept any work of a kind that Kueue does not queue.

    Kueue: pkg/controller/jobframework/setup.go (setupControllers)
    """
    return write.is_off


@rule("QUEUE-046")
def job_queue_name_is_valid(write: AdmissionRequest) -> Iterator[FieldError]:
    """The webhook denies a Job whose queue label is not a valid object name.

    Kueue: pkg/controller/jobframework/validation.go (ValidateQueueName)
    """
    name = _label(write.new, QUEUE_LABEL)
    if QUEUE_LABEL in labels_of(write.new) and (faults := dns_subdomain_faults(name)):
        yield _invalid(_LABELS, QUEUE_LABEL, name, ",".join(faults))


@rule("MK-049")
def jax_job_has_no_prebuilt_workload(write: AdmissionRequest) -> Iterator[FieldError]:
    """The webhook denies a new JAXJob that names a prebuilt Workload.

    Kueue: pkg/controller/jobframework/validation.go (validateCreateForPrebuiltWorkload)
    """
    if write.old is not None or write.new["kind"] != JAX_JOB:
        return
    if not prebuilt_name(write.new):
        return
    is_annotated = PREBUILT in annotations_of(write.new)
    path = "metadata.annotations" if is_annotated else _LABELS
    kind = f"{write.new['apiVersion']}, Kind={JAX_JOB}"
    yield FieldError(
        field=f"{path}[{PREBUILT}]",
        type="Forbidden",
        detail=f'Is not supported for "{kind}"',
    )


@rule("WORK-032")
def runtime_of_train_job_exists(write: AdmissionRequest) -> Iterator[FieldError]:
    """The webhook denies a TrainJob whose runtime does not exist.

    Kueue: pkg/controller/jobs/trainjob/trainjob_webhook.go (validateTopologyRequest)
    """
    if write.missing_runtime:
        yield FieldError(
            field="spec.runtimeRef",
            type="Not found",
            detail=f"runtime '{write.missing_runtime}' not found",
        )


@rule("PARTIAL-006")
def min_parallelism_is_below_pod_count(write: AdmissionRequest) -> Iterator[FieldError]:
    """The webhook denies a Job whose minimum parallelism is not above zero and below its number of pods.

    Kueue: pkg/controller/jobs/job/job_webhook.go (validatePartialAdmissionCreate)
    """
    written = _new_minimum(write)
    if written is None:
        return
    most = pods_of_job(write.new["spec"])
    if not re.fullmatch(r"[+-]?[0-9]+", written):
        detail = f"strconv.Atoi: parsing {printed(written)}: invalid syntax"
        yield _invalid("metadata.annotations", LEAST_ANNOTATION, written, detail)
    elif not 0 < int(written) < most:
        yield _invalid(
            "metadata.annotations",
            LEAST_ANNOTATION,
            int(written),
            f"should be between 0 and {most - 1}",
        )


@rule("PARTIAL-023", "PARTIAL-025")
def completions_are_equal_to_parallelism(
    write: AdmissionRequest,
) -> Iterator[FieldError]:
    """The webhook denies a Job whose completions follow its parallelism without being equal, or without an index.

    Kueue: pkg/controller/jobs/job/job_webhook.go (validateSyncCompletionCreate)
    """
    return _unequal(write, "annotation is true")


@rule("PARTIAL-023", "PARTIAL-026")
def completions_are_equal_to_parallelism_0_18(
    write: AdmissionRequest,
) -> Iterator[FieldError]:
    """Up to 0.18 the webhook does so in other words.

    Kueue 0.18: pkg/controller/jobs/job/job_webhook.go (validateSyncCompletionCreate)
    """
    return _unequal(write, "is annotation is true")


def _unequal(write: AdmissionRequest, words: str) -> Iterator[FieldError]:
    job = write.new
    written = annotations_of(job).get(SYNC_ANNOTATION)
    if job["kind"] != JOB.name or written is None:
        return
    if written not in TRUE:
        if written not in FALSE:
            detail = f"strconv.ParseBool: parsing {printed(written)}: invalid syntax"
            yield _invalid("metadata.annotations", SYNC_ANNOTATION, written, detail)
        return
    spec = job["spec"]
    if spec.get("completionMode") != INDEXED:
        detail = "should not be enabled for NonIndexed jobs"
        yield _invalid("metadata.annotations", SYNC_ANNOTATION, written, detail)
    completions = spec.get("completions")
    if (1 if completions is None else completions) != spec.get("parallelism", 1):
        yield FieldError(
            field="spec.completions",
            type="Invalid value",
            value=printed("null" if completions is None else completions),
            detail=f"should be equal to parallelism when {SYNC_ANNOTATION} {words}",
        )


@rule("EXEC-004")
def execution_time_is_positive(write: AdmissionRequest) -> Iterator[FieldError]:
    """The webhook denies work whose label max-exec-time-seconds is not a number above zero.

    Kueue: pkg/controller/jobframework/validation.go (validateCreateForMaxExecTime)
    """
    if write.old is None or write.new["kind"] == JOB.name:
        yield from _limit_faults(write.new)


@rule("EXEC-004")
def changed_execution_time_is_positive(
    write: AdmissionRequest,
) -> Iterator[FieldError]:
    """The webhooks of most kinds deny such a label to work that is there as well.

    Kueue: pkg/controller/jobframework/validation.go (validateCreateForMaxExecTime)
    """
    if write.old is not None and write.new["kind"] not in _LABEL_READ_ONCE:
        yield from _limit_faults(write.new)


def _limit_faults(obj: Manifest) -> Iterator[FieldError]:
    label = limit_label_of(obj)
    if label is None:
        return
    if not re.fullmatch("[0-9]+", label):
        detail = f"strconv.Atoi: parsing {printed(label)}: invalid syntax"
        yield _invalid(_LABELS, LIMIT_LABEL, label, detail)
    elif int(label) > MAX_INT64:
        detail = f"strconv.Atoi: parsing {printed(label)}: value out of range"
        yield _invalid(_LABELS, LIMIT_LABEL, label, detail)
    elif int(label) == 0:
        yield _invalid(_LABELS, LIMIT_LABEL, 0, "should be greater than 0")


@rule("EXEC-005")
def running_work_keeps_execution_time(
    write: AdmissionRequest,
) -> Iterator[FieldError]:
    """The webhook denies another label max-exec-time-seconds to work that is not suspended.

    Kueue: pkg/controller/jobframework/validation.go (validateUpdateForMaxExecTime)
    """
    runs = _runs(write.new) or _runs(write.before)
    if runs and _changed(write, LIMIT_LABEL):
        value = _label(write.new, LIMIT_LABEL)
        yield _invalid(_LABELS, LIMIT_LABEL, value, _IMMUTABLE)


@rule("QUEUE-045")
def running_job_keeps_queue_name(write: AdmissionRequest) -> Iterator[FieldError]:
    """The webhook denies a Job that is not suspended another queue name, or its first one.

    Kueue: pkg/controller/jobframework/validation.go (validateUpdateForQueueName)
    """
    if _runs(write.new) and _changed(write, QUEUE_LABEL):
        yield _invalid(_LABELS, QUEUE_LABEL, _label(write.new, QUEUE_LABEL), _IMMUTABLE)


@rule("QUEUE-059")
def queue_name_is_not_removed_with_default_queue(
    write: AdmissionRequest,
) -> Iterator[FieldError]:
    """The webhook denies the removal of the queue name from a Job in a namespace with a default LocalQueue.

    Kueue: pkg/controller/jobframework/validation.go (validateUpdateForQueueName)
    """
    if (
        write.has_default_queue
        and _label(write.before, QUEUE_LABEL)
        and not _label(write.new, QUEUE_LABEL)
    ):
        detail = "queue-name must not be empty in namespace with default queue"
        yield _invalid(_LABELS, QUEUE_LABEL, "", detail)


@rule("PREEMPT-039")
def running_job_gets_no_priority_class(
    write: AdmissionRequest,
) -> Iterator[FieldError]:
    """The webhook denies a Job that is not suspended its first priority class.

    Kueue: pkg/controller/jobframework/validation.go (ValidateUpdateForWorkloadPriorityClassName)
    """
    name = _label(write.new, PRIORITY_LABEL)
    if _runs(write.new) and name and not _label(write.before, PRIORITY_LABEL):
        detail = "WorkloadPriorityClass cannot be added to a non-suspended workload"
        yield _invalid(_LABELS, PRIORITY_LABEL, name, detail)


@rule("PREEMPT-040")
def priority_class_is_not_removed(write: AdmissionRequest) -> Iterator[FieldError]:
    """The webhook denies the removal of the priority class from a Job.

    Kueue: pkg/controller/jobframework/validation.go (ValidateUpdateForWorkloadPriorityClassName)
    """
    if _label(write.before, PRIORITY_LABEL) and not _label(write.new, PRIORITY_LABEL):
        yield _invalid(
            _LABELS,
            PRIORITY_LABEL,
            "",
            "WorkloadPriorityClass cannot be removed from a workload",
        )


@rule("PREEMPT-041")
def running_job_keeps_priority_class(
    write: AdmissionRequest,
) -> Iterator[FieldError]:
    """The webhook denies another priority class to a Job that is not suspended, and none to any Job.

    That of LeaderWorkerSets shows the old class in its error, as it calls the check with the two objects exchanged.

    Kueue 0.14: pkg/controller/jobframework/validation.go (validateJobUpdateForWorkloadPriorityClassName,
        ValidateUpdateForWorkloadPriorityClassName)
    """
    name = _label(write.new, PRIORITY_LABEL)
    if _changed(write, PRIORITY_LABEL) and (_runs(write.new) or not name):
        is_exchanged = write.new["kind"] == LEADER_WORKER_SET.name
        shown = _label(write.before, PRIORITY_LABEL) if is_exchanged else name
        yield _invalid(_LABELS, PRIORITY_LABEL, shown, _IMMUTABLE)


@rule("PARTIAL-007")
def running_job_keeps_parallelism(
    write: AdmissionRequest,
) -> Iterator[FieldError]:
    """The webhook denies another parallelism to a running Job with a minimum parallelism.

    Kueue: pkg/controller/jobs/job/job_webhook.go (validatePartialAdmissionUpdate)
    """
    old, new = write.before, write.new
    if fewest_pods_of(old) is None or not _runs(old):
        return
    if old["spec"]["parallelism"] != new["spec"]["parallelism"]:
        detail = "cannot change when partial admission is enabled and the job is not suspended"
        yield FieldError(field="spec.parallelism", type="Forbidden", detail=detail)


@rule("PARTIAL-024")
def running_job_keeps_completions_equal(
    write: AdmissionRequest,
) -> Iterator[FieldError]:
    """The webhook denies that the completions of a running Job follow its parallelism from now on, or no longer.

    Kueue: pkg/controller/jobs/job/job_webhook.go (validatePartialAdmissionUpdate)
    """
    old, new = write.before, write.new
    if new["kind"] == JOB.name and _runs(old) and _runs(new):
        before, after = (
            annotations_of(each).get(SYNC_ANNOTATION) for each in (old, new)
        )
        if (before in TRUE) is not (after in TRUE):
            yield FieldError(
                field=f"metadata.annotations[{SYNC_ANNOTATION}]",
                type="Forbidden",
                detail=f"{_IMMUTABLE} while the job is not suspended",
            )


@rule("ELASTIC-015")
def elastic_work_stays_so(write: AdmissionRequest) -> Iterator[FieldError]:
    """The webhook denies that work of a queue becomes elastic, or is it no longer.

    Kueue: pkg/controller/jobframework/validation.go (validatedUpdateForEnabledWorkloadSlice)
    """
    yield from _toggled(write, "metadata.annotations")


@rule("ELASTIC-015")
def elastic_work_stays_so_0_17(write: AdmissionRequest) -> Iterator[FieldError]:
    """The webhook denies that work of a queue becomes elastic, or is it no longer, and names a label.

    Kueue 0.17: pkg/controller/jobframework/validation.go (validatedUpdateForEnabledWorkloadSlice)
    """
    yield from _toggled(write, _LABELS)


@rule("ELASTIC-016")
def only_some_kinds_are_elastic(write: AdmissionRequest) -> Iterator[FieldError]:
    """The webhook denies the annotation elastic-job to work other than Jobs and Ray work.

    Kueue: pkg/controller/jobframework/validation.go (ValidateElasticJobAnnotation)
    """
    name = write.new["kind"]
    kind = JOB_KINDS.get(name) or POD_OWNERS[name]
    if write.elastic and kind.name not in _ELASTIC_KINDS:
        version = f"{kind.group}/{kind.version}, Kind={kind.name}"
        yield FieldError(
            field=f"metadata.annotations[{ELASTIC}]",
            type="Forbidden",
            detail=f"elastic job is not supported for {printed(version)}",
        )


@rule("ELASTIC-017")
def elastic_job_has_no_min_parallelism(write: AdmissionRequest) -> Iterator[FieldError]:
    """The webhook denies a minimum parallelism to an elastic Job.

    Kueue: pkg/controller/jobs/job/job_webhook.go (validatePartialAdmissionCreate)
    """
    written = _new_minimum(write)
    if written is None or not write.elastic:
        return
    detail = "partial admission and elastic job cannot be used together"
    yield _invalid("metadata.annotations", LEAST_ANNOTATION, written, detail)


def _toggled(write: AdmissionRequest, place: str) -> Iterator[FieldError]:
    before = annotations_of(write.before).get(ELASTIC) == "true"
    after = annotations_of(write.new).get(ELASTIC) == "true"
    if before != after:
        yield FieldError(
            field=f"{place}[{ELASTIC}]",
            type="Invalid value",
            value=printed(after),
            detail=_IMMUTABLE,
        )


def _new_minimum(write: AdmissionRequest) -> str | None:
    """Give the minimum parallelism of a Job that gets one, or another; None for no new one."""
    written = fewest_pods_of(write.new)
    before = fewest_pods_of(write.old or {})
    return None if written == before else written


def _label(job: Manifest, label: str) -> str:
    return labels_of(job).get(label, "")


def _changed(write: AdmissionRequest, label: str) -> bool:
    return _label(write.before, label) != _label(write.new, label)


def _runs(job: Manifest) -> bool:
    if job["kind"] in POD_OWNERS:
        return has_ready_pods(job)
    return not is_suspended(job)


def _invalid(place: str, key: str, value: object, detail: str) -> FieldError:
    return FieldError(
        field=f"{place}[{key}]",
        type="Invalid value",
        value=printed(value),
        detail=detail,
    )
