"""A behaviour: one text, or one Kueue minor, as a value that holds rules and says how it differs from another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    integration: str
    """The gate that switches device integration."""
    dependants: tuple[str, ...]
    """Gates that may not be on without it; cases are judged with all of them on."""
    role: tuple[Mapping[str, Sequence[str]], ...]
    """The permissions on resource.k8s.io that Kueue runs under, as ClusterRole rules."""
    mapping: MappingRules
    mapped: MappingSource
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
    definitions: APIValidation = field(default_factory=APIValidation)
    """What the API server refuses by Kueue's definitions of its kinds."""
    webhooks: WebhookRules = field(default_factory=WebhookRules)
    """What Kueue's own webhooks deny."""

    def under(self, gates: Mapping[str, bool]) -> Behaviour:
        """The same behaviour without the rules whose feature gates are in another state; a gate unknown to it is on."""
        return _under(
            self, tuple(gates.get(gate, True) for gate in gates_read_by(self))
        )

    def settled(self, **gates: bool) -> Behaviour:
        """The same behaviour with gates in one state for good, as for a text that knows nothing of them."""

        def free(rule: Rule[..., Any]) -> Rule[..., Any]:
            return replace(
                rule,
                gates={
                    gate: on for gate, on in rule.gates.items() if gate not in gates
                },
            )

        found = _kept(
            self,
            lambda rule: all(
                rule.gates.get(gate, on) is on for gate, on in gates.items()
            ),
            free,
        )
        assert isinstance(found, Behaviour)
        return found

    def without(self, name: str) -> Behaviour:
        """The same behaviour with one rule knocked out, which its title says.

        Raises:
            KeyError: no rule has that name.

        """
        if name not in {rule.name for rule in rules_of(self)}:
            raise KeyError(name)
        found = _kept(self, lambda rule: rule.name != name)
        assert isinstance(found, Behaviour)
        return replace(found, title=f"{self.title} without the rule {name}")


@lru_cache(maxsize=64)
def gates_read_by(behaviour: Behaviour) -> tuple[str, ...]:
    """The few gates that rules of a behaviour depend on, of the hundreds that there are."""
    return tuple(sorted({gate for rule in rules_of(behaviour) for gate in rule.gates}))


@lru_cache(maxsize=64)
def _under(behaviour: Behaviour, on: tuple[bool, ...]) -> Behaviour:
    states = dict(zip(gates_read_by(behaviour), on, strict=True))
    found = _kept(
        behaviour,
        lambda rule: all(
            states.get(gate, True) is on for gate, on in rule.gates.items()
        ),
    )
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
        for part in fields(holder):
            yield from rules_of(getattr(holder, part.name))


def _kept(holder: Any, wanted: Any, made: Any = lambda rule: rule) -> Any:
    if isinstance(holder, Rule):
        return made(holder)
    if isinstance(holder, tuple):
        return tuple(
            _kept(part, wanted, made)
            for part in holder
            if not isinstance(part, Rule) or wanted(part)
        )
    if is_dataclass(holder) and not isinstance(holder, type):
        changes = {
            f.name: _kept(getattr(holder, f.name), wanted, made) for f in fields(holder)
        }
        return replace(holder, **changes)
    return holder
