"""A behaviour: one text, or one Kueue minor, as a value that holds rules and says how it differs from another."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any

from kueue_dra_ref.api.configuration import DeviceClassMapping
from kueue_dra_ref.api.devices import DeviceRequest
from kueue_dra_ref.api.nouns import (
    Choice,
    Claim,
    ClusterQueue,
    Cohort,
    FlavorQuota,
    Fungibility,
    PodSet,
    ResourceGroup,
    Workload,
)
from kueue_dra_ref.api.schema_config import Versions
from kueue_dra_ref.cause import Blocked, Cause
from kueue_dra_ref.quota import FlavorResource, Node, Share
from kueue_dra_ref.rule import Rule
from kueue_dra_ref.rules.blocking import Place
from kueue_dra_ref.rules.counting import Charge
from kueue_dra_ref.rules.cycle import Claimed, Nominee
from kueue_dra_ref.rules.detection import Refused
from kueue_dra_ref.rules.fair_sharing import Contender, Shares
from kueue_dra_ref.rules.fungibility import Outlook, Progress
from kueue_dra_ref.rules.gates import Gates
from kueue_dra_ref.rules.jobs import PodSets
from kueue_dra_ref.rules.mapping import MappingRules
from kueue_dra_ref.rules.matching import Matching
from kueue_dra_ref.rules.preemption import Candidate, Preemption, Rivals, Shortage
from kueue_dra_ref.rules.queueing import Holding, Told, Waiting
from kueue_dra_ref.rules.quota import Need, Objection
from kueue_dra_ref.rules.reporting import Assigned, Figures
from kueue_dra_ref.rules.sourcing import Sourcing
from kueue_dra_ref.said import Said
from kueue_dra_ref.selectors import Undecided
from kueue_dra_ref.surroundings import Surroundings
from kueue_dra_ref.target import FieldError, Manifest
from kueue_dra_ref.wanted import Wanted
from kueue_dra_ref.world import Asked, World

Written = Mapping[str, Any]
"""Fields of a status."""


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
    forbidden: tuple[Rule[[World, Workload], Refused | None], ...]
    template: tuple[Rule[[Asked], FieldError | None], ...]
    request: tuple[Rule[[Asked], FieldError | Undecided | None], ...]
    alternative: tuple[Rule[[Asked, DeviceRequest], FieldError | Undecided | None], ...] = ()
    """What is refused of each alternative of a prioritized list, one alternative after another."""
    matching: Matching
    sourcing: Sourcing = field(default_factory=Sourcing)
    unmapped: tuple[Rule[[Asked, str], FieldError], ...]
    mappings: tuple[Rule[[World, Workload], Sequence[DeviceClassMapping]], ...]
    lookup: tuple[Rule[[Sequence[DeviceClassMapping], str], tuple[str, ...]], ...]
    """Which resources a class may charge; of several the flavor decides (`Assigning.choices`)."""
    reused: tuple[Rule[[Asked], bool], ...] = ()
    """Which claims are charged already."""
    retried: tuple[Rule[[Sequence[FieldError]], bool], ...] = ()
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
    beside: tuple[Rule[[int, int], int], ...]
    pods: tuple[Rule[[int, int], int], ...]
    once: tuple[Rule[[Claim], str], ...] = ()
    """What a claim is that a workload is charged for only once; empty for a claim of each pod's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extended:
    """Devices that containers ask for by the name of an extended resource; without rules there are none."""

    detected: tuple[Rule[[Workload], Iterable[str]], ...] = ()
    asked: tuple[Rule[[PodSet], Iterable[str]], ...] = ()
    named: tuple[Rule[[str], bool], ...] = ()
    chosen: tuple[Rule[[Sequence[Manifest], Sequence[DeviceClassMapping]], Sequence[Manifest]], ...] = ()
    """Which of several classes stands for a resource: each rule leaves some of them."""
    refused: tuple[Rule[[Wanted], Iterable[FieldError]], ...] = ()
    in_pod: tuple[Rule[[Sequence[int], Sequence[int]], int], ...] = ()
    charged: tuple[Rule[[Wanted], str], ...] = ()
    replaced: tuple[Rule[[str], bool], ...] = ()
    watched: tuple[Rule[[Manifest | None, Manifest | None], Iterable[str]], ...] = ()
    """Which resources a change of a class concerns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queueing:
    """Who waits where, who goes first, and who is evicted."""

    order: tuple[Rule[[Waiting], int], ...]
    kept: tuple[Rule[[ClusterQueue], bool], ...]
    set_aside: tuple[Rule[[ClusterQueue], bool], ...]
    in_front: tuple[Rule[[ClusterQueue], bool], ...]
    namespace: tuple[Rule[[ClusterQueue, dict[str, str]], str | None], ...]
    blocked: tuple[Rule[[Place], Blocked | None], ...]
    inactive: tuple[Rule[[ClusterQueue, tuple[str, ...]], Told | None], ...]
    evicted: tuple[Rule[[Holding], Told | None], ...]
    remembered: tuple[Rule[[Workload], Workload], ...] = ()
    """What a new version of a workload that was tried is held against; as it is written without rules."""
    equals_aside: tuple[Rule[[ClusterQueue], bool], ...] = ()
    """Whether workloads that equal one that did not fit are set aside with it."""
    at_start: tuple[Rule[[bool], bool], ...] = ()
    """Which reservations are counted when Kueue starts, by whether their workload is active; all without rules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assigning:
    """Flavors and quota."""

    flavors: tuple[Rule[[ResourceGroup], Sequence[FlavorQuota]], ...]
    uncovered: tuple[Rule[[str], str], ...]
    overlooked: tuple[Rule[[int], bool], ...] = ()
    """Which amounts of a resource that is not covered do not matter."""
    cut_short: tuple[Rule[[int], bool], ...] = ()
    """Whether so many flavors for a pod set that asks for something end the look at those behind it."""
    flavor: tuple[Rule[[PodSet, str, Mapping[str, Any]], str | None], ...]
    quota: tuple[Rule[[Need], Objection | None], ...]
    in_group: tuple[Rule[[PodSet, str, Mapping[str, Any], Collection[str]], str | None], ...] = ()
    """What speaks against a flavor in view of the label keys of all flavors of its group."""
    choices: tuple[Rule[[ClusterQueue, Sequence[str]], Sequence[Choice]], ...] = ()
    """For a class of several resources, which flavor and resource are examined one after another."""
    considered: tuple[Rule[[PodSet, str], bool], ...] = ()
    """Whether a flavor is looked at for a pod set at all."""
    goes_on: tuple[Rule[[Outlook, Fungibility], bool], ...] = ()
    rank: tuple[Rule[[Outlook, Fungibility], tuple[int, ...]], ...] = ()
    ends: tuple[Rule[[Outlook], bool], ...] = ()
    """Whether what is found of one resource ends the look at the others, which come in any order."""
    resumed: tuple[Rule[[Progress, int], bool], ...] = ()
    """Whether a search goes on in a later cycle; else it begins again."""
    lost: tuple[Rule[[Progress], bool], ...] = ()
    """Whether what was searched is remembered of a workload that lost a flavor to another one."""
    reduced: tuple[Rule[[Sequence[PodSet]], bool], ...] = ()
    alternatives: tuple[Rule[[Sequence[Cause]], Cause], ...] = ()
    together: tuple[Rule[[Sequence[Cause]], Cause], ...] = ()
    """Of several causes the one that counts: of flavors, and of what is needed together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cohorts:
    """Who shares quota with whom."""

    joined: tuple[Rule[[ClusterQueue], str], ...]
    parent: tuple[Rule[[Cohort], str], ...]
    quota: tuple[Rule[[Cohort], tuple[ResourceGroup, ...]], ...]
    borrowing: tuple[Rule[[FlavorQuota, str], int | None], ...]
    lending: tuple[Rule[[FlavorQuota, str], int | None], ...]
    looped: tuple[Rule[[ClusterQueue], str], ...]
    borrowed: tuple[Rule[[int, int], int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """How the heads of several ClusterQueues share one scheduling cycle."""

    order: tuple[Rule[[Nominee], int], ...]
    overlapping: tuple[Rule[[bool], str | None], ...]
    unfitting: tuple[Rule[[bool], str | None], ...]
    held: tuple[Rule[[ClusterQueue, Claimed], int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preempting:
    """Who may be preempted, and who is."""

    considered: tuple[Rule[[Shortage], bool], ...]
    within: tuple[Rule[[Rivals], bool], ...]
    reclaim: tuple[Rule[[Rivals], bool], ...]
    borrowers: tuple[Rule[[Node, Collection[FlavorResource]], bool], ...]
    while_borrowing: tuple[Rule[[Rivals], bool], ...]
    order: tuple[Rule[[Candidate], tuple[int, ...]], ...]
    spared: tuple[Rule[[Sequence[Any], Callable[[Any], bool]], Sequence[Any]], ...]
    told: tuple[Rule[[Preemption], str], ...]
    pending: tuple[Rule[[int], str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FairSharing:
    """How borrowing is kept fair, where the Configuration asks for it."""

    order: tuple[Rule[[Contender], tuple[float, ...]], ...]
    entitled: tuple[Rule[[Node, Collection[FlavorResource]], bool], ...]
    final_share: tuple[Rule[[Shares], bool], ...]
    initial_share: tuple[Rule[[Shares], bool], ...]
    shown: tuple[Rule[[Share], Written], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reporting:
    """What is written to status."""

    admitted: tuple[Rule[[str], Said], ...]
    admission: tuple[Rule[[str, Sequence[Assigned]], Written], ...]
    waiting: tuple[Rule[[Cause | None, str], Said | None], ...]
    blocked: tuple[Rule[[Cause | None, str], Said | None], ...]
    given_back: tuple[Rule[[Cause | None, str], Said | None], ...]
    refused: tuple[Rule[[str, str], Said], ...]
    evicted: tuple[Rule[[str, str], Said], ...]
    preempted: tuple[Rule[[str, str], Said], ...]
    requests: tuple[Rule[[Sequence[tuple[str, Mapping[str, int]]], frozenset[str]], list[dict[str, Any]]], ...]
    cluster_queue: tuple[Rule[[Figures], Written], ...]
    local_queue: tuple[Rule[[Figures], Written], ...]
    cluster_queue_active: tuple[Rule[[Sequence[str], Sequence[str]], Said], ...]
    local_queue_active: tuple[Rule[[bool, str], Said], ...]
    unreserved: tuple[Rule[[], Said], ...] = ()
    """What is said beside every QuotaReserved that is False."""
    resolved: tuple[Rule[[str], Said | None], ...] = ()
    """What is said once the devices of a workload can be charged, by the reason of Requeued before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Jobs:
    """Jobs and their Workloads."""

    pod_sets: tuple[Rule[[dict[str, Any]], list[dict[str, Any]]], ...]
    suspended: tuple[Rule[[bool], bool], ...]
    released: tuple[Rule[[bool], bool], ...]
    returned: tuple[Rule[[dict[str, Any] | None], bool], ...]
    finished: tuple[Rule[[dict[str, Any]], tuple[str, str] | None], ...]
    requeued: tuple[Rule[[str], bool], ...]
    least: tuple[Rule[[dict[str, Any]], int | None], ...]
    reduced: tuple[Rule[[dict[str, Any], int], dict[str, Any]], ...]
    reclaimed: tuple[Rule[[dict[str, Any]], int], ...]
    done: tuple[Rule[[], tuple[str, str]], ...] = ()
    """What is said of the reservation that the Workload of a finished Job gives back; it keeps it without rules."""
    unlike: tuple[Rule[[PodSets, PodSets], bool], ...] = ()
    """Whether the Workload of a finished Job is deleted, by the pod sets of the Job and its own."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Behaviour:
    """Everything that one text or one Kueue minor decides."""

    name: str
    title: str
    kueue: str
    """The release whose messages are reproduced; empty for a text."""
    versions: Versions
    """The Configuration versions that it reads, newest first."""
    gates: Gates
    integration: str
    """The gate that switches device integration."""
    dependants: tuple[str, ...]
    """Gates that may not be on without it; cases are judged with all of them on."""
    role: tuple[Mapping[str, Sequence[str]], ...]
    """The permissions on resource.k8s.io that Kueue runs under, as ClusterRole rules."""
    mapping: MappingRules
    mapped: Mapped
    processing: Processing
    charging: Charging
    queueing: Queueing
    assigning: Assigning
    cohorts: Cohorts
    cycle: Cycle
    preempting: Preempting
    fair_sharing: FairSharing
    reporting: Reporting
    jobs: Jobs
    extended: Extended = Extended()
    adjusting: Adjusting = Adjusting()
    by_chance: bool = False
    """Whether it goes through resources and classes in the random order of a Go map, not in that of a hash."""
    overwrites: bool = True
    """Whether it writes over a condition that it has not read yet; else what comes right after another may be lost."""
    sweeps_later: bool = True
    """Whether what waits is tried again a second after quota came free, together with all that comes free meanwhile."""
    serves: frozenset[str] = frozenset()
    """Kinds that it brings beside those that every behaviour has."""
    objects: tuple[Rule[[Manifest], Iterable[FieldError]], ...] = ()
    """What is refused when an object is applied."""
    webhooks: tuple[Rule[[Manifest], Iterable[FieldError]], ...] = ()
    """What Kueue's own webhooks deny."""

    def under(self, gates: Mapping[str, bool]) -> Behaviour:
        """The same behaviour without the rules whose feature gates are in another state; a gate unknown to it is on."""
        return _under(self, tuple(gates.get(gate, True) for gate in _named_by(self)))

    def settled(self, **gates: bool) -> Behaviour:
        """The same behaviour with gates in one state for good, as for a text that knows nothing of them."""

        def free(rule: Rule[..., Any]) -> Rule[..., Any]:
            return replace(rule, gates={gate: on for gate, on in rule.gates.items() if gate not in gates})

        found = _kept(self, lambda rule: all(rule.gates.get(gate, on) is on for gate, on in gates.items()), free)
        assert isinstance(found, Behaviour)
        return found

    def without(self, name: str) -> Behaviour:
        """The same behaviour with one rule knocked out.

        Raises:
            KeyError: no rule has that name.

        """
        if name not in {rule.name for rule in rules_of(self)}:
            raise KeyError(name)
        found = _kept(self, lambda rule: rule.name != name)
        assert isinstance(found, Behaviour)
        return found


@lru_cache(maxsize=64)
def _named_by(behaviour: Behaviour) -> tuple[str, ...]:
    """The few gates that rules of a behaviour depend on, of the hundreds that there are."""
    return tuple(sorted({gate for rule in rules_of(behaviour) for gate in rule.gates}))


@lru_cache(maxsize=64)
def _under(behaviour: Behaviour, on: tuple[bool, ...]) -> Behaviour:
    states = dict(zip(_named_by(behaviour), on, strict=True))
    found = _kept(behaviour, lambda rule: all(states.get(gate, True) is on for gate, on in rule.gates.items()))
    assert isinstance(found, Behaviour)
    return found


def rules_of(holder: object) -> Iterator[Rule[..., Any]]:
    """Every rule that a behaviour, or a part of one, holds."""
    if isinstance(holder, Rule):
        yield holder
    elif isinstance(holder, tuple):
        for part in holder:
            yield from rules_of(part)
    elif is_dataclass(holder):
        for field in fields(holder):
            yield from rules_of(getattr(holder, field.name))


def _kept(holder: Any, wanted: Any, made: Any = lambda rule: rule) -> Any:
    if isinstance(holder, Rule):
        return made(holder)
    if isinstance(holder, tuple):
        return tuple(_kept(part, wanted, made) for part in holder if not isinstance(part, Rule) or wanted(part))
    if is_dataclass(holder) and not isinstance(holder, type):
        changes = {f.name: _kept(getattr(holder, f.name), wanted, made) for f in fields(holder)}
        return replace(holder, **changes)
    return holder
