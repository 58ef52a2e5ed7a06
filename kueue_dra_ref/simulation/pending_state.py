"""The state of one pending workload: its place, the holders of the quota that it needs, and what would admit it.

No counterpart: explanations of the simulation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kueue_dra_ref.api.job_kinds import owner_of
from kueue_dra_ref.cache.snapshot import ReservedWorkload
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.explain.step import Step, listed, named
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.model.resource_node import FlavorResource
from kueue_dra_ref.simulation.cluster_state import (
    holder_texts,
    holders_of,
    lacking_in,
    nominal_quota,
    workload_title,
)
from kueue_dra_ref.simulation.explanation import Explanation
from kueue_dra_ref.simulation.pending_order import QueuePlace, place_of
from kueue_dra_ref.simulation.quota_fields import shown
from kueue_dra_ref.simulation.run import SimulationResult
from kueue_dra_ref.simulation.trials import Again, kueue_of
from kueue_dra_ref.simulation.what_would_admit import (
    Raised,
    WouldAdmit,
    what_would_admit,
)
from kueue_dra_ref.verdict import Finished

_SHOWN = 5
"""How many workloads an explanation names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """A workload that holds quota which another one needs, with the amounts as Kueue prints them."""

    key: Key
    cluster_queue: str
    flavor: str
    resource: str
    amount: str
    nominal: str
    """The nominal quota of the holder's ClusterQueue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingState:
    """The state of one pending workload."""

    kueue: Kueue
    place: QueuePlace | None
    would_admit: WouldAdmit
    cluster_queue: str
    shown: frozenset[FlavorResource]
    """What the explanation names holders of already."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """The state as steps of an explanation."""
        texts = [*self._holder_texts(), *self._place_texts(), *self._texts()]
        return tuple(Step(requirements=(), text=each) for each in texts)

    @property
    def holders(self) -> Iterator[Holder]:
        """The workloads that hold what is lacking."""
        for wanted in self.would_admit.lacking:
            for reserved in holders_of(self.kueue, self.cluster_queue, wanted):
                yield self._holder(reserved, wanted)

    def _holder(self, reserved: ReservedWorkload, wanted: FlavorResource) -> Holder:
        flavor, resource = wanted
        queue = reserved.cluster_queue
        return Holder(
            key=reserved.key,
            cluster_queue=queue,
            flavor=flavor,
            resource=resource,
            amount=shown(self.kueue, resource, reserved.amounts[wanted]),
            nominal=nominal_quota(self.kueue, queue, wanted),
        )

    def _holder_texts(self) -> Iterator[str]:
        """Name the holders of what is lacking and the message does not name."""
        for wanted in self.would_admit.lacking:
            if wanted not in self.shown:
                yield from holder_texts(self.kueue, self.cluster_queue, wanted)

    def _place_texts(self) -> Iterator[str]:
        """Say where the workload is in its queue."""
        place = self.place
        if place is None:
            return
        where = f"ClusterQueue {place.cluster_queue} ({place.strategy})"
        count = named(place.pending, "pending workload")
        yield f"it is number {place.position} of {count} in {where}"
        for each in place.before[:_SHOWN]:
            yield f"{self.title(each.key)} is before it: {each.why}"
        more = len(place.before) - _SHOWN
        if more > 0:
            yield f"{named(more, 'more workload')} before it"

    def _texts(self) -> Iterator[str]:
        found = self.would_admit
        for raised in found.raises:
            changes = " and ".join(map(str, raised.raises))
            yield f"it would be admitted if {changes}{self._preempted(raised)}"
        for ends in found.ends:
            names = listed([self.title(key) for key in ends.keys])
            verb = "ends" if len(ends.keys) == 1 else "end"
            smallest = _smallest(len(ends.keys), smallest=ends.smallest)
            yield f"it would be admitted if {names} {verb}{smallest}"
        yield from self._limits()

    def _preempted(self, raised: Raised) -> str:
        if not raised.preempted:
            return ""
        names = listed([self.title(key) for key in raised.preempted])
        return f"; it would preempt {names}"

    def _limits(self) -> Iterator[str]:
        """Say what does not help, and what was not tried."""
        found = self.would_admit
        if found.no_quota:
            yield f"no higher quota admits it: {found.no_quota}"
        elif not found.raises and found.complete:
            yield "no raise of single quotas that was tried admits it, although raising all of them far does"
        if not found.complete:
            trials = named(found.trials, "trial")
            yield f"{trials} ran; there may be other changes that admit it"

    def job(self, key: Key) -> str:
        """Give the Job of a workload; empty without one."""
        workload = self.kueue.store.get("Workload", key)
        owner = owner_of(workload) if workload else None
        return owner[1] if owner else ""

    def title(self, key: Key) -> str:
        """Name a workload as kubectl shows it."""
        return workload_title(self.kueue, key)


def _smallest(count: int, *, smallest: bool) -> str:
    if count == 1:
        return ""
    if smallest:
        return "; fewer do not suffice"
    return "; none of them may stay, but another set may be smaller"


def pending_state(
    result: SimulationResult, again: Again, found: Explanation
) -> PendingState | None:
    """Give the state of a pending workload; None if it holds quota or has finished."""
    kueue = kueue_of(result.target)
    key = (found.namespace, found.workload)
    if kueue.usage.has(key) or isinstance(found.verdict, Finished):
        return None
    return PendingState(
        kueue=kueue,
        place=place_of(kueue, key),
        would_admit=what_would_admit(result.target, again, key),
        cluster_queue=found.cluster_queue,
        shown=frozenset(lacking_in(found.message)),
    )
