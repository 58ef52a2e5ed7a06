"""DRA resources of a workload after preprocessing: what its pods charge, or why the workload is inadmissible.

Kueue: pkg/workload/workload.go (WithPreprocessedDRAResources)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TypeVar

from kueue_dra_ref.behaviours.phases_dra import Preprocessing
from kueue_dra_ref.cel import Undecided
from kueue_dra_ref.explain.step import Step, cited
from kueue_dra_ref.model.pending_reason import InadmissibleReason
from kueue_dra_ref.model.slots import Answer
from kueue_dra_ref.target import FieldError

Rejection = TypeVar("Rejection", bound=FieldError | Undecided)

ResourceCounts = Mapping[str, int]
"""Devices, or units of a counter or capacity, by resource."""
Choices = Mapping[str, tuple[str, ...]]
"""Resources that a charge may become, by the name of the charge."""
PerPodSet = Mapping[str, ResourceCounts]
"""The same by the name of the pod set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DRAResources:
    """What one pod of each pod set charges, by the name of the pod set, or why the workload is inadmissible.

    Kueue charges ``shared`` once, however many pods there are.  A class whose resource depends on the flavor is charged
    under a name of its own; ``choices`` lists the resources that it may become.
    """

    charges: PerPodSet = field(default_factory=dict)
    shared: PerPodSet = field(default_factory=dict)
    choices: Choices = field(default_factory=dict)
    replaced: Mapping[str, Set[str]] = field(default_factory=dict)
    """By pod set, extended resources that are charged as devices instead of as requests of containers."""
    refused: InadmissibleReason | None = None
    steps: tuple[Step, ...] = ()


class ProcessingError(Exception):
    """The first claim that fails ends preprocessing; ``requirements`` are those that it violates."""

    def __init__(
        self,
        faults: Iterable[FieldError] = (),
        undecided: str = "",
        requirements: Iterable[str] = (),
    ) -> None:
        self.faults = tuple(faults)
        self.undecided = undecided
        self.requirements = tuple(dict.fromkeys(requirements))
        messages = [str(fault) for fault in self.faults]
        super().__init__(undecided or ", ".join(messages))


def raise_if_rejected(answer: Answer[Rejection] | None) -> None:
    """End preprocessing if a rule rejects a claim, or cannot decide about it.

    Raises:
        ProcessingError: there is such an answer.

    """
    if answer is None:
        return
    cites = cited([answer.rule])
    match answer.value:
        case Undecided() as undecided:
            raise ProcessingError(undecided=undecided.reason, requirements=cites)
        case FieldError() as fault:
            raise ProcessingError([fault], requirements=cites)


def inadmissible_reason(
    error: ProcessingError, rules: Preprocessing
) -> InadmissibleReason:
    """Format the error of preprocessing as Kueue does."""
    if error.undecided:
        return InadmissibleReason(message=error.undecided, undecided=True)
    faults = error.faults
    is_internal = any(fault.type == "Internal error" for fault in faults)
    return InadmissibleReason(
        message=_format(faults),
        retryable=is_internal or rules.retry_on_error(faults),
    )


def _format(faults: Sequence[FieldError]) -> str:
    """Format errors as Kubernetes formats an aggregate of them: each message once."""
    messages = dict.fromkeys(str(fault) for fault in faults)
    joined = ", ".join(messages)
    if len(messages) == 1:
        return joined
    return f"[{joined}]"
