"""What the API server refuses of a Job (Kubernetes, JobSpec and PodSpec): as far as quota depends on it, or Kueue.

Kubernetes: pkg/apis/core/validation/validation.go (validateContainers, ValidatePodSpec, ValidatePodTemplateSpec)
"""

from __future__ import annotations

from kueue_dra_ref.api.jobs import POD_PATH, pod_of, template_of
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
def a_job_counts_nothing_below_zero(write: AdmissionRequest) -> Errors:
    """Refuse negative numbers of pods, seconds and failures.

    Kubernetes: pkg/apis/batch/validation/validation.go (validateJobSpec)
    """
    for key in _NUMBERS:
        if (number := write.new["spec"].get(key, 0)) < 0:
            yield invalid(f"spec.{key}", number, "must be greater than or equal to 0")


@rule("API-044")
def pod_template_labels_are_valid(write: AdmissionRequest) -> Errors:
    """Refuse labels and annotations of pods that are none.

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
def a_claim_of_a_pod_has_a_name_and_comes_from_somewhere(
    write: AdmissionRequest,
) -> Errors:
    """Refuse no name, a name twice, and anything but either a claim or a template.

    Kubernetes: pkg/apis/core/validation/validation.go (validatePodResourceClaims, validatePodResourceClaim)
    """
    return pods.claims(pod_of(write.new), POD_PATH)


@rule("API-039")
def a_pod_has_a_container(write: AdmissionRequest) -> Errors:
    """Refuse a pod without one; those that run before it are not enough.

    Kubernetes: pkg/apis/core/validation/validation.go (validateContainers)
    """
    if not pod_of(write.new).get("containers"):
        yield required(f"{POD_PATH}.containers")


@rule("API-039")
def a_container_has_a_name_and_an_image(container: PodContainer) -> Errors:
    """Refuse a container that lacks either.

    Kubernetes: pkg/apis/core/validation/validation.go (validateContainerCommon)
    """
    return containers.named(container)


@rule("API-040")
def a_container_asks_for_what_there_is(container: PodContainer) -> Errors:
    """Refuse unknown resources, amounts that are negative or not whole, and requests that do not fit their limit.

    Kubernetes: pkg/apis/core/validation/validation.go (ValidateContainerResourceRequirements)
    """
    return containers.amounts(container)


@rule("API-037")
def a_container_uses_claims_of_its_pod(container: PodContainer) -> Errors:
    """Refuse a claim that the pod does not have, and one that is used twice.

    Kubernetes: pkg/apis/core/validation/validation.go (validateResourceClaimNames)
    """
    return containers.claims(
        container.resources, f"{container.path}.resources", container.claims
    )


@rule("API-039")
def a_container_has_a_name_of_its_own(container: PodContainer) -> Errors:
    """Refuse the name of a container before it.

    Kubernetes: pkg/apis/core/validation/validation.go (validateContainers, validateInitContainers)
    """
    return containers.named_once(container)


@rule("API-041")
def container_restart_policy_is_known(container: PodContainer) -> Errors:
    """Refuse other words, and where only those that run before the others may say so, any of the others.

    Kubernetes: pkg/apis/core/validation/validation.go (validateContainerRestartPolicy)
    """
    return containers.restarted(container)


@rule("API-040")
def a_pod_asks_for_what_its_containers_need(write: AdmissionRequest) -> Errors:
    """Refuse to ask, for a pod as a whole, for what there is not, and for less than its containers do.

    Kubernetes: pkg/apis/core/validation/validation.go (validatePodResources)
    """
    return pods.amounts(pod_of(write.new), POD_PATH, write.kubernetes)


@rule("API-041")
def a_pod_is_started_again_in_known_words(write: AdmissionRequest) -> Errors:
    """Refuse other words.

    Kubernetes: pkg/apis/core/validation/validation.go (validateRestartPolicy)
    """
    return pods.restarted(pod_of(write.new), POD_PATH)


@rule("API-042")
def pods_choose_nodes_by_labels(write: AdmissionRequest) -> Errors:
    """Refuse labels, in selectors and required affinity, that no node can have.

    Kubernetes: pkg/apis/core/validation/validation.go (ValidatePodSpec, validateNodeAffinity)
    """
    return pods.chosen_nodes(pod_of(write.new), POD_PATH, write.kubernetes)


@rule("API-043")
def pods_tolerate_what_taints_can_be(write: AdmissionRequest) -> Errors:
    """Refuse tolerations that fit no taint.

    Kubernetes: pkg/apis/core/validation/validation.go (ValidateTolerations)
    """
    return pods.tolerations(pod_of(write.new), POD_PATH, write.kubernetes)


@rule("API-044")
def pods_name_classes_as_objects_are(write: AdmissionRequest) -> Errors:
    """Refuse names that no priority class and no runtime class can have.

    Kubernetes: pkg/apis/core/validation/validation.go (ValidatePodSpec, ValidateRuntimeClassName)
    """
    return pods.classes(pod_of(write.new), POD_PATH)


@rule("API-040")
def overhead_is_of_what_there_is(write: AdmissionRequest) -> Errors:
    """Refuse unknown resources, and negative amounts.

    Kubernetes: pkg/apis/core/validation/validation.go (validateOverhead)
    """
    return pods.overhead(pod_of(write.new), POD_PATH, write.kubernetes)


@rule("API-041")
def the_pods_of_a_job_end(write: AdmissionRequest) -> Errors:
    """Refuse pods that are started again whatever happens, as they are where nothing is said.

    Kubernetes: pkg/apis/batch/validation/validation.go (ValidateJobSpec)
    """
    return pods.ended(pod_of(write.new), POD_PATH)
