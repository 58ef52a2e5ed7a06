"""Claims: requests that Kueue 0.19 refuses because it cannot count them (Kueue 0.19, claim templates)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_request, a_template, first_available, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import Reason, inadmissible


@covers("CLAIM-008")
@pytest.mark.parametrize(
    "classes",
    [
        pytest.param(["gpu.example.com"], id="one-alternative"),
        pytest.param(["gpu.example.com", "ts-shard-gpus.example.com"], id="two-alternatives"),
    ],
)
def test_a_prioritized_list_is_refused(lab: Lab, classes: list[str]) -> None:
    """Which alternative will be allocated is not known when quota is reserved."""
    queue = lab.queue({"whole-gpus": 4, "shared-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(first_available(*classes))]))

    assert lab.verdict(job) == inadmissible(Reason.FIRST_AVAILABLE)


@covers("CLAIM-008", "CLASS-002")
def test_a_prioritized_list_beside_an_exact_request_is_refused(lab: Lab) -> None:
    """Kueue checks every request."""
    queue = lab.queue({"whole-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(gpu(), first_available("gpu.example.com"))]))

    assert lab.verdict(job) == inadmissible(Reason.FIRST_AVAILABLE)


@covers("CLAIM-010")
def test_mode_all_is_refused(lab: Lab) -> None:
    """How many devices a claim for all of them takes is not known when quota is reserved."""
    queue = lab.queue({"whole-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(a_request(mode="All", count=None))]))

    assert lab.verdict(job) == inadmissible(Reason.MODE_ALL)


@covers("CLAIM-013")
def test_administrative_access_is_refused(lab: Lab) -> None:
    """A request for devices that others use is not counted and not let pass either."""
    namespace = lab.namespace(**{"resource.kubernetes.io/admin-access": "true"})
    queue = lab.queue({"whole-gpus": 4}, namespace=namespace)
    job = queue.submit(a_job(claims=[a_template(a_request(admin=True))]))

    assert lab.verdict(job) == inadmissible(Reason.ADMIN_ACCESS)
