"""What a controller failed to reconcile is tried again, with pauses that grow.

Kubernetes: k8s.io/client-go/util/workqueue/default_rate_limiters.go (NewTypedItemExponentialFailureRateLimiter)
"""

from __future__ import annotations

from math import inf

from kueue_dra_ref.cache.cluster_queue import Key
from kueue_dra_ref.controlplane.kueue import Kueue

_FIRST = 0.005
_LAST = 1000.0
"""Seconds: controller-runtime's backoff for one object."""


class Backoff:
    """The retries of one controller; of several that are due for an object the earliest counts."""

    def __init__(self, kueue: Kueue, kind: str) -> None:
        self._kueue, self._kind = kueue, kind
        self._failures: dict[Key, int] = {}
        self._due: dict[Key, float] = {}

    def failed(self, key: Key) -> None:
        """Reconcile an object again, later than after its last failure."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        wait = min(_FIRST * 2**failures, _LAST)
        due = self._kueue.clock.seconds + wait
        if due < self._due.get(key, inf):
            self._due[key] = due
            self._kueue.later(wait, lambda: self._again(key, due))

    def forget(self, key: Key) -> None:
        """An object was reconciled, or is gone: its next failure is its first."""
        self._failures.pop(key, None)

    def _again(self, key: Key, due: float) -> None:
        if self._due.get(key) == due:
            del self._due[key]
            self._kueue.reconcile(self._kind, key)
