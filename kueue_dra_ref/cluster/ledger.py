"""Who holds quota: what each Workload with a reservation takes, by ClusterQueue, flavor and resource."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

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


class Ledger:
    """Reservations, and their sums kept up to date."""

    def __init__(self) -> None:
        self._holds: dict[Key, Hold] = {}
        self._used: dict[str, dict[FlavorResource, int]] = defaultdict(lambda: defaultdict(int))

    def used(self, cluster_queue: str) -> Mapping[FlavorResource, int]:
        """What is reserved in a ClusterQueue."""
        return self._used[cluster_queue]

    def holds(self, cluster_queue: str) -> Iterator[Hold]:
        """The reservations in a ClusterQueue."""
        return (hold for hold in self._holds.values() if hold.cluster_queue == cluster_queue)

    def has(self, key: Key) -> bool:
        """Whether a Workload holds quota."""
        return key in self._holds

    def record(self, key: Key, workload: Manifest | None) -> bool:
        """Take note of a Workload's reservation or of its end; True when quota was released."""
        before, now = self._holds.pop(key, None), _hold(workload) if workload else None
        if now:
            self._holds[key] = now
        for hold, sign in ((before, -1), (now, 1)):
            for flavor_resource, amount in hold.amounts.items() if hold else ():
                assert hold is not None
                self._used[hold.cluster_queue][flavor_resource] += sign * amount
        return before is not None and (now is None or now.amounts != before.amounts)


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
