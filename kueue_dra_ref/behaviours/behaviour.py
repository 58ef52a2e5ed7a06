"""A behaviour: one text, or one Kueue minor, as a value that holds rules by phase and slot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import lru_cache
from typing import Any

from kueue_dra_ref.api.schema_config import Versions
from kueue_dra_ref.behaviours.phases_admission_checks import AdmissionCheckRules
from kueue_dra_ref.behaviours.phases_admission_fair_sharing import (
    AdmissionFairSharingRules,
)
from kueue_dra_ref.behaviours.phases_admission_gates import AdmissionGateRules
from kueue_dra_ref.behaviours.phases_concurrent_admission import (
    ConcurrentAdmissionRules,
)
from kueue_dra_ref.behaviours.phases_dra import (
    AdjustResources,
    Charges,
    ExtendedResources,
    MappingSource,
    Preprocessing,
)
from kueue_dra_ref.behaviours.phases_execution import ExecutionTimeRules
from kueue_dra_ref.behaviours.phases_multikueue import MultiKueueRules
from kueue_dra_ref.behaviours.phases_pods import PodRules
from kueue_dra_ref.behaviours.phases_pods_ready import PodsReadyRules
from kueue_dra_ref.behaviours.phases_provisioning import ProvisioningRules
from kueue_dra_ref.behaviours.phases_retention import RetentionRules
from kueue_dra_ref.behaviours.phases_scheduling import (
    CohortRules,
    FairSharingRules,
    FlavorAssignment,
    PreemptionRules,
    QueueRules,
    SchedulingCycle,
)
from kueue_dra_ref.behaviours.phases_status import (
    JobRules,
    PriorityClassRules,
    StatusRules,
)
from kueue_dra_ref.behaviours.phases_topology import TopologyRules
from kueue_dra_ref.behaviours.phases_validation import APIValidation, WebhookRules
from kueue_dra_ref.features.kube_features import Gates
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.model.slots import Collect, Slot
from kueue_dra_ref.rules.config.device_class_mappings import MappingRules
from kueue_dra_ref.target import FieldError, Manifest


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Behaviour:
    """Everything that one text or one Kueue minor decides: facts, then the phases in the order of application."""

    name: str
    title: str
    kueue: str
    """The minor of Kueue, such as 0.19; empty for a text."""
    versions: Versions
    """The Configuration versions that it reads, newest first."""
    gates: Gates
    integration_gate: str
    """The gate that switches device integration."""
    dependent_gates: tuple[str, ...] = ()
    """Gates that may not be on without it; cases run with all of them on."""
    role: tuple[Mapping[str, Sequence[str]], ...]
    """The permissions on resource.k8s.io that Kueue runs under, as ClusterRole rules."""
    mapping_source: MappingSource
    """Where device classes are mapped to resources."""
    extra_kinds: frozenset[str] = frozenset()
    """Kinds that it serves and that other behaviours do not have."""
    random_map_order: bool = False
    """Whether it processes resources and classes in the random order of a Go map; otherwise the order is fixed."""
    overwrites_unread_status: bool = True
    """Whether a status update replaces an update that it has not read yet; otherwise the second one may be lost."""
    batches_requeues: bool = True
    """Whether inadmissible workloads are requeued one second after quota is released, once for all releases until then;
    otherwise at once."""

    mapping: MappingRules
    """Is the Configuration valid: its device class mappings, transformations and namespaces?"""
    objects: Collect[[Manifest], FieldError] = Collect()
    """Find errors of objects that a text introduces. Without rules: there are no such objects."""
    definitions: APIValidation = field(default_factory=APIValidation)
    """Does the API server accept the object?"""
    webhooks: WebhookRules = field(default_factory=WebhookRules)
    """Do Kueue's webhooks accept the object?"""
    jobs: JobRules
    pods: PodRules = field(default_factory=PodRules)
    priorities: PriorityClassRules
    adjusting: AdjustResources = field(default_factory=AdjustResources)
    processing: Preprocessing
    charging: Charges
    extended: ExtendedResources = field(default_factory=ExtendedResources)
    queueing: QueueRules
    cohorts: CohortRules
    assigning: FlavorAssignment
    topology: TopologyRules = field(default_factory=TopologyRules)
    preempting: PreemptionRules
    fair_sharing: FairSharingRules
    sharing: AdmissionFairSharingRules = field(
        default_factory=AdmissionFairSharingRules
    )
    cycle: SchedulingCycle
    checking: AdmissionCheckRules
    provisioning: ProvisioningRules = field(default_factory=ProvisioningRules)
    dispatching: MultiKueueRules = field(default_factory=MultiKueueRules)
    waiting: PodsReadyRules
    limiting: ExecutionTimeRules = field(default_factory=ExecutionTimeRules)
    retaining: RetentionRules = field(default_factory=RetentionRules)
    concurrent: ConcurrentAdmissionRules = field(
        default_factory=ConcurrentAdmissionRules
    )
    gating: AdmissionGateRules = field(default_factory=AdmissionGateRules)
    reporting: StatusRules

    @property
    def version(self) -> str:
        """The version of Kueue, such as 0.19.2, or its minor between two releases; empty for a text."""
        if self.name.startswith("kep-"):
            return ""
        released, _, version = self.name.partition("kueue-")
        return self.kueue if released else version

    def under(self, gates: Mapping[str, bool]) -> Behaviour:
        """Give this behaviour without the rules that are not in force under these gates; a gate not named is on."""
        return _under(
            self, tuple(gates.get(gate, True) for gate in gates_read_by(self))
        )

    def without(self, name: str) -> Behaviour:
        """Give this behaviour without one rule (a knock-out), and with a title that names it.

        Raises:
            KeyError: no rule has that name.

        """
        if name not in {rule.name for rule in rules_of(self)}:
            raise KeyError(name)
        found = _each_slot(self, lambda slot: slot.keep(lambda rule: rule.name != name))
        assert isinstance(found, Behaviour)
        return replace(found, title=f"{self.title} without the rule {name}")


@lru_cache(maxsize=64)
def gates_read_by(behaviour: Behaviour) -> tuple[str, ...]:
    """Give the feature gates that rules of a behaviour depend on."""
    return tuple(sorted({gate for rule in rules_of(behaviour) for gate in rule.gates}))


@lru_cache(maxsize=64)
def _under(behaviour: Behaviour, on: tuple[bool, ...]) -> Behaviour:
    states = dict(zip(gates_read_by(behaviour), on, strict=True))

    def is_kept(rule: Rule[..., Any]) -> bool:
        return all(states.get(gate, True) is on for gate, on in rule.gates.items())

    found = _each_slot(behaviour, lambda slot: slot.keep(is_kept))
    assert isinstance(found, Behaviour)
    return found


def rules_of(holder: object) -> Iterator[Rule[..., Any]]:
    """Give every rule of a behaviour, of a phase or of a slot."""
    if isinstance(holder, Slot):
        yield from holder.rules
    elif is_dataclass(holder):
        for part in fields(holder):
            yield from rules_of(getattr(holder, part.name))


def _each_slot(holder: Any, change: Callable[[Slot[..., Any]], Slot[..., Any]]) -> Any:
    """Give a part of a behaviour with every slot changed."""
    if isinstance(holder, Slot):
        return change(holder)
    if is_dataclass(holder) and not isinstance(holder, type):
        parts = {each.name: getattr(holder, each.name) for each in fields(holder)}
        return replace(
            holder, **{name: _each_slot(part, change) for name, part in parts.items()}
        )
    return holder
