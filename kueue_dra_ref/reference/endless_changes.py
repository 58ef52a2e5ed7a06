"""Objects that change again with each reconcile, so that a run leaves them to the next one.

No counterpart: controller-runtime reconciles such an object for ever, next to all others.
"""

from __future__ import annotations

from collections.abc import Mapping

from kueue_dra_ref.model.lister import Key

Object = tuple[str, Key]
"""Kind and key of an object."""
_RECONCILES = 20_000
"""How often one object is reconciled before that counts as a livelock: more often than any group has pods."""
_RECONCILES_AGAIN = 100
"""How often in a run after one in which it changed without an end."""


def without_an_end(found: Object) -> str:
    """Say that an object changes without an end."""
    kind, key = found
    name = "/".join(filter(None, key))
    return f"{kind} {name} changes without an end"


class EndlessChanges:
    """What changes without an end in a run, and what did in the run before."""

    def __init__(self) -> None:
        self._now: dict[Object, None] = {}
        self._before: Mapping[Object, None] = {}

    def holds(self, found: Object, reconciles: int) -> bool:
        """Whether an object was reconciled so often in this run that it is reconciled no more."""
        most = _RECONCILES_AGAIN if found in self._before else _RECONCILES
        if reconciles > most:
            self._now[found] = None
        return found in self._now

    def end(self) -> Mapping[Object, None]:
        """End a run, and give what changed in it without an end."""
        self._before, self._now = self._now, {}
        return self._before
