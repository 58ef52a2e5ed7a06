"""The admission block and the requests of waiting workloads (Workload Processing Flow, step 7)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_pod_set, a_template, a_workload, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import admitted


@covers("STATUS-001")
def test_the_admission_names_the_cluster_queue(lab: Lab) -> None:
    """The admission names the ClusterQueue that gave the quota."""
    other = lab.queue({"whole-gpus": 1})
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    assert lab.workload(job)["status"]["admission"]["clusterQueue"] == queue.cluster
    assert lab.workload(job)["status"]["admission"]["clusterQueue"] != other.cluster


@covers("STATUS-002", "STATUS-003", "STATUS-004")
def test_each_pod_set_has_its_name_count_flavors_and_usage(lab: Lab) -> None:
    """The total of all pods of a pod set has devices and ordinary resources."""
    flavor = lab.flavor()
    queue = lab.queue(groups=[{flavor: {"cpu": 8, "whole-gpus": 8}}])
    driver = a_pod_set("driver", cpu="1")
    workers = a_pod_set("workers", pods=3, cpu="500m", claims=[a_template(gpu(2))])
    job = lab.submit(a_workload(driver, workers), queue)

    assert lab.workload(job)["status"]["admission"]["podSetAssignments"] == [
        {"name": "driver", "count": 1, "flavors": {"cpu": flavor}, "resourceUsage": {"cpu": "1"}},
        {
            "name": "workers",
            "count": 3,
            "flavors": {"cpu": flavor, "whole-gpus": flavor},
            "resourceUsage": {"cpu": "1500m", "whole-gpus": "6"},
        },
    ]


@covers("STATUS-002", "STATUS-003")
def test_each_resource_has_the_flavor_of_its_own_group(lab: Lab) -> None:
    """Devices may come from another flavor than CPUs do."""
    nodes, devices = lab.flavor("nodes"), lab.flavor("devices")
    queue = lab.queue(groups=[{nodes: {"cpu": 2}}, {devices: {"whole-gpus": 2}}])
    job = queue.submit(a_job(pods=2, cpu="1", claims=[a_template(gpu())]))

    assert lab.workload(job)["status"]["admission"]["podSetAssignments"] == [
        {
            "name": "main",
            "count": 2,
            "flavors": {"cpu": nodes, "whole-gpus": devices},
            "resourceUsage": {"cpu": "2", "whole-gpus": "2"},
        }
    ]


@covers("STATUS-002", "STATUS-003")
def test_the_flavor_is_the_one_that_had_room(lab: Lab) -> None:
    """The status shows the part in the second flavor there."""
    first, second = lab.flavor("first"), lab.flavor("second")
    queue = lab.queue(groups=[{first: {"whole-gpus": 1}, second: {"whole-gpus": 4}}])
    job = queue.submit(a_job(claims=[a_template(gpu(3))]))

    assert lab.workload(job)["status"]["admission"]["podSetAssignments"] == [
        {"name": "main", "count": 1, "flavors": {"whole-gpus": second}, "resourceUsage": {"whole-gpus": "3"}}
    ]
    assert queue.figures.used == {first: {"whole-gpus": "0"}, second: {"whole-gpus": "3"}}


@pytest.mark.parametrize(
    ("asked", "cpu", "shown"),
    [
        pytest.param(3, "500m", {"cpu": "1", "whole-gpus": "6"}, id="devices-too-many"),
        pytest.param(1, "3", {"cpu": "6", "whole-gpus": "2"}, id="cpu-too-much"),
    ],
)
@covers("STATUS-011")
def test_a_waiting_workload_shows_what_it_asks_for(lab: Lab, asked: int, cpu: str, shown: dict[str, str]) -> None:
    """The total of all pods of the set, devices included, whichever of them is short."""
    queue = lab.queue({"cpu": 4, "whole-gpus": 4})
    job = queue.submit(a_job(pods=2, cpu=cpu, claims=[a_template(gpu(asked))]))

    assert lab.requests(job) == [{"name": "main", "resources": shown}]


@covers("STATUS-011")
def test_what_is_asked_for_is_shown_by_pod_set(lab: Lab) -> None:
    """Each pod set of a waiting workload has an entry of its own."""
    queue = lab.queue({"cpu": 4, "whole-gpus": 1})
    workers = a_pod_set("workers", pods=2, cpu="1", claims=[a_template(gpu())])
    job = lab.submit(a_workload(a_pod_set("driver", cpu="1"), workers), queue)

    assert lab.requests(job) == [
        {"name": "driver", "resources": {"cpu": "1"}},
        {"name": "workers", "resources": {"cpu": "2", "whole-gpus": "2"}},
    ]


@covers("STATUS-011")
def test_a_pod_set_without_requests_shows_its_name_only(lab: Lab) -> None:
    """The status of a pod set without requests has no resources, next to a pod set that has to wait."""
    queue = lab.queue({"cpu": 1, "whole-gpus": 1})
    workers = a_pod_set("workers", claims=[a_template(gpu(2))])
    job = lab.submit(a_workload(a_pod_set("driver"), workers), queue)

    assert lab.requests(job) == [{"name": "driver"}, {"name": "workers", "resources": {"whole-gpus": "2"}}]


@covers("STATUS-012")
def test_an_admitted_workload_shows_its_usage_only(lab: Lab) -> None:
    """The requests of a pending workload are removed once quota is reserved."""
    queue = lab.queue({"whole-gpus": 1})
    first = queue.submit(a_job(claims=[a_template(gpu())]))
    second = queue.submit(a_job(claims=[a_template(gpu())]))
    assert lab.requests(second) == [{"name": "main", "resources": {"whole-gpus": "1"}}]

    lab.delete(first)

    assert lab.verdict(second) == admitted({"whole-gpus": 1})
    assert lab.requests(second) is None
