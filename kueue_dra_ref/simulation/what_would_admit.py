"""What would admit a pending workload: quotas to raise, workloads to end, or why no quota helps.

No counterpart: what-if runs of the simulation.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice

from kueue_dra_ref.api.conditions import condition, is_false, is_true, message_of
from kueue_dra_ref.api.workloads import is_active, requeue_at
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.model.resource_node import FlavorResource
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.simulation.cluster_state import workload_title
from kueue_dra_ref.simulation.pending_order import infos_before, pending_info
from kueue_dra_ref.simulation.quota_fields import QuotaField, shown
from kueue_dra_ref.simulation.quota_raises import FoundRaise, QuotaRaises
from kueue_dra_ref.simulation.trials import (
    Again,
    OutOfTrials,
    Trials,
    kueue_of,
    limit_of,
    raised_to,
)
from kueue_dra_ref.simulation.workload_ends import Ends, WorkloadEnds
from kueue_dra_ref.target import Manifest

_ALTERNATIVES = 5
"""How many alternatives are given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Raise:
    """One quota that is raised, with the amounts as Kueue prints them."""

    field: QuotaField
    by: str
    before: str
    after: str

    def __str__(self) -> str:
        return (
            f"{self.field.title} is raised by {self.by}, "
            f"from {self.before} to {self.after}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Raised:
    """Quotas that are raised together, and the workloads that are preempted then."""

    raises: tuple[Raise, ...]
    preempted: tuple[Key, ...]


@dataclass(slots=True, kw_only=True)
class WouldAdmit:
    """What admits a pending workload; every alternative was run on the reference."""

    lacking: tuple[FlavorResource, ...] = ()
    """The flavors and resources of which too little is left."""
    raises: list[Raised] = field(default_factory=list)
    ends: list[Ends] = field(default_factory=list)
    no_quota: str = ""
    """Why no quota helps; empty if one does, or if that is not known."""
    trials: int = 0
    complete: bool = True
    """Whether the trials sufficed to look for all alternatives."""


def what_would_admit(target: ReferenceTarget, again: Again, key: Key) -> WouldAdmit:
    """Find what would admit a workload that does not hold quota."""
    kueue = kueue_of(target)
    workload = target.store.get("Workload", key)
    assert workload is not None
    reason = _without_queue(kueue, workload, key)
    if reason:
        return WouldAdmit(no_quota=reason)
    workloads = sum(1 for _ in target.store.every("Workload"))
    trials = Trials(again, key, workloads)
    found = WouldAdmit()
    try:
        _search(kueue, trials, found)
    except OutOfTrials:
        found.complete = False
    found.trials = trials.done
    return found


def _search(kueue: Kueue, trials: Trials, found: WouldAdmit) -> None:
    """Look for raises, then for workloads to end.

    Raises:
        OutOfTrials: no trial is left.

    """
    quotas = QuotaRaises(trials, kueue)
    lacking = quotas.lacking()
    found.lacking = tuple(dict.fromkeys(of for each in lacking for of in each))
    plenty = quotas.plenty()
    if plenty is None or not plenty.admits:
        target = plenty.target if plenty else None
        found.no_quota = _reason(target, trials.key, quotas.cluster_queue)
        return
    for each in islice(quotas.found(), _ALTERNATIVES):
        found.raises.append(_shown(kueue, each))
    for ends in islice(WorkloadEnds(trials, kueue, lacking).found(), _ALTERNATIVES):
        found.ends.append(ends)


def _shown(kueue: Kueue, found: FoundRaise) -> Raised:
    raises = [_raise(kueue, *each) for each in found.raises.items()]
    return Raised(raises=tuple(raises), preempted=tuple(sorted(found.lost)))


def _raise(kueue: Kueue, of: QuotaField, amount: int) -> Raise:
    return Raise(
        field=of,
        by=shown(kueue, of.resource, amount),
        before=shown(kueue, of.resource, limit_of(kueue, of)),
        after=shown(kueue, of.resource, raised_to(kueue, of, amount)),
    )


def _without_queue(kueue: Kueue, workload: Manifest, key: Key) -> str:
    """Say why a workload is not tried at all; empty if it is pending in a ClusterQueue and may be tried."""
    if not is_active(workload):
        return "the workload is not active: spec.active is false"
    if is_true(workload, "Finished"):
        return "the workload has finished"
    info = pending_info(kueue, key)
    if info is None:
        return message_of(workload, "QuotaReserved") or _queue_reason(kueue, workload)
    if until := requeue_at(workload):
        return f"it backs off after an eviction: Kueue does not try it before {until}"
    if not info.may_be_tried:
        requeued = condition(workload, "Requeued") or {}
        reason = requeued.get("reason", "")
        message = requeued.get("message", "")
        return f"Kueue does not try it while its condition Requeued is False, {reason}: {message}"
    return ""


def _queue_reason(kueue: Kueue, workload: Manifest) -> str:
    """Say why a workload is in no queue."""
    (namespace, name), managed = kueue.queue_of(workload)
    local_queue = kueue.store.find("LocalQueue", name, namespace)
    title = f"LocalQueue {namespace}/{name}"
    if local_queue is None:
        return f"there is no {title}"
    if managed is None:
        return f"{title} is stopped: spec.stopPolicy is not None"
    return f"there is no ClusterQueue {managed.cluster_queue}, which {title} names"


def _reason(target: ReferenceTarget | None, key: Key, cluster_queue: str) -> str:
    """Say why a workload is not admitted although every quota of its ClusterQueue is raised."""
    if target is None:
        return f"the API server rejects higher quotas of ClusterQueue {cluster_queue}"
    inactive = _inactive(target, cluster_queue)
    if inactive:
        return inactive
    why = _message_of(target, key) or _behind(target, key)
    return f"with every quota of ClusterQueue {cluster_queue} raised {why}"


def _message_of(target: ReferenceTarget, key: Key) -> str:
    workload = target.store.get("Workload", key)
    message = message_of(workload, "QuotaReserved") if workload else ""
    return f"it is still not admitted: {message}" if message else ""


def _behind(target: ReferenceTarget, key: Key) -> str:
    """Say which workload a workload that is not tried is behind."""
    kueue = kueue_of(target)
    for info in infos_before(kueue, key):
        title = workload_title(kueue, info.key)
        found = kueue.store.get("Workload", info.key)
        message = message_of(found, "QuotaReserved") if found else ""
        why = f": {message}" if message else ""
        return f"it is still behind {title}, which is not admitted{why}"
    return "it is still not tried"


def _inactive(target: ReferenceTarget, cluster_queue: str) -> str:
    """Give the message of a ClusterQueue that is not active."""
    found = target.store.find("ClusterQueue", cluster_queue) or {}
    if not is_false(found, "Active"):
        return ""
    return f"ClusterQueue {cluster_queue} is not active: {message_of(found, 'Active')}"
