"""Workloads that equal each other, of which one did not fit: who is looked at and told (Kueue 0.16 and 0.19)."""

from __future__ import annotations

from fixtures.builders import a_job
from fixtures.lab import Lab
from fixtures.marks import covers


@covers("QUEUE-024")
def test_an_equal_of_one_that_did_not_fit_is_not_told(lab: Lab) -> None:
    """Nothing has changed since the first was looked at, so the second is not looked at."""
    queue = lab.queue({"cpu": 1})
    first = queue.submit(a_job(cpu="2"))
    assert lab.condition(first, "QuotaReserved") == ("False", "Pending")

    second = queue.submit(a_job(cpu="2"))

    assert lab.condition(second, "QuotaReserved") is None


@covers("QUEUE-025")
def test_an_equal_of_one_that_did_not_fit_is_told_for_itself(lab: Lab) -> None:
    """Each workload is looked at, whatever became of its equals."""
    queue = lab.queue({"cpu": 1})
    first = queue.submit(a_job(cpu="2"))
    assert lab.condition(first, "QuotaReserved") == ("False", "Pending")

    second = queue.submit(a_job(cpu="2"))

    assert lab.condition(second, "QuotaReserved") == ("False", "Pending")
