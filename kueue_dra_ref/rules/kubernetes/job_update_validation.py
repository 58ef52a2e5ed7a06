"""Validation of updates of Jobs by the API server: immutable fields (Kubernetes, JobSpec).

Kubernetes: pkg/apis/batch/validation/validation.go (validateCompletions, validatePodTemplateUpdate,
    ValidateJobSpecUpdate)
"""

from __future__ import annotations

from kueue_dra_ref.api.deepcopy import copied
from kueue_dra_ref.api.jobs import BY_NUMBER, INDEXED, POD_PATH, template_of
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.apiserver.fielderrors import Errors
from kueue_dra_ref.apiserver.schema_pods import TEMPLATE
from kueue_dra_ref.apiserver.semantic_equality import canonical
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError, Manifest

_FIXED = (
    "completionMode",
    "podFailurePolicy",
    "backoffLimitPerIndex",
    "managedBy",
    "successPolicy",
)
_RESOURCES_SINCE = 36
"""The Kubernetes minor since which the containers of a suspended Job may change their resources."""


@rule("API-047")
def completions_are_immutable(write: AdmissionRequest) -> Errors:
    """The API server rejects other completions unless those of an Indexed Job follow its parallelism.

    Kubernetes: pkg/apis/batch/validation/validation.go (validateCompletions)
    """
    old, new = write.before["spec"], write.new["spec"]
    if old.get("completions") == new.get("completions"):
        return
    if new.get("completionMode") != INDEXED:
        yield _immutable("spec.completions")
    elif "completions" in new and new["completions"] != new["parallelism"]:
        detail = "can only be modified in tandem with spec.parallelism"
        yield FieldError(
            field="spec.completions",
            type="Invalid value",
            value=str(new["completions"]),
            detail=detail,
        )


@rule("API-048")
def pod_template_is_immutable(write: AdmissionRequest) -> Errors:
    """The API server rejects another pod template, except for scheduling fields of a Job never started.

    Since Kubernetes 1.36, the containers of such a Job may also change their resources.

    Kubernetes: pkg/apis/batch/validation/validation.go (validatePodTemplateUpdate)
    """
    if write.old is None:
        return
    old, new, path = (
        copied(template_of(write.old)),
        template_of(write.new),
        "spec.template",
    )
    if _is_never_started(write.old):
        _copy_scheduling_fields(old, new)
        if write.kubernetes.minor >= _RESOURCES_SINCE:
            path = POD_PATH
            _copy_resources(old.get("spec") or {}, new.get("spec") or {})
    if canonical(old, TEMPLATE) != canonical(new, TEMPLATE):
        yield _immutable(path)


@rule("API-049")
def job_termination_fields_are_immutable(write: AdmissionRequest) -> Errors:
    """The API server rejects another completionMode, failure or success policy, or managedBy of a Job.

    Kubernetes: pkg/apis/batch/validation/validation.go (ValidateJobSpecUpdate)
    """
    old, new = (
        {"completionMode": BY_NUMBER} | spec["spec"]
        for spec in (write.before, write.new)
    )
    for key in _FIXED:
        if old.get(key) != new.get(key):
            yield _immutable(f"spec.{key}")


def _is_never_started(job: Manifest) -> bool:
    """Whether a Job is suspended and was never started."""
    return job["spec"].get("suspend") is True and not (job.get("status") or {}).get(
        "startTime"
    )


def _copy_scheduling_fields(old: Manifest, new: Manifest) -> None:
    """Copy the scheduling fields of a new template to an old one."""
    _copy(
        old.setdefault("metadata", {}),
        new.get("metadata") or {},
        "labels",
        "annotations",
    )
    pod, wanted = old.setdefault("spec", {}), new.get("spec") or {}
    _copy(pod, wanted, "nodeSelector", "tolerations", "schedulingGates")
    _copy(pod.setdefault("affinity", {}), wanted.get("affinity") or {}, "nodeAffinity")


def _copy_resources(old: Manifest, new: Manifest) -> None:
    """Copy the resources of the containers of a new pod to an old one with the same containers."""
    for kind in ("containers", "initContainers"):
        before, after = old.get(kind) or [], new.get(kind) or []
        if len(before) == len(after):
            for mine, theirs in zip(before, after, strict=True):
                if mine.get("name") == theirs.get("name"):
                    _copy(mine, theirs, "resources")


def _copy(old: Manifest, new: Manifest, *keys: str) -> None:
    for key in keys:
        old.pop(key, None)
    old.update({key: new[key] for key in keys if key in new})


def _immutable(path: str) -> FieldError:
    return FieldError(field=path, type="Invalid value", detail="field is immutable")
