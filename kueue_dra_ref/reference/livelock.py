"""Loops of a Kueue that never settles: states that come back again and again, and the messages that alternate in them.

No counterpart: a real Kueue goes on for ever.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import pairwise

from kueue_dra_ref.api.conditions import condition
from kueue_dra_ref.controllers.scheduler import Scheduler
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import Event
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.target import Manifest

_TIMES = 5
"""A state that has come back so often in one run comes back for ever."""


class StateLog:
    """The states after the cycles of one run."""

    def __init__(self) -> None:
        self._cycles: dict[Hashable, list[int]] = {}

    def period(self, state: Hashable, cycle: int) -> int:
        """Note the state after a cycle; give the number of cycles after which it comes back, 0 if it does not."""
        cycles = self._cycles.setdefault(state, [])
        cycles.append(cycle)
        if len(cycles) < _TIMES:
            return 0
        distances = {b - a for a, b in pairwise(cycles[-_TIMES:])}
        return distances.pop() if len(distances) == 1 else 0


def state_of(kueue: Kueue, scheduler: Scheduler) -> Hashable:
    """Give everything that the next cycle depends on: usage, queues, and the heads with what they were answered."""
    sizes = []
    for pending in kueue.pending.values():
        sizes.append((len(pending.heap), len(pending.inadmissible)))
    heads = []
    for info in scheduler.heads:
        tried = info.progress.tried if info.progress else ()
        found = kueue.store.get("Workload", info.key)
        shown = tuple(tuple(each.items()) for each in tried)
        heads.append((info.key, shown, _message(found)))
    to_do = tuple(kueue.to_do)
    return kueue.moves, scheduler.preemptions, tuple(sizes), tuple(heads), to_do


class AlternatingMessages:
    """The messages of the Workloads that change while it observes."""

    def __init__(self, kueue: Kueue) -> None:
        self._kueue = kueue
        self._found: dict[Key, dict[str, None]] = {}
        self._is_first = True

    def on_event(self, event: Event) -> None:
        """Observe a change of a Workload, and the message that it had when the messages were noted before."""
        if event.kind == "Workload" and event.key not in self._found:
            before = {} if self._is_first else {_message(event.old): None}
            self._found[event.key] = before

    def note(self) -> None:
        """Note the messages of now."""
        self._is_first = False
        for key, messages in self._found.items():
            found = self._kueue.store.get("Workload", key)
            if found is not None:
                messages[_message(found)] = None

    def report(self) -> Iterator[str]:
        """Name the Workloads whose messages differ, the oldest first."""
        store = self._kueue.store
        objects = [store.get("Workload", key) for key in self._found]
        existing = [each for each in objects if each is not None]
        for each in sorted(existing, key=store.order_of):
            meta = each["metadata"]
            key = (meta["namespace"], meta["name"])
            if len(self._found[key]) > 1:
                shown = " | ".join(self._found[key])
                yield f"Workload {'/'.join(key)} alternates between: {shown}"


def _message(workload: Manifest | None) -> str:
    reserved = condition(workload or {}, "QuotaReserved") or {}
    return str(reserved.get("message", "no message"))
