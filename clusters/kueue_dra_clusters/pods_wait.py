"""What a live target has to wait for under waitForPodsReady: timeouts that end soon, and a scheduler that waits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kueue_dra_clusters.conditions import condition_of
from kueue_dra_clusters.waiting import age_of, seconds_until
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.metadata import owners_of
from kueue_dra_ref.api.pods_ready import (
    PODS_READY,
    WAIT_FOR_RECOVERY,
    WaitForPodsReady,
    wait_for_pods_ready,
)
from kueue_dra_ref.api.workloads import is_active, requeue_at
from kueue_dra_ref.target import Manifest

SOON = 2.0
"""Seconds within which a timeout or a backoff ends before a target settles, as on the reference."""
LATE = 1.0
"""Seconds after which an end that had no effect is not waited for any more."""
_MESSAGE = "waiting for all admitted workloads to be in PodsReady condition"


@dataclass(slots=True, kw_only=True)
class PodsWait:
    """The settings of a running Kueue, and what follows from them for Workloads."""

    settings: WaitForPodsReady | None = None
    _awaited: set[str] = field(default_factory=set)
    """The UIDs of the Workloads whose pods the scheduler was last seen to wait for."""

    def configure(self, configuration: Manifest) -> None:
        """Read the settings of a Configuration."""
        found = wait_for_pods_ready(configuration)
        self.settings = found if found.is_in_force else None
        self._awaited.clear()

    def ends_soon(self, workloads: Iterable[Manifest]) -> Iterator[str]:
        """Name each Workload that is evicted, or tried again, within a moment."""
        if self.settings is None:
            return
        for found in workloads:
            if not is_active(found) or is_true(found, "Finished"):
                continue
            left = self._left(found)
            if left is not None and -LATE < left <= SOON:
                yield f"{found['metadata']['name']} waits for {left:.1f} s more"

    def unwritten(self, workloads: Iterable[Manifest]) -> Iterator[str]:
        """Name each admitted Workload of a Job for which Kueue, which has just started, has not written PodsReady."""
        if self.settings is None:
            return
        for found in workloads:
            if not owners_of(found) or not is_active(found):
                continue
            if is_true(found, "Admitted") and not condition_of(found, PODS_READY):
                yield f"{found['metadata']['name']} has no condition {PODS_READY}"

    def blocks(self, workloads: Iterable[Manifest]) -> bool:
        """Whether the scheduler waits for pods, also for a workload that is gone, so that it tries no other."""
        found = list(workloads)
        if not self.may_block(found):
            return False
        unready = {_uid(each) for each in found if _is_unready(each)}
        if any(map(_is_waiting, found)):
            self._awaited |= unready
            return True
        return not self._awaited.isdisjoint(unready)

    def may_block(self, workloads: Iterable[Manifest]) -> bool:
        """Whether the scheduler waits for pods as soon as a workload fits."""
        return self._is_blocking and any(map(_is_unready, workloads))

    @property
    def _is_blocking(self) -> bool:
        if self.settings is None:
            return False
        written = self.settings.block_admission
        return self.settings.is_first_version if written is None else written

    def _left(self, workload: Manifest) -> float | None:
        """Give the seconds until Kueue evicts a Workload or tries it again; None if it does neither."""
        assert self.settings is not None
        until = requeue_at(workload)
        if not is_true(workload, "QuotaReserved"):
            return seconds_until(until) if until else None
        if not is_true(workload, "Admitted") or is_true(workload, PODS_READY):
            return None
        if is_true(workload, "Evicted"):
            return None
        found = condition_of(workload, PODS_READY)
        if found.get("reason") == WAIT_FOR_RECOVERY:
            return _left_of(found, self.settings.recovery_timeout)
        admitted = condition_of(workload, "Admitted")
        return _left_of(admitted, self.settings.timeout)


def _left_of(condition: Manifest, seconds: float | None) -> float | None:
    if seconds is None:
        return None
    return seconds - age_of(condition["lastTransitionTime"])


def _uid(workload: Manifest) -> str:
    return str(workload["metadata"]["uid"])


def _is_waiting(workload: Manifest) -> bool:
    found = condition_of(workload, "QuotaReserved")
    return bool(found.get("status") == "False" and found.get("message") == _MESSAGE)


def _is_unready(workload: Manifest) -> bool:
    return is_true(workload, "QuotaReserved") and not is_true(workload, PODS_READY)
