"""The parts of a behaviour that say what devices a workload asks for, and what they charge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from kueue_dra_ref.api.configuration import DeviceClassMapping, Transformation
from kueue_dra_ref.api.devices import DeviceRequest
from kueue_dra_ref.api.pods import Amounts, ContainerRequests
from kueue_dra_ref.api.types import Claim, PodSet, Workload
from kueue_dra_ref.cel import Undecided
from kueue_dra_ref.model.extended_resources import ExtendedResourceRequest
from kueue_dra_ref.model.limitranges import NamespaceLimits
from kueue_dra_ref.model.lister import DeviceRequestContext, Lister
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.rules.dra.charges import Charge
from kueue_dra_ref.rules.dra.device_matching import DeviceMatchingRules
from kueue_dra_ref.rules.dra.dra_workloads import InadmissibleReason
from kueue_dra_ref.rules.dra.sourced_requests import SourcedRequestRules
from kueue_dra_ref.target import FieldError, Manifest


class MappingSource(StrEnum):
    """Where an administrator says which device classes are charged to which resource."""

    IN_THE_CONFIGURATION = "Kueue's Configuration"
    IN_CLUSTER_QUEUES = "each ClusterQueue"
    IN_AN_OBJECT = "an object of its own"


@dataclass(frozen=True, slots=True, kw_only=True)
class Preprocessing:
    """From a workload to what its devices charge."""

    detected: tuple[Rule[[Workload], bool], ...]
    refused: tuple[Rule[[Workload], InadmissibleReason | None], ...]
    read_template: tuple[Rule[[Lister, str, str], Manifest | None], ...]
    read_claim: tuple[Rule[[Lister, str, str], Manifest | None], ...] = ()
    """How a ResourceClaim that is named directly is had: in the shape of a template."""
    rbac_denied: tuple[Rule[[Lister, Workload], InadmissibleReason | None], ...]
    template: tuple[Rule[[DeviceRequestContext], FieldError | None], ...]
    request: tuple[Rule[[DeviceRequestContext], FieldError | Undecided | None], ...]
    alternative: tuple[
        Rule[[DeviceRequestContext, DeviceRequest], FieldError | Undecided | None], ...
    ] = ()
    """What is refused of each alternative of a prioritized list, one alternative after another."""
    matching: DeviceMatchingRules
    sourcing: SourcedRequestRules = field(default_factory=SourcedRequestRules)
    unmapped_class: tuple[Rule[[DeviceRequestContext, str], FieldError], ...]
    mappings: tuple[Rule[[Lister, Workload], Sequence[DeviceClassMapping]], ...]
    lookup: tuple[Rule[[Sequence[DeviceClassMapping], str], tuple[str, ...]], ...]
    """Which resources a class may charge; of several the flavor decides (`Assigning.choices`)."""
    reused: tuple[Rule[[DeviceRequestContext], bool], ...] = ()
    """Which claims are charged already."""
    retry_on_error: tuple[Rule[[Sequence[FieldError]], bool], ...] = ()
    """Which faults are tried again by themselves, beside those that Kubernetes calls internal."""


CheckPods = Rule[[PodSet, NamespaceLimits], Iterable[FieldError]]
"""What is wrong with the requests of a pod set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjustResources:
    """What becomes of the requests of pods before they are counted, and which nobody may admit."""

    pod_set: tuple[Rule[[PodSet, NamespaceLimits], PodSet], ...] = ()
    """Each goes on from what the one before it has made."""
    resources: tuple[CheckPods, ...] = ()
    ranges: tuple[CheckPods, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Charges:
    """How amounts add up."""

    claims: tuple[Rule[[PodSet], tuple[Claim, ...]], ...]
    request: tuple[Rule[[DeviceRequestContext], Charge | None], ...]
    in_claim: tuple[Rule[[Sequence[int]], int], ...]
    in_pod: tuple[Rule[[Sequence[int]], int], ...]
    plus_pod_requests: tuple[Rule[[int, int], int], ...]
    pods: tuple[Rule[[int, int], int], ...]
    transformed: tuple[Rule[[Amounts, Sequence[Transformation]], Amounts], ...] = ()
    """What is charged instead of what containers request, where the Configuration says so."""
    once_per_workload: tuple[Rule[[Claim], str], ...] = ()
    """What a claim is that a workload is charged for only once; empty for a claim of each pod's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtendedResources:
    """Devices that containers ask for by the name of an extended resource; without rules there are none."""

    detected: tuple[Rule[[Workload], Iterable[str]], ...] = ()
    asked: tuple[Rule[[PodSet], Iterable[str]], ...] = ()
    named: tuple[Rule[[str], bool], ...] = ()
    chosen: tuple[
        Rule[[Sequence[Manifest], Sequence[DeviceClassMapping]], Sequence[Manifest]],
        ...,
    ] = ()
    """Which of several classes stands for a resource: each rule leaves some of them."""
    in_container: tuple[
        Rule[[ExtendedResourceRequest, ContainerRequests], FieldError | None], ...
    ] = ()
    """What is refused container by container: of each, and of each resource there, the first fault."""
    refused: tuple[Rule[[ExtendedResourceRequest], Iterable[FieldError]], ...] = ()
    in_pod: tuple[Rule[[Sequence[int], Sequence[int]], int], ...] = ()
    charged: tuple[Rule[[ExtendedResourceRequest], str], ...] = ()
    per_name: tuple[Rule[[ExtendedResourceRequest], str], ...] = ()
    """What of one resource is compared, phase by phase, apart from the rest of it."""
    not_charged_natively: tuple[Rule[[str], bool], ...] = ()
    watched: tuple[Rule[[Manifest | None, Manifest | None], Iterable[str]], ...] = ()
    """Which resources a change of a class concerns."""
