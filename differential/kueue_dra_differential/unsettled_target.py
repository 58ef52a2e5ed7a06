"""A real Kueue that is looked at all the same where it does not come to rest."""

from __future__ import annotations

from collections.abc import Callable

from kueue_dra_clusters.waiting import TimedOut
from kueue_dra_fixtures.forwarding_target import ForwardingTarget
from kueue_dra_ref.target import NotQuiescent, Target


class UnsettledTarget(ForwardingTarget):
    """Takes what is still moving for what never rests, as the reference does, and says so."""

    def __init__(self, target: Target, tell: Callable[[str], object]) -> None:
        super().__init__(target)
        self._tell = tell

    def settle(self) -> None:
        """Wait as long as ever.

        Raises:
            Restless: something still moves.

        """
        try:
            super().settle()
        except TimedOut as late:
            self._tell(str(late))
            raise NotQuiescent(str(late)) from late
