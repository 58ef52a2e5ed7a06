"""Waiting asks again until there is an answer, and says what it saw when there is none."""

from __future__ import annotations

from dataclasses import fields

import pytest

from kueue_dra_clusters.errors import InvalidSetting
from kueue_dra_clusters.waiting import NotYet, TimedOut, WaitLimits, eventually, limits_of


def test_a_probe_is_asked_until_it_answers() -> None:
    """Gives the first answer that is one."""
    answers = iter([NotYet("one"), NotYet("two"), "three"])

    def probe() -> str:
        if isinstance(answer := next(answers), NotYet):
            raise answer
        return str(answer)

    assert eventually(probe, within=5, every=0, what="three") == "three"


def test_running_out_of_time_names_what_was_seen_last() -> None:
    """Says what was waited for, how long, and what there was instead."""

    def probe() -> None:
        raise NotYet("two of three")

    with pytest.raises(TimedOut) as raised:
        eventually(probe, within=0.01, every=0.001, what="all pods")

    assert str(raised.value) == "waited 0.01 s for all pods; last seen: two of three"
    assert (raised.value.what, raised.value.seen) == ("all pods", "two of three")


def test_other_troubles_are_not_waited_out() -> None:
    """Only `NotYet` is asked again."""

    def probe() -> None:
        raise KeyError("spec")

    with pytest.raises(KeyError):
        eventually(probe, within=5, what="nothing")


def test_one_factor_stretches_every_limit() -> None:
    """All limits are doubled by a factor of two."""
    limits, doubled = WaitLimits(), WaitLimits().scaled(2)

    assert all(getattr(doubled, each.name) == 2 * getattr(limits, each.name) for each in fields(limits))


@pytest.mark.parametrize("written", ["0", "-1", "fast", "nan", "inf"])
def test_a_factor_that_is_no_positive_number_is_refused(written: str) -> None:
    """Names the variable, what it was found to be and what was expected."""
    with pytest.raises(InvalidSetting, match=f"KUEUE_DRA_TIME_FACTOR: found '{written}', expected a number above 0"):
        limits_of({"KUEUE_DRA_TIME_FACTOR": written})


def test_without_a_factor_limits_stay_as_they_are() -> None:
    """An empty environment changes nothing."""
    assert limits_of({}) == WaitLimits()
