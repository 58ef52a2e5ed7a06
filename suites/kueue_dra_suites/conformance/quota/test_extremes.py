"""Quota at its ends: none at all, more than anyone asks for, and counts near the largest 64-bit integer."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_pod_set, a_template, a_workload, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.manifests import a_quota
from kueue_dra_fixtures.marks import breaks_law, covers
from kueue_dra_fixtures.verdicts import Reason, admitted, pending
from kueue_dra_ref.verdict import Verdict

LARGEST = "9223372036854775807"
_METERED = "up to 0.18 Kueue meters memory by way of thousandths, which overflow"


@covers("QUOTA-013")
def test_a_quota_of_zero_admits_no_device(lab: Lab) -> None:
    """With a nominal quota of zero nothing that asks for a device is ever admitted."""
    queue = lab.queue({"whole-gpus": 0})
    job = queue.submit(a_job(claims=[a_template(gpu(1))]))

    assert lab.verdict(job) == pending(Reason.NEVER_FITS)


@covers("QUOTA-013", "DET-003")
def test_a_quota_of_zero_admits_work_without_devices(lab: Lab) -> None:
    """A nominal quota of zero devices does not concern a workload that asks for none."""
    queue = lab.queue({"cpu": "1", "whole-gpus": 0})
    job = queue.submit(a_job(cpu="1"))

    assert lab.verdict(job) == admitted({"cpu": "1"})


@covers("QUOTA-014")
@pytest.mark.parametrize(
    ("quota", "asked", "used"),
    [
        pytest.param("1000000", 1, "1", id="one-of-a-million"),
        pytest.param("9223372036854775807", 1, "1", id="one-of-the-largest"),
        pytest.param("9223372036854775807", 1000000, "1M", id="a-million-of-the-largest"),
    ],
)
def test_a_very_large_quota_admits(lab: Lab, quota: str, asked: int, used: str) -> None:
    """A quota larger than any request is no trouble, up to the largest 64-bit integer."""
    queue = lab.queue({"whole-gpus": quota})
    job = queue.submit(a_job(claims=[a_template(gpu(asked))]))

    assert lab.verdict(job) == admitted({"whole-gpus": used})


@covers("QUOTA-014", "QUOTA-002")
@pytest.mark.parametrize(
    ("asked", "verdict"),
    [
        pytest.param(1999, admitted({"whole-gpus": 1999}), id="one-to-spare"),
        pytest.param(2000, admitted({"whole-gpus": "2k"}), id="fits-exactly"),
        pytest.param(2001, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_a_quota_with_a_suffix_counts_whole_devices(lab: Lab, asked: int, verdict: Verdict) -> None:
    """A quota of 2k is two thousand devices."""
    queue = lab.queue({"whole-gpus": "2k"})
    job = queue.submit(a_job(claims=[a_template(gpu(asked))]))

    assert lab.verdict(job) == verdict


@covers("COUNT-017")
@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(9223372036854775806, 1, id="reaches-it"),
        pytest.param(9223372036854775807, 1, id="one-beyond"),
        pytest.param(9223372036854775807, 9223372036854775807, id="twice"),
    ],
)
def test_counts_of_one_claim_stay_at_the_largest_integer(lab: Lab, first: int, second: int) -> None:
    """Counts of one class in one claim do not wrap around beyond the largest 64-bit integer."""
    queue = lab.queue({"whole-gpus": "9223372036854775807"})
    job = queue.submit(a_job(claims=[a_template(gpu(first), gpu(second))]))

    assert lab.verdict(job) == admitted({"whole-gpus": "9223372036854775807"})


@covers("COUNT-017", "QUOTA-004")
@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(9223372036854775807, 1, id="one-beyond"),
        pytest.param(9223372036854775807, 9223372036854775807, id="twice"),
    ],
)
def test_counts_beyond_the_largest_integer_do_not_pass_for_few(lab: Lab, first: int, second: int) -> None:
    """Counts that pass the largest 64-bit integer are not mistaken for a small or negative number."""
    queue = lab.queue({"whole-gpus": 8})
    job = queue.submit(a_job(claims=[a_template(gpu(first), gpu(second))]))

    assert lab.verdict(job) == pending(Reason.NEVER_FITS)


@covers("QUOTA-042")
@breaks_law("metrics agree", _METERED)
@pytest.mark.parametrize(
    ("first", "second", "used"),
    [
        pytest.param("4Ei", "3Ei", "7Ei", id="within"),
        pytest.param("4Ei", "4Ei", "8Ei", id="one-beyond"),
        pytest.param("5Ei", "5Ei", "10Ei", id="well-beyond"),
    ],
)
def test_the_largest_quota_has_room_for_any_sum(lab: Lab, first: str, second: str, used: str) -> None:
    """Two pod sets that ask for more than 64 bits hold are admitted where the quota is the largest integer."""
    queue = lab.queue({"memory": LARGEST})
    job = queue.submit(
        a_workload(a_pod_set("one", requests={"memory": first}), a_pod_set("two", requests={"memory": second}))
    )

    assert lab.verdict(job) == admitted({"memory": used})


def what_is_more_needed(lab: Lab) -> str:
    """The message of a Job that requests the largest integer while another workload uses as much."""
    queue = lab.queue({"memory": LARGEST})
    queue.submit(a_job(requests={"memory": LARGEST}))
    return lab.message(queue.submit(a_job(requests={"memory": LARGEST})))


@covers("QUOTA-043")
@breaks_law("metrics agree", _METERED)
def test_what_knows_no_bounds_is_called_unlimited(lab: Lab) -> None:
    """If the largest integer is missing, the message says that an unlimited amount is more needed."""
    message = what_is_more_needed(lab)

    assert message.endswith(", <unlimited> more needed")


@covers("QUOTA-044")
@breaks_law("metrics agree", _METERED)
def test_what_knows_no_bounds_is_told_as_a_number(lab: Lab) -> None:
    """If the largest integer is missing, the message says so."""
    message = what_is_more_needed(lab)

    assert message.endswith(f", {LARGEST} more needed")


@covers("QUOTA-049")
@pytest.mark.parametrize(
    ("used", "verdict"),
    [
        pytest.param(9223372036854775806, admitted({"whole-gpus": 1}), id="one-below"),
        pytest.param(9223372036854775807, pending(Reason.NO_QUOTA), id="the-largest"),
    ],
)
def test_an_unlimited_usage_leaves_no_quota(lab: Lab, used: int, verdict: Verdict) -> None:
    """Two queues have half of it each, one lends nothing of its half; the other one used the whole when it was its."""
    flavor, cohort = lab.flavor(), lab.name("cohort")
    half = 4611686018427387904
    other = lab.queue(groups=[{flavor: {"whole-gpus": LARGEST}}], cohortName=cohort)
    other.submit(a_job(claims=[a_template(gpu(used))]))
    other.regroup({flavor: {"whole-gpus": half}})
    queue = lab.queue(groups=[{flavor: {"whole-gpus": a_quota(half, lend=0)}}], cohortName=cohort)
    job = queue.submit(a_job(claims=[a_template(gpu(1))]))

    assert lab.verdict(job) == verdict


@covers("QUOTA-045")
@pytest.mark.parametrize("quota", ["9223372036854774", "9223372036854776", "1E"])
def test_a_very_large_quota_of_cpu_admits(lab: Lab, quota: str) -> None:
    """A quota of CPU is no trouble where its thousandths are more than 64 bits hold."""
    job = lab.queue({"cpu": quota}).submit(a_job(cpu="1"))

    assert lab.verdict(job) == admitted({"cpu": "1"})


@covers("QUOTA-046")
@pytest.mark.parametrize(
    ("quota", "asked", "verdict"),
    [
        pytest.param("9223372036854774", "1", admitted({"cpu": "1"}), id="within-64-bits"),
        pytest.param("9223372036854776", "1", pending(Reason.NEVER_FITS), id="one-beyond"),
        pytest.param("1E", "1m", pending(Reason.NEVER_FITS), id="well-beyond"),
    ],
)
def test_a_very_large_quota_of_cpu_collapses(lab: Lab, quota: str, asked: str, verdict: Verdict) -> None:
    """A quota of CPU is none where its thousandths are more than 64 bits hold."""
    job = lab.queue({"cpu": quota}).submit(a_job(cpu=asked))

    assert lab.verdict(job) == verdict
