"""The maximum execution time: limits, and deactivates workloads that were admitted for as long as theirs.

Kueue: pkg/controller/core/workload_controller.go (reconcileMaxExecutionTime);
    pkg/workload/admissionchecks.go (SyncAdmittedCondition)
"""

from __future__ import annotations

from typing import Any

from kueue_dra_ref.api.conditions import is_true, set_condition
from kueue_dra_ref.api.execution_time import BEFORE, LIMIT, limit_label_of
from kueue_dra_ref.controlplane.clock import since, time_of
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import key_of
from kueue_dra_ref.rules.workload.execution_time import ExecutionTime
from kueue_dra_ref.target import Manifest


class ExecutionLimit:
    """Knows how long workloads were admitted, and acts when their time is over."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue
        self.rules = kueue.behaviour.limiting

    def of(self, work: Manifest) -> dict[str, Any]:
        """Give the field of a Workload that limits work; empty without a limit."""
        limit = self._of(work)
        return {} if limit is None else {LIMIT: limit}

    def differs(self, work: Manifest, workload: Manifest) -> bool:
        """Whether work has another limit than its Workload."""
        written = workload["spec"].get(LIMIT)
        return self.rules.not_equivalent(self._of(work), written)

    def _of(self, work: Manifest) -> int | None:
        label = limit_label_of(work)
        return None if label is None else self.rules.limit(label)

    def deactivate(self, working: Manifest) -> bool:
        """Have an admitted workload deactivated whose time is over; True when its status has changed."""
        limit = working["spec"].get(LIMIT)
        if limit is None or not is_true(working, "Admitted"):
            return False
        before = working["status"].get(BEFORE, 0)
        admitted = self._admitted_for(working)
        time = ExecutionTime(
            limit=limit,
            before=before,
            now=admitted,
        )
        target = self.rules.deactivate(time)
        if target is None:
            left = limit - before - admitted
            if left > 0:
                self._come_back(working, left)
            return False
        if is_true(working, "DeactivationTarget"):
            return False
        working["status"].pop(BEFORE, None)
        now = self.kueue.clock.now
        return set_condition(
            working, "DeactivationTarget", True, target.reason, target.message, now
        )

    def count(self, working: Manifest) -> None:
        """Add the time of an admission that ends."""
        counted = self.rules.count.or_else(0, self._admitted_for(working))
        before = working["status"].get(BEFORE, 0)
        working["status"][BEFORE] = before + counted

    def _admitted_for(self, working: Manifest) -> float:
        return self.kueue.clock.seconds - since(working, "Admitted")

    def _come_back(self, working: Manifest, left: float) -> None:
        """Reconcile a workload when its time is over, and say when that is."""
        key = key_of(working)
        self.kueue.reconcile_later(left, key)
        end = time_of(self.kueue.clock.seconds + left)
        text = f"admitted: Kueue deactivates it at {end}, when its maximum execution time is over"
        self.kueue.note(key, self.rules.deactivate.rules, text)
