"""The phase of a behaviour that limits how long a workload is admitted."""

from __future__ import annotations

from dataclasses import dataclass

from kueue_dra_ref.model.reason_message import ReasonMessage
from kueue_dra_ref.model.slots import AnyOf, First
from kueue_dra_ref.rules.workload.execution_time import ExecutionTime


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionTimeRules:
    """For how long a workload may be admitted."""

    limit: First[[str], int] = First()
    """What limit does a label set, in seconds? Without an answer: none."""
    not_equivalent: AnyOf[[int | None, int | None]] = AnyOf()
    """Does the limit of work differ from that of its Workload? Without rules: no."""
    deactivate: First[[ExecutionTime], ReasonMessage] = First()
    """Why is an admitted workload deactivated? Without an answer: it is not."""
    count: First[[float], int] = First()
    """How much of an admission that ends counts towards the limit? Without an answer: nothing."""
