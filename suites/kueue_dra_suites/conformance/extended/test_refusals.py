"""Extended resources: what is refused (Kueue 0.19, extended resources)."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kueue_dra_fixtures.builders import GPU, a_job, a_missing_template, a_pod_set, a_workload
from kueue_dra_fixtures.containers import containers
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.queue_status import WorkloadCounts
from kueue_dra_fixtures.sources import device_gates
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible

CARD = "vendor.example.com/card"
CONTAINERS = "spec.podSets[0].template.spec.containers"
EVERY = {"cel": {"expression": "true"}}


@covers("EXT-017")
@pytest.mark.parametrize(
    ("amounts", "message"),
    [
        pytest.param(
            ["1500m"],
            f"{CONTAINERS}[0].resources.requests.{CARD}: Invalid value: "
            '"1500m": extended resource quantity must be an integer',
            id="one",
        ),
        pytest.param(
            ["500m", "500m", "1"],
            f"[{CONTAINERS}[0].resources.requests.{CARD}: Invalid value: "
            '"500m": extended resource quantity must be an integer, '
            f"{CONTAINERS}[1].resources.requests.{CARD}: Invalid value: "
            '"500m": extended resource quantity must be an integer]',
            id="two-halves",
        ),
        pytest.param(
            ["10E"],
            f"{CONTAINERS}[0].resources.requests.{CARD}: Invalid value: "
            '"10E": extended resource quantity must be an integer',
            id="more-than-64-bits",
        ),
        pytest.param(
            ["1000m"],
            f"{CONTAINERS}[0].resources.requests.{CARD}: Invalid value: "
            '"1": extended resource quantity must be an integer',
            id="written-as-a-fraction",
        ),
    ],
)
def test_devices_are_asked_for_one_by_one(lab: Lab, amounts: list[str], message: str) -> None:
    """Each container has to ask for a whole number of devices, however the numbers add up."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": 8})
    spec = {"containers": containers(*({CARD: amount} for amount in amounts))}
    job = queue.submit(a_workload(a_pod_set("main", spec=spec)))

    assert (lab.verdict(job), lab.message(job)) == (inadmissible(Reason.NOT_WHOLE), message)


@covers("EXT-017")
@pytest.mark.parametrize("amount", ["1", "1000m", "1.0"])
def test_a_job_may_write_an_integer_as_it_likes(lab: Lab, amount: str) -> None:
    """Kueue gets the value in a Job as an integer."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": 8})
    job = queue.submit(a_job(requests={CARD: amount}))

    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@covers("EXT-033")
def test_refused_work_is_not_counted_as_pending(lab: Lab) -> None:
    """A workload that is refused for an extended resource is not in the queue."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": 8})
    queue.submit(a_workload(a_pod_set("main", requests={CARD: "1500m"})))

    assert queue.figures.counts == WorkloadCounts()


@covers("EXT-023")
def test_fractions_of_an_ordinary_resource_are_rounded(lab: Lab) -> None:
    """Without a class that has the name, a fraction is charged as the next whole unit."""
    queue = lab.queue({CARD: 8})
    job = queue.submit(a_workload(a_pod_set("main", requests={CARD: "1500m"})))

    assert lab.verdict(job) == admitted({CARD: 2})


@covers("EXT-018")
@pytest.mark.parametrize(
    ("amount", "other", "total"), [("5E", "5E", "10E"), ("9e18", "9e18", "18e18"), ("5E", "5e18", "10E")]
)
def test_the_sum_of_containers_has_64_bits(lab: Lab, amount: str, other: str, total: str) -> None:
    """Containers that are each within bounds may together be beyond them."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": 8})
    job = queue.submit(a_job(spec={"containers": containers({CARD: amount}, {CARD: other})}))

    message = (
        f'{CONTAINERS}[0].resources.requests.{CARD}: Invalid value: "{total}": '
        "total extended resource quantity overflows int64"
    )
    assert (lab.verdict(job), lab.message(job)) == (inadmissible(Reason.TOO_MANY), message)


@owns_kueue
@pytest.mark.parametrize(
    ("sources", "words"),
    [
        pytest.param(
            [{"counter": {"name": "memory", "driver": "gpu.example.com", "deviceSelector": EVERY}}],
            "counters configured; use ResourceClaimTemplates with CEL selectors for counter-based quota",
            id="counters",
            marks=covers("EXT-015"),
        ),
        pytest.param(
            [{"capacity": {"name": "memory", "driver": "gpu.example.com", "deviceSelector": EVERY}}],
            "capacity sources configured; use ResourceClaimTemplates with capacity.requests for capacity-based quota",
            id="capacities",
            marks=covers("EXT-016"),
        ),
    ],
)
def test_parts_of_devices_cannot_be_asked_for_by_name(lab: Lab, sources: list[dict[str, Any]], words: str) -> None:
    """A class that is charged by counters or capacities is not to be had by the name of an extended resource."""
    mapping = {"name": "gpu-memory", "deviceClassNames": [GPU], "sources": sources}
    lab.start(resources={"deviceClassMappings": [mapping]}, gates=device_gates)
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"gpu-memory": 8})
    job = queue.submit(a_job(requests={CARD: "1"}))

    message = (
        f'{CONTAINERS}[0]: Invalid value: "{CARD}": extended resource {CARD} resolves to DeviceClass {GPU} with {words}'
    )
    assert (lab.verdict(job), lab.message(job)) == (inadmissible(Reason.NOT_BY_NAME), message)


COUNTED = {"counter": {"name": "memory", "driver": "gpu.example.com", "deviceSelector": EVERY}}


@owns_kueue
@pytest.mark.parametrize(
    ("source", "message"),
    [
        pytest.param("counter", ["containers[0]"], id="the-first", marks=covers("EXT-039")),
        pytest.param("capacity", ["containers[0]"], id="the-first-of-capacities", marks=covers("EXT-016", "EXT-039")),
        pytest.param("counter", ["containers[0]", "containers[1]"], id="each", marks=covers("EXT-038")),
    ],
)
def test_containers_that_ask_for_parts_are_told(lab: Lab, source: str, message: list[str]) -> None:
    """If several containers name a class with sources, Kueue reports the first of them, or each; not the others."""
    mapping = {"name": "gpu-memory", "deviceClassNames": [GPU], "sources": [{source: COUNTED["counter"]}]}
    lab.start(resources={"deviceClassMappings": [mapping]}, gates=device_gates)
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"gpu-memory": 8})
    job = queue.submit(a_job(spec={"containers": containers({CARD: "1"}, {CARD: "1"}, {})}))

    assert re.findall(r"containers\[\d\]", lab.message(job)) == message


@owns_kueue
@pytest.mark.parametrize(
    "message",
    [
        pytest.param(["containers[0]", "containers[1]"], id="by-resource", marks=covers("EXT-041")),
        pytest.param(["containers[0]", "containers[1]", "containers[2]"], id="by-container", marks=covers("EXT-040")),
    ],
)
def test_faults_of_several_containers(lab: Lab, message: list[str]) -> None:
    """Parts of devices, and devices with counters that are asked for by name, in one pod."""
    mapping = {"name": "gpu-memory", "deviceClassNames": [GPU], "sources": [COUNTED]}
    lab.start(resources={"deviceClassMappings": [mapping]}, gates=device_gates)
    lab.stands_for(CARD, GPU)
    lab.stands_for("vendor.example.com/other-card", "other.example.com")
    queue = lab.queue({"gpu-memory": 8})
    spec = {"containers": containers({"vendor.example.com/other-card": "1500m"}, {CARD: "1500m"}, {CARD: "1"})}
    job = queue.submit(a_workload(a_pod_set("main", spec=spec)))

    assert sorted(re.findall(r"containers\[\d\]", lab.message(job))) == message  # resources come as a Go map has them


@covers("EXT-030")
def test_faults_of_claims_are_told_first(lab: Lab) -> None:
    """Every claim of every pod set is resolved before any extended resource."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": 8})
    naming, claiming = a_pod_set("naming", requests={CARD: "1500m"}), a_pod_set("a", claims=[a_missing_template()])
    job = queue.submit(a_workload(naming, claiming))

    assert lab.verdict(job) == inadmissible(Reason.NO_TEMPLATE)
