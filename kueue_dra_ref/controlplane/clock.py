"""Simulated time: it advances only when a caller waits, so nothing ever sleeps.

No counterpart: simulated time.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import count
from math import inf

from kueue_dra_ref.api.conditions import condition
from kueue_dra_ref.target import Manifest

_ORIGIN = datetime.fromisoformat("2025-09-16T12:00:00Z")
"""Where seconds are counted from: a day before the start, so that a sum of two times is no likely time between them."""
_START = 86400.0
"""The start of simulated time in seconds: the date of the September text."""


Due = tuple[float, int, Callable[[], None]]
"""When an action is due, a number that breaks ties, and the action."""


class Clock:
    """Seconds since the origin, and the actions that are due."""

    def __init__(self) -> None:
        self.seconds = _START
        self._numbers = count()
        """Tell actions of one time apart: the earlier one is first."""
        self._due: list[Due] = []

    @classmethod
    def at(cls, seconds: float) -> Clock:
        """Give a clock that starts at another time, with nothing due."""
        clock = cls()
        clock.seconds = seconds
        return clock

    @property
    def now(self) -> str:
        """The time in the format of Kubernetes: RFC 3339, whole seconds."""
        return _printed(int(self.seconds))

    def after(self, seconds: float, act: Callable[[], None]) -> None:
        """Do something ``seconds`` from now."""
        seconds += self.seconds
        due = (seconds, next(self._numbers), act)
        heapq.heappush(self._due, due)

    @property
    def next_due(self) -> float:
        """The time of the next action; infinite without one."""
        return self._due[0][0] if self._due else inf

    def advance(self, until: float) -> bool:
        """Advance to the next action that is due by ``until`` seconds and do it; False when there is none."""
        if self.next_due > until:
            self.seconds = max(self.seconds, until)
            return False
        due, _, act = heapq.heappop(self._due)
        self.seconds = max(self.seconds, due)
        act()
        return True


def seconds_of(timestamp: str) -> float:
    """Give the simulated time of a timestamp of Kubernetes.

    Raises:
        ValueError: it is no RFC 3339 timestamp.

    """
    moment = datetime.fromisoformat(timestamp)
    in_zone = moment.replace(tzinfo=moment.tzinfo or UTC)
    return (in_zone - _ORIGIN).total_seconds()


def since(obj: Manifest, kind: str) -> float:
    """Give when a condition of an object became what it is, in simulated time."""
    found = condition(obj, kind)
    assert found is not None
    return seconds_of(found["lastTransitionTime"])


def time_of(seconds: float) -> str:
    """Print a simulated time in the format of Kubernetes, in whole seconds."""
    return _printed(int(seconds))


@lru_cache(maxsize=1024)
def _printed(seconds: int) -> str:
    """Print a time; what happens in one second shares the string."""
    now = _ORIGIN + timedelta(seconds=seconds)
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")
