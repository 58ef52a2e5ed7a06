"""Flavors: their order, the next when one is full, and which resources get theirs together (Queue Admission)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_pod_set, a_template, a_workload, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import Reason, admitted, pending


@covers("QUOTA-007")
@pytest.mark.parametrize(
    ("first", "second"),
    [pytest.param("a", "z", id="alphabetical"), pytest.param("z", "a", id="not-alphabetical")],
)
def test_flavors_are_tried_in_the_order_of_the_queue(lab: Lab, first: str, second: str) -> None:
    """Of two flavors that both have enough, the one that the ClusterQueue lists first is assigned."""
    listed_first, listed_second = lab.flavor(first), lab.flavor(second)
    queue = lab.queue(groups=[{listed_first: {"whole-gpus": 2}, listed_second: {"whole-gpus": 2}}])
    job = queue.submit(a_job(claims=[a_template(gpu(2))]))

    assert lab.flavors(job) == {"main": {"whole-gpus": listed_first}}


@covers("QUOTA-008")
@pytest.mark.parametrize(
    ("held", "asked"),
    [pytest.param(2, 1, id="first-is-full"), pytest.param(1, 2, id="first-has-too-little-left")],
)
def test_the_next_flavor_serves_when_the_first_has_too_little(lab: Lab, held: int, asked: int) -> None:
    """A workload that does not fit what is left of the first flavor is assigned the second."""
    first, second = lab.flavor("first"), lab.flavor("second")
    queue = lab.queue(groups=[{first: {"whole-gpus": 2}, second: {"whole-gpus": 2}}])
    queue.submit(a_job(claims=[a_template(gpu(held))]))
    job = queue.submit(a_job(claims=[a_template(gpu(asked))]))

    assert lab.flavors(job) == {"main": {"whole-gpus": second}}


@covers("QUOTA-008")
def test_a_flavor_that_is_too_small_for_ever_is_passed_over(lab: Lab) -> None:
    """A workload that could never fit the first flavor is assigned the second."""
    small, large = lab.flavor("small"), lab.flavor("large")
    queue = lab.queue(groups=[{small: {"whole-gpus": 1}, large: {"whole-gpus": 2}}])
    job = queue.submit(a_job(claims=[a_template(gpu(2))]))

    assert lab.flavors(job) == {"main": {"whole-gpus": large}}


@covers("QUOTA-008", "QUOTA-002")
def test_quotas_of_flavors_do_not_add_up_for_one_pod_set(lab: Lab) -> None:
    """A pod set that fits no single flavor waits, even though all flavors together have enough."""
    first, second = lab.flavor("first"), lab.flavor("second")
    queue = lab.queue(groups=[{first: {"whole-gpus": 2}, second: {"whole-gpus": 2}}])
    job = queue.submit(a_job(pods=2, claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == pending(Reason.NEVER_FITS)


@covers("QUOTA-017")
def test_pod_sets_may_get_different_flavors(lab: Lab) -> None:
    """An earlier pod set uses up the first flavor, so a later one gets the second."""
    first, second = lab.flavor("first"), lab.flavor("second")
    queue = lab.queue(groups=[{first: {"whole-gpus": 2}, second: {"whole-gpus": 2}}])
    leader = a_pod_set("leader", claims=[a_template(gpu(1))])
    workers = a_pod_set("workers", pods=2, claims=[a_template(gpu(1))])
    job = queue.submit(a_workload(leader, workers))

    assert lab.flavors(job) == {"leader": {"whole-gpus": first}, "workers": {"whole-gpus": second}}


@covers("QUOTA-009")
def test_resources_of_one_group_get_one_flavor(lab: Lab) -> None:
    """A flavor with enough CPU but too few devices gives neither."""
    first, second = lab.flavor("first"), lab.flavor("second")
    queue = lab.queue(groups=[{first: {"cpu": "8", "whole-gpus": 0}, second: {"cpu": "2", "whole-gpus": 2}}])
    job = queue.submit(a_job(cpu="2", claims=[a_template(gpu(2))]))

    assert lab.flavors(job) == {"main": {"cpu": second, "whole-gpus": second}}


@covers("QUOTA-009", "QUOTA-004")
def test_resources_of_one_group_are_not_split_over_flavors(lab: Lab) -> None:
    """CPU in one flavor and devices in another of the same group do not make a fit."""
    first, second = lab.flavor("first"), lab.flavor("second")
    queue = lab.queue(groups=[{first: {"cpu": "8", "whole-gpus": 0}, second: {"cpu": "1", "whole-gpus": 8}}])
    job = queue.submit(a_job(cpu="2", claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == pending(Reason.NEVER_FITS)


@covers("QUOTA-010")
def test_groups_get_their_flavors_independently(lab: Lab) -> None:
    """A mapped resource in a group of its own has flavors of its own."""
    nodes, full, free = lab.flavor("nodes"), lab.flavor("full"), lab.flavor("free")
    queue = lab.queue(groups=[{nodes: {"cpu": "4"}}, {full: {"whole-gpus": 0}, free: {"whole-gpus": 2}}])
    job = queue.submit(a_job(cpu="2", claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == admitted({"cpu": "2", "whole-gpus": 2})
    assert lab.flavors(job) == {"main": {"cpu": nodes, "whole-gpus": free}}


@covers("QUOTA-010", "QUOTA-012")
def test_a_group_that_cannot_serve_keeps_the_workload_out(lab: Lab) -> None:
    """Enough in one group does not make up for too little in another."""
    nodes, devices = lab.flavor("nodes"), lab.flavor("devices")
    queue = lab.queue(groups=[{nodes: {"cpu": "4"}}, {devices: {"whole-gpus": 1}}])
    job = queue.submit(a_job(cpu="2", claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == pending(Reason.NEVER_FITS)
