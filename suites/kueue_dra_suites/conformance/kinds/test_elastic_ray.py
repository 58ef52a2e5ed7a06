"""Elastic Ray work: the replicas of worker groups change while it runs, by its user or by Ray's autoscaler (Kueue).

No Ray runs here; the cases write the replicas as the autoscaler does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from kueue_dra_fixtures import frameworks
from kueue_dra_fixtures.builders import a_job, a_pod_set, a_template, gpu, work_of
from kueue_dra_fixtures.lab import Job, Lab, Queue
from kueue_dra_fixtures.lab.ground import bare
from kueue_dra_fixtures.manifests import marked, owned
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import admitted
from kueue_dra_ref.api.job_kind import part_at, replaced
from kueue_dra_ref.api.job_kinds import with_suspend
from kueue_dra_ref.api.ray_kinds import CLUSTER_PATHS
from kueue_dra_ref.verdict import Verdict
from kueue_dra_suites.conformance.kinds.elastic import EACH, ELASTIC, GATE, ON, REPLACED, WAITS, of
from kueue_dra_suites.conformance.kinds.rows import RAY_CLUSTER, RAY_SERVICE

pytestmark = owns_kueue

SMALL = a_pod_set("small", pods=2, claims=[EACH])
LARGE = a_pod_set("large", pods=2, claims=[a_template(gpu(2))])


@pytest.fixture(autouse=True)
def every_kind(lab: Lab) -> None:
    """Kueue runs with elastic work of every kind."""
    lab.start(switched={GATE: True}, integrations=frameworks.all_of(lab.behaviour.kueue))


@covers("ELASTIC-001", "ELASTIC-009")
@pytest.mark.parametrize("kind", [RAY_CLUSTER, RAY_SERVICE])
@pytest.mark.parametrize(
    ("replicas", "slices"),
    [
        pytest.param(4, [REPLACED, of(4)], id="fits-exactly"),
        pytest.param(5, [of(2), WAITS], id="one-too-many"),
    ],
)
def test_a_worker_group_grows(lab: Lab, kind: str, replicas: int, slices: Sequence[Verdict]) -> None:
    """Its new workers get devices, or wait while the others run on."""
    queue = lab.queue({"whole-gpus": 4})
    job = _submit(queue, kind)

    _scale(lab, job, replicas)

    assert lab.slices(job) == slices
    assert not lab.is_suspended(job)


@covers("ELASTIC-005")
def test_a_worker_group_shrinks(lab: Lab) -> None:
    """Others get the devices of its former workers."""
    queue = lab.queue({"whole-gpus": 3})
    job = _submit(queue, "RayCluster")
    other = _submit(queue, "RayCluster")
    assert lab.verdict(other) == WAITS

    _scale(lab, job, 1)

    assert lab.slices(job) == [of(2)]
    assert lab.verdict(other) == of(2)


@pytest.mark.parametrize(
    "stops",
    [
        pytest.param(True, id="stops", marks=covers("WORK-053", "ELASTIC-030")),
        pytest.param(False, id="runs", marks=covers("WORK-053", "ELASTIC-031")),
    ],
)
def test_what_ray_makes_when_a_growth_is_deactivated(lab: Lab, stops: bool) -> None:
    """The newest Workload of the RayCluster counts that is not finished; the one before it has its devices."""
    queue = lab.queue({"whole-gpus": 2})
    cluster = _submit(queue, "RayCluster")
    _scale(lab, cluster, 3)
    lab.activate(cluster, False)

    child = with_suspend(lab.written(a_job(claims=[EACH]), queue), False)
    job = lab.submit_manifest(owned(child, lab.read(cluster.ref)))

    assert lab.slices(cluster)[0] == of(2)
    assert lab.is_suspended(job) is stops


@covers("ELASTIC-026")
@pytest.mark.parametrize(
    ("replicas", "slices"),
    [
        pytest.param([1, 3], [REPLACED, of(5)], id="one-left-over"),
        pytest.param([1, 4], [REPLACED, of(6)], id="fits-exactly"),
        pytest.param([1, 5], [of(6), WAITS], id="one-too-many"),
        pytest.param([1, 1], [of(6)], id="both-fewer"),
    ],
)
def test_a_worker_group_grows_by_what_one_before_it_gives_back(
    lab: Lab, replicas: Sequence[int], slices: Sequence[Verdict]
) -> None:
    """A worker of the first group has two devices, and one of the second group has one."""
    job = _submit(lab.queue({"whole-gpus": 6}), "RayCluster", LARGE, SMALL)

    _scale(lab, job, *replicas)

    assert lab.slices(job) == slices


@covers("ELASTIC-029")
def test_a_worker_group_does_not_grow_by_what_one_after_it_gives_back(lab: Lab) -> None:
    """The new size as a whole would fit, in the other order."""
    job = _submit(lab.queue({"whole-gpus": 6}), "RayCluster", SMALL, LARGE)

    _scale(lab, job, 3, 1)

    assert lab.slices(job) == [of(6), WAITS]


@covers("ELASTIC-034")
def test_a_waiting_cluster_gets_one_more_worker_group(lab: Lab) -> None:
    """Its Workload is the same one, with one more pod set."""
    job = _submit(lab.queue({"whole-gpus": 1}), "RayCluster")
    before = lab.workload(job)
    cluster = bare(lab.read(job.ref))
    first, *_ = cluster["spec"]["workerGroupSpecs"]
    groups = [first, {**first, "groupName": "others"}]

    lab.apply({**cluster, "spec": {**cluster["spec"], "workerGroupSpecs": groups}})
    lab.settle()

    after = lab.workload(job)
    assert [each["name"] for each in after["spec"]["podSets"]] == ["head", "workers", "others"]
    assert after["metadata"]["uid"] == before["metadata"]["uid"]


@covers("ELASTIC-006")
@pytest.mark.parametrize("kind", [RAY_CLUSTER, RAY_SERVICE])
def test_the_pods_of_a_cluster_are_gated(lab: Lab, kind: str) -> None:
    """Those of the head, too."""
    job = _submit(lab.queue({"whole-gpus": 2}), kind)

    cluster = part_at(lab.read(job.ref), CLUSTER_PATHS[kind])
    for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
        assert group["template"]["spec"]["schedulingGates"] == [{"name": ELASTIC}]


@covers("ELASTIC-027")
@pytest.mark.parametrize(
    ("group", "place"),
    [
        pytest.param(("workerGroupSpecs", 0), "spec.workerGroupSpecs[0]", id="workers"),
        pytest.param(("headGroupSpec",), "spec.headGroupSpec", id="head"),
    ],
)
def test_a_cluster_keeps_its_gates(lab: Lab, group: tuple[str | int, ...], place: str) -> None:
    """Without them, its pods would run before they have quota."""
    job = _submit(lab.queue({"whole-gpus": 2}), "RayCluster")
    path = ("spec", *group, "template", "spec", "schedulingGates")

    message = lab.denied(replaced(bare(lab.read(job.ref)), path, []))

    assert f"{place}.template.spec.schedulingGates: Invalid value: " in message
    assert message.count("an elastic job must have the ElasticJobSchedulingGate") == 1


@covers("ELASTIC-025")
@pytest.mark.parametrize(
    ("options", "usage"),
    [
        pytest.param({}, {"cpu": "500m", "memory": "512Mi"}, id="as-kuberay-makes-it"),
        pytest.param(
            {"autoscalerOptions": {"resources": {"requests": {"cpu": "1"}}}},
            {"cpu": "1"},
            id="other-resources",
        ),
    ],
)
def test_the_autoscaler_is_charged(lab: Lab, options: Mapping[str, Any], usage: Mapping[str, str]) -> None:
    """It is a container of the head."""
    queue = lab.queue({"whole-gpus": 2, "cpu": "2", "memory": "1Gi"})
    job = _submit(queue, "RayCluster", enableInTreeAutoscaling=True, **options)

    assert lab.verdict(job) == admitted({"whole-gpus": 2, **usage})


def _submit(queue: Queue, kind: str, *groups: Any, **cluster: Any) -> Job:
    """Submit elastic Ray work, of two workers with a device each unless it has other groups."""
    lab = queue.lab
    workers = groups or (a_pod_set("workers", pods=2, claims=[EACH]),)
    written = marked(lab.written(work_of(kind, *workers), queue), annotations=ON)
    path = CLUSTER_PATHS[kind]
    written = replaced(written, path, {**part_at(written, path), **cluster})
    for index, pods in enumerate(workers):
        written = replaced(written, (*path, "workerGroupSpecs", index, "numOfHosts"), 1)
        written = replaced(written, (*path, "workerGroupSpecs", index, "replicas"), pods.count)
    return lab.submit_manifest(written)


def _scale(lab: Lab, job: Job, *replicas: int) -> None:
    """Change the replicas of each worker group, and settle."""
    lab.settle()
    found = bare(lab.read(job.ref))
    for index, count in enumerate(replicas):
        path = (*CLUSTER_PATHS[job.ref.kind], "workerGroupSpecs", index, "replicas")
        found = replaced(found, path, count)
    lab.apply(found)
    lab.settle()
