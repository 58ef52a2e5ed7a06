"""Loops of a Kueue that never settles: states that come back again and again, and the messages that alternate in them.

No counterpart: a real Kueue goes on for ever.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import pairwise

from kueue_dra_ref.api.conditions import condition
from kueue_dra_ref.cache.cluster_queue import WorkloadInfo
from kueue_dra_ref.controllers.scheduler import Scheduler
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import Event, key_of
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.reference.endless_changes import without_an_end
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
        latest = cycles[-_TIMES:]
        first, second = latest[:2]
        period = second - first
        for earlier, later in pairwise(latest):
            if later - earlier != period:
                return 0
        return period


def state_of(kueue: Kueue, scheduler: Scheduler) -> Hashable:
    """Give everything that the next cycle depends on: usage, queues, and the heads with what they were answered."""
    state: list[Hashable] = [
        kueue.moves,
        scheduler.preemptions,
        tuple(kueue.to_do),
    ]
    for pending in kueue.pending.values():
        in_heap = len(pending.heap)
        inadmissible = len(pending.inadmissible)
        state.append((in_heap, inadmissible))
    for info in scheduler.heads:
        found = kueue.store.get("Workload", info.key)
        message = _message(found)
        state.append((info.key, message))
        state += _tried(info)
    return tuple(state)


def _tried(info: WorkloadInfo) -> Iterator[Hashable]:
    """Give the flavors that the search for a head has tried."""
    if info.progress is None:
        return
    for tried in info.progress.tried:
        yield tuple(tried.items())


class AlternatingMessages:
    """The messages of the Workloads that change while it observes."""

    def __init__(self, kueue: Kueue) -> None:
        self._kueue = kueue
        self._found: dict[Key, dict[str, None]] = {}
        self._is_first = True

    def on_event(self, event: Event) -> None:
        """Observe a change of a Workload, and the message that it had when the messages were noted before."""
        if event.kind != "Workload" or event.key in self._found:
            return
        messages = self._found[event.key] = {}
        if not self._is_first:
            before = _message(event.old)
            messages[before] = None

    def note(self) -> None:
        """Note the messages of now."""
        self._is_first = False
        for key, messages in self._found.items():
            found = self._kueue.store.get("Workload", key)
            if found is None:
                continue
            message = _message(found)
            messages[message] = None

    def report(self) -> Iterator[str]:
        """Name the Workloads whose messages differ, the oldest first; without one, all that change."""
        changing = self._existing()
        alternating = [key for key in changing if len(self._found[key]) > 1]
        for namespace, name in alternating:
            shown = " | ".join(self._found[namespace, name])
            yield f"Workload {namespace}/{name} alternates between: {shown}"
        if not alternating:
            for key in changing:
                yield without_an_end(("Workload", key))

    def _existing(self) -> list[Key]:
        """List the Workloads that have changed and still exist, the oldest first."""
        store = self._kueue.store
        found = [store.get("Workload", key) for key in self._found]
        existing = [each for each in found if each is not None]
        existing.sort(key=store.order_of)
        return list(map(key_of, existing))


def _message(workload: Manifest | None) -> str:
    reserved = condition(workload or {}, "QuotaReserved") or {}
    return str(reserved.get("message", "no message"))
