"""Quota usage: what each Workload with a reservation uses, by ClusterQueue, flavor and resource.

Kueue: pkg/cache/scheduler/cache.go (AddOrUpdateWorkload, DeleteWorkload, Usage, LocalQueueUsage);
    pkg/cache/scheduler/clusterqueue.go (updateWorkloadUsage)
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kueue_dra_ref.api.conditions import condition, is_true
from kueue_dra_ref.api.job_kind import status_of
from kueue_dra_ref.api.pods import units
from kueue_dra_ref.api.quantities import parse
from kueue_dra_ref.api.topology_assignment import assignment_of
from kueue_dra_ref.api.workloads import local_queue_of, priority_of
from kueue_dra_ref.cache.snapshot import ReservedPodSet, ReservedWorkload
from kueue_dra_ref.cache.topology_tree import PlacedPods
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.model.resource_node import FlavorResource
from kueue_dra_ref.target import Manifest

Amounts = dict[FlavorResource, int]
PodRequests = Callable[[Manifest], Mapping[str, Mapping[str, int]]]
"""Gives what one pod of each pod set of a Workload requests of its node, or nothing for what the quota charges."""


def _no_amounts() -> Amounts:
    return defaultdict(int)


@dataclass(slots=True)
class UsageTotals:
    """The usage of one queue, kept up to date so that reading it takes the same time for any number of workloads."""

    reserving: int = 0
    admitted: int = 0
    reserved: Amounts = field(default_factory=_no_amounts)
    used: Amounts = field(default_factory=_no_amounts)

    def count(self, reserved: ReservedWorkload, sign: int) -> None:
        """Add a reservation (1) or subtract it (-1)."""
        self.reserving += sign
        if reserved.admitted:
            self.admitted += sign
        for flavor_resource, amount in reserved.amounts.items():
            self.reserved[flavor_resource] += sign * amount
            if reserved.admitted:
                self.used[flavor_resource] += sign * amount


Reservations = dict[Key, ReservedWorkload]
LocalQueue = tuple[str, Key]
"""The ClusterQueue and the key of a LocalQueue."""


class UsageCache:
    """The reservations, and their totals by ClusterQueue and by LocalQueue; ``on_change`` gets each change first."""

    def __init__(
        self,
        on_change: Callable[[ReservedWorkload, int], None],
        order: Callable[[Manifest], int],
        requests: PodRequests,
    ) -> None:
        self._on_change = on_change
        self._order = order
        self._requests = requests
        self._reserved: Reservations = {}
        self._by_queue: dict[str, Reservations] = defaultdict(dict)
        self._releases = Counter[str]()
        self._cluster_queues: dict[str, UsageTotals] = defaultdict(UsageTotals)
        self._local_queues: dict[LocalQueue, UsageTotals] = defaultdict(UsageTotals)

    def of_cluster_queue(self, name: str) -> UsageTotals:
        """Give the usage of a ClusterQueue."""
        return self._cluster_queues[name]

    def of_local_queue(self, key: Key, cluster_queue: str) -> UsageTotals:
        """Give the usage of a LocalQueue in its ClusterQueue."""
        return self._local_queues[cluster_queue, key]

    def used(self) -> dict[str, Amounts]:
        """Give the reserved quota of every ClusterQueue."""
        used = {}
        for name, totals in self._cluster_queues.items():
            used[name] = totals.reserved
        return used

    def reservations(self, cluster_queue: str) -> Iterable[ReservedWorkload]:
        """Give the reservations in a ClusterQueue."""
        found = self._by_queue[cluster_queue]
        return list(found.values())

    def generation(self, cluster_queue: str) -> int:
        """Give how often a ClusterQueue has released quota; a Workload that changes takes its quota again."""
        return self._releases[cluster_queue]

    def has(self, key: Key) -> bool:
        """Whether a Workload holds quota."""
        return key in self._reserved

    def record(self, key: Key, workload: Manifest | None) -> bool:
        """Record a Workload's reservation, or its end where there is none; True when quota was released."""
        before = self._reserved.get(key)
        now = None
        if workload is not None:
            now = _reservation(key, workload, self._order, self._requests)
        if before and before == now:  # nothing that a scheduling cycle sees has changed
            self._releases[before.cluster_queue] += 1
            return False
        if before:
            self._subtract(before)
        if now:
            self._add(now)
        if before is None:
            return False
        if now is None:
            return True
        return now.amounts != before.amounts

    def _add(self, reserved: ReservedWorkload) -> None:
        key = reserved.key
        self._reserved[key] = reserved
        in_queue = self._by_queue[reserved.cluster_queue]
        in_queue[key] = reserved
        self._count(reserved, 1)

    def _subtract(self, reserved: ReservedWorkload) -> None:
        del self._reserved[reserved.key]
        in_queue = self._by_queue[reserved.cluster_queue]
        del in_queue[reserved.key]
        self._releases[reserved.cluster_queue] += 1
        self._count(reserved, -1)

    def _count(self, reserved: ReservedWorkload, sign: int) -> None:
        cluster_queue = reserved.cluster_queue
        local_queue = (cluster_queue, reserved.local_queue)
        self._on_change(reserved, sign)
        self._cluster_queues[cluster_queue].count(reserved, sign)
        self._local_queues[local_queue].count(reserved, sign)


def reclaimable_pods(workload: Manifest) -> dict[str, int]:
    """Give the number of pods that will not run again, by pod set."""
    reclaimable = status_of(workload).get("reclaimablePods") or ()
    counts = {}
    for each in reclaimable:
        name = each["name"]
        counts[name] = each["count"]
    return counts


def _reservation(
    key: Key,
    workload: Manifest,
    order: Callable[[Manifest], int],
    requests: PodRequests,
) -> ReservedWorkload | None:
    reserved = condition(workload, "QuotaReserved")
    if reserved is None or reserved["status"] != "True":
        return None
    if is_true(workload, "Finished"):
        return None
    pod_sets = tuple(_pod_sets(workload))
    return ReservedWorkload(
        key=key,
        uid=workload["metadata"]["uid"],
        cluster_queue=workload["status"]["admission"]["clusterQueue"],
        local_queue=local_queue_of(workload),
        admitted=is_true(workload, "Admitted"),
        amounts=_amounts(pod_sets),
        pod_sets=pod_sets,
        placed=tuple(placed_pods(workload, requests)),
        priority=priority_of(workload),
        created=order(workload),
        evicted=is_true(workload, "Evicted"),
        reserved=reserved.get("lastTransitionTime", ""),
    )


def _amounts(pod_sets: Iterable[ReservedPodSet]) -> Amounts:
    """Give what all pod sets use together."""
    amounts = _no_amounts()
    for pod_set in pod_sets:
        for resource, amount in pod_set.amounts.items():
            flavor_resource = (pod_set.flavors.get(resource, ""), resource)
            amounts[flavor_resource] += amount
    return dict(amounts)


def _pod_sets(workload: Manifest) -> Iterator[ReservedPodSet]:
    """Give what the admitted pods use that still have to run."""
    reclaimed = reclaimable_pods(workload)
    counts = _counts(workload)
    admission = workload["status"]["admission"]
    for assigned in admission["podSetAssignments"]:
        name = assigned["name"]
        count = assigned.get("count", 0)
        amounts = {}
        left = counts.get(name, count)
        left -= reclaimed.get(name, 0)
        left = min(count, max(left, 0))
        for resource, printed in (assigned.get("resourceUsage") or {}).items():
            quantity = parse(printed)
            amount = units(resource, quantity)
            if left != count:
                amount = amount // count * left
            amounts[resource] = amount
        flavors = assigned.get("flavors") or {}
        yield ReservedPodSet(name=name, flavors=flavors, amounts=amounts)


def placed_pods(workload: Manifest, requests: PodRequests) -> Iterator[PlacedPods]:
    """Give the pods of a Workload by the domains that its admission places them in."""
    admission = workload["status"]["admission"]
    placed = [
        each
        for each in admission["podSetAssignments"]
        if each.get("topologyAssignment")
    ]
    pods = requests(workload) if placed else {}
    for assigned in placed:
        one_pod = pods.get(assigned["name"])
        if one_pod is None:
            one_pod = _charged(assigned)
        domains = assignment_of(assigned["topologyAssignment"]).domains
        for flavor in sorted(set(assigned["flavors"].values())):
            for values, count in domains:
                yield PlacedPods(
                    flavor=flavor, values=values, requests=one_pod, count=count
                )


def _charged(assigned: Manifest) -> Mapping[str, int]:
    """Give what the quota charges for one pod."""
    charged = {}
    for resource, printed in assigned["resourceUsage"].items():
        charged[resource] = units(resource, parse(printed)) // assigned["count"]
    return charged


def _counts(workload: Manifest) -> dict[str, int]:
    counts = {}
    for pod_set in workload["spec"].get("podSets") or ():
        name = pod_set.get("name", "main")
        counts[name] = pod_set["count"]
    return counts
