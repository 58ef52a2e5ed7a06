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
from kueue_dra_ref.model.extended_resources import Wanted
from kueue_dra_ref.model.limitranges import Surroundings
from kueue_dra_ref.model.lister import Asked, World
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.rules.dra.charges import Charge
from kueue_dra_ref.rules.dra.device_matching import Matching
from kueue_dra_ref.rules.dra.dra_workloads import Refused
from kueue_dra_ref.rules.dra.sourced_requests import Sourcing
from kueue_dra_ref.target import FieldError, Manifest


class Mapped(StrEnum):
    """Where an administrator says which device classes are charged to which resource."""

    IN_THE_CONFIGURATION = "Kueue's Configuration"
    IN_CLUSTER_QUEUES = "each ClusterQueue"
    IN_AN_OBJECT = "an object of its own"


@dataclass(frozen=True, slots=True, kw_only=True)
class Processing:
    """From a workload to what its devices charge."""

    detected: tuple[Rule[[Workload], bool], ...]
    refused: tuple[Rule[[Workload], Refused | None], ...]
    read_template: tuple[Rule[[World, str, str], Manifest | None], ...]
    read_claim: tuple[Rule[[World, str, str], Manifest | None], ...] = ()
    """How a ResourceClaim that is named directly is had: in the shape of a template."""
    rbac_denied: tuple[Rule[[World, Workload], Refused | None], ...]
    template: tuple[Rule[[Asked], FieldError | None], ...]
    request: tuple[Rule[[Asked], FieldError | Undecided | None], ...]
    alternative: tuple[
        Rule[[Asked, DeviceRequest], FieldError | Undecided | None], ...
    ] = ()
    """What is refused of each alternative of a prioritized list, one alternative after another."""
    matching: Matching
    sourcing: Sourcing = field(default_factory=Sourcing)
    unmapped_class: tuple[Rule[[Asked, str], FieldError], ...]
    mappings: tuple[Rule[[World, Workload], Sequence[DeviceClassMapping]], ...]
    lookup: tuple[Rule[[Sequence[DeviceClassMapping], str], tuple[str, ...]], ...]
    """Which resources a class may charge; of several the flavor decides (`Assigning.choices`)."""
    reused: tuple[Rule[[Asked], bool], ...] = ()
    """Which claims are charged already."""
    retry_on_error: tuple[Rule[[Sequence[FieldError]], bool], ...] = ()
    """Which faults are tried again by themselves, beside those that Kubernetes calls internal."""


CheckPods = Rule[[PodSet, Surroundings], Iterable[FieldError]]
"""What is wrong with the requests of a pod set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjusting:
    """What becomes of the requests of pods before they are counted, and which nobody may admit."""

    pod_set: tuple[Rule[[PodSet, Surroundings], PodSet], ...] = ()
    """Each goes on from what the one before it has made."""
    resources: tuple[CheckPods, ...] = ()
    ranges: tuple[CheckPods, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Charging:
    """How amounts add up."""

    claims: tuple[Rule[[PodSet], tuple[Claim, ...]], ...]
    request: tuple[Rule[[Asked], Charge | None], ...]
    in_claim: tuple[Rule[[Sequence[int]], int], ...]
    in_pod: tuple[Rule[[Sequence[int]], int], ...]
    plus_pod_requests: tuple[Rule[[int, int], int], ...]
    pods: tuple[Rule[[int, int], int], ...]
    transformed: tuple[Rule[[Amounts, Sequence[Transformation]], Amounts], ...] = ()
    """What is charged instead of what containers request, where the Configuration says so."""
    once_per_workload: tuple[Rule[[Claim], str], ...] = ()
    """What a claim is that a workload is charged for only once; empty for a claim of each pod's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extended:
    """Devices that containers ask for by the name of an extended resource; without rules there are none."""

    detected: tuple[Rule[[Workload], Iterable[str]], ...] = ()
    asked: tuple[Rule[[PodSet], Iterable[str]], ...] = ()
    named: tuple[Rule[[str], bool], ...] = ()
    chosen: tuple[
        Rule[[Sequence[Manifest], Sequence[DeviceClassMapping]], Sequence[Manifest]],
        ...,
    ] = ()
    """Which of several classes stands for a resource: each rule leaves some of them."""
    in_container: tuple[Rule[[Wanted, ContainerRequests], FieldError | None], ...] = ()
    """What is refused container by container: of each, and of each resource there, the first fault."""
    refused: tuple[Rule[[Wanted], Iterable[FieldError]], ...] = ()
    in_pod: tuple[Rule[[Sequence[int], Sequence[int]], int], ...] = ()
    charged: tuple[Rule[[Wanted], str], ...] = ()
    per_name: tuple[Rule[[Wanted], str], ...] = ()
    """What of one resource is compared, phase by phase, apart from the rest of it."""
    not_charged_natively: tuple[Rule[[str], bool], ...] = ()
    watched: tuple[Rule[[Manifest | None, Manifest | None], Iterable[str]], ...] = ()
    """Which resources a change of a class concerns."""
