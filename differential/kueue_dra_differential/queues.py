"""The queues of a generated scenario as objects: flavors, cohorts, ClusterQueues, LocalQueues."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kueue_dra_differential import usage, variants
from kueue_dra_differential.admission_checks import COUNT, a_check, strategy
from kueue_dra_differential.cohort_tree import (
    FungibilityPolicy,
    LocalQueueLine,
    ParentCohort,
    QuotaLimits,
)
from kueue_dra_differential.config_profiles import ConfigProfile
from kueue_dra_differential.limitranges import RANGES
from kueue_dra_differential.node_fields import FLAVORS, LATE
from kueue_dra_differential.queue_events import Refit
from kueue_dra_differential.topologies import (
    RACKED,
    DrawnNode,
    a_topology,
    manifest,
    spec_of,
)
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

SELECTOR = {"matchLabels": {"team": "ours"}}
"""The namespaces of the team that some queues select."""
Quotas = dict[str, Quota]
"""The quota of each resource."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedQueues:
    """The queues of one scenario; ``mark`` is the suffix of every cluster-scoped name."""

    theme: ConfigProfile
    mark: str
    lines: tuple[LocalQueueLine, ...]
    cohorts: tuple[ParentCohort, ...]
    flavors: tuple[str, ...]
    """The kind of each flavor (`FLAVORS`)."""
    nodes: tuple[DrawnNode, ...] = ()
    """The nodes of its topology; none without one."""
    checked: bool = False
    """Whether there are admission checks."""

    @property
    def namespace(self) -> str:
        """The namespace of the LocalQueues and Jobs."""
        return f"ns-{self.mark}"

    @property
    def flavor_count(self) -> int:
        """The number of flavors, with the late ones and that of a CPU group."""
        return len(self.flavors) + 1

    def local_queue_index(self, number: int) -> int:
        """Give the index of a LocalQueue: the second ones of ClusterQueues that have two come after the first ones."""
        count = len(self.lines)
        second, line = divmod(number % (2 * count), count)
        has_two = self.lines[line].usage is not None
        return line + count if second and has_two else line

    @property
    def _late(self) -> list[int]:
        return [index for index, kind in enumerate(self.flavors) if kind == LATE]

    def recast(self, index: int, line: LocalQueueLine) -> GeneratedQueues:
        """Replace one ClusterQueue; its LocalQueues do not change."""
        lines = list(self.lines)
        kept = usage.recast(lines[index].usage, line.usage)
        # A ClusterQueue keeps the policy of its variants (CONC-023).
        made = replace(line, usage=kept, policy=lines[index].policy)
        lines[index] = variants.patient(made)
        return replace(self, lines=tuple(lines))

    def objects(self) -> Iterator[Manifest]:
        """Give all objects that exist at first."""
        yield from self._ground()
        for index in range(self.flavor_count):
            if index not in self._late:
                yield self.flavor(index)
        for index, above in enumerate(self.cohorts):
            if above.needs_an_object:
                yield self.cohort(index, above)
        for index in range(len(self.lines)):
            yield self.cluster_queue(index)
            yield from self._local_queues(index)

    def _local_queues(self, index: int) -> Iterator[Manifest]:
        """Give one or two LocalQueues of a ClusterQueue."""
        yield self.local_queue(index, to=index)
        if self.lines[index].usage is not None:
            yield self.local_queue(index + len(self.lines), to=index)

    def _ground(self) -> Iterator[Manifest]:
        """Give what flavors and ClusterQueues name: the topology with its nodes, and the admission checks."""
        if self.nodes:
            yield a_topology(self._topology)
        for index, node in enumerate(self.nodes):
            if not node.late:
                yield self._node(index, None)
        for index in range(COUNT if self.checked else 0):
            yield self.check(index, True)

    def late(self) -> Iterator[Manifest]:
        """Give the flavors that do not exist at first."""
        yield from map(self.flavor, self._late)

    def space(self, *, joined: bool) -> Manifest:
        """Give the namespace, labeled with the team that some queues select, or with another one."""
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
        amounts = list(line.nominal)
        if nominal is not None:
            amounts[0] = nominal
        return a_cluster_queue(
            f"cq{index}-{self.mark}",
            self._groups(line, amounts),
            cohortName=None if line.cohort is None else self._cohort(line.cohort),
            queueingStrategy="StrictFIFO" if line.strict else "BestEffortFIFO",
            preemption=_preemption(line),
            flavorFungibility=_fungibility(line.search),
            namespaceSelector=SELECTOR if line.selects else {},
            fairSharing=None if line.weight is None else {"weight": line.weight},
            admissionChecksStrategy=self._checks(line),
            **usage.spec_of(line.usage),
            **variants.spec_of(line.policy, self._flavor(0)),
            **spec,
        )

    def refitted(self, event: Refit) -> Iterator[Manifest]:
        """Give a node as it is after an event, if there are nodes."""
        if self.nodes:
            yield self._node(event.node % len(self.nodes), event)

    def _node(self, index: int, event: Refit | None) -> Manifest:
        name = f"node{index}-{self.mark}"
        return manifest(name, self.nodes[index], self.mark, event)

    @property
    def _topology(self) -> str:
        return f"racks-{self.mark}"

    def check(self, index: int, active: bool) -> Manifest:
        """Give one AdmissionCheck."""
        return a_check(self.check_name(index), active=active)

    def check_name(self, index: int) -> str:
        """Give the name of an AdmissionCheck."""
        return f"check{index}-{self.mark}"

    def is_for_one_flavor(self, check: int) -> bool:
        """Whether a ClusterQueue has an AdmissionCheck for its first flavor alone."""
        return any((check, True) in line.checks for line in self.lines)

    def _checks(self, line: LocalQueueLine) -> Mapping[str, Any] | None:
        names = [self.check_name(index) for index in range(COUNT)]
        return strategy(line.checks, names, self._flavor(0))

    def local_queue(self, index: int, *, to: int, **spec: Any) -> Manifest:
        """Give one LocalQueue of the ClusterQueue ``to``."""
        second, line = divmod(index, len(self.lines))
        weight = usage.weight_of(self.lines[line].usage, second)
        if weight is not None:
            spec["fairSharing"] = {"weight": weight}
        return {
            "apiVersion": KUEUE,
            "kind": "LocalQueue",
            "metadata": {"name": f"lq{index}", "namespace": self.namespace},
            "spec": {"clusterQueue": f"cq{to}-{self.mark}", **spec},
        }

    def _groups(
        self, line: LocalQueueLine, amounts: Sequence[int]
    ) -> list[Mapping[str, Any]]:
        limits, cpu_limits = line.limits, line.cpu_limits
        if line.cohort is None:  # without a cohort, limits are invalid
            limits = cpu_limits = QuotaLimits()
        cpu: Quotas = {"cpu": _limited(line.cpu, cpu_limits, str)}
        with_devices = {} if line.apart else cpu
        in_cpu_group = cpu if line.apart else {}
        has_others = in_cpu_group if line.apart and line.aside else with_devices
        has_others.update(self._others(line))
        groups = []
        if in_cpu_group:
            groups.append(a_group({self._flavor("cpu"): in_cpu_group}))
        flavors = {}
        for index in _flavor_order(line, amounts):
            quota = _limited(amounts[index], limits, self.theme.amount)
            name = self._flavor(index)
            flavors[name] = {**with_devices, self.theme.contested: quota}
        return [*groups, a_group(flavors)]

    def _others(self, line: LocalQueueLine) -> Quotas:
        """Quota of resources that are neither contested nor CPU."""
        others: Quotas = {}
        if not line.bare:
            others.update(self.theme.others)
        if line.pods is not None:
            others["pods"] = line.pods
        return others

    def cohort(self, index: int, above: ParentCohort) -> Manifest:
        """Give a Cohort."""
        spec: dict[str, Any] = {}
        if above.parent is not None:
            spec["parentName"] = self._cohort(above.parent)
        if above.shared is not None:
            quota = self._cohort_quota(above, above.shared)
            flavors = range(len(self.flavors) if above.everywhere else 1)
            group = a_group({self._flavor(i): quota for i in flavors})
            spec["resourceGroups"] = [group]
        if above.weight is not None:
            spec["fairSharing"] = {"weight": above.weight}
        return an_object("Cohort", self._cohort(index), **spec)

    def _cohort_quota(self, above: ParentCohort, shared: int) -> Quotas:
        limits = QuotaLimits() if above.parent is None else above.limits
        devices = _limited(shared, limits, self.theme.amount)
        quota: Quotas = {self.theme.contested: devices}
        if above.cpu is not None:
            quota["cpu"] = _limited(above.cpu, limits, str)
        return quota

    def flavor(self, index: int) -> Manifest:
        """Give a ResourceFlavor; the last one is that of a CPU group."""
        if index == len(self.flavors):
            return an_object("ResourceFlavor", self._flavor("cpu"))
        kind = self.flavors[index]
        if kind in RACKED:
            spec: Mapping[str, Any] = spec_of(kind, self._topology, self.mark)
        else:
            spec = FLAVORS[kind]
        return an_object("ResourceFlavor", self._flavor(index), **spec)

    def _cohort(self, index: int) -> str:
        return f"co{index}-{self.mark}"

    def _flavor(self, name: str | int) -> str:
        return f"fl-{name}-{self.mark}"


def _flavor_order(line: LocalQueueLine, amounts: Sequence[int]) -> Sequence[int]:
    order = range(len(amounts))
    return order[::-1] if line.backwards else order


def _preemption(line: LocalQueueLine) -> Mapping[str, Any]:
    if line.cohort is None:
        return {"withinClusterQueue": line.within}
    found: dict[str, Any] = {
        "withinClusterQueue": line.within,
        "reclaimWithinCohort": line.reclaim,
    }
    if line.borrow_within and line.reclaim != "Never":
        borrowing: dict[str, Any] = {"policy": "LowerPriority"}
        if line.threshold is not None:
            borrowing["maxPriorityThreshold"] = line.threshold
        found["borrowWithinCohort"] = borrowing
    return found


def _fungibility(search: FungibilityPolicy) -> Mapping[str, Any]:
    found = {
        "whenCanBorrow": search.when_can_borrow,
        "whenCanPreempt": search.when_can_preempt,
    }
    if search.preference is not None:
        found["preference"] = search.preference
    return found


def _limited(
    nominal: int, limits: QuotaLimits, amount: Callable[[int], str | int]
) -> Quota:
    """A quota with limits; the lending limit is at most the nominal quota."""
    borrow = lend = None
    if limits.borrowing is not None:
        borrow = amount(limits.borrowing)
    if limits.lending is not None:
        lend = amount(min(limits.lending, nominal))
    return a_quota(amount(nominal), borrow=borrow, lend=lend)
