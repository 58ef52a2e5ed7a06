"""Transformations: resources that Kueue charges instead of, or in addition to, the requests (Kueue 0.19)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_request, a_template
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import breaks_law, covers, owns_kueue
from kueue_dra_fixtures.verdicts import admitted

pytestmark = owns_kueue

CREDITS, NICS = "example.com/credits", "example.com/nics"


@pytest.mark.parametrize(
    ("cpu", "credits_"),
    [
        pytest.param("500m", 10, id="half", marks=covers("QUOTA-036")),
        pytest.param("1200m", 24, id="more-than-one", marks=covers("QUOTA-036")),
        pytest.param("500m", 20, id="half-is-one", marks=covers("QUOTA-037")),
        pytest.param("1200m", 40, id="more-than-one-is-two", marks=covers("QUOTA-037")),
    ],
)
def test_a_part_of_a_unit(lab: Lab, cpu: str, credits_: int) -> None:
    """A part of a unit is transformed as it is, or as the whole unit."""
    lab.start(resources={"transformations": [{"input": "cpu", "strategy": "Replace", "outputs": {CREDITS: "20"}}]})
    queue = lab.queue({CREDITS: 100})
    job = queue.submit(a_job(cpu=cpu))

    assert lab.verdict(job) == admitted({CREDITS: credits_})


@covers("QUOTA-038")
def test_a_negative_output_takes_nothing_from_a_request(lab: Lab) -> None:
    """Kueue charges the request in full, whatever the outputs of that name add."""
    lab.start(resources={"transformations": [{"input": "cpu", "strategy": "Retain", "outputs": {CREDITS: "-2"}}]})
    queue = lab.queue({"cpu": "8", CREDITS: 100})
    job = queue.submit(a_job(requests={"cpu": "3", CREDITS: "10"}))

    assert lab.verdict(job) == admitted({"cpu": "3", CREDITS: 10})


@covers("QUOTA-038")
def test_a_negative_output_cancels_other_outputs(lab: Lab) -> None:
    """Outputs of one name are added up before they are charged."""
    given = {"input": "cpu", "strategy": "Replace", "outputs": {CREDITS: "10"}}
    taken = {"input": NICS, "strategy": "Replace", "outputs": {CREDITS: "-3"}}
    lab.start(resources={"transformations": [given, taken]})
    queue = lab.queue({CREDITS: 100})
    job = queue.submit(a_job(requests={"cpu": "2", NICS: "1"}))

    assert lab.verdict(job) == admitted({CREDITS: 17})


@pytest.mark.parametrize(
    "nics", [pytest.param(3, id="full", marks=covers("QUOTA-038")), pytest.param(1, marks=covers("QUOTA-041"))]
)
def test_a_negative_output_under_the_name_of_the_devices(lab: Lab, nics: int) -> None:
    """Devices are charged in full, or less by what an output of their name takes."""
    lab.start(resources={"transformations": [{"input": "cpu", "strategy": "Retain", "outputs": {NICS: "-2"}}]})
    queue = lab.queue({"cpu": "8", NICS: 100})
    job = queue.submit(a_job(cpu="1", claims=[a_template(a_request("nic.example.com", count=3))]))

    assert lab.verdict(job) == admitted({"cpu": "1", NICS: nics})


@pytest.mark.parametrize(
    "cpu",
    [
        pytest.param("3", marks=covers("QUOTA-039")),
        pytest.param("30", marks=[covers("QUOTA-040"), breaks_law("only what was asked is charged", "an input grows")]),
    ],
)
def test_what_multiplies(lab: Lab, cpu: str) -> None:
    """The amount that multiplies outputs is that of another resource; a retained input may be multiplied as well."""
    turned = {"input": "cpu", "strategy": "Retain", "multiplyBy": CREDITS, "outputs": {NICS: "2"}}
    lab.start(resources={"transformations": [turned]})
    queue = lab.queue({"cpu": "100", CREDITS: 100, NICS: 100})
    job = queue.submit(a_job(requests={"cpu": "3", CREDITS: "10"}))

    assert lab.verdict(job) == admitted({"cpu": cpu, CREDITS: 10, NICS: 60})
