"""Which quotas to raise, and by how much, so that a pending workload is admitted; each answer was tried.

No counterpart: what-if runs of the simulation.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.model.resource_node import FlavorResource, ResourceNode
from kueue_dra_ref.simulation.pending_order import (
    infos_before,
    pending_info,
    queue_of_pending,
)
from kueue_dra_ref.simulation.quota_fields import (
    BORROWING,
    LENDING,
    NOMINAL,
    QuotaField,
)
from kueue_dra_ref.simulation.shortages import (
    Amounts,
    needs_by_choice,
    of_one_pod,
    requested,
    short_of,
)
from kueue_dra_ref.simulation.trials import (
    OutOfTrials,
    Raises,
    Trial,
    Trials,
    kueue_of,
)

_CHOICES = 8
"""How many choices of flavors are tried."""
_ROUNDS = 6
"""How often a raise grows while other workloads take what was raised."""
_PLENTY, _LARGEST = 1_000_000, 2**61
"""How many times its request every quota is raised, to see whether quota helps at all, and at most by how much."""

Knobs = dict[FlavorResource, QuotaField]
"""The field to raise for each flavor and resource."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRaise:
    """A raise that admits the workload, and the workloads that are preempted then."""

    raises: Raises
    lost: frozenset[Key]


class QuotaRaises:
    """Finds raises that admit one workload."""

    def __init__(self, trials: Trials, kueue: Kueue) -> None:
        self._trials, self._kueue = trials, kueue
        self.cluster_queue = queue_of_pending(kueue, trials.key)

    def found(self) -> Iterator[FoundRaise]:
        """Give raises that admit the workload, of the ClusterQueue's own quota first.

        Raises:
            OutOfTrials: no trial is left; what was given holds.

        """
        seen: list[Raises] = []
        for needs in self._choices():
            lacking = self._lacking(self._kueue, needs)
            for knobs in self._knobs(needs, lacking):
                found = self._grown(needs, lacking, knobs)
                if found and found.raises not in seen:
                    seen.append(found.raises)
                    yield found

    def plenty(self) -> Trial | None:
        """Raise every quota of the ClusterQueue far beyond what is requested.

        Raises:
            OutOfTrials: no trial is left.

        """
        node = self._kueue.hierarchy.queues[self.cluster_queue]
        raises = {}
        for of in node.limits:
            most = max(self._total(of[1]), 1)
            raises[self._field(of)] = min(most * _PLENTY, _LARGEST)
        return self._trials.with_raises(raises)

    def lacking(self) -> list[Amounts]:
        """Give what is lacking now, for each choice of flavors."""
        return [self._lacking(self._kueue, needs) for needs in self._choices()]

    def _choices(self) -> list[Amounts]:
        kueue = self._kueue
        info = pending_info(kueue, self._trials.key)
        queue = kueue.informers.queue(self.cluster_queue)
        if info is None or queue is None:
            return []
        return needs_by_choice(kueue, queue, info, _CHOICES)

    def _lacking(self, kueue: Kueue, needs: Amounts) -> Amounts:
        """Give what the workload lacks; if nothing, what the first workload before it lacks, as that may block it."""
        short = short_of(kueue, self.cluster_queue, needs)
        if short:
            return short
        for info in infos_before(kueue, self._trials.key)[:1]:
            theirs = self._needs_of(kueue, [info], needs)
            return short_of(kueue, self.cluster_queue, theirs)
        return {}

    def _needs_of(
        self, kueue: Kueue, infos: Iterable[object], needs: Amounts
    ) -> Amounts:
        """Give what other workloads need together in the flavors that are chosen for this one."""
        queue = kueue.informers.queue(self.cluster_queue)
        total: Amounts = {}
        if queue is None:
            return total
        flavors = {flavor for flavor, _ in needs}
        for info in infos:
            for theirs in needs_by_choice(kueue, queue, info, _CHOICES):  # type: ignore[arg-type]
                if {flavor for flavor, _ in theirs} <= flavors:
                    for of, amount in theirs.items():
                        total[of] = total.get(of, 0) + amount
                    break
        return total

    def _total(self, resource: str) -> int:
        """Give what all pending workloads of the ClusterQueue request of a resource."""
        kueue = self._kueue
        queue = kueue.informers.queue(self.cluster_queue)
        total = 0
        if queue is None:
            return total
        for info in kueue.pending[self.cluster_queue]:
            for amounts in requested(kueue, queue, info):
                total += amounts.get(resource, 0)
        return total

    def _field(self, of: FlavorResource, field: str = NOMINAL) -> QuotaField:
        flavor, resource = of
        return QuotaField(
            kind="ClusterQueue",
            name=self.cluster_queue,
            flavor=flavor,
            resource=resource,
            field=field,
        )

    def _knobs(self, needs: Amounts, lacking: Amounts) -> Iterator[Knobs]:
        """Give the fields to raise: the nominal quotas of the ClusterQueue, then what bounds its borrowing."""
        nominal = {of: self._field(of) for of in needs}
        yield nominal
        others = {of: list(self._others(of)) for of in lacking}
        for index in range(max(map(len, others.values()), default=0)):
            knobs = dict(nominal)
            for of, fields in others.items():
                if fields:
                    knobs[of] = fields[min(index, len(fields) - 1)]
            yield knobs

    def _others(self, of: FlavorResource) -> Iterator[QuotaField]:
        """Give the fields that bound what the ClusterQueue borrows of a resource."""
        node = self._kueue.hierarchy.queues[self.cluster_queue]
        if node.parent is None:
            return
        bound = node.available_bound(of)
        if bound.by_limit:
            yield _field_of(bound.node, of, BORROWING)
            return
        if of in bound.node.limits:
            yield _field_of(bound.node, of, NOMINAL)
        for member in bound.node.queues():
            limits = member.limits.get(of)
            lends = limits is not None and limits.lending is not None
            if lends and member is not node and member.local_available(of) > 0:
                yield _field_of(member, of, LENDING)

    def _grown(
        self, needs: Amounts, lacking: Amounts, knobs: Knobs
    ) -> FoundRaise | None:
        """Raise by what is lacking, and by more while other workloads take what was raised."""
        by = {of: amount for of, amount in lacking.items() if of in knobs}
        before = None
        for number in range(_ROUNDS):
            trial = self._tried(by, knobs)
            if trial is None:
                return None
            if trial.admits:
                return self._least(by, knobs, trial)
            kueue = kueue_of(trial.target)
            now = self._progress(kueue, needs)
            if now == before:
                return None
            before = now
            for of, amount in self._more(kueue, needs, number).items():
                by[of] = by.get(of, 0) + amount
        return None

    def _tried(self, by: Amounts, knobs: Knobs) -> Trial | None:
        """Try a raise; None if there is nothing to raise, or the API server rejects it."""
        raises = _raises(by, knobs)
        return self._trials.with_raises(raises) if raises else None

    def _more(self, kueue: Kueue, needs: Amounts, number: int) -> Amounts:
        """Give what the workload still lacks, and after a while what the workloads before it need as well."""
        more = dict(self._lacking(kueue, needs))
        if number:
            before = infos_before(kueue, self._trials.key)
            for of, amount in self._needs_of(kueue, before, needs).items():
                if of in more:
                    more[of] += amount
        return more

    def _progress(self, kueue: Kueue, needs: Amounts) -> object:
        """Give what changes when a raise had an effect."""
        node = kueue.hierarchy.queues[self.cluster_queue]
        available = [node.available_bound(of).amount for of in needs]
        used = [sum(each.used(of) for each in node.root.queues()) for of in needs]
        return available, used, [node.used(of) for of in needs]

    def _least(self, by: Amounts, knobs: Knobs, trial: Trial) -> FoundRaise:
        """Lower a raise that admits the workload, resource by resource, while it still does and preempts no more."""
        least = dict(by)
        for of in sorted(by):
            try:
                self._lower(least, of, knobs, trial)
            except OutOfTrials:
                break
        return FoundRaise(raises=_raises(least, knobs), lost=trial.lost)

    def _lower(
        self, by: Amounts, of: FlavorResource, knobs: Knobs, first: Trial
    ) -> None:
        """Find the least amount of one resource, in steps of what workloads request.

        Raises:
            OutOfTrials: no trial is left; ``by`` has an amount that was tried.

        """
        most = by[of]
        step = math.gcd(self._step(of), most)
        low, high = 0, most // step
        while low < high:
            middle = (low + high) // 2
            trial = self._tried({**by, of: middle * step}, knobs)
            if trial and trial.admits and trial.lost <= first.lost:
                high = middle
                by[of] = high * step
            else:
                low = middle + 1

    def _step(self, of: FlavorResource) -> int:
        """Give the step in which a shortage changes when others are admitted: what divides all their requests.

        A workload that may be admitted with fewer pods needs a multiple of what one pod requests.
        """
        kueue = self._kueue
        amounts = []
        for name, pending in kueue.pending.items():
            queue = kueue.informers.queue(name)
            for info in pending if queue else ():
                assert queue is not None
                totals = requested(kueue, queue, info)
                pods = of_one_pod(kueue, queue, info)
                for each in (*totals, *pods):
                    amount = each.get(of[1], 0)
                    amounts.append(amount)
        return math.gcd(*amounts) or 1


def _raises(by: Amounts, knobs: Knobs) -> Raises:
    raises: Raises = {}
    for of, amount in sorted(by.items()):
        if amount > 0:
            raises[knobs[of]] = raises.get(knobs[of], 0) + amount
    return raises


def _field_of(node: ResourceNode, of: FlavorResource, field: str) -> QuotaField:
    flavor, resource = of
    return QuotaField(
        kind="ClusterQueue" if node.is_queue else "Cohort",
        name=node.name,
        flavor=flavor,
        resource=resource,
        field=field,
    )
