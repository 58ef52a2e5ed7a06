"""The parts of a behaviour that refuse what is written: the API server by Kueue's definitions, then Kueue itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kueue_dra_ref.api.writes import Write
from kueue_dra_ref.rule import Rule
from kueue_dra_ref.target import FieldError

Checks = tuple[Rule[[Write], Iterable[FieldError]], ...]
"""Rules in the order in which their faults are told."""

_NOT_LOOKED_AT = FieldError(
    field="<nil>",
    type="Invalid value",
    value="null",
    detail="some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """What the API server refuses of a kind by its definition: limits of fields, and rules in CEL."""

    limits: Checks = ()
    cel: Checks = ()

    def faults(self, write: Write) -> Sequence[FieldError]:
        """Everything that is wrong; where there is too much of something, no CEL is evaluated."""
        found = [fault for rule in self.limits for fault in rule(write)]
        if any(fault.type == "Too many" for fault in found):
            return [*found, _NOT_LOOKED_AT]
        return [*found, *(fault for rule in self.cel for fault in rule(write))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Definitions:
    """Kueue's definitions of its kinds, as far as anything is refused by them."""

    local_queue: Definition = Definition()
    workload: Definition = Definition()

    def faults(self, write: Write) -> Sequence[FieldError]:
        """Everything that is wrong with an object by the definition of its kind."""
        found = {"LocalQueue": self.local_queue, "Workload": self.workload}.get(write.new["kind"])
        return found.faults(write) if found else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhooks:
    """What Kueue's own validating webhooks deny, by the kind that is written."""

    cluster_queue: Checks = ()
    job: Checks = ()
    workload: Checks = ()

    def of(self, kind: str) -> Checks:
        """The checks of a kind; none of one that Kueue does not look at."""
        found: Mapping[str, Checks] = {
            "ClusterQueue": self.cluster_queue,
            "Job": self.job,
            "Workload": self.workload,
        }
        return found.get(kind, ())
