"""Simulated time: it moves only when somebody waits, so nothing ever sleeps.

No counterpart: simulated time.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache

_START = datetime(2025, 9, 17, 12, 0, 0, tzinfo=UTC)
"""Where every world begins; the day that the September text carries."""


class Clock:
    """Seconds since the start of the world, and what is to happen when."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._order = itertools.count()
        self._due: list[tuple[float, int, Callable[[], None]]] = []

    @classmethod
    def at(cls, seconds: float) -> Clock:
        """A clock that starts later, with nothing due."""
        clock = cls()
        clock.seconds = seconds
        return clock

    @property
    def now(self) -> str:
        """The time as Kubernetes writes it: RFC 3339, whole seconds."""
        return _written(int(self.seconds))

    def after(self, seconds: float, act: Callable[[], None]) -> None:
        """Do something ``seconds`` from now."""
        heapq.heappush(self._due, (self.seconds + seconds, next(self._order), act))

    def advance(self, until: float) -> bool:
        """Move to the next thing that is due by ``until`` seconds and do it; False when there is none."""
        if not self._due or self._due[0][0] > until:
            self.seconds = max(self.seconds, until)
            return False
        due, _, act = heapq.heappop(self._due)
        self.seconds = max(self.seconds, due)
        act()
        return True


@lru_cache(maxsize=1024)
def _written(seconds: int) -> str:
    """Write a time once: what happens in one second carries the same."""
    return (_START + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
