"""The parts of a behaviour that say what devices a workload asks for, and what they charge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from kueue_dra_ref.api.configuration import DeviceClassMapping, Transformation
from kueue_dra_ref.api.devices import DeviceRequest
from kueue_dra_ref.api.pods import Amounts, ContainerRequests
from kueue_dra_ref.api.types import Claim, PodSet, Workload
from kueue_dra_ref.cel import Undecided
from kueue_dra_ref.model.device_checks import DeviceClassSelection, MappingLookup
from kueue_dra_ref.model.extended_resources import ExtendedResourceRequest
from kueue_dra_ref.model.lister import DeviceRequestContext, Lister
from kueue_dra_ref.model.pending_reason import InadmissibleReason
from kueue_dra_ref.model.slots import AnyOf, Collect, Each, First, Fold
from kueue_dra_ref.rules.dra.charges import Charge
from kueue_dra_ref.rules.dra.device_matching import DeviceMatchingRules
from kueue_dra_ref.rules.dra.sourced_requests import SourcedRequestRules
from kueue_dra_ref.rules.workload.adjust_resources import PodSetInNamespace
from kueue_dra_ref.target import FieldError, Manifest


class MappingSource(StrEnum):
    """Where an administrator says which device classes are charged to which resource."""

    IN_THE_CONFIGURATION = "Kueue's Configuration"
    IN_CLUSTER_QUEUES = "each ClusterQueue"
    IN_AN_OBJECT = "an object of its own"


@dataclass(frozen=True, slots=True, kw_only=True)
class Preprocessing:
    """From a workload to what its devices charge."""

    detected: AnyOf[[Workload]]
    refused: First[[Workload], InadmissibleReason]
    read_template: First[[Lister, str, str], Manifest]
    read_claim: First[[Lister, str, str], Manifest] = First()
    """How a ResourceClaim that is named directly is had: in the shape of a template."""
    rbac_denied: First[[Lister, Workload], InadmissibleReason]
    template: First[[DeviceRequestContext], FieldError]
    request: First[[DeviceRequestContext], FieldError | Undecided]
    alternative: First[
        [DeviceRequestContext, DeviceRequest], FieldError | Undecided
    ] = First()
    """What is refused of each alternative of a prioritized list, one alternative after another."""
    matching: DeviceMatchingRules
    sourcing: SourcedRequestRules = field(default_factory=SourcedRequestRules)
    unmapped_class: First[[DeviceRequestContext, str], FieldError]
    mappings: First[[MappingLookup], Sequence[DeviceClassMapping]]
    lookup: First[[Sequence[DeviceClassMapping], str], tuple[str, ...]]
    """Which resources a class may charge; of several the flavor decides (`Assigning.choices`)."""
    reused: AnyOf[[DeviceRequestContext]] = AnyOf()
    """Which claims are charged already."""
    retry_on_error: AnyOf[[Sequence[FieldError]]] = AnyOf()
    """Which faults are tried again by themselves, beside those that Kubernetes calls internal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjustResources:
    """What becomes of the requests of pods before they are counted, and which nobody may admit."""

    pod_set: Fold[PodSetInNamespace, []] = Fold()
    """Each goes on from what the one before it has made."""
    resources: Collect[[PodSetInNamespace], FieldError] = Collect()
    ranges: Collect[[PodSetInNamespace], FieldError] = Collect()


@dataclass(frozen=True, slots=True, kw_only=True)
class Charges:
    """How amounts add up."""

    claims: Collect[[PodSet], Claim]
    request: First[[DeviceRequestContext], Charge]
    in_claim: First[[Sequence[int]], int]
    in_pod: First[[Sequence[int]], int]
    plus_pod_requests: First[[int, int], int]
    pods: First[[int, int], int]
    transformed: First[[Amounts, Sequence[Transformation]], Amounts] = First()
    """What is charged instead of what containers request, where the Configuration says so."""
    once_per_workload: First[[Claim], str] = First()
    """What a claim is that a workload is charged for only once; empty for a claim of each pod's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtendedResources:
    """Devices that containers ask for by the name of an extended resource; without rules there are none."""

    detected: Collect[[Workload], str] = Collect()
    asked: Collect[[PodSet], str] = Collect()
    named: AnyOf[[str]] = AnyOf()
    chosen: Fold[DeviceClassSelection, []] = Fold()
    """Which of several classes stands for a resource: each rule leaves some of them."""
    in_container: First[[ExtendedResourceRequest, ContainerRequests], FieldError] = (
        First()
    )
    """What is refused container by container: of each, and of each resource there, the first fault."""
    refused: Collect[[ExtendedResourceRequest], FieldError] = Collect()
    in_pod: First[[Sequence[int], Sequence[int]], int] = First()
    charged: First[[ExtendedResourceRequest], str] = First()
    per_name: Each[[ExtendedResourceRequest], str] = Each()
    """What of one resource is compared, phase by phase, apart from the rest of it."""
    not_charged_natively: AnyOf[[str]] = AnyOf()
    watched: Collect[[Manifest | None, Manifest | None], str] = Collect()
    """Which resources a change of a class concerns."""
