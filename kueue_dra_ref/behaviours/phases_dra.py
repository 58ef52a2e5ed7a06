"""The phases of a behaviour that find the devices a workload requests, and charge them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from kueue_dra_ref.api.configuration import DeviceClassMapping, Transformation
from kueue_dra_ref.api.devices import DeviceRequest
from kueue_dra_ref.api.pods import ContainerRequests, ResourceList
from kueue_dra_ref.api.types import Claim, PodSet, Workload
from kueue_dra_ref.cel import Undecided
from kueue_dra_ref.model.device_checks import DeviceClassSelection, MappingLookup
from kueue_dra_ref.model.extended_resources import (
    ContainerDevices,
    ExtendedResourceRequest,
)
from kueue_dra_ref.model.lister import DeviceRequestContext, Lister
from kueue_dra_ref.model.pending_reason import InadmissibleReason
from kueue_dra_ref.model.slots import AnyOf, Collect, Each, First, Fold
from kueue_dra_ref.rules.dra.charges import Charge
from kueue_dra_ref.rules.dra.device_matching import DeviceMatchingRules
from kueue_dra_ref.rules.dra.sourced_requests import SourcedRequestRules
from kueue_dra_ref.rules.workload.adjust_resources import PodSetInNamespace
from kueue_dra_ref.target import FieldError, Manifest


class MappingSource(StrEnum):
    """Where an administrator maps device classes to resources."""

    IN_THE_CONFIGURATION = "Kueue's Configuration"
    IN_CLUSTER_QUEUES = "each ClusterQueue"
    IN_AN_OBJECT = "an object of its own"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjustResources:
    """What Kueue makes of the requests of pods before it counts them, and which requests it rejects."""

    pod_set: Fold[PodSetInNamespace, []] = Fold()
    """Change the requests of a pod set: overhead, defaults of the namespace, limits."""
    resources: Collect[[PodSetInNamespace], FieldError] = Collect()
    """Find requests that exceed their limits; such a workload is not admitted."""
    ranges: Collect[[PodSetInNamespace], FieldError] = Collect()
    """Find requests outside the LimitRanges of the namespace; such a workload is not admitted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preprocessing:
    """From a workload to the devices that it requests, or to the reason why it is inadmissible."""

    reject_workload: First[[Workload], InadmissibleReason]
    """Is the workload inadmissible before any claim is read? Without rules: no workload is."""
    is_dra_workload: AnyOf[[Workload]]
    """Does the workload request devices by claims, so that they are charged before it is queued?"""
    rbac_denied: First[[Lister, Workload], InadmissibleReason]
    """What keeps Kueue from reading the claims or the mappings? Without rules: nothing does."""
    mappings: First[[MappingLookup], Sequence[DeviceClassMapping]]
    """Which device class mappings apply to the workload?"""
    read_template: First[[Lister, str, str], Manifest]
    """Read the ResourceClaimTemplate that a claim of the pod names."""
    read_claim: First[[Lister, str, str], Manifest] = First()
    """Read the ResourceClaim that the pod names directly. Without rules: such a claim is not read."""
    template: First[[DeviceRequestContext], FieldError]
    """Is the template (or the claim) missing, or does it have a part that is not supported?"""
    already_charged: AnyOf[[DeviceRequestContext]] = AnyOf()
    """Does another admitted workload pay for the claim? Without rules: every claim is charged."""
    request: First[[DeviceRequestContext], FieldError | Undecided]
    """Is a device request of a form that is not supported? Without rules: every form is accepted."""
    alternative: First[
        [DeviceRequestContext, DeviceRequest], FieldError | Undecided
    ] = First()
    """Is an alternative of a prioritized list rejected? Without rules: alternatives are not checked one by one."""
    matching: DeviceMatchingRules
    """Do enough published devices match the selectors?"""
    lookup: First[[Sequence[DeviceClassMapping], str], tuple[str, ...]]
    """Which resources may a device class charge? If there are several, the flavor decides (flavors, `choices`)."""
    unmapped_class: First[[DeviceRequestContext, str], FieldError]
    """What is reported of a device class that no mapping names?"""
    sourcing: SourcedRequestRules = field(default_factory=SourcedRequestRules)
    """What do counters and capacities charge?"""
    retry_on_error: AnyOf[[Sequence[FieldError]]] = AnyOf()
    """Does Kueue retry after these errors? Without rules: it retries internal errors only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Charges:
    """How the charges of requests, claims and pods add up."""

    claims: Collect[[PodSet], Claim]
    """Which claims of a pod are charged?"""
    once_per_workload: First[[Claim], str] = First()
    """By which name is a claim charged once for all pods? Without rules: each pod has its own claims."""
    request: First[[DeviceRequestContext], Charge]
    """What does one device request charge, by device class?"""
    in_claim: First[[Sequence[int]], int]
    """How do the requests of one claim for one class add up?"""
    in_pod: First[[Sequence[int]], int]
    """How do the claims of one pod add up?"""
    transformed: First[[ResourceList, Sequence[Transformation]], ResourceList] = First()
    """What do the resource transformations of the Configuration make of the requests of containers?"""
    plus_pod_requests: First[[int, int], int]
    """How do devices and requests of containers under the same resource name add up?"""
    pods: First[[int, int], int]
    """What does a pod set charge, by the charge of a pod and the number of pods?"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtendedResources:
    """Devices that containers request by the name of an extended resource."""

    used_by_workload: Collect[[Workload], str] = Collect()
    """Which names make it a workload with devices? Without rules: extended resources are ordinary resources."""
    requested_names: Collect[[PodSet], str] = Collect()
    """Which resource names of a pod set may be those of devices? Without rules: none."""
    is_extended_name: AnyOf[[str]] = AnyOf()
    """Can a resource of this name be an extended resource? Without rules: no name can."""
    choose_class: Fold[DeviceClassSelection, []] = Fold()
    """Which DeviceClass provides the resource? Each rule removes candidates. Without rules: the first one does."""
    in_container: First[[ExtendedResourceRequest, ContainerRequests], FieldError] = (
        First()
    )
    """Is the request of one container rejected? Without rules: containers are not checked one by one."""
    reject_resource: Collect[[ExtendedResourceRequest], FieldError] = Collect()
    """Find what is wrong with the requests of a pod for one resource. Without rules: nothing is checked per pod."""
    is_dropped: AnyOf[[int]] = AnyOf()
    """Are the devices that a container requests of a resource not counted? Without rules: they are."""
    in_pod: First[[Sequence[ContainerDevices]], int] = First()
    """How do init containers and containers of a pod add up? Without rules: nothing is charged."""
    charged_resource: First[[ExtendedResourceRequest], str] = First()
    """Under which resource of the quota are the devices charged? Without rules: under none."""
    per_name: Each[[ExtendedResourceRequest], str] = Each()
    """Which requests for one resource are added up on their own? Without rules: all names are added up together."""
    not_charged_natively: AnyOf[[str]] = AnyOf()
    """Is the name removed from the ordinary requests? Without rules: it stays an ordinary request."""
    kept_natively: First[[Fraction, Fraction], Fraction] = First()
    """How much of a removed name stays an ordinary request, by what containers request and what the pod requests in
    all? Without rules: nothing."""
    affected_by_class: Collect[[Manifest | None, Manifest | None], str] = Collect()
    """Workloads of which resources does a changed DeviceClass requeue? Without rules: it requeues none."""
