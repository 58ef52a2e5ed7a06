"""Who holds quota: what each Workload with a reservation takes, by ClusterQueue, flavor and resource.

Kueue: pkg/cache/scheduler/cache.go (AddOrUpdateWorkload, DeleteWorkload, Usage, LocalQueueUsage);
    pkg/cache/scheduler/clusterqueue.go (updateWorkloadUsage)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from kueue_dra_ref.api.conditions import condition, is_true
from kueue_dra_ref.api.pods import units
from kueue_dra_ref.api.quantities import parse
from kueue_dra_ref.cache.snapshot import Key, ReservedWorkload
from kueue_dra_ref.rules.workload.workload_status import FlavorResource
from kueue_dra_ref.target import Manifest


@dataclass(slots=True)
class UsageTotals:
    """What one queue's workloads hold together; kept up to date, so that reading it costs the same for any number."""

    reserving: int = 0
    admitted: int = 0
    reserved: dict[FlavorResource, int] = field(
        default_factory=lambda: defaultdict(int)
    )
    used: dict[FlavorResource, int] = field(default_factory=lambda: defaultdict(int))

    def count(self, hold: ReservedWorkload, sign: int) -> None:
        """Add a reservation (1) or take it away (-1)."""
        self.reserving += sign
        self.admitted += sign * hold.admitted
        for flavor_resource, amount in hold.amounts.items():
            self.reserved[flavor_resource] += sign * amount
            if hold.admitted:
                self.used[flavor_resource] += sign * amount


class UsageCache:
    """Reservations, and their sums by ClusterQueue and by LocalQueue; ``moved`` hears of every change of them."""

    def __init__(
        self,
        moved: Callable[[ReservedWorkload, int], None],
        order: Callable[[Manifest], int],
    ) -> None:
        self._moved, self._order = moved, order
        self._holds: dict[Key, ReservedWorkload] = {}
        self._in: dict[str, dict[Key, ReservedWorkload]] = defaultdict(dict)
        self._cluster_queues: dict[str, UsageTotals] = defaultdict(UsageTotals)
        self._local_queues: dict[tuple[str, Key], UsageTotals] = defaultdict(
            UsageTotals
        )

    def of_cluster_queue(self, name: str) -> UsageTotals:
        """What is held in a ClusterQueue."""
        return self._cluster_queues[name]

    def of_local_queue(self, key: Key, cluster_queue: str) -> UsageTotals:
        """What the workloads of a LocalQueue hold in its ClusterQueue."""
        return self._local_queues[cluster_queue, key]

    def used(self) -> dict[str, dict[FlavorResource, int]]:
        """What is held in every ClusterQueue."""
        return {name: tally.reserved for name, tally in self._cluster_queues.items()}

    def reservations(self, cluster_queue: str) -> Iterable[ReservedWorkload]:
        """The reservations in a ClusterQueue."""
        return list(self._in[cluster_queue].values())

    def has(self, key: Key) -> bool:
        """Whether a Workload holds quota."""
        return key in self._holds

    def record(self, key: Key, workload: Manifest | None) -> bool:
        """Take note of a Workload's reservation, or of its end where there is none; True when quota was released."""
        before, now = (
            self._holds.pop(key, None),
            self._reserve(key, workload) if workload else None,
        )
        if before:
            del self._in[before.cluster_queue][key]
            self._count(before, -1)
        if now:
            self._holds[key] = self._in[now.cluster_queue][key] = now
            self._count(now, 1)
        return before is not None and (now is None or now.amounts != before.amounts)

    def _count(self, hold: ReservedWorkload, sign: int) -> None:
        self._cluster_queues[hold.cluster_queue].count(hold, sign)
        self._local_queues[hold.cluster_queue, hold.local_queue].count(hold, sign)
        self._moved(hold, sign)

    def _reserve(self, key: Key, workload: Manifest) -> ReservedWorkload | None:
        reserved = condition(workload, "QuotaReserved")
        if (
            not reserved
            or reserved["status"] != "True"
            or is_true(workload, "Finished")
        ):
            return None
        return ReservedWorkload(
            key=key,
            uid=workload["metadata"]["uid"],
            cluster_queue=workload["status"]["admission"]["clusterQueue"],
            local_queue=(key[0], workload["spec"].get("queueName", "")),
            admitted=is_true(workload, "Admitted"),
            amounts=_amounts(workload),
            priority=workload["spec"].get("priority", 0),
            created=self._order(workload),
            evicted=is_true(workload, "Evicted"),
            reserved=reserved.get("lastTransitionTime", ""),
        )


def _amounts(workload: Manifest) -> dict[FlavorResource, int]:
    """What the pods of an admission need that are still to run."""
    reclaimed = {
        r["name"]: r["count"] for r in workload["status"].get("reclaimablePods") or ()
    }
    whole = {
        p.get("name", "main"): p.get("count", 1)
        for p in workload["spec"].get("podSets") or ()
    }
    amounts: dict[FlavorResource, int] = defaultdict(int)
    for pod_set in workload["status"]["admission"]["podSetAssignments"]:
        name, count = pod_set["name"], pod_set["count"]
        left = min(count, max(whole.get(name, count) - reclaimed.get(name, 0), 0))
        for resource, amount in pod_set["resourceUsage"].items():
            share = units(resource, parse(amount))
            amounts[pod_set["flavors"][resource], resource] += (
                share if left == count else share // count * left
            )
    return dict(amounts)
