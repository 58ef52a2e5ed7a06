"""Workloads that another client creates for a Job, which names them by a label (Kueue; text silent)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import Work, a_job, a_pod_set, a_template, a_workload, gpu
from kueue_dra_fixtures.lab import Job, Lab, Queue
from kueue_dra_fixtures.manifests import KUEUE, marked
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import admitted, finished
from kueue_dra_ref.api.jobs import JOB_UID
from kueue_dra_ref.target import Manifest, Ref
from kueue_dra_ref.verdict import Verdict

PREBUILT = "kueue.x-k8s.io/prebuilt-workload-name"
CARD = a_job(claims=[a_template(gpu())])
CARDS = a_job(pods=2, claims=[a_template(gpu())])


def naming(lab: Lab, queue: Queue, name: str, work: Work = CARD) -> Manifest:
    """A Job that names a Workload."""
    return marked(lab.written(work, queue), labels={PREBUILT: name})


def build_for(lab: Lab, queue: Queue, job: Manifest, name: str) -> None:
    """Create a Workload as Kueue would make it of a Job."""
    labels = {key: value for key, value in job["metadata"]["labels"].items() if key != PREBUILT}
    like = lab.submit_manifest({**job, "metadata": {**job["metadata"], "name": lab.name("like"), "labels": labels}})
    spec = lab.workload(like)["spec"]
    lab.delete(like)
    meta = {"name": name, "namespace": queue.namespace}
    lab.apply({"apiVersion": KUEUE, "kind": "Workload", "metadata": meta, "spec": spec})
    lab.settle()


@covers("MK-018")
def test_a_job_takes_the_workload_that_it_names(lab: Lab) -> None:
    """It owns it, runs with its quota, and ends it."""
    queue, name = lab.queue({"whole-gpus": 1}), lab.name("built")
    made = naming(lab, queue, name)
    build_for(lab, queue, made, name)

    job = lab.submit_manifest(made)

    (workload,) = lab.workloads(job)
    assert workload["metadata"]["name"] == name
    (owner,) = workload["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["controller"]) == ("Job", job.ref.name, True)
    assert lab.verdict(job) == admitted({"whole-gpus": 1})
    assert not lab.is_suspended(job)

    lab.finish(job)

    assert lab.verdict(job) == finished("Succeeded")
    assert queue.figures.counts.reserving == 0


@covers("MK-018")
def test_a_job_waits_for_the_workload_that_it_names(lab: Lab) -> None:
    """Kueue makes none for it."""
    queue = lab.queue({"whole-gpus": 1})

    job = lab.submit_manifest(naming(lab, queue, lab.name("built")))

    assert lab.is_suspended(job)
    assert not lab.workloads(job)


@covers("MK-018")
def test_two_jobs_name_a_workload(lab: Lab) -> None:
    """The first one takes it, and the second one waits."""
    queue, name = lab.queue({"whole-gpus": 2}), lab.name("built")
    made = naming(lab, queue, name)
    build_for(lab, queue, made, name)
    first = lab.submit_manifest(made)

    second = lab.submit_manifest(naming(lab, queue, name))

    assert lab.verdict(first) == admitted({"whole-gpus": 1})
    assert lab.is_suspended(second)
    assert not lab.workloads(second)


@covers("MK-018")
def test_a_job_names_a_workload_with_other_pods(lab: Lab) -> None:
    """The Workload ends, and the Job never starts."""
    queue, name = lab.queue({"whole-gpus": 2}), lab.name("built")
    build_for(lab, queue, naming(lab, queue, name), name)

    job = lab.submit_manifest(naming(lab, queue, name, CARDS))

    assert lab.verdict(job) == finished("OutOfSync")
    assert lab.message(job, "Finished") == "The prebuilt workload is out of sync with its user job"
    assert lab.is_suspended(job)


def running(lab: Lab) -> tuple[Queue, Job]:
    """A Job of two pods that runs with the Workload that it names."""
    queue, name = lab.queue({"whole-gpus": 2}), lab.name("built")
    made = naming(lab, queue, name, CARDS)
    build_for(lab, queue, made, name)
    job = lab.submit_manifest(made)
    assert lab.verdict(job) == admitted({"whole-gpus": 2})
    return queue, job


@covers("MK-056")
def test_a_job_changes_while_it_runs_with_the_workload_that_it_names(lab: Lab) -> None:
    """The Workload ends, the Job is suspended, and the devices are free."""
    queue, job = running(lab)

    lab.scale(job, 1)

    assert lab.verdict(job) == finished("OutOfSync")
    assert lab.is_suspended(job)
    assert queue.figures.counts.reserving == 0


@covers("MK-056")
def test_the_workload_goes_that_a_job_runs_with(lab: Lab) -> None:
    """A client deletes it: the Job is suspended, and waits for another one of that name."""
    queue, job = running(lab)

    lab.remove(Ref.of(lab.workload(job)))

    assert lab.is_suspended(job)
    assert not lab.workloads(job)
    assert queue.figures.counts.reserving == 0


@covers("MK-056")
def test_the_workload_goes_of_a_job_that_has_finished(lab: Lab) -> None:
    """There is nothing left to suspend."""
    _, job = running(lab)
    lab.finish(job)

    lab.remove(Ref.of(lab.workload(job)))

    assert not lab.is_suspended(job)
    assert not lab.workloads(job)


@covers("STATUS-056")
@pytest.mark.parametrize(
    ("labels", "verdict"),
    [
        pytest.param({JOB_UID: "some"}, finished("OwnerNotFound"), id="of-a-job"),
        pytest.param({JOB_UID: ""}, admitted({"cpu": 1}), id="of-no-job"),
        pytest.param({}, admitted({"cpu": 1}), id="not-labelled"),
    ],
)
def test_a_workload_has_lost_its_owner(lab: Lab, labels: dict[str, str], verdict: Verdict) -> None:
    """One that was made for a Job waits for nothing; a client that copies it without its owner gets no quota."""
    queue = lab.queue({"cpu": 1})
    made = lab.written(a_workload(a_pod_set("main", cpu="1")), queue)

    job = lab.submit_manifest(marked(made, labels))

    assert lab.verdict(job) == verdict
    assert lab.is_suspended(queue.submit(a_job(cpu="1"))) is (verdict == admitted({"cpu": 1}))


@covers("STATUS-056")
def test_a_finished_workload_may_lose_its_owner(lab: Lab) -> None:
    """It is finished for the reason that it had."""
    queue = lab.queue({"cpu": 1})
    made = lab.written(a_workload(a_pod_set("main", cpu="1")), queue)
    job = lab.submit_manifest(made)
    lab.end(job)

    lab.apply(marked(made, {JOB_UID: "some"}))
    lab.settle()

    assert lab.verdict(job) == finished("Case")
