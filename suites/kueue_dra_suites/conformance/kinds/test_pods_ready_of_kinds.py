"""WaitForPodsReady: what tells that the pods of each kind of work are ready (Kueue, integrations)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from kueue_dra_fixtures import frameworks
from kueue_dra_fixtures.aging import aged
from kueue_dra_fixtures.builders import a_pod_set, a_template, gpu, work_of
from kueue_dra_fixtures.lab import Job, Lab, Queue
from kueue_dra_fixtures.manifests import a_condition
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.pod_groups import PodGroup, a_group_of
from kueue_dra_fixtures.pod_owners import an_owner
from kueue_dra_fixtures.verdicts import admitted, evicted
from kueue_dra_ref.api.conditions import condition
from kueue_dra_ref.target import Ref
from kueue_dra_suites.conformance.kinds.rows import RAY_SERVICE, TRAIN_JOB

pytestmark = owns_kueue

CARDS = a_pod_set("workers", pods=2, claims=[a_template(gpu())])
CARD = a_pod_set("workers", claims=[a_template(gpu())])
WAITS, READY = ("False", "WaitForStart"), ("True", "Started")
LOST, RECOVERED = ("False", "WaitForRecovery"), ("True", "Recovered")
FIRST = "config.kueue.x-k8s.io/v1beta1"


def wait_for_pods(lab: Lab, integrations: dict[str, Any], *, base: int = 3600, block: bool = False) -> None:
    """Run a Kueue that waits for pods for ten minutes, and tries work again after an hour."""
    section: dict[str, Any] = {
        "timeout": "10m",
        "recoveryTimeout": "10m",
        "blockAdmission": block,
        "requeuingStrategy": {"backoffBaseSeconds": base},
    }
    if next(iter(lab.behaviour.versions)) == FIRST:
        section["enable"] = True
    lab.start(integrations=integrations, waitForPodsReady=section)


@pytest.fixture(autouse=True)
def every_kind(lab: Lab) -> None:
    """Kueue runs with every framework, and waits for pods."""
    wait_for_pods(lab, frameworks.all_of(lab.behaviour.kueue))


def condition_of(kind: str, *, holds: bool = True) -> dict[str, Any]:
    """A status with a condition."""
    return {"conditions": [a_condition(kind, holds=holds)]}


def app_wrapper(*, quota: bool, ready: bool) -> dict[str, Any]:
    """The status of an AppWrapper: whether it has made its pods, and whether they are ready."""
    return {"conditions": [a_condition("QuotaReserved", holds=quota), a_condition("PodsReady", holds=ready)]}


def jobs(field: str, **counts: int) -> dict[str, Any]:
    """The status of work that has Jobs: how many of its two are ready, and so on."""
    none = dict.fromkeys(("active", "failed", "ready", "succeeded", "suspended"), 0)
    return {field: [{"name": "workers", **none, **counts}]}


def replicas(active: int, kind: str, *, holds: bool = True) -> dict[str, Any]:
    """The status of a job of Kubeflow: its active workers, and a condition."""
    return {"replicaStatuses": {"Worker": {"active": active}}, **condition_of(kind, holds=holds)}


def ray_job(deployment: str, cluster: str) -> dict[str, Any]:
    """The status of a RayJob, with the state of its cluster."""
    return {"jobDeploymentStatus": deployment, "rayClusterStatus": {"state": cluster}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What the controller of a kind reports: two pods of which one is ready, both, one again, and none that is left."""

    one: dict[str, Any]
    both: dict[str, Any]
    lost: dict[str, Any]
    none: dict[str, Any]
    active: bool = True
    """Whether pods are active of which one is not ready."""


KUBEFLOW = Shown(
    one=replicas(1, "Created"),
    both=replicas(2, "Running"),
    lost=replicas(1, "Running", holds=False),
    none=replicas(0, "Running", holds=False),
)
STATUSES = {
    "JobSet": Shown(
        one=jobs("replicatedJobsStatus", ready=1, active=2),
        both=jobs("replicatedJobsStatus", ready=1, succeeded=1, active=1),
        lost=jobs("replicatedJobsStatus", succeeded=1, active=1),
        none=jobs("replicatedJobsStatus", succeeded=1, suspended=1),
    ),
    "TrainJob": Shown(
        one=jobs("jobsStatus", active=1),
        both=jobs("jobsStatus", active=1, ready=1),
        lost=jobs("jobsStatus", active=1),
        none=jobs("jobsStatus", suspended=1),
    ),
    "PyTorchJob": KUBEFLOW,
    "MPIJob": KUBEFLOW,
    "RayCluster": Shown(
        one={"availableWorkerReplicas": 1},
        both={"state": "ready"},
        lost={"state": "failed"},
        none={"state": "suspended"},
        active=False,
    ),
    "RayService": Shown(
        one=condition_of("Ready", holds=False),
        both=condition_of("Ready"),
        lost=condition_of("Ready", holds=False),
        none=condition_of("Ready", holds=False),
        active=False,
    ),
    "RayJob": Shown(
        one=ray_job("Initializing", ""),
        both=ray_job("Running", "ready"),
        lost=ray_job("Running", "failed"),
        none=ray_job("Suspended", "suspended"),
    ),
    "AppWrapper": Shown(
        one=app_wrapper(quota=True, ready=False),
        both=app_wrapper(quota=True, ready=True),
        lost=app_wrapper(quota=True, ready=False),
        none=app_wrapper(quota=False, ready=False),
    ),
}
KINDS = [
    {"TrainJob": TRAIN_JOB, "RayService": RAY_SERVICE}.get(kind, pytest.param(kind, id=kind.lower()))
    for kind in STATUSES
]


def submitted(lab: Lab, kind: str, queue: Queue) -> tuple[Job, Shown]:
    """Submit work of a kind with two pods, and give what its controller reports."""
    return queue.submit(work_of(kind, CARDS)), STATUSES[kind]


@covers("READY-024", "READY-001", "READY-002", "READY-003", "READY-004")
@pytest.mark.parametrize("kind", KINDS)
def test_the_status_of_the_work_tells(lab: Lab, kind: str) -> None:
    """Whether its pods are ready, are lost, and are back."""
    job, shown = submitted(lab, kind, lab.queue({"whole-gpus": 4}))

    for status, reported in ((shown.one, WAITS), (shown.both, READY), (shown.lost, LOST), (shown.both, RECOVERED)):
        lab.report(job, **status)
        assert lab.pods_ready(job) == reported


@covers("READY-005", "READY-009", "STATUS-026")
@pytest.mark.parametrize("kind", KINDS)
def test_work_of_a_kind_is_evicted_when_its_time_is_over(lab: Lab, kind: str) -> None:
    """One of its pods was not ready; its quota is free once its status shows no pods."""
    queue = lab.queue({"whole-gpus": 4})
    job, shown = submitted(lab, kind, queue)
    lab.report(job, **shown.one)

    aged(lab, job, 660)

    assert lab.condition(job, "Evicted") == ("True", "PodsReadyTimeout")
    assert lab.is_suspended(job)
    assert (lab.admission(job) is not None) is shown.active

    lab.report(job, **shown.none)

    assert lab.verdict(job) == evicted("PodsReadyTimeout")
    assert lab.evictions(job) == [("PodsReadyTimeout", "WaitForStart", 1)]
    assert lab.requeues(job) == 1
    assert queue.figures.counts.reserving == 0


@covers("READY-006")
@pytest.mark.parametrize("kind", KINDS)
def test_lost_pods_of_a_kind_give_their_devices_to_others(lab: Lab, kind: str) -> None:
    """The next workload is admitted when the recoveryTimeout is over, and no pod is left."""
    queue = lab.queue({"whole-gpus": 2})
    job, shown = submitted(lab, kind, queue)
    lab.report(job, **shown.both)
    lab.report(job, **shown.lost)
    assert lab.pods_ready(job) == LOST

    aged(lab, job, 660, "PodsReady")
    lab.report(job, **shown.none)

    assert lab.evictions(job) == [("PodsReadyTimeout", "WaitForRecovery", 1)]
    assert lab.admission(job) is None


@covers("PARTIAL-017", "READY-024")
def test_work_with_fewer_reclaimable_pods_stays_ready(lab: Lab) -> None:
    """A JobSet whose Job is not counted as succeeded any more does not count as lost."""
    queue = lab.queue({"whole-gpus": 2})
    job, shown = submitted(lab, "JobSet", queue)
    lab.report(job, **shown.both)

    lab.report(job, **jobs("replicatedJobsStatus", active=2))

    assert lab.pods_ready(job) == READY


def reported(group: PodGroup) -> tuple[str, str]:
    """Status and reason of PodsReady of a group."""
    found = condition(group.workload, "PodsReady")
    assert found is not None
    return found["status"], found["reason"]


def run(lab: Lab, group: PodGroup, *numbers: int) -> None:
    """Act as the kubelet: some pods of a group run, and are ready."""
    for number in numbers:
        pod = lab.read(Ref.of(group.pods[number]))
        lab.apply({**pod, "status": {"phase": "Running", **condition_of("Ready")}})
    lab.settle()


@pytest.fixture
def with_pods(lab: Lab) -> None:
    """Kueue runs with pods."""
    wait_for_pods(lab, frameworks.WITH_PODS)


@covers("READY-024")
@pytest.mark.usefixtures("with_pods")
def test_all_pods_of_a_group_have_to_be_ready(lab: Lab) -> None:
    """One of two is not enough."""
    group = a_group_of(lab, lab.queue({"whole-gpus": 2}), CARDS)
    assert reported(group) == WAITS

    run(lab, group, 0)
    assert reported(group) == WAITS

    run(lab, group, 1)
    assert reported(group) == READY


@covers("READY-025")
@pytest.mark.usefixtures("with_pods")
def test_a_group_is_not_ready_before_all_its_pods_are_there(lab: Lab) -> None:
    """It is admitted with the first of two pods."""
    group = a_group_of(lab, lab.queue({"whole-gpus": 2}), CARD, total=2, fast=True)
    run(lab, group, 0)
    assert reported(group) == WAITS

    group.add(CARD)
    run(lab, group, 1)
    assert reported(group) == READY


@covers("READY-005", "READY-009", "READY-033")
@pytest.mark.usefixtures("with_pods")
def test_a_group_is_evicted_when_its_time_is_over(lab: Lab) -> None:
    """One of its two pods is ready: both are deleted, and pods that replace them wait for the end of the backoff."""
    queue = lab.queue({"whole-gpus": 2})
    group = a_group_of(lab, queue, CARDS)
    run(lab, group, 0)

    aged(lab, Job.of(group.workload), 660)

    assert group.verdict == evicted("PodsReadyTimeout")
    assert queue.figures.counts.reserving == 0
    assert [lab.is_leaving(Ref.of(pod)) for pod in group.pods] == [True, True]

    group.add(CARDS)

    assert group.gated[-2:] == [True, True]
    assert group.verdict == evicted("PodsReadyTimeout")
    assert lab.requeues(Job.of(group.workload)) == 1


@covers("READY-033", "READY-009")
def test_a_group_starts_again_after_the_backoff(lab: Lab) -> None:
    """With the pods that replace the first ones."""
    wait_for_pods(lab, frameworks.WITH_PODS, base=1)
    shape = a_pod_set("workers", pods=2, cpu="1")
    group = a_group_of(lab, lab.queue({"cpu": 2}), shape)
    aged(lab, Job.of(group.workload), 660)

    group.add(shape)

    assert group.verdict == admitted({"cpu": "2"})
    assert group.gated[-2:] == [False, False]
    assert reported(group) == WAITS
    assert lab.requeues(Job.of(group.workload)) == 1


@covers("READY-003", "READY-034")
@pytest.mark.usefixtures("with_pods")
def test_a_pod_that_has_completed_is_not_ready(lab: Lab) -> None:
    """Its group waits for recovery, although the other pod is ready."""
    group = a_group_of(lab, lab.queue({"whole-gpus": 2}), CARDS)
    run(lab, group, 0, 1)
    assert reported(group) == READY

    pod = lab.read(Ref.of(group.pods[0]))
    lab.apply({**pod, "status": {"phase": "Succeeded", **condition_of("Ready", holds=False)}})
    lab.settle()
    assert reported(group) == LOST


@covers("READY-035")
@pytest.mark.usefixtures("with_pods")
def test_a_pod_is_deleted_when_its_time_is_over(lab: Lab) -> None:
    """Its Workload goes with it."""
    queue = lab.queue({"whole-gpus": 1})
    pod = queue.submit(work_of("Pod", CARD))
    assert lab.pods_ready(pod) == WAITS

    aged(lab, pod, 660)

    assert not lab.is_there(pod.ref)
    assert queue.figures.counts.reserving == 0


@covers("READY-035")
@pytest.mark.usefixtures("with_pods")
def test_the_next_pod_of_a_deployment_does_not_wait(lab: Lab) -> None:
    """It has a Workload of its own, which has not been evicted yet."""
    queue = lab.queue({"whole-gpus": 1})
    owner = an_owner(lab, queue, "Deployment", CARD)
    (before,) = owner.workloads

    aged(lab, Job.of(before), 660)
    owner.roll_out()

    (after,) = owner.workloads
    assert owner.verdicts == [admitted({"whole-gpus": 1})]
    assert owner.gated == [False]
    assert after["metadata"]["uid"] != before["metadata"]["uid"]
    assert "requeueState" not in after["status"]


@covers("READY-033", "READY-009", "PODS-035")
@pytest.mark.usefixtures("with_pods")
@pytest.mark.parametrize("kind", ["StatefulSet", "LeaderWorkerSet"])
def test_the_next_pods_of_a_kind_wait_for_the_end_of_the_backoff(lab: Lab, kind: str) -> None:
    """They belong to the Workload that was evicted."""
    queue = lab.queue({"whole-gpus": 1})
    owner = an_owner(lab, queue, kind, CARD)
    (before,) = owner.workloads

    aged(lab, Job.of(before), 660)
    owner.roll_out()

    (after,) = owner.workloads
    assert owner.verdicts == [evicted("PodsReadyTimeout")]
    assert owner.gated == [True]
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["status"]["requeueState"]["count"] == 1
    assert queue.figures.counts.reserving == 0


@covers("READY-012", "READY-024")
def test_a_group_blocks_until_its_pods_are_ready(lab: Lab) -> None:
    """No other work is admitted before."""
    wait_for_pods(lab, frameworks.WITH_PODS, block=True)
    queue = lab.queue({"whole-gpus": 3})
    group = a_group_of(lab, queue, CARDS)
    job = queue.submit(work_of("Job", CARD))
    run(lab, group, 0)
    assert lab.admission(job) is None

    run(lab, group, 1)

    assert lab.verdict(job) == admitted({"whole-gpus": 1})
