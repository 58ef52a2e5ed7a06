"""The reason and the message of a condition.

No counterpart: arguments of Kueue's functions.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonMessage:
    """The reason and the message of a condition."""

    reason: str
    message: str
    cause: str = ""
    """The underlying cause, such as the reason for which a workload was deactivated."""

    @property
    def full_reason(self) -> str:
        """The reason, that of a deactivation with its underlying cause."""
        if self.reason != "Deactivated" or not self.cause:
            return self.reason
        return f"{self.reason}DueTo{self.cause}"
