"""TrainJobs: their pods are those of their runtime, in the size that they ask for (Kueue, TrainJob integration)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kueue_dra_fixtures.builders import GPU, a_job, a_pod_set, a_template, gpu, work_of
from kueue_dra_fixtures.lab import Lab, Queue, bare
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, pending
from kueue_dra_fixtures.work_kinds import ANCESTOR
from kueue_dra_ref.target import Manifest, Ref
from kueue_dra_ref.verdict import Verdict

pytestmark = [owns_kueue, covers("WORK-030")]

CARD = "vendor.example.com/card"
VERSION = "trainer.kubeflow.org/v1alpha1"
MPI: Mapping[str, Any] = {"mpiImplementation": "OpenMPI", "numProcPerNode": 1}


def a_train_job(lab: Lab, queue: Queue, **trainer: Any) -> Manifest:
    """A TrainJob of an initializer with one device and a runtime of two nodes with two devices each."""
    written = lab.written(
        work_of(
            "TrainJob",
            a_pod_set("model", claims=[a_template(gpu())]),
            a_pod_set("node", pods=2, claims=[a_template(gpu(2))]),
        ),
        queue,
    )
    return {**written, "spec": {**written["spec"], "trainer": trainer}} if trainer else written


def runtime_of(lab: Lab, train_job: Manifest) -> Manifest:
    """The runtime of a TrainJob, as it was written."""
    meta = train_job["metadata"]
    ref = Ref(api_version=VERSION, kind="TrainingRuntime", name=meta["name"], namespace=meta["namespace"])
    return bare(lab.read(ref))


@pytest.mark.parametrize(
    ("nodes", "quota", "verdict"),
    [
        pytest.param(None, 5, admitted({"whole-gpus": 5}), id="as-its-runtime"),
        pytest.param(1, 3, admitted({"whole-gpus": 3}), id="fewer"),
        pytest.param(4, 9, admitted({"whole-gpus": 9}), id="fits-exactly"),
        pytest.param(4, 8, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_a_train_job_says_how_many_nodes_train(lab: Lab, nodes: int | None, quota: int, verdict: Verdict) -> None:
    """The runtime says how many there are by default; other steps keep their size."""
    queue = lab.queue({"whole-gpus": quota})
    trainer = {} if nodes is None else {"numNodes": nodes}
    job = lab.submit_manifest(a_train_job(lab, queue, **trainer))

    assert lab.verdict(job) == verdict
    assert lab.is_suspended(job) is (verdict == pending(Reason.NEVER_FITS))


@covers("WORK-041")
@pytest.mark.parametrize(
    ("replicas", "quota", "verdict"),
    [
        pytest.param(1, 5, admitted({"whole-gpus": 5}), id="fits-exactly"),
        pytest.param(1, 4, pending(Reason.NEVER_FITS), id="one-too-many"),
        pytest.param(2, 6, admitted({"whole-gpus": 6}), id="of-two-replicas"),
    ],
)
def test_a_step_has_at_least_one_pod(lab: Lab, replicas: int, quota: int, verdict: Verdict) -> None:
    """The trainer reads a parallelism of 0 as 1."""
    queue = lab.queue({"whole-gpus": quota})
    written = a_train_job(lab, queue)
    runtime = runtime_of(lab, written)
    model = runtime["spec"]["template"]["spec"]["replicatedJobs"][0]
    model["replicas"] = replicas
    model["template"]["spec"]["parallelism"] = 0
    lab.apply(runtime)
    job = lab.submit_manifest(written)

    assert lab.verdict(job) == verdict
    counts = {each["name"]: each["count"] for each in lab.workload(job)["spec"]["podSets"]}
    assert counts == {"model": replicas, "node": 2}


@covers("EXT-027")
@pytest.mark.parametrize("part", ["requests", "limits"])
def test_a_train_job_says_what_each_node_requests(lab: Lab, part: str) -> None:
    """That replaces what the container called node has in the runtime."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"cpu": "8", "whole-gpus": 9})
    written = a_train_job(lab, queue, resourcesPerNode={part: {"cpu": "2", CARD: "1"}})
    runtime = runtime_of(lab, written)
    pods = runtime["spec"]["template"]["spec"]["replicatedJobs"][1]["template"]["spec"]["template"]["spec"]
    pods["containers"][0]["name"] = "node"
    lab.apply(runtime)
    job = lab.submit_manifest(written)

    assert lab.verdict(job) == admitted({"cpu": "4", "whole-gpus": 7})


def test_a_runtime_of_the_cluster_has_the_pods_too(lab: Lab) -> None:
    """It has no namespace, and is what a TrainJob names by default."""
    queue = lab.queue({"whole-gpus": 5})
    written = a_train_job(lab, queue)
    runtime = runtime_of(lab, written)
    name = lab.name("runtime")
    lab.apply({**runtime, "kind": "ClusterTrainingRuntime", "metadata": {"name": name}})
    job = lab.submit_manifest({**written, "spec": {"runtimeRef": {"name": name}}})

    assert lab.verdict(job) == admitted({"whole-gpus": 5})


@pytest.mark.parametrize(
    ("launches", "nodes", "usage"),
    [
        pytest.param(False, 3, 7, id="launcher-and-nodes"),
        pytest.param(True, 3, 5, id="launcher-is-a-node"),
        pytest.param(True, 1, 3, id="one-node"),
    ],
)
def test_the_launcher_of_mpi_may_be_a_node(lab: Lab, launches: bool, nodes: int, usage: int) -> None:
    """The launcher trains; the replicated job called node has the other nodes."""
    queue = lab.queue({"whole-gpus": 9})
    written = a_train_job(lab, queue, numNodes=nodes)
    runtime = runtime_of(lab, written)
    launcher, node = runtime["spec"]["template"]["spec"]["replicatedJobs"]
    launcher["template"]["metadata"] = {"labels": {ANCESTOR: "trainer"}}
    node["template"].pop("metadata", None)
    policy = {"numNodes": 1, "mpi": {**MPI, "runLauncherAsNode": launches}}
    lab.apply({**runtime, "spec": {**runtime["spec"], "mlPolicy": policy}})
    job = lab.submit_manifest(written)

    assert lab.verdict(job) == admitted({"whole-gpus": usage})


@covers("WORK-032")
def test_a_train_job_needs_its_runtime(lab: Lab) -> None:
    """Without it, nothing says which pods it has."""
    queue = lab.queue({"whole-gpus": 5})
    written = a_train_job(lab, queue)
    message = lab.denied({**written, "spec": {"runtimeRef": {"kind": "TrainingRuntime", "name": "missing"}}})

    assert "runtime 'missing' not found" in message


@covers("WORK-031")
@pytest.mark.parametrize(
    ("succeeded", "verdict"),
    [
        pytest.param(0, pending(Reason.NO_QUOTA), id="none"),
        pytest.param(1, admitted({"whole-gpus": 1}), id="the-initializer"),
        pytest.param(2, pending(Reason.NO_QUOTA), id="more-than-there-are"),
    ],
)
def test_a_step_that_succeeded_frees_its_quota(lab: Lab, succeeded: int, verdict: Verdict) -> None:
    """The initializer ends before the nodes train."""
    queue = lab.queue({"whole-gpus": 5})
    held = lab.submit_manifest(a_train_job(lab, queue))
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    lab.report(held, jobsStatus=[_step("model", succeeded=succeeded), _step("node", active=1)])

    assert lab.verdict(job) == verdict
    expected = [{"name": "model", "count": 1}] if succeeded == 1 else []
    assert lab.workload(held)["status"].get("reclaimablePods", []) == expected


@covers("WORK-031")
def test_a_step_that_succeeded_frees_each_of_its_pods(lab: Lab) -> None:
    """The nodes have succeeded, and nothing is known of the initializer."""
    queue = lab.queue({"whole-gpus": 5})
    held = lab.submit_manifest(a_train_job(lab, queue))
    job = queue.submit(a_job(claims=[a_template(gpu(4))]))

    lab.report(held, jobsStatus=[_step("node", succeeded=1)])

    assert lab.verdict(job) == admitted({"whole-gpus": 4})
    assert lab.workload(held)["status"]["reclaimablePods"] == [{"name": "node", "count": 2}]


@covers("STATUS-026")
@pytest.mark.parametrize(("active", "holds"), [(1, True), (0, False)])
def test_an_evicted_train_job_keeps_its_quota_while_pods_run(lab: Lab, active: int, holds: bool) -> None:
    """The quota is free once none of its Jobs is active."""
    queue = lab.queue({"whole-gpus": 5})
    job = lab.submit_manifest(a_train_job(lab, queue))
    lab.report(job, jobsStatus=[_step("node", active=active)])

    lab.activate(job, False)

    assert lab.is_suspended(job)
    assert (lab.admission(job) is not None) is holds


def _step(name: str, **counts: int) -> Mapping[str, Any]:
    none = dict.fromkeys(("active", "failed", "ready", "succeeded", "suspended"), 0)
    return {"name": name, **none, **counts}
