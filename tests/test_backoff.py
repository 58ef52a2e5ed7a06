"""Retries of failed reconciles: an object that fails again and again is tried about every quarter of an hour."""

from __future__ import annotations

from kueue_dra_ref.api.configuration import Configuration
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.controllers.backoff import Backoff
from kueue_dra_ref.controlplane.clock import Clock
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import Store

KEY = ("team", "job")


def test_the_delay_doubles_up_to_a_thousand_seconds() -> None:
    """However often an object fails: the 2,000th delay is as long as the 20th."""
    clock = Clock()
    kueue = Kueue(behaviour("kueue-0.19.2"), Configuration(), Store(clock, lambda event: None), clock)
    backoff = Backoff(kueue, "Workload")
    delays = []
    for _ in range(2000):
        backoff.failed(KEY)
        delays.append(clock.next_due - clock.seconds)
        clock.advance(clock.next_due)

    assert [round(each, 3) for each in delays[:3]] == [0.005, 0.01, 0.02]
    assert {round(each) for each in delays[19:]} == {1000}
