"""A behaviour: one text, or one Kueue minor, as a value that holds rules and says how it differs from another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import lru_cache
from typing import Any

from kueue_dra_ref.api.schema_config import Versions
from kueue_dra_ref.behaviours.phases_dra import (
    AdjustResources,
    Charges,
    ExtendedResources,
    MappingSource,
    Preprocessing,
)
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
from kueue_dra_ref.behaviours.phases_validation import APIValidation, WebhookRules
from kueue_dra_ref.features.kube_features import Gates
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.model.slots import Collect, Slot
from kueue_dra_ref.rules.config.device_class_mappings import MappingRules
from kueue_dra_ref.target import FieldError, Manifest


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
    integration_gate: str
    """The gate that switches device integration."""
    dependent_gates: tuple[str, ...]
    """Gates that may not be on without it; cases are judged with all of them on."""
    role: tuple[Mapping[str, Sequence[str]], ...]
    """The permissions on resource.k8s.io that Kueue runs under, as ClusterRole rules."""
    mapping: MappingRules
    mapping_source: MappingSource
    processing: Preprocessing
    charging: Charges
    queueing: QueueRules
    assigning: FlavorAssignment
    cohorts: CohortRules
    cycle: SchedulingCycle
    preempting: PreemptionRules
    fair_sharing: FairSharingRules
    reporting: StatusRules
    jobs: JobRules
    priorities: PriorityClassRules
    extended: ExtendedResources = field(default_factory=ExtendedResources)
    adjusting: AdjustResources = field(default_factory=AdjustResources)
    random_map_order: bool = False
    """Whether it goes through resources and classes in the random order of a Go map, not in that of a hash."""
    overwrites_unread_status: bool = True
    """Whether it writes over a condition that it has not read yet; else what comes right after another may be lost."""
    batches_requeues: bool = True
    """Whether what waits is tried again a second after quota came free, together with all that comes free meanwhile."""
    extra_kinds: frozenset[str] = frozenset()
    """Kinds that it brings beside those that every behaviour has."""
    objects: Collect[[Manifest], FieldError] = Collect()
    """What is refused when an object is applied."""
    definitions: APIValidation = field(default_factory=APIValidation)
    """What the API server refuses by Kueue's definitions of its kinds."""
    webhooks: WebhookRules = field(default_factory=WebhookRules)
    """What Kueue's own webhooks deny."""

    def under(self, gates: Mapping[str, bool]) -> Behaviour:
        """The same behaviour without the rules whose feature gates are in another state; a gate unknown to it is on."""
        return _under(
            self, tuple(gates.get(gate, True) for gate in gates_read_by(self))
        )

    def without(self, name: str) -> Behaviour:
        """The same behaviour with one rule knocked out, which its title says.

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
    """The few gates that rules of a behaviour depend on, of the hundreds that there are."""
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
    """Every rule that a behaviour, or a part of one, holds."""
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
