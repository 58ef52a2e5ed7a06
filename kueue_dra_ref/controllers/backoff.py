"""Retries of failed reconciles, with exponential backoff.

Kubernetes: k8s.io/client-go/util/workqueue/default_rate_limiters.go (NewTypedItemExponentialFailureRateLimiter)
"""

from __future__ import annotations

from functools import partial
from math import inf

from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.model.lister import Key

_FIRST = 0.005
_LAST = 1000.0
"""Seconds: controller-runtime's backoff for one object."""


class Backoff:
    """The retries of one controller; of several that are due for an object the earliest counts."""

    def __init__(
        self,
        kueue: Kueue,
        kind: str,
    ) -> None:
        self._kueue = kueue
        self._kind = kind
        self._delays: dict[Key, float] = {}
        self._due: dict[Key, float] = {}

    def failed(self, key: Key) -> None:
        """Reconcile an object again, later than after its last failure."""
        delay = self._delays.get(key, _FIRST)
        self._delays[key] = min(2 * delay, _LAST)
        now = self._kueue.clock.seconds
        due = now + delay
        earlier = self._due.get(key, inf)
        if earlier <= due:
            return
        self._due[key] = due
        retry = partial(self._retry, key, due)
        self._kueue.later(delay, retry)

    def forget(self, key: Key) -> None:
        """Reset the failures of an object that was reconciled, or is gone."""
        self._delays.pop(key, None)

    def _retry(self, key: Key, due: float) -> None:
        if self._due.get(key) != due:
            return
        del self._due[key]
        self._kueue.reconcile(self._kind, key)
