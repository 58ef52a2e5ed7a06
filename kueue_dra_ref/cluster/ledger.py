"""Who holds quota: what each Workload with a reservation takes, by ClusterQueue, flavor and resource."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.pods import units
from kueue_dra_ref.api.quantities import parse
from kueue_dra_ref.rules.reporting import FlavorResource
from kueue_dra_ref.target import Manifest

Key = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """One Workload's reservation."""

    cluster_queue: str
    local_queue: Key
    admitted: bool
    amounts: Mapping[FlavorResource, int]


@dataclass(slots=True)
class Tally:
    """What one queue's workloads hold together; kept up to date, so that reading it costs the same for any number."""

    reserving: int = 0
    admitted: int = 0
    reserved: dict[FlavorResource, int] = field(default_factory=lambda: defaultdict(int))
    used: dict[FlavorResource, int] = field(default_factory=lambda: defaultdict(int))

    def count(self, hold: Hold, sign: int) -> None:
        """Add a reservation (1) or take it away (-1)."""
        self.reserving += sign
        self.admitted += sign * hold.admitted
        for flavor_resource, amount in hold.amounts.items():
            self.reserved[flavor_resource] += sign * amount
            if hold.admitted:
                self.used[flavor_resource] += sign * amount


class Ledger:
    """Reservations, and their sums by ClusterQueue and by LocalQueue."""

    def __init__(self) -> None:
        self._holds: dict[Key, Hold] = {}
        self._cluster_queues: dict[str, Tally] = defaultdict(Tally)
        self._local_queues: dict[tuple[str, Key], Tally] = defaultdict(Tally)

    def of_cluster_queue(self, name: str) -> Tally:
        """What is held in a ClusterQueue."""
        return self._cluster_queues[name]

    def of_local_queue(self, key: Key, cluster_queue: str) -> Tally:
        """What the workloads of a LocalQueue hold in its ClusterQueue."""
        return self._local_queues[cluster_queue, key]

    def has(self, key: Key) -> bool:
        """Whether a Workload holds quota."""
        return key in self._holds

    def record(self, key: Key, workload: Manifest | None) -> bool:
        """Take note of a Workload's reservation or of its end; True when quota was released."""
        before, now = self._holds.pop(key, None), _hold(workload) if workload else None
        if now:
            self._holds[key] = now
            self._count(now, 1)
        if before:
            self._count(before, -1)
        return before is not None and (now is None or now.amounts != before.amounts)

    def _count(self, hold: Hold, sign: int) -> None:
        self._cluster_queues[hold.cluster_queue].count(hold, sign)
        self._local_queues[hold.cluster_queue, hold.local_queue].count(hold, sign)


def _hold(workload: Manifest) -> Hold | None:
    active = workload["spec"].get("active", True)
    if not is_true(workload, "QuotaReserved") or is_true(workload, "Finished") or not active:
        return None
    admission, meta = workload["status"]["admission"], workload["metadata"]
    reclaimed = {r["name"]: r["count"] for r in workload["status"].get("reclaimablePods") or ()}
    amounts: dict[FlavorResource, int] = defaultdict(int)
    for pod_set in admission["podSetAssignments"]:
        count = pod_set["count"]
        left = max(count - reclaimed.get(pod_set["name"], 0), 0)
        for resource, amount in pod_set["resourceUsage"].items():
            share = units(resource, parse(amount))
            amounts[pod_set["flavors"][resource], resource] += share if left == count else share // count * left
    return Hold(
        cluster_queue=admission["clusterQueue"],
        local_queue=(meta["namespace"], workload["spec"].get("queueName", "")),
        admitted=is_true(workload, "Admitted"),
        amounts=dict(amounts),
    )
