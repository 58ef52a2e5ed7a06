"""ProvisioningRequests: which pods a cluster autoscaler is asked for, and what its answers do to a check.

Kueue: pkg/controller/admissionchecks/provisioning/controller.go (Controller, Reconcile);
    pkg/controller/admissionchecks/provisioning/admissioncheck_reconciler.go (acReconciler)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kueue_dra_ref.api.admission_checks import PENDING, READY, REJECTED, RETRY
from kueue_dra_ref.api.provisioning import (
    ACCEPTED,
    CLASS,
    CONFIG,
    CONSUMES,
    EXPIRED,
    FAILED,
    PROVISIONED,
    REVOKED,
    RetryStrategy,
    parameters_of,
)
from kueue_dra_ref.api.scheme import KUEUE
from kueue_dra_ref.model.condition import Condition
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class ParametersReference:
    """What an AdmissionCheck names as its configuration, and whether that exists; ``written`` is None for nothing."""

    written: Mapping[str, str] | None
    exists: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PodUse:
    """The pods of a pod set: their number, the resources of their containers, and the managed ones."""

    count: int
    resources: frozenset[str]
    managed: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSetPair:
    """Two pod templates, and the policy by which they are merged."""

    policy: str
    first: Manifest
    second: Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedClass:
    """The class and the parameters of a request, and those of the configuration."""

    class_name: str
    parameters: Mapping[str, str]
    wanted_class: str
    wanted: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """The newest request for a workload: its conditions that are True, the messages of all, and the check so far."""

    number: int
    is_true: frozenset[str]
    messages: Mapping[str, str]
    limit: int
    retries: int
    """How often the workload was tried again."""
    state: str
    """The state of the check."""
    admitted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckAnswer:
    """What becomes of a check; None leaves the state or the message as it is."""

    state: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provisioned:
    """A request that is provisioned: its name, its class, what its status says of the nodes, and the selectors."""

    name: str
    class_name: str
    details: Mapping[str, str]
    selectors: Mapping[str, str] = field(default_factory=dict)


def _bad_reference(message: str) -> Condition:
    return Condition(
        type="Active", value=False, reason="BadParametersRef", message=message
    )


@rule("PROV-001")
def check_without_configuration_is_inactive(
    reference: ParametersReference,
) -> Condition | None:
    """A check without the reference of a ProvisioningRequestConfig is not active.

    Kueue: pkg/util/admissioncheck/admissioncheck.go (refValidForGK)
    """
    written = reference.written
    if written is None:
        return _bad_reference("missing parameters reference")
    fault = _fault_of(written)
    return _bad_reference(f"{fault}: bad parameters reference") if fault else None


def _fault_of(written: Mapping[str, str]) -> str:
    for part, expected in (("apiGroup", KUEUE), ("kind", CONFIG)):
        found = written.get(part, "")
        if found != expected:
            noun = "group" if part == "apiGroup" else part
            return f'wrong {noun} "{found}", expecting "{expected}"'
    return ""


@rule("PROV-027")
def other_reference_is_not_read(written: Mapping[str, str] | None) -> bool:
    """Nothing is done for a workload with a check that does not refer to a ProvisioningRequestConfig.

    Kueue: pkg/controller/admissionchecks/provisioning/controller.go (Reconcile)
    """
    return written is None or bool(_fault_of(written))


@rule("PROV-001")
def check_of_missing_configuration_is_inactive(
    reference: ParametersReference,
) -> Condition | None:
    """A check whose ProvisioningRequestConfig does not exist is not active.

    Kueue: pkg/controller/admissionchecks/provisioning/admissioncheck_reconciler.go (acReconciler)
    """
    if reference.exists:
        return None
    name = (reference.written or {}).get("name", "")
    what = f"{CONFIG}.{KUEUE}"
    return _bad_reference(f'{what} "{name}" not found')


@rule("PROV-001")
def check_with_configuration_is_active(reference: ParametersReference) -> Condition:
    """A check whose ProvisioningRequestConfig exists is active.

    Kueue: pkg/controller/admissionchecks/provisioning/admissioncheck_reconciler.go (acReconciler)
    """
    message = "The admission check is active"
    return Condition(
        type="Active", value=reference.exists, reason="Active", message=message
    )


@rule("PROV-003")
def ask_for_all_pods_without_managed_resources(use: PodUse) -> bool:
    """Without managedResources, a request has the pods of every pod set.

    Kueue: pkg/controller/admissionchecks/provisioning/controller.go (requiredPodSets)
    """
    return not use.managed


@rule("PROV-004", "PROV-005", "PROV-006")
def ask_for_pods_with_managed_resources(use: PodUse) -> bool:
    """With managedResources, a request has the pods whose containers request or limit one of them.

    Claims are not looked at, and neither is the resource that their devices are charged as.

    Kueue: pkg/controller/admissionchecks/provisioning/controller.go (podUses, containerUses)
    """
    return bool(use.managed & use.resources)


@rule("PROV-026")
def skip_pod_sets_without_pods(use: PodUse) -> bool:
    """A request has no pod set without pods.

    Kueue: pkg/controller/admissionchecks/provisioning/controller.go (requiredPodSets, mergePodSets)
    """
    return use.count <= 0


@rule("PROV-005")
def ready_without_request() -> str:
    """A check is Ready at once if no pod set gets into its request.

    Kueue: pkg/controller/admissionchecks/provisioning/controller.go (syncCheckStates, reqIsNeeded)
    """
    return "the provisioning request is not needed"


@rule("PROV-017")
def pending_without_configuration() -> str:
    """A check is Pending while its ProvisioningRequestConfig does not exist.

    Kueue: pkg/controller/admissionchecks/provisioning/controller.go (syncCheckStates)
    """
    return "the check is not active"


@rule("PROV-016")
def other_class_replaces_request(asked: RequestedClass) -> bool:
    """A request of another class than the configuration has is replaced.

    Kueue: pkg/controller/admissionchecks/provisioning/provisioning.go (provReqSyncedWithConfig)
    """
    return asked.class_name != asked.wanted_class


@rule("PROV-016")
def other_parameters_replace_request(asked: RequestedClass) -> bool:
    """A request without a parameter of the configuration, or with another value of it, is replaced.

    Kueue: pkg/controller/admissionchecks/provisioning/provisioning.go (provReqSyncedWithConfig)
    """
    return not asked.wanted.items() <= asked.parameters.items()


@rule("PROV-007")
def pass_on_annotations(annotations: Mapping[str, str]) -> Mapping[str, str]:
    """Annotations of work with the prefix of ProvisioningRequests are copied to its Workload.

    Kueue: pkg/controller/jobframework/utils.go (NewWorkload);
        pkg/controller/admissionchecks/provisioning/provisioning.go (passProvReqParams)
    """
    return parameters_of(annotations)


@rule("PROV-008")
def merge_identical_templates(pair: PodSetPair) -> bool:
    """With IdenticalPodTemplates, pod sets of equal templates are one pod set of the request.

    Kueue: pkg/controller/admissionchecks/provisioning/controller.go (canMergePodSets)
    """
    return pair.policy == "IdenticalPodTemplates" and pair.first == pair.second


_COMPARED = ("resources", "nodeSelector", "tolerations", "affinity", "resourceClaims")


@rule("PROV-009")
def merge_identical_requirements(pair: PodSetPair) -> bool:
    """With IdenticalWorkloadSchedulingRequirements, pod sets of equal requests and claims are one of the request.

    Kueue: pkg/controller/admissionchecks/provisioning/controller.go (arePodSetsSimilar)
    """
    if pair.policy != "IdenticalWorkloadSchedulingRequirements":
        return False
    return _requirements(pair.first) == _requirements(pair.second)


def _requirements(template: Manifest) -> list[object]:
    spec = template.get("spec") or {}
    found: list[object] = []
    for name in ("containers", "initContainers"):
        containers = spec.get(name) or ()
        found.append([_requests(each) for each in containers])
    found += [spec.get(name) or None for name in _COMPARED]
    return found


def _requests(container: Manifest) -> Manifest:
    resources = container.get("resources") or {}
    found: Manifest = resources.get("requests") or {}
    return found


@rule("PROV-011")
def failure_is_retried(attempt: Attempt) -> CheckAnswer | None:
    """A Failed request sets the check to Retry, once for each attempt, up to backoffLimitCount times.

    Kueue: pkg/controller/admissionchecks/provisioning/controller.go (syncCheckStates)
    """
    if FAILED not in attempt.is_true or attempt.number > attempt.limit:
        return None
    return _retried(attempt, f"Retrying after failure: {attempt.messages[FAILED]}")


def _retried(attempt: Attempt, message: str) -> CheckAnswer:
    is_new = attempt.number > attempt.retries
    return CheckAnswer(state=RETRY if is_new else None, message=message)


@rule("PROV-012")
def last_failure_rejects(attempt: Attempt) -> CheckAnswer | None:
    """A Failed request after the last retry sets the check to Rejected, with its message.

    Kueue: pkg/controller/admissionchecks/provisioning/controller.go (syncCheckStates)
    """
    if FAILED not in attempt.is_true:
        return None
    return CheckAnswer(state=REJECTED, message=attempt.messages[FAILED])


@rule("PROV-013")
def revoked_capacity_rejects(attempt: Attempt) -> CheckAnswer | None:
    """A request whose capacity is revoked sets the check to Rejected, also of running work.

    Kueue: pkg/controller/admissionchecks/provisioning/controller.go (syncCheckStates)
    """
    if REVOKED not in attempt.is_true:
        return None
    return CheckAnswer(state=REJECTED, message=attempt.messages[REVOKED])


@rule("PROV-014")
def expired_booking_does_not_stop_admitted_work(attempt: Attempt) -> CheckAnswer | None:
    """A booking that expires once the workload is admitted changes nothing.

    Kueue: pkg/controller/admissionchecks/provisioning/controller.go (syncCheckStates)
    """
    if EXPIRED not in attempt.is_true or not attempt.admitted:
        return None
    return CheckAnswer()


@rule("PROV-015")
def expired_booking_is_retried(attempt: Attempt) -> CheckAnswer | None:
    """A booking that expires before admission sets the check to Retry, as a failure does.

    Kueue: pkg/controller/admissionchecks/provisioning/controller.go (syncCheckStates)
    """
    if EXPIRED not in attempt.is_true or attempt.number > attempt.limit:
        return None
    message = f"Retrying after booking expired: {attempt.messages[EXPIRED]}"
    return _retried(attempt, message)


@rule("PROV-015")
def last_expired_booking_rejects(attempt: Attempt) -> CheckAnswer | None:
    """A booking that expires after the last retry sets the check to Rejected.

    Kueue: pkg/controller/admissionchecks/provisioning/controller.go (syncCheckStates)
    """
    if EXPIRED not in attempt.is_true:
        return None
    return CheckAnswer(state=REJECTED, message=attempt.messages[EXPIRED])


@rule("PROV-002")
def provisioned_is_ready(attempt: Attempt) -> CheckAnswer | None:
    """A Provisioned request sets the check to Ready, with its message.

    Kueue: pkg/controller/admissionchecks/provisioning/controller.go (syncCheckStates)
    """
    if PROVISIONED not in attempt.is_true:
        return None
    if attempt.state == READY:
        return CheckAnswer()
    return CheckAnswer(state=READY, message=attempt.messages[PROVISIONED] or None)


@rule("PROV-018")
def accepted_shows_progress(attempt: Attempt) -> CheckAnswer | None:
    """A request that is Accepted and not yet Provisioned gives the check the message of its progress.

    Kueue: pkg/controller/admissionchecks/provisioning/controller.go (syncCheckStates)
    """
    if ACCEPTED not in attempt.is_true:
        return None
    if PROVISIONED not in attempt.messages:
        return CheckAnswer()
    return CheckAnswer(state=PENDING, message=attempt.messages[PROVISIONED] or None)


@rule("PROV-002")
def unanswered_is_pending(attempt: Attempt) -> CheckAnswer:
    """A request without an answer leaves the check Pending, and its message as it is.

    Kueue 0.18: pkg/controller/admissionchecks/provisioning/controller.go (syncCheckStates)
    """
    assert attempt.number
    return CheckAnswer(state=PENDING)


@rule("PROV-019")
def unanswered_has_no_message(attempt: Attempt) -> CheckAnswer:
    """A request without an answer leaves the check Pending, without a message.

    Kueue: pkg/controller/admissionchecks/provisioning/controller.go (syncCheckStates)
    """
    assert attempt.number
    return CheckAnswer(state=PENDING, message="")


@rule("PROV-011")
def failed_request_is_followed(attempt: Attempt) -> bool:
    """A Failed request of a workload that is tried again is followed by another.

    Kueue: pkg/controller/admissionchecks/provisioning/controller.go (syncOwnedProvisionRequest)
    """
    return FAILED in attempt.is_true and attempt.state == PENDING


@rule("PROV-015")
def expired_request_is_followed(attempt: Attempt) -> bool:
    """A request whose booking expired before admission is followed by another when the workload is tried again.

    Kueue: pkg/controller/admissionchecks/provisioning/controller.go (syncOwnedProvisionRequest)
    """
    if EXPIRED not in attempt.is_true or attempt.admitted:
        return False
    return attempt.state == PENDING


@rule("PROV-020")
def retries_give_number(retries: int) -> int:
    """The number of a request after others that are gone is one more than the retries of the check.

    Kueue: pkg/controller/admissionchecks/provisioning/controller.go (syncOwnedProvisionRequest)
    """
    return retries + 1


@rule("PROV-011")
def retries_of_check(state: Manifest, workload: Manifest) -> int:
    """The check counts the retries.

    Kueue: pkg/controller/admissionchecks/provisioning/controller.go (syncCheckStates)
    """
    assert workload
    found: int = state.get("retryCount", 0)
    return found


@rule("PROV-011")
def retries_of_workload(state: Manifest, workload: Manifest) -> int:
    """The requeueState of the workload counts the retries.

    Kueue 0.14: pkg/controller/admissionchecks/provisioning/controller.go (syncCheckStates)
    """
    assert state
    status = workload.get("status") or {}
    found: int = (status.get("requeueState") or {}).get("count", 0)
    return found


@rule("PROV-021")
def delay_of_retry(strategy: RetryStrategy, retries: int) -> int:
    """A retry is delayed by backoffBaseSeconds; each further one by twice as long, at most by backoffMaxSeconds.

    Kueue: pkg/workload/admissionchecks.go (UpdateAdmissionCheckRequeueState)
    """
    if retries == 0:
        return strategy.base
    return min(strategy.base * (1 << retries), strategy.longest)


@rule("PROV-022")
def delay_of_retry_0_14(strategy: RetryStrategy, retries: int) -> int:
    """A retry is delayed by backoffBaseSeconds, doubled for each one before, at most by backoffMaxSeconds.

    Kueue 0.14: pkg/workload/workload.go (UpdateRequeueState)
    """
    return min(strategy.base * (1 << retries), strategy.longest)


@rule("PROV-022")
def retry_evicts_before_its_delay() -> bool:
    """A workload releases its quota before it waits for its next attempt.

    Kueue 0.14: pkg/controller/core/workload_controller.go (WorkloadReconciler, Reconcile)
    """
    return True


@rule("PROV-010")
def pods_name_their_request(found: Provisioned) -> Manifest:
    """The pods of a provisioned request get annotations with its name and its class.

    Kueue: pkg/controller/admissionchecks/provisioning/controller.go (podSetUpdates)
    """
    return {"annotations": {CONSUMES: found.name, CLASS: found.class_name}}


@rule("PROV-023")
def pods_select_provisioned_nodes(found: Provisioned) -> Manifest:
    """The podSetUpdates give the pods a node selector, with values from the status of the request.

    Kueue: pkg/controller/admissionchecks/provisioning/controller.go (podSetUpdates)
    """
    selector = {}
    for key, detail in found.selectors.items():
        if detail in found.details:
            selector[key] = found.details[detail]
    return {"nodeSelector": selector} if selector else {}


@rule("PROV-024")
def finished_work_drops_requests(finished: bool, evicted: bool) -> bool:
    """The requests of a finished workload are deleted.

    Kueue: pkg/controller/admissionchecks/provisioning/controller.go (Controller, Reconcile)
    """
    return finished


@rule("PROV-025")
def evicted_work_drops_requests(finished: bool, evicted: bool) -> bool:
    """The requests of an evicted workload are deleted.

    Kueue: pkg/controller/admissionchecks/provisioning/controller.go (Controller, Reconcile)
    """
    return evicted
