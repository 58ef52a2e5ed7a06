"""Extended resources: the DeviceClass of a name, together with claims (Kueue 0.19, extended resources)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import GPU, a_job, a_request, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible, pending
from kueue_dra_ref.verdict import Verdict

CARD = "vendor.example.com/card"
UNMAPPED = "a-class.example.com"
SHARED = "ts-shard-gpus.example.com"


@covers("EXT-006")
def test_the_newest_class_stands_for_a_name(lab: Lab) -> None:
    """A class that is made later takes the name over, whatever the order of their names."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": 4, "shared-gpus": 4})
    first = queue.submit(a_job(requests={CARD: "1"}))
    second = queue.submit(a_job(requests={CARD: "1"}))  # a second of the cluster's clock lies between two jobs
    lab.stands_for(CARD, SHARED)
    third = queue.submit(a_job(requests={CARD: "1"}))

    verdicts = [lab.verdict(first), lab.verdict(second), lab.verdict(third)]
    assert verdicts == [admitted({"whole-gpus": 1}), admitted({"whole-gpus": 1}), admitted({"shared-gpus": 1})]


@covers("EXT-007")
def test_the_first_by_name_stands_where_classes_are_of_one_age(lab: Lab) -> None:
    """Creation times have whole seconds, so several classes may be the newest."""
    lab.stands_for(CARD, SHARED, GPU)
    queue = lab.queue({"whole-gpus": 4, "shared-gpus": 4})
    job = queue.submit(a_job(requests={CARD: "1"}))

    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@covers("EXT-037")
@pytest.mark.parametrize(
    ("older", "newer"),
    [pytest.param(GPU, UNMAPPED, id="the-older"), pytest.param(UNMAPPED, GPU, id="the-newer")],
)
def test_a_mapped_class_stands_for_a_name(lab: Lab, older: str, newer: str) -> None:
    """A class that is not mapped has no say, be it newer or first by name."""
    lab.stands_for(CARD, older)
    lab.stands_for(CARD, newer)
    queue = lab.queue({"whole-gpus": 4, CARD: 4})
    job = queue.submit(a_job(requests={CARD: "1"}))

    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@covers("EXT-009")
@pytest.mark.parametrize(
    ("quota", "verdict"),
    [
        pytest.param(2, admitted({CARD: 2}), id="fits-exactly"),
        pytest.param(1, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_a_class_that_is_not_mapped_is_charged_under_the_name(lab: Lab, quota: int, verdict: Verdict) -> None:
    """Without a mapping of its class an extended resource is not refused, as a claim would be."""
    lab.stands_for(CARD, "unmapped.example.com")
    queue = lab.queue({CARD: quota})
    job = queue.submit(a_job(requests={CARD: "2"}))

    assert lab.verdict(job) == verdict


@covers("EXT-010")
@pytest.mark.parametrize(
    ("quota", "verdict"),
    [
        pytest.param(5, admitted({"whole-gpus": 5}), id="fits-exactly"),
        pytest.param(4, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_claims_and_names_of_a_class_are_added(lab: Lab, quota: int, verdict: Verdict) -> None:
    """A pod may ask for devices of one class by a template and by a name; it is charged for both."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": quota})
    job = queue.submit(a_job(requests={CARD: "2"}, claims=[a_template(gpu(3))]))

    assert lab.verdict(job) == verdict


@covers("EXT-010")
def test_claims_and_names_of_a_class_draw_on_one_quota(lab: Lab) -> None:
    """Devices that one workload holds by a claim are not there for another that asks for them by name."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": 4})
    claiming = queue.submit(a_job(claims=[a_template(gpu(3))]))
    naming = queue.submit(a_job(requests={CARD: "2"}))

    verdicts = [lab.verdict(claiming), lab.verdict(naming)]
    assert verdicts == [admitted({"whole-gpus": 3}), pending(Reason.NO_QUOTA)]


@covers("EXT-009", "CLAIM-014")
def test_a_claim_for_a_class_that_is_not_mapped_is_refused_beside_the_name(lab: Lab) -> None:
    """The name helps its own request only: the claim for the same class is refused as ever."""
    lab.stands_for(CARD, "unmapped.example.com")
    queue = lab.queue({CARD: 4})
    claim = a_template(a_request("unmapped.example.com"))
    job = queue.submit(a_job(requests={CARD: "1"}, claims=[claim]))

    assert lab.verdict(job) == inadmissible(Reason.UNMAPPED)
