"""How the processing of a workload's claims ends: with what its pods are charged, or with why it is refused.

Kueue: pkg/workload/workload.go (WithPreprocessedDRAResources)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ParamSpec

from kueue_dra_ref.behaviours.phases_dra import Preprocessing
from kueue_dra_ref.cel import Undecided
from kueue_dra_ref.explain.step import Step, cited
from kueue_dra_ref.model.pending_reason import InadmissibleReason
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.target import FieldError

P = ParamSpec("P")

Charges = Mapping[str, int]
"""Devices by resource."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DRAResources:
    """What one pod of each pod set is charged, by the pod set's name, or why the workload is refused.

    ``shared`` is charged once, however many pods there are.  A class whose resource depends on the flavor is charged
    under a name of its own; ``choices`` has the resources that it may turn out to be.
    """

    charges: Mapping[str, Charges] = field(default_factory=dict)
    shared: Mapping[str, Charges] = field(default_factory=dict)
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    replaced: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Extended resources that are charged as devices, and not as what containers request, by pod set."""
    refused: InadmissibleReason | None = None
    steps: tuple[Step, ...] = ()


class Stopped(Exception):
    """The first failing claim ends processing; ``requirements`` say so."""

    def __init__(
        self,
        faults: Iterable[FieldError] = (),
        undecided: str = "",
        requirements: Iterable[str] = (),
    ) -> None:
        self.faults, self.undecided, self.requirements = (
            tuple(faults),
            undecided,
            tuple(dict.fromkeys(requirements)),
        )
        super().__init__(undecided or ", ".join(map(str, self.faults)))


def stop_if_refused(
    rules: Iterable[Rule[P, Undecided | FieldError | None]],
    *asked: P.args,
    **more: P.kwargs,
) -> None:
    """Hold something against rules; the first that finds fault, or cannot decide, ends processing.

    Raises:
        Stopped: one did.

    """
    for rule in rules:
        match rule(*asked, **more):
            case Undecided() as undecided:
                raise Stopped(undecided=undecided.reason, requirements=cited([rule]))
            case FieldError() as fault:
                raise Stopped([fault], requirements=cited([rule]))


def refusal(stop: Stopped, rules: Preprocessing) -> InadmissibleReason:
    """Put into Kueue's words why processing ended."""
    if stop.undecided:
        return InadmissibleReason(message=stop.undecided, undecided=True)
    told = list(dict.fromkeys(map(str, stop.faults)))
    retryable = any(fault.type == "Internal error" for fault in stop.faults)
    retryable = retryable or any(rule(stop.faults) for rule in rules.retry_on_error)
    return InadmissibleReason(
        message=told[0] if len(told) == 1 else f"[{', '.join(told)}]",
        retryable=retryable,
    )
