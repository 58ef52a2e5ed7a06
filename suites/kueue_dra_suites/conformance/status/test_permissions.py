"""RBAC Requirements: what Kueue's role allows it to read, that it may write nothing, and that reading is needed."""

from __future__ import annotations

from itertools import chain

import pytest

from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import admitted, unseen

READING = ["get", "list", "watch"]


@pytest.mark.parametrize(
    "resource",
    [
        pytest.param("resourceclaimtemplates", marks=covers("RBAC-001")),
        pytest.param("resourceclaims", marks=covers("RBAC-002")),
        pytest.param("deviceclasses", marks=covers("RBAC-007")),
        pytest.param("resourceslices", marks=covers("RBAC-006")),
    ],
)
def test_the_role_allows_reading(lab: Lab, resource: str) -> None:
    """Get, list and watch: enough to keep a cache of what claims ask for."""
    assert lab.role().get(resource) == READING


@covers("RBAC-003")
def test_the_role_allows_no_writing_and_suffices(lab: Lab) -> None:
    """Of all verbs on resources of resource.k8s.io Kueue has the reading ones, and admits under them."""
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    assert sorted(set(chain.from_iterable(lab.role().values()))) == READING
    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@covers("RBAC-001", "RBAC-005")
def test_device_work_of_every_namespace_is_admitted(lab: Lab) -> None:
    """Templates are read wherever the work is, each with the contents that it has there."""
    one = lab.queue({"whole-gpus": 3})
    other = lab.local_queue(one.cluster)
    first = one.submit(a_job(claims=[a_template(gpu(1))]))
    second = other.submit(a_job(claims=[a_template(gpu(2))]))

    assert lab.verdict(first) == admitted({"whole-gpus": 1})
    assert lab.verdict(second) == admitted({"whole-gpus": 2})


@owns_kueue
@covers("RBAC-004")
def test_without_the_right_to_read_templates_device_work_is_not_admitted(lab: Lab) -> None:
    """Kueue waits for the right and can say nothing of the work; work without claims goes on."""
    lab.forbid("resourceclaimtemplates")
    queue = lab.queue({"cpu": 1, "whole-gpus": 1})
    devices = queue.submit(a_job(claims=[a_template(gpu())]))
    ordinary = queue.submit(a_job(cpu="1"))

    assert lab.verdict(devices) == unseen()
    assert lab.conditions(devices) == {}
    assert lab.is_suspended(devices)
    assert lab.verdict(ordinary) == admitted({"cpu": 1})


@owns_kueue
@covers("RBAC-004")
def test_with_the_right_to_read_templates_given_back_device_work_is_admitted(lab: Lab) -> None:
    """No Job has to be submitted again."""
    lab.forbid("resourceclaimtemplates")
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_template(gpu())]))
    assert lab.verdict(job) == unseen()

    lab.restore_role()

    assert lab.verdict(job) == admitted({"whole-gpus": 1})
