"""Which workloads have to end so that a pending one is admitted; each answer was tried.

No counterpart: what-if runs of the simulation.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kueue_dra_ref.cache.snapshot import ReservedWorkload
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.model.resource_node import FlavorResource
from kueue_dra_ref.simulation.shortages import Amounts
from kueue_dra_ref.simulation.trials import Trials

_SHOWN = 3
"""How many alternatives are looked for."""
_LARGEST = 3
"""Up to how many workloads every set is tried."""
_SETS = 12
"""How many sets of each size are tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """Workloads whose end admits another one; ``smallest`` if every smaller set that frees enough was tried."""

    keys: tuple[Key, ...]
    smallest: bool


class WorkloadEnds:
    """Finds sets of workloads whose end admits one workload."""

    def __init__(
        self, trials: Trials, kueue: Kueue, lacking: Sequence[Amounts]
    ) -> None:
        self._trials = trials
        self._lacking = [each for each in lacking if each]
        self.holders = self._holders(kueue)

    def found(self) -> Iterator[Ends]:
        """Give sets of workloads whose end admits the workload, all of one size, the smallest that was found.

        Raises:
            OutOfTrials: no trial is left; what was given holds.

        """
        smallest = True
        for size in range(1, _LARGEST + 1):
            number = 0
            sets = list(itertools.islice(self._sets(size), _SETS + 1))
            for chosen in sets[:_SETS]:
                if self._admits(chosen):
                    number += 1
                    yield Ends(keys=_keys(chosen), smallest=smallest)
                if number == _SHOWN:
                    return
            if number:
                return
            smallest = smallest and len(sets) <= _SETS
        yield from self._pruned()

    def _pruned(self) -> Iterator[Ends]:
        """End every workload that holds what is lacking, then keep each that need not end."""
        left = list(self.holders)
        if len(left) <= _LARGEST or not self._admits(left):
            return
        for holder in list(left):
            without = [each for each in left if each is not holder]
            if self._frees_enough(without) and self._admits(without):
                left = without
        yield Ends(keys=_keys(left), smallest=False)

    def _sets(self, size: int) -> Iterator[tuple[ReservedWorkload, ...]]:
        for chosen in itertools.combinations(self.holders, size):
            if self._frees_enough(chosen):
                yield chosen

    def _frees_enough(self, chosen: Sequence[ReservedWorkload]) -> bool:
        """Whether workloads hold together what is lacking for one of the choices of flavors."""
        return any(_covers(chosen, lacking) for lacking in self._lacking)

    def _admits(self, chosen: Sequence[ReservedWorkload]) -> bool:
        return self._trials.without(_keys(chosen)).admits

    def _holders(self, kueue: Kueue) -> list[ReservedWorkload]:
        """Give the workloads that hold what is lacking, those of the own ClusterQueue and the smallest first."""
        lacking = {of for each in self._lacking for of in each}
        own = self._own_queue(kueue)
        holders = []
        for queue in queues_that_share(kueue, own):
            for reserved in kueue.usage.reservations(queue):
                if lacking & reserved.amounts.keys():
                    holders.append(reserved)
        holders.sort(key=lambda each: (each.priority, each.key))
        holders.sort(key=lambda each: each.cluster_queue != own)
        return holders

    def _own_queue(self, kueue: Kueue) -> str:
        for name, pending in kueue.pending.items():
            if pending.has(self._trials.key):
                return name
        return ""


def queues_that_share(kueue: Kueue, cluster_queue: str) -> list[str]:
    """Name a ClusterQueue and the others of its cohort tree."""
    hierarchy = kueue.hierarchy
    root = hierarchy.root(cluster_queue)
    if not root:
        return [cluster_queue]
    return hierarchy.members(root)


def _covers(chosen: Sequence[ReservedWorkload], lacking: Amounts) -> bool:
    return all(_freed(chosen, of) >= amount for of, amount in lacking.items())


def _freed(chosen: Sequence[ReservedWorkload], of: FlavorResource) -> int:
    return sum(each.amounts.get(of, 0) for each in chosen)


def _keys(chosen: Sequence[ReservedWorkload]) -> tuple[Key, ...]:
    return tuple(each.key for each in chosen)
