"""Trials: the same simulation again with a change, to see whether a workload then holds quota.

No counterpart: what-if runs of the simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.job_kinds import owner_of
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import key_of
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.model.resource_node import plus
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.simulation.quota_fields import (
    BORROWING,
    LENDING,
    NOMINAL,
    QuotaField,
    shown,
    with_quotas,
)
from kueue_dra_ref.simulation.running_pods import Running, running_jobs, settle
from kueue_dra_ref.target import Ref

Again = Callable[[], ReferenceTarget]
"""Runs a simulation again until it settles, and gives its target."""
Raises = dict[QuotaField, int]
"""The amount by which each field is raised."""

_MOST, _FEWEST, _WORKLOADS = 80, 8, 20_000
"""Limits of the number of trials: in total, and by the number of workloads that each decides about."""


class OutOfTrials(Exception):
    """No trial is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What came of a change."""

    target: ReferenceTarget
    admits: bool
    """Whether the workload holds quota."""
    lost: frozenset[Key]
    """The workloads that hold no quota any more, because they are preempted."""


class Trials:
    """Runs a simulation again and again for one workload, a limited number of times."""

    def __init__(self, again: Again, key: Key, workloads: int) -> None:
        self._again, self.key = again, key
        self.left = max(_FEWEST, min(_MOST, _WORKLOADS // max(1, workloads)))
        self.done = 0

    def with_raises(self, raises: Raises) -> Trial | None:
        """Raise quotas; None if the API server rejects that.

        Raises:
            OutOfTrials: no trial is left.

        """
        target = self._begin()
        running = running_jobs(target)
        kueue = kueue_of(target)
        store = target.store
        written = {}
        for field, amount in raises.items():
            raised = raised_to(kueue, field, amount)
            written[field] = shown(kueue, field.resource, raised)
        if target.apply(with_quotas(store, written)):
            return None
        return self._trial(target, running)

    def without(self, keys: Iterable[Key]) -> Trial:
        """End workloads, each with its Job.

        Raises:
            OutOfTrials: no trial is left.

        """
        target = self._begin()
        running = running_jobs(target)
        target.delete([ref_to_end(target, key) for key in keys])
        return self._trial(target, running)

    def _trial(self, target: ReferenceTarget, running: Running) -> Trial:
        """Let a changed target settle, and compare the workloads that hold quota."""
        usage = kueue_of(target).usage
        holders = [key_of(each) for each in target.store.every("Workload")]
        before = {key for key in holders if usage.has(key)}
        settle(target, running)
        return Trial(
            target=target,
            admits=usage.has(self.key),
            lost=frozenset(key for key in before if _has_lost_quota(target, key)),
        )

    def _begin(self) -> ReferenceTarget:
        if not self.left:
            raise OutOfTrials
        self.left -= 1
        self.done += 1
        return self._again()


def _has_lost_quota(target: ReferenceTarget, key: Key) -> bool:
    """Whether a workload holds no quota although it is not finished, as one is that a larger one replaces."""
    found = target.store.get("Workload", key)
    if found is not None and is_true(found, "Finished"):
        return False
    return not kueue_of(target).usage.has(key)


def raised_to(kueue: Kueue, field: QuotaField, by: int) -> int:
    """Give the amount of a field after it is raised."""
    before = limit_of(kueue, field)
    return plus(before, by)


def limit_of(kueue: Kueue, field: QuotaField) -> int:
    """Give the amount of a field in Kueue's units."""
    nodes = kueue.hierarchy.queues
    if field.kind == "Cohort":
        nodes = kueue.hierarchy.cohorts
    limits = nodes[field.name].limits[field.of]
    amounts = {
        NOMINAL: limits.nominal,
        BORROWING: limits.borrowing,
        LENDING: limits.lending,
    }
    return amounts[field.field] or 0


def kueue_of(target: ReferenceTarget) -> Kueue:
    """Give the running Kueue of a target."""
    manager = target.manager
    assert manager is not None
    return manager.kueue


def ref_to_end(target: ReferenceTarget, key: Key) -> Ref:
    """Name what to delete so that a workload ends: its Job, or itself without one."""
    workload = target.store.get("Workload", key)
    assert workload is not None
    owner = owner_of(workload)
    job = target.store.find(*owner, key[0]) if owner else None
    return Ref.of(job or workload)
