"""Elastic Jobs: which of their pods start (Kueue).

No controller makes pods here; the cases make them as the Job controller does, from the template of the Job.
"""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_clusters.waiting import NotYet, eventually
from kueue_dra_fixtures.lab import Job, Lab
from kueue_dra_fixtures.manifests import owned
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_ref.api.metadata import annotations_of, labels_of
from kueue_dra_ref.api.queued_pods import is_gated
from kueue_dra_ref.target import Manifest
from kueue_dra_suites.conformance.kinds.elastic import ELASTIC, GATE, REPLACED, WAITS, elastic_job, of

pytestmark = owns_kueue


@pytest.fixture(autouse=True)
def every_kind(lab: Lab) -> None:
    """Kueue runs with elastic work."""
    lab.start(switched={GATE: True})


@covers("ELASTIC-018")
def test_the_pods_of_an_admitted_job_start(lab: Lab) -> None:
    """Kueue removes their gate."""
    job = elastic_job(lab.queue({"whole-gpus": 2}), pods=2)

    _make_pods(lab, job, 0, 1)

    assert _started(lab, job) == [0, 1]


@covers("ELASTIC-019")
def test_new_pods_wait_for_the_larger_workload(lab: Lab) -> None:
    """The first two run while the Job may not grow; the others start once it may."""
    queue = lab.queue({"whole-gpus": 4})
    other = elastic_job(queue, pods=2)
    job = elastic_job(queue, pods=2)
    _make_pods(lab, job, 0, 1)
    lab.scale(job, 4)
    assert lab.slices(job) == [of(2), WAITS]

    _make_pods(lab, job, 2, 3)
    assert _started(lab, job) == [0, 1]

    lab.delete(other)

    assert lab.slices(job) == [REPLACED, of(4)]
    assert _started(lab, job) == [0, 1, 2, 3]


@covers("ELASTIC-019")
def test_a_pod_too_many_waits(lab: Lab) -> None:
    """The pods start in the order of their names."""
    job = elastic_job(lab.queue({"whole-gpus": 2}), pods=2)

    _make_pods(lab, job, 2, 1, 0)

    assert _started(lab, job) == [0, 1]


@covers("ELASTIC-019")
def test_no_pod_starts_while_more_run_than_the_job_has(lab: Lab) -> None:
    """The Job controller has yet to delete a pod of a Job that shrank."""
    job = elastic_job(lab.queue({"whole-gpus": 3}), pods=3)
    _make_pods(lab, job, 0, 1, 2)
    lab.scale(job, 2)

    _make_pods(lab, job, 3, 4)

    assert _started(lab, job) == [0, 1, 2]


@covers("ELASTIC-020")
def test_a_pod_that_has_ended_makes_room(lab: Lab) -> None:
    """The Job controller makes another pod, which starts with the devices of the one before."""
    job = elastic_job(lab.queue({"whole-gpus": 2}), pods=2)
    _make_pods(lab, job, 0, 1)

    lab.apply({**_pods(lab, job)[0], "status": {"phase": "Succeeded"}})
    _make_pods(lab, job, 2)

    assert _started_within(lab, job, seconds=3) == [0, 1, 2]


def _started_within(lab: Lab, job: Job, seconds: float) -> list[int]:
    """The indexes of the pods without a gate, once it is all of them; a pod that has ended settles nothing."""
    total = len(_pods(lab, job))

    def all_started() -> list[int]:
        started = _started(lab, job)
        if len(started) < total:
            raise NotYet(f"{len(started)} of {total} pods have started")
        return started

    return eventually(all_started, within=seconds, what="all pods to start")


def _make_pods(lab: Lab, job: Job, *indexes: int) -> None:
    """Act as the Job controller: make pods of the template, count them in the status of the Job, and settle.

    Up to 0.16, Kueue looks for pods to start when the Job changes.
    """
    lab.settle()
    found = lab.read(job.ref)
    pods = len(_pods(lab, job)) + len(indexes)
    counted = {**found, "status": {"active": pods}}
    lab.apply(*(_a_pod(found, index) for index in indexes), counted)
    lab.settle()


def _a_pod(job: Manifest, index: int) -> Manifest:
    template: dict[str, Any] = job["spec"]["template"]
    meta = {
        "name": f"{job['metadata']['name']}-{index}",
        "namespace": job["metadata"]["namespace"],
        "labels": labels_of(template),
        "annotations": annotations_of(template),
    }
    return owned({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": template["spec"]}, job)


def _pods(lab: Lab, job: Job) -> list[Manifest]:
    """The pods of a Job, in the order of their names."""
    found = lab.target.list("v1", "Pod", job.ref.namespace)
    return [each for each in found if each["metadata"]["name"].startswith(f"{job.ref.name}-")]


def _started(lab: Lab, job: Job) -> list[int]:
    """The indexes of the pods without a gate."""
    pods = _pods(lab, job)
    return [int(each["metadata"]["name"].rpartition("-")[2]) for each in pods if not is_gated(each, ELASTIC)]
