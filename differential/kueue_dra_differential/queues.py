"""The queues of a generated world as objects: flavors, cohorts, ClusterQueues, LocalQueues, with names of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kueue_dra_differential.cohort_tree import (
    FungibilityPolicy,
    LocalQueueLine,
    ParentCohort,
    QuotaLimits,
)
from kueue_dra_differential.config_profiles import ConfigProfile
from kueue_dra_differential.limitranges import RANGES
from kueue_dra_differential.node_fields import FLAVORS, LATE
from kueue_dra_fixtures.limitranges import a_limit_range
from kueue_dra_fixtures.manifests import (
    KUEUE,
    Quota,
    a_cluster_queue,
    a_group,
    a_quota,
    an_object,
)
from kueue_dra_ref.target import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedQueues:
    """The queues of one world; ``mark`` ends every name that has no namespace."""

    theme: ConfigProfile
    mark: str
    lines: tuple[LocalQueueLine, ...]
    cohorts: tuple[ParentCohort, ...]
    flavors: tuple[str, ...]
    """The kind of each flavor (`FLAVORS`)."""

    @property
    def namespace(self) -> str:
        """Where the LocalQueues and Jobs of the world are."""
        return f"ns-{self.mark}"

    @property
    def flavor_count(self) -> int:
        """How many there are in the end, with that of CPU apart."""
        return len(self.flavors) + 1

    @property
    def _late(self) -> list[int]:
        return [index for index, kind in enumerate(self.flavors) if kind == LATE]

    def recast(self, index: int, line: LocalQueueLine) -> GeneratedQueues:
        """Have another one in the place of a ClusterQueue."""
        return replace(
            self, lines=(*self.lines[:index], line, *self.lines[index + 1 :])
        )

    def objects(self) -> Iterator[Manifest]:
        """Give everything as it is at first."""
        yield from (
            self.flavor(i) for i in range(self.flavor_count) if i not in self._late
        )
        yield from (
            self.cohort(i, above)
            for i, above in enumerate(self.cohorts)
            if above.needs_an_object
        )
        for index in range(len(self.lines)):
            yield self.cluster_queue(index)
            yield self.local_queue(index, to=index)

    def late(self) -> Iterator[Manifest]:
        """Give the flavors that are not there at first."""
        yield from map(self.flavor, self._late)

    def space(self, *, joined: bool) -> Manifest:
        """Give the namespace, which belongs to the team that some queues select, or to others."""
        labels = {"team": "ours" if joined else "theirs"}
        return {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": self.namespace, "labels": labels},
        }

    def limits(self, kind: str) -> Manifest:
        """Give the LimitRange of the namespace."""
        return a_limit_range(self.namespace, RANGES.get(kind, {}))

    def cluster_queue(
        self, index: int, *, nominal: int | None = None, **spec: Any
    ) -> Manifest:
        """Give one ClusterQueue; ``nominal`` are devices of its first flavor, ``spec`` further fields."""
        line = self.lines[index]
        amounts = (line.nominal[0] if nominal is None else nominal, *line.nominal[1:])
        return a_cluster_queue(
            f"cq{index}-{self.mark}",
            self._groups(line, amounts),
            cohortName=None if line.cohort is None else self._cohort(line.cohort),
            queueingStrategy="StrictFIFO" if line.strict else "BestEffortFIFO",
            preemption=_preemption(line),
            flavorFungibility=_fungibility(line.search),
            namespaceSelector={"matchLabels": {"team": "ours"}} if line.selects else {},
            fairSharing=None if line.weight is None else {"weight": line.weight},
            **spec,
        )

    def local_queue(self, index: int, *, to: int, **spec: Any) -> Manifest:
        """Give one LocalQueue, before the ClusterQueue ``to``."""
        return {
            "apiVersion": KUEUE,
            "kind": "LocalQueue",
            "metadata": {"name": f"lq{index}", "namespace": self.namespace},
            "spec": {"clusterQueue": f"cq{to}-{self.mark}", **spec},
        }

    def _groups(
        self, line: LocalQueueLine, amounts: Sequence[int]
    ) -> list[Mapping[str, Any]]:
        in_cohort = line.cohort is not None  # limits make sense there only
        limits, cpu_limits = (
            (line.limits, line.cpu_limits)
            if in_cohort
            else (QuotaLimits(), QuotaLimits())
        )
        cpu: dict[str, Quota] = {"cpu": _limited(line.cpu, cpu_limits, str)}
        others: dict[str, Quota] = {} if line.bare else dict(self.theme.others)
        others |= {} if line.pods is None else {"pods": line.pods}
        first, beside = (cpu, {}) if line.apart else ({}, cpu)
        (first if line.apart and line.aside else beside).update(others)
        name = self.theme.contested
        flavors = [*enumerate(amounts)][:: -1 if line.backwards else 1]
        devices = {
            self._flavor(i): {**beside, name: _limited(each, limits, self.theme.amount)}
            for i, each in flavors
        }
        return [
            *([a_group({self._flavor("cpu"): first})] if first else []),
            a_group(devices),
        ]

    def cohort(self, index: int, above: ParentCohort) -> Manifest:
        """Give a Cohort."""
        spec: dict[str, Any] = (
            {} if above.parent is None else {"parentName": self._cohort(above.parent)}
        )
        limits = above.limits if above.parent is not None else QuotaLimits()
        if above.shared is not None:
            shared: dict[str, Quota] = {
                self.theme.contested: _limited(above.shared, limits, self.theme.amount)
            }
            shared |= (
                {} if above.cpu is None else {"cpu": _limited(above.cpu, limits, str)}
            )
            flavors = range(len(self.flavors) if above.everywhere else 1)
            spec["resourceGroups"] = [
                a_group({self._flavor(i): shared for i in flavors})
            ]
        spec |= (
            {} if above.weight is None else {"fairSharing": {"weight": above.weight}}
        )
        return an_object("Cohort", self._cohort(index), **spec)

    def flavor(self, index: int) -> Manifest:
        """Give a ResourceFlavor; the last one is that of CPU apart."""
        if index == len(self.flavors):
            return an_object("ResourceFlavor", self._flavor("cpu"))
        return an_object(
            "ResourceFlavor", self._flavor(index), **FLAVORS[self.flavors[index]]
        )

    def _cohort(self, index: int) -> str:
        return f"co{index}-{self.mark}"

    def _flavor(self, name: str | int) -> str:
        return f"fl-{name}-{self.mark}"


def _preemption(line: LocalQueueLine) -> Mapping[str, Any]:
    if line.cohort is None:
        return {"withinClusterQueue": line.within}
    found: dict[str, Any] = {
        "withinClusterQueue": line.within,
        "reclaimWithinCohort": line.reclaim,
    }
    if line.borrow_within and line.reclaim != "Never":
        threshold = (
            {} if line.threshold is None else {"maxPriorityThreshold": line.threshold}
        )
        found["borrowWithinCohort"] = {"policy": "LowerPriority", **threshold}
    return found


def _fungibility(search: FungibilityPolicy) -> Mapping[str, Any]:
    preference = {} if search.preference is None else {"preference": search.preference}
    return {
        "whenCanBorrow": search.when_can_borrow,
        "whenCanPreempt": search.when_can_preempt,
        **preference,
    }


def _limited(
    nominal: int, limits: QuotaLimits, amount: Callable[[int], str | int]
) -> Quota:
    """A quota within limits; nobody may lend more than there is."""
    lent = None if limits.lending is None else min(limits.lending, nominal)
    borrow, lend = (
        None if each is None else amount(each) for each in (limits.borrowing, lent)
    )
    return a_quota(amount(nominal), borrow=borrow, lend=lend)
