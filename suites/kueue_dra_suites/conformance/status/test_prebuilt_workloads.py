"""Workloads that another client creates for a Job, which names them by a label (Kueue; text silent)."""

from __future__ import annotations

from kueue_dra_fixtures.builders import Work, a_job, a_template, gpu
from kueue_dra_fixtures.lab import Lab, Queue
from kueue_dra_fixtures.manifests import KUEUE, marked
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import admitted, finished
from kueue_dra_ref.target import Manifest

PREBUILT = "kueue.x-k8s.io/prebuilt-workload-name"
CARD = a_job(claims=[a_template(gpu())])


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

    job = lab.submit_manifest(naming(lab, queue, name, a_job(pods=2, claims=[a_template(gpu())])))

    assert lab.verdict(job) == finished("OutOfSync")
    assert lab.message(job, "Finished") == "The prebuilt workload is out of sync with its user job"
    assert lab.is_suspended(job)
