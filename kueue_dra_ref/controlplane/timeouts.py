"""The ends of timeouts and backoffs of Workloads, each of which reconciles its Workload once.

No counterpart: controller-runtime keeps delayed requests in its queue.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from kueue_dra_ref.model.lister import Key


@dataclass(slots=True, kw_only=True)
class Timeouts:
    """When the next timeout or backoff of each Workload ends, in seconds."""

    began: float
    """When this run of Kueue began."""
    ends: dict[Key, float] = field(default_factory=dict)

    def note(self, key: Key, until: float) -> bool:
        """Note an end; False if it is known already."""
        if self.ends.get(key) == until:
            return False
        self.ends[key] = until
        return True

    def forget(self, key: Key) -> None:
        """Forget the end of a Workload."""
        self.ends.pop(key, None)

    def next_end(self, now: float) -> float:
        """Give the next end after now; infinite without one."""
        return min((until for until in self.ends.values() if until > now), default=inf)
