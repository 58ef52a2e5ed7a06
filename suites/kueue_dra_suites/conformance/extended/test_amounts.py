"""Extended resources: how much of them a pod asks for, and what else it is charged (Kueue 0.19, extended resources)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import GPU, a_job, a_pod_set, a_workload
from kueue_dra_fixtures.containers import containers
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import admitted

CARD = "vendor.example.com/card"
NIC = "vendor.example.com/nic"


@pytest.mark.parametrize(
    ("initial", "regular", "charge"),
    [
        pytest.param([], ["1", "2"], 3, id="regular-ones-are-added", marks=covers("EXT-011")),
        pytest.param(["3", "2"], ["1"], 3, id="the-largest-initial-one", marks=covers("EXT-012")),
        pytest.param(["3"], ["2", "2"], 4, id="regular-ones-are-more", marks=covers("EXT-012")),
        pytest.param(["2"], ["2"], 2, id="both-are-equal", marks=covers("EXT-012")),
    ],
)
def test_a_pod_asks_for_the_larger_of_its_phases(lab: Lab, initial: list[str], regular: list[str], charge: int) -> None:
    """Initial containers run one after another before the regular ones, which run together."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": 8})
    spec: dict[str, Any] = {
        "initContainers": containers(*({CARD: amount} for amount in initial), initial=True),
        "containers": containers(*({CARD: amount} for amount in regular)),
    }
    job = queue.submit(a_job(spec=spec))

    assert lab.verdict(job) == admitted({"whole-gpus": charge})


@covers("EXT-013")
def test_containers_that_keep_running_are_not_added(lab: Lab) -> None:
    """A sidecar (init container with restartPolicy Always) runs next to the regular ones; Kueue 0.19 ignores that."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": 8})
    spec: dict[str, Any] = {
        "initContainers": containers({CARD: "1"}, initial=True, restartPolicy="Always"),
        "containers": containers({CARD: "2"}),
    }
    job = queue.submit(a_job(spec=spec))

    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@covers("EXT-045")
@pytest.mark.parametrize(
    ("initial", "charge"),
    [
        pytest.param([("1", True)], 3, id="beside-the-containers"),
        pytest.param([("1", True), ("4", False)], 5, id="beside-a-later-init-container"),
        pytest.param([("4", False), ("1", True)], 4, id="after-an-init-container"),
    ],
)
def test_sidecars_are_added(lab: Lab, initial: list[tuple[str, bool]], charge: int) -> None:
    """A sidecar keeps its devices as long as the pod runs; the regular container requests two."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": 8})
    before = containers(*({CARD: amount} for amount, _ in initial), initial=True)
    for container, (_, stays) in zip(before, initial, strict=True):
        if stays:
            container["restartPolicy"] = "Always"
    job = queue.submit(a_job(spec={"initContainers": before, "containers": containers({CARD: "2"})}))

    assert lab.verdict(job) == admitted({"whole-gpus": charge})


@covers("EXT-027")
def test_devices_of_a_pod_are_multiplied_by_the_pods(lab: Lab) -> None:
    """Each pod gets devices of its own, in every pod set."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"cpu": "8", "whole-gpus": 8})
    one = a_pod_set("one", pods=3, requests={"cpu": "1", CARD: "2"})
    other = a_pod_set("other", pods=2, requests={CARD: "1"})
    job = queue.submit(a_workload(one, other))

    assert lab.verdict(job) == admitted({"cpu": "3", "whole-gpus": 8})


@covers("EXT-025", "EXT-009")
def test_names_of_one_resource_are_added(lab: Lab) -> None:
    """Devices that are asked for by different names draw on one quota when their classes are mapped to it."""
    lab.stands_for(CARD, "ts-shard-gpus.example.com")
    lab.stands_for("vendor.example.com/half-card", "sp-shared-gpus.example.com")
    lab.stands_for(NIC, lab.name("unmapped"))
    queue = lab.queue({"shared-gpus": 4, NIC: 4})
    job = queue.submit(a_job(requests={CARD: "1", "vendor.example.com/half-card": "2", NIC: "3"}))

    assert lab.verdict(job) == admitted({"shared-gpus": 3, NIC: 3})


@pytest.mark.parametrize(
    "charge",
    [
        pytest.param(3, id="together", marks=covers("EXT-043")),
        pytest.param(5, id="name-by-name", marks=covers("EXT-044")),
    ],
)
def test_names_of_one_resource_in_different_phases(lab: Lab, charge: int) -> None:
    """An init container requests three of the one name, a sidecar next to the main container two of the other."""
    other = "vendor.example.com/half-card"
    lab.stands_for(CARD, "ts-shard-gpus.example.com")
    lab.stands_for(other, "sp-shared-gpus.example.com")
    queue = lab.queue({"shared-gpus": 8})
    spec: dict[str, Any] = {
        "initContainers": containers({CARD: "3"}, initial=True),
        "containers": containers({other: "2"}),
    }
    job = queue.submit(a_job(spec=spec))

    assert lab.verdict(job) == admitted({"shared-gpus": charge})


@pytest.mark.parametrize(
    "charge",
    [
        pytest.param(1, id="taken-off", marks=covers("EXT-047")),
        pytest.param(2, id="not-counted", marks=covers("EXT-048")),
    ],
)
def test_a_default_below_zero(lab: Lab, charge: int) -> None:
    """The first container requests two devices, and the second one nothing, for which the LimitRange has a default."""
    lab.stands_for(CARD, GPU)
    namespace = lab.namespace()
    lab.limit(namespace, Container={"defaultRequest": {CARD: "-1"}})
    queue = lab.queue({"whole-gpus": 8}, namespace=namespace)
    job = queue.submit(a_workload(a_pod_set("main", spec={"containers": containers({CARD: "2"}, {})})))

    assert lab.verdict(job) == admitted({"whole-gpus": charge})


@covers("EXT-014")
@pytest.mark.parametrize(
    ("device_class", "resource"),
    [pytest.param(GPU, "whole-gpus", id="mapped"), pytest.param("unmapped.example.com", CARD, id="unmapped")],
)
def test_overhead_under_the_name_is_not_charged(lab: Lab, device_class: str, resource: str) -> None:
    """A request that is charged as devices is no ordinary request, nor is that part of the pod's overhead."""
    lab.stands_for(CARD, device_class)
    queue = lab.queue({"cpu": "8", "whole-gpus": 8, CARD: 8})
    job = queue.submit(a_workload(a_pod_set("main", requests={CARD: "2"}, spec={"overhead": {"cpu": "1", CARD: "3"}})))

    assert lab.verdict(job) == admitted({"cpu": "1", resource: 2})


@covers("EXT-046")
@pytest.mark.parametrize(
    ("device_class", "charges"),
    [
        pytest.param(GPU, {"whole-gpus": 2, CARD: 3}, id="mapped"),
        pytest.param("unmapped.example.com", {CARD: 5}, id="unmapped"),
    ],
)
def test_overhead_under_the_name_stays_charged(lab: Lab, device_class: str, charges: dict[str, int]) -> None:
    """Only what containers request becomes devices."""
    lab.stands_for(CARD, device_class)
    queue = lab.queue({"cpu": "8", "whole-gpus": 8, CARD: 8})
    job = queue.submit(a_workload(a_pod_set("main", requests={CARD: "2"}, spec={"overhead": {"cpu": "1", CARD: "3"}})))

    assert lab.verdict(job) == admitted({"cpu": "1", **charges})


@owns_kueue
@covers("EXT-046", "EXT-029")
@pytest.mark.parametrize("strategy", ["Replace", "Retain"])
def test_an_output_under_the_name_stays_charged(lab: Lab, strategy: str) -> None:
    """A transformation of the CPU gives seven of what containers request as devices; these give credits."""
    into = {"input": "cpu", "strategy": "Retain", "outputs": {CARD: "7"}}
    turned = {"input": CARD, "strategy": strategy, "outputs": {"example.com/credits": "5"}}
    lab.start(resources={"transformations": [turned, into]})
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"cpu": "8", "whole-gpus": 8, CARD: 80, "example.com/credits": 80})
    job = queue.submit(a_job(requests={"cpu": "1", CARD: "2"}))

    assert lab.verdict(job) == admitted({"cpu": "1", "whole-gpus": 2, CARD: 7, "example.com/credits": 10})


@owns_kueue
@covers("EXT-028")
def test_excluded_prefixes_drop_no_devices(lab: Lab) -> None:
    """A prefix that is excluded from quota concerns ordinary requests only."""
    lab.start(resources={"excludeResourcePrefixes": ["vendor.example.com/"]})
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": 8})
    job = queue.submit(a_job(requests={CARD: "2", NIC: "1"}))

    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@owns_kueue
@covers("EXT-029", "EXT-014")
@pytest.mark.parametrize("strategy", ["Replace", "Retain"])
def test_transformations_give_their_outputs_beside_the_devices(lab: Lab, strategy: str) -> None:
    """Outputs are charged as well; the input itself, and an output of its name, are not."""
    turned = {"input": CARD, "strategy": strategy, "outputs": {"example.com/credits": "5"}}
    into = {"input": "cpu", "strategy": "Retain", "outputs": {CARD: "7"}}
    lab.start(resources={"transformations": [turned, into]})
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"cpu": "8", "whole-gpus": 8, CARD: 80, "example.com/credits": 80})
    job = queue.submit(a_job(requests={"cpu": "1", CARD: "2"}))

    assert lab.verdict(job) == admitted({"cpu": "1", "whole-gpus": 2, "example.com/credits": 10})
