"""The ends of timeouts, backoffs and retention, each of which reconciles its Workload or its Job once.

No counterpart: controller-runtime keeps delayed requests in its queue.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from kueue_dra_ref.model.lister import Key

Object = tuple[str, Key]
"""Kind and key of an object."""


@dataclass(slots=True, kw_only=True)
class Timeouts:
    """When the next timeout, backoff or retention of each object ends, in seconds."""

    began: float
    """When this run of Kueue began."""
    ends: dict[Object, float] = field(default_factory=dict)

    def note(self, found: Object, until: float) -> bool:
        """Note an end; False if it is known already."""
        before = self.ends.get(found)
        self.ends[found] = until
        return before != until

    def forget(self, found: Object) -> None:
        """Forget the end of an object that is gone."""
        self.ends.pop(found, None)

    def next_end(self, now: float) -> float:
        """Give the next end after now; infinite without one."""
        return min((until for until in self.ends.values() if until > now), default=inf)
