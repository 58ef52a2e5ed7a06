"""Validation of Jobs by the API server, as far as Kueue depends on it (Kubernetes, JobSpec and PodSpec).

Kubernetes: pkg/apis/core/validation/validation.go (validateContainers, ValidatePodSpec, ValidatePodTemplateSpec)
"""

from __future__ import annotations

from kueue_dra_ref.api.jobs import pod_of, pod_path, template_of
from kueue_dra_ref.apiserver import containers, pods, resource_names
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.apiserver.containers import PodContainer
from kueue_dra_ref.apiserver.fielderrors import Errors, invalid, required
from kueue_dra_ref.model.rule import rule

_TEMPLATE = "spec.template"
_NUMBERS = (
    *(
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
    ),
    *("backoffLimitPerIndex", "maxFailedIndexes"),
)


@rule("API-038")
def job_numbers_are_not_negative(write: AdmissionRequest) -> Errors:
    """The API server rejects a Job with a negative number of pods, seconds or failures.

    Kubernetes: pkg/apis/batch/validation/validation.go (validateJobSpec)
    """
    spec = write.new["spec"]
    for key in _NUMBERS:
        if key in spec and spec[key] < 0:
            yield invalid(
                f"spec.{key}", spec[key], "must be greater than or equal to 0"
            )


@rule("API-044")
def pod_template_labels_are_valid(write: AdmissionRequest) -> Errors:
    """The API server rejects a pod template with invalid labels or annotations.

    Kubernetes: pkg/apis/core/validation/validation.go (ValidatePodTemplateSpec)
    """
    meta = template_of(write.new).get("metadata") or {}
    yield from resource_names.label_map(
        meta.get("labels"), f"{_TEMPLATE}.labels", write.kubernetes
    )
    yield from resource_names.annotation_map(
        meta.get("annotations"), f"{_TEMPLATE}.annotations", write.kubernetes
    )


@rule("API-036")
def pod_claims_are_valid(
    write: AdmissionRequest,
) -> Errors:
    """The API server rejects a pod claim without a unique name, or without exactly one claim or template.

    Kubernetes: pkg/apis/core/validation/validation.go (validatePodResourceClaims, validatePodResourceClaim)
    """
    return pods.claims(pod_of(write.new), pod_path(write.new))


@rule("API-039")
def pod_has_a_container(write: AdmissionRequest) -> Errors:
    """The API server rejects a pod without a regular container.

    Kubernetes: pkg/apis/core/validation/validation.go (validateContainers)
    """
    if not pod_of(write.new).get("containers"):
        yield required(f"{pod_path(write.new)}.containers")


@rule("API-039")
def container_name_and_image_are_required(container: PodContainer) -> Errors:
    """The API server rejects a container without a name or an image.

    Kubernetes: pkg/apis/core/validation/validation.go (validateContainerCommon)
    """
    return containers.named(container)


@rule("API-040")
def container_resources_are_valid(container: PodContainer) -> Errors:
    """The API server rejects a container with unknown resources, invalid amounts or requests above limits.

    Kubernetes: pkg/apis/core/validation/validation.go (ValidateContainerResourceRequirements)
    """
    return containers.amounts(container)


@rule("API-037")
def container_claims_exist(container: PodContainer) -> Errors:
    """The API server rejects a container that lists a claim that its pod lacks, or a claim twice.

    Kubernetes: pkg/apis/core/validation/validation.go (validateResourceClaimNames)
    """
    return containers.claims(
        container.resources, f"{container.path}.resources", container.claims
    )


@rule("API-039")
def container_name_is_unique(container: PodContainer) -> Errors:
    """The API server rejects a container with the name of another container of the pod.

    Kubernetes: pkg/apis/core/validation/validation.go (validateContainers, validateInitContainers)
    """
    return containers.named_once(container)


@rule("API-041")
def container_restart_policy_is_known(container: PodContainer) -> Errors:
    """The API server rejects a container with a restartPolicy that Kubernetes does not allow for it.

    Kubernetes: pkg/apis/core/validation/validation.go (validateContainerRestartPolicy)
    """
    return containers.restarted(container)


@rule("API-040")
def pod_resources_are_valid(write: AdmissionRequest) -> Errors:
    """The API server rejects pod-level resources that are unknown, or below those of the containers.

    Kubernetes: pkg/apis/core/validation/validation.go (validatePodResources)
    """
    return pods.amounts(pod_of(write.new), pod_path(write.new), write.kubernetes)


@rule("API-041")
def pod_restart_policy_is_known(write: AdmissionRequest) -> Errors:
    """The API server rejects a pod with an unknown restartPolicy.

    Kubernetes: pkg/apis/core/validation/validation.go (validateRestartPolicy)
    """
    return pods.restarted(pod_of(write.new), pod_path(write.new))


@rule("API-042")
def node_selection_is_valid(write: AdmissionRequest) -> Errors:
    """The API server rejects a node selector or required node affinity with labels that no node can have.

    Kubernetes: pkg/apis/core/validation/validation.go (ValidatePodSpec, validateNodeAffinity)
    """
    return pods.chosen_nodes(pod_of(write.new), pod_path(write.new), write.kubernetes)


@rule("API-043")
def pod_tolerations_are_valid(write: AdmissionRequest) -> Errors:
    """The API server rejects a pod with a toleration that fits no taint.

    Kubernetes: pkg/apis/core/validation/validation.go (ValidateTolerations)
    """
    return pods.tolerations(pod_of(write.new), pod_path(write.new), write.kubernetes)


@rule("API-044")
def pod_class_names_are_valid(write: AdmissionRequest) -> Errors:
    """The API server rejects a pod whose priority class or runtime class has no valid object name.

    Kubernetes: pkg/apis/core/validation/validation.go (ValidatePodSpec, ValidateRuntimeClassName)
    """
    return pods.classes(pod_of(write.new), pod_path(write.new))


@rule("API-040")
def pod_overhead_is_valid(write: AdmissionRequest) -> Errors:
    """The API server rejects a pod overhead of unknown resources or of negative amounts.

    Kubernetes: pkg/apis/core/validation/validation.go (validateOverhead)
    """
    return pods.overhead(pod_of(write.new), pod_path(write.new), write.kubernetes)


@rule("API-041")
def job_restart_policy_is_not_always(write: AdmissionRequest) -> Errors:
    """The API server rejects a Job whose pods have restartPolicy Always, which is the default.

    Kubernetes: pkg/apis/batch/validation/validation.go (ValidateJobSpec)
    """
    return pods.ended(pod_of(write.new), pod_path(write.new))
