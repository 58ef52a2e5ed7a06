"""A manager and its workers in memory: they share the time, and settle together.

No counterpart: the clusters of the reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from kueue_dra_ref.controllers.multikueue_clusters import Remote
from kueue_dra_ref.controlplane.clock import Clock

_PATIENCE = 8.0
"""Simulated seconds that settling takes: longer than a worker stays lost before a manager tries again."""


class Member(Remote, Protocol):
    """A cluster of a fleet."""

    clock: Clock

    def work(self) -> None:
        """Reconcile and schedule until nothing changes at this moment."""

    @property
    def restless(self) -> Sequence[str]:
        """What changes without end."""


@dataclass(slots=True, kw_only=True)
class Fleet:
    """A manager, and its workers by kubeconfig."""

    manager: Member
    workers: dict[str, Member]

    def dial(self, kubeconfig: str) -> Remote | None:
        """Give the worker of a kubeconfig."""
        return self.workers.get(kubeconfig)

    def settle(self) -> None:
        """Let simulated time pass in all clusters until nothing is due for long."""
        self._work()
        until = self._now + _PATIENCE
        while not self.restless and self._advance(until):
            self._work()

    @property
    def restless(self) -> list[str]:
        """What changes without end in any cluster."""
        return [each for member in self._members for each in member.restless]

    @property
    def _members(self) -> list[Member]:
        return [self.manager, *self.workers.values()]

    @property
    def _now(self) -> float:
        return max(member.clock.seconds for member in self._members)

    def _work(self) -> None:
        """Run every cluster, the manager first; what it changes on a worker is done there at once."""
        for member in self._members:
            member.clock.seconds = self._now
            member.work()
        now = self._now
        for member in self._members:
            member.clock.seconds = now

    def _advance(self, until: float) -> bool:
        """Go on to the next action that is due in any cluster; False when there is none."""
        clocks = [member.clock for member in self._members]
        clock = min(clocks, key=_next_due)
        if not clock.advance(until):
            return False
        for other in clocks:
            other.seconds = max(other.seconds, clock.seconds)
        return True


def _next_due(clock: Clock) -> float:
    return clock.next_due
