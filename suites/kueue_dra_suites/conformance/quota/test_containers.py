"""A claim belongs to the pod: how many containers use it changes nothing (Workload Processing Flow, step 5)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import Reason, admitted, pending

Users = tuple[tuple[str, ...], ...]


@covers("COUNT-007")
@pytest.mark.parametrize(
    "users",
    [
        pytest.param((("c0",),), id="one-container"),
        pytest.param((("c0",), ("c0",)), id="two-containers"),
        pytest.param((("c0",), (), ("c0",)), id="two-of-three-containers"),
    ],
)
def test_a_claim_that_containers_share_is_charged_once(lab: Lab, users: Users) -> None:
    """Containers of a pod that use the same claim share its devices."""
    queue = lab.queue({"whole-gpus": 2})
    job = queue.submit(a_job(claims=[a_template(gpu(2))], users=users))

    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@covers("COUNT-008")
@pytest.mark.parametrize(
    ("users", "init_users"),
    [
        pytest.param(((),), (("c0",),), id="init-container-only"),
        pytest.param((("c0",),), (("c0",),), id="one-of-each"),
        pytest.param((("c0",), ("c0",)), (("c0",), ("c0",)), id="two-of-each"),
    ],
)
def test_a_claim_that_init_containers_share_is_charged_once(lab: Lab, users: Users, init_users: Users) -> None:
    """Init containers and regular containers that use the same claim share its devices."""
    queue = lab.queue({"whole-gpus": 2})
    job = queue.submit(a_job(claims=[a_template(gpu(2))], users=users, init_users=init_users))

    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@covers("COUNT-004", "COUNT-008")
def test_claims_of_init_and_regular_containers_add_up(lab: Lab) -> None:
    """A claim is allocated for the life of the pod, so init containers do not reuse devices one after another."""
    queue = lab.queue({"whole-gpus": 5})
    job = queue.submit(a_job(claims=[a_template(gpu(2)), a_template(gpu(3))], users=(("c1",),), init_users=(("c0",),)))

    assert lab.verdict(job) == admitted({"whole-gpus": 5})


@covers("COUNT-009", "DET-004")
def test_a_claim_that_no_container_uses_is_charged(lab: Lab) -> None:
    """A claim is allocated for the pod that lists it, used or not; its workload is a DRA workload."""
    queue = lab.queue({"whole-gpus": 2})
    job = queue.submit(a_job(claims=[a_template(gpu(2))], users=((),)))

    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@covers("COUNT-009", "DET-004")
def test_a_claim_that_no_container_uses_can_keep_a_workload_out(lab: Lab) -> None:
    """A claim that no container uses has to fit the quota like any other."""
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_template(gpu(2))], users=((),)))

    assert lab.verdict(job) == pending(Reason.NEVER_FITS)


@covers("COUNT-009", "COUNT-004")
def test_a_claim_that_no_container_uses_is_charged_beside_one_that_is_used(lab: Lab) -> None:
    """Used and unused claims of a pod add up."""
    queue = lab.queue({"whole-gpus": 3})
    job = queue.submit(a_job(claims=[a_template(gpu(1)), a_template(gpu(2))], users=(("c0",),)))

    assert lab.verdict(job) == admitted({"whole-gpus": 3})
