"""A real Kueue that is observed even if it does not settle."""

from __future__ import annotations

from collections.abc import Callable

from kueue_dra_clusters.waiting import TimedOut
from kueue_dra_fixtures.forwarding_target import ForwardingTarget
from kueue_dra_ref.target import NotQuiescent, Target


class UnsettledTarget(ForwardingTarget):
    """Reports a timeout while settling as a cluster state that never settles, as the reference does."""

    def __init__(self, target: Target, report: Callable[[str], object]) -> None:
        super().__init__(target)
        self._report = report

    def settle(self) -> None:
        """Wait until the target has settled, with the usual timeout.

        Raises:
            NotQuiescent: it has not settled.

        """
        try:
            super().settle()
        except TimedOut as late:
            self._report(str(late))
            raise NotQuiescent(str(late)) from late
