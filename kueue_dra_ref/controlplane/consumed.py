"""What LocalQueues and workloads use, in the units of the usage ledger, and the history with which an entry begins.

Kueue: pkg/cache/scheduler/localqueue.go (GetAdmittedUsage);
    pkg/controller/core/localqueue_controller.go (initializeAfsIfNeeded)
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from kueue_dra_ref.api.admission_fair_sharing import consumed_in, last_update_in
from kueue_dra_ref.api.job_kind import status_of
from kueue_dra_ref.cache.snapshot import FlavorResourceQuantities
from kueue_dra_ref.cache.usage_ledger import UNIT, UsageEntry, added
from kueue_dra_ref.controlplane.clock import seconds_of
from kueue_dra_ref.controlplane.usage import UsageCache
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.rules.queue.local_queue_usage import (
    BILLIONTHS_IN_A_THOUSANDTH,
    Consumed,
    History,
)
from kueue_dra_ref.target import Manifest

_IN_THOUSANDTHS = "cpu"


def admitted_usage(usage: UsageCache, local_queue: Key, cluster_queue: str) -> Consumed:
    """Give what the admitted workloads of a LocalQueue use, by resource."""
    totals = usage.of_local_queue(local_queue, cluster_queue)
    return _of_all_flavors(totals.used)


def usage_of(usage: UsageCache, workload: Key, cluster_queue: str) -> Consumed:
    """Give what a workload with quota uses, by resource."""
    reserved = usage.reservations(cluster_queue)
    amounts = next(each.amounts for each in reserved if each.key == workload)
    return _of_all_flavors(amounts)


def _of_all_flavors(amounts: FlavorResourceQuantities) -> Consumed:
    found: Consumed = {}
    for flavor_resource, amount in amounts.items():
        _, resource = flavor_resource
        one = billionths({resource: amount})
        found = added(found, one)
    return found


def continued(history: History, now: float) -> UsageEntry:
    """Give the entry of a Kueue that goes on from what the status of a LocalQueue says."""
    return UsageEntry(consumed=history.status, updated=min(now, history.updated))


def history_of(usage: UsageCache, key: Key, local_queue: Manifest | None) -> History:
    """Give what there is of a LocalQueue of which Kueue keeps no usage yet."""
    if local_queue is None:
        return History(status={}, admitted={})
    status = status_of(local_queue)
    shown = consumed_in(status) or {}
    consumed = {}
    for name, amount in shown.items():
        exact = amount.amount * UNIT
        consumed[name] = int(exact)
    spec = local_queue["spec"]
    cluster_queue = spec.get("clusterQueue", "")
    last = last_update_in(status)
    return History(
        status=consumed,
        admitted=admitted_usage(usage, key, cluster_queue),
        updated=seconds_of(last) if last else inf,
    )


def billionths(amounts: Mapping[str, int]) -> Consumed:
    """Give amounts as Kueue counts them, with CPU in thousandths, in billionths."""
    found = {}
    for name, amount in amounts.items():
        unit = UNIT
        if name == _IN_THOUSANDTHS:
            unit = BILLIONTHS_IN_A_THOUSANDTH
        found[name] = amount * unit
    return found
