"""The estimate of a preflight follows what was recorded."""

from __future__ import annotations

from kueue_dra_fixtures.recorded_durations import FILE, seconds, worded
from kueue_dra_suites.wiring import HOME

ROW = "quota/test_fits::test_devices_are_admitted_up_to_the_quota[fits-exactly]"


def test_more_cases_take_longer() -> None:
    """Each file counts with its own mean; an unknown one with the mean of all."""
    assert seconds([]) < seconds([ROW]) < seconds([ROW] * 2)
    assert seconds(["mine/test_new::test_it"]) > seconds([])
    assert worded([ROW]).endswith("seconds")
    assert worded([ROW] * 1000).endswith("minutes")


def test_each_recorded_file_exists() -> None:
    """A renamed file would count as unknown."""
    names = FILE.read_text("utf-8").split('"')[1::2]

    assert names
    assert all((HOME / f"{name}.py").is_file() for name in names)
