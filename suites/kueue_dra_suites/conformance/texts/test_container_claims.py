"""Claims are read from the containers' ``resources.claims`` (Workloads, step 1, of April 2025)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import ClaimOf, a_job, a_missing_template, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import admitted

Users = tuple[tuple[str, ...], ...]


@covers("KIND-013", "KIND-014")
@pytest.mark.parametrize(
    ("users", "devices"),
    [
        pytest.param((("c0", "c1"),), 3, id="both"),
        pytest.param((("c0",),), 1, id="first"),
        pytest.param(((), ("c1",)), 2, id="second"),
        pytest.param((("c0",), ("c0", "c1")), 3, id="one-of-them-twice"),
    ],
)
def test_claims_that_containers_list_are_charged(lab: Lab, users: Users, devices: int) -> None:
    """A claim of the pod counts when a container lists it, and counts once."""
    queue = lab.queue({"whole-gpus": 3})
    job = queue.submit(a_job(claims=[a_template(gpu(1)), a_template(gpu(2))], users=users))

    assert lab.verdict(job) == admitted({"whole-gpus": devices})


@covers("KIND-014")
@pytest.mark.parametrize(
    "claim",
    [
        pytest.param(a_template(gpu(8)), id="too-large"),
        pytest.param(a_missing_template(), id="missing"),
    ],
)
def test_a_claim_that_no_container_lists_is_not_looked_at(lab: Lab, claim: ClaimOf) -> None:
    """A workload whose containers use no claim is admitted on its ordinary resources."""
    queue = lab.queue({"cpu": 1, "whole-gpus": 1})
    job = queue.submit(a_job(cpu="1", claims=[claim], users=((),)))

    assert lab.verdict(job) == admitted({"cpu": 1})


@covers("KIND-013", "KIND-015")
def test_a_claim_of_an_init_container_is_charged(lab: Lab) -> None:
    """Initial containers are containers of the pod template too."""
    queue = lab.queue({"whole-gpus": 2})
    job = queue.submit(a_job(claims=[a_template(gpu(2))], users=((),), init_users=(("c0",),)))

    assert lab.verdict(job) == admitted({"whole-gpus": 2})
