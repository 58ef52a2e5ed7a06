"""ProvisioningRequests: the configuration of a check, the requests of a Workload, and what their status says."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kueue_dra_ref.api.conditions import condition
from kueue_dra_ref.api.metadata import owners_of
from kueue_dra_ref.target import Manifest

CONTROLLER = "kueue.x-k8s.io/provisioning-request"
"""The controller of AdmissionChecks that ask a cluster autoscaler for nodes."""
CONFIG, REQUEST, POD_TEMPLATE = (
    "ProvisioningRequestConfig",
    "ProvisioningRequest",
    "PodTemplate",
)
AUTOSCALING = "autoscaling.x-k8s.io"
"""The group of ProvisioningRequests."""
CONSUMES = f"{AUTOSCALING}/consume-provisioning-request"
CLASS = f"{AUTOSCALING}/provisioning-class-name"
"""The annotations of pods that run on provisioned nodes."""
PARAMETER = "provreq.kueue.x-k8s.io/"
"""The prefix of annotations that are parameters of a request."""
FAILED, REVOKED, EXPIRED, PROVISIONED, ACCEPTED = (
    "Failed",
    "CapacityRevoked",
    "BookingExpired",
    "Provisioned",
    "Accepted",
)
_PREFIX_LENGTH, _HASH_LENGTH = 247, 5
"""How much a longer name keeps of its beginning, and of its hash."""
_LONGEST_NUMBER, _MOST_ATTEMPTS = 3, 100
"""The digits of the number of an attempt, and how many attempts are found by a name with a hash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryStrategy:
    """How often a request is made again, and after how many seconds."""

    limit: int
    base: int
    longest: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvisioningConfig:
    """What a ProvisioningRequestConfig asks for."""

    class_name: str
    parameters: Mapping[str, str]
    managed: frozenset[str]
    """The managed resources; empty for all."""
    merge_policy: str
    selectors: Mapping[str, str]
    """By key of a node selector, the detail of the request's class that is its value."""
    retries: RetryStrategy


def is_provisioning(check: Manifest | None) -> bool:
    """Whether an AdmissionCheck asks a cluster autoscaler for nodes."""
    return check is not None and check["spec"].get("controllerName") == CONTROLLER


def config_of(found: Manifest) -> ProvisioningConfig:
    """Read a ProvisioningRequestConfig, with the defaults of its definition."""
    spec = found.get("spec") or {}
    strategy = spec.get("retryStrategy") or {}
    updates = spec.get("podSetUpdates") or {}
    selectors = {}
    for each in updates.get("nodeSelector") or ():
        selectors[each["key"]] = each["valueFromProvisioningClassDetail"]
    return ProvisioningConfig(
        class_name=str(spec.get("provisioningClassName", "")),
        parameters=spec.get("parameters") or {},
        managed=frozenset(spec.get("managedResources") or ()),
        merge_policy=str(spec.get("podSetMergePolicy", "")),
        selectors=selectors,
        retries=RetryStrategy(
            limit=strategy.get("backoffLimitCount", 3),
            base=strategy.get("backoffBaseSeconds", 60),
            longest=strategy.get("backoffMaxSeconds", 1800),
        ),
    )


def container_resources(template: Manifest) -> frozenset[str]:
    """Name the resources that containers of a pod template request or limit."""
    names: set[str] = set()
    spec = template.get("spec") or {}
    for holder in ("initContainers", "containers"):
        for container in spec.get(holder) or ():
            resources = container.get("resources") or {}
            names.update(resources.get("requests") or ())
            names.update(resources.get("limits") or ())
    return frozenset(names)


def request_name(workload: str, check: str, attempt: int) -> str:
    """Name the request of an attempt."""
    return _limited(f"{workload}-{check}-{attempt}")


def template_name(request: str, pod_set: str) -> str:
    """Name the PodTemplate of a pod set in a request."""
    return _limited(f"ppt-{request}-{pod_set}")


def attempt_of(request: str, workload: str, check: str) -> int:
    """Give the number of the attempt in the name of a request; 0 if it is not of this workload and check."""
    prefix = f"{workload}-{check}-"
    number = request.removeprefix(prefix)
    if number != request and number.isdigit():
        return int(number)
    if len(prefix) < _PREFIX_LENGTH - _LONGEST_NUMBER:
        return 0
    names = [request_name(workload, check, each + 1) for each in range(_MOST_ATTEMPTS)]
    return names.index(request) + 1 if request in names else 0


def _limited(name: str) -> str:
    if len(name) <= _PREFIX_LENGTH:
        return name
    digest = hashlib.sha1(name.encode(), usedforsecurity=False).hexdigest()
    return f"{name[:_PREFIX_LENGTH]}-{digest[:_HASH_LENGTH]}"


def parameters_of(annotations: Mapping[str, str] | None) -> Mapping[str, str]:
    """Give the annotations of work that are parameters of its requests."""
    found = {}
    for name, value in (annotations or {}).items():
        if name.startswith(PARAMETER):
            found[name] = value
    return found


def owned_by(requests: Sequence[Manifest], workload: Manifest) -> Iterator[Manifest]:
    """Give the requests of a workload."""
    meta = workload["metadata"]
    for request in requests:
        names = [each["name"] for each in owners_of(request)]
        if (
            request["metadata"]["namespace"] == meta["namespace"]
            and meta["name"] in names
        ):
            yield request


def message_of(request: Manifest, kind: str) -> str | None:
    """Give the message of a condition of a request, whatever its status; None without it."""
    found = condition(request, kind)
    return None if found is None else str(found.get("message", ""))


def details_of(request: Manifest) -> Mapping[str, str]:
    """Give what the cluster autoscaler says of the nodes of a request."""
    status = request.get("status") or {}
    return status.get("provisioningClassDetails") or {}
