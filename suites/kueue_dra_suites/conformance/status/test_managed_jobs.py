"""The Jobs that Kueue manages: by their queue name, and by the namespaces that the Configuration selects."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.lab import Job, Lab
from kueue_dra_fixtures.manifests import QUEUE_LABEL, marked, with_spec
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible

pytestmark = owns_kueue

SELECTOR = {
    "matchExpressions": [
        {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system", "kueue-system"]},
        {"key": "left-alone", "operator": "DoesNotExist"},
    ]
}
SELECTED: dict[str, Any] = {"managedJobsNamespaceSelector": SELECTOR}
ALL: dict[str, Any] = {**SELECTED, "manageJobsWithoutQueueName": True}
ALONE = {"left-alone": ""}


def run_without_a_queue(lab: Lab, namespace: str, local: str = "") -> Job:
    """A Job that is created running and names no queue, next to a LocalQueue."""
    queue = lab.local_queue(lab.cluster_queue({"cpu": 0}), namespace, name=local)
    written = lab.written(a_job(cpu="1"), queue)
    made = with_spec(marked(written, {QUEUE_LABEL: None}), suspend=False)
    lab.apply(made)
    lab.settle()
    return Job.of(made)


@covers("MANAGE-001")
def test_jobs_without_a_queue_are_managed_too(lab: Lab) -> None:
    """There is no queue to wait in, so it waits for one."""
    lab.start(**ALL)
    job = run_without_a_queue(lab, lab.namespace())

    assert lab.is_suspended(job)
    assert lab.verdict(job) == inadmissible(Reason.QUEUE_MISSING)


@covers("MANAGE-002")
def test_jobs_without_a_queue_are_left_alone_where_nothing_is_selected(lab: Lab) -> None:
    """The Job runs, and Kueue does not count it."""
    lab.start(**ALL)
    job = run_without_a_queue(lab, lab.namespace(**ALONE))

    assert not lab.is_suspended(job)
    assert not lab.workloads(job)


@covers("MANAGE-003")
def test_a_queue_is_of_no_use_where_nothing_is_selected(lab: Lab) -> None:
    """The webhook suspends it, and Kueue does not admit it."""
    lab.start(**SELECTED)
    job = lab.queue({"whole-gpus": 1}, namespace=lab.namespace(**ALONE)).submit(a_job(claims=[a_template(gpu())]))

    assert lab.is_suspended(job)
    assert not lab.workloads(job)


@covers("MANAGE-004")
def test_a_job_is_queued_where_nothing_is_selected(lab: Lab) -> None:
    """Only Jobs without a queue depend on the namespace."""
    lab.start(**SELECTED)
    job = lab.queue({"whole-gpus": 1}, namespace=lab.namespace(**ALONE)).submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@pytest.mark.parametrize(
    "queue",
    [
        pytest.param(None, id="where-selected", marks=covers("MANAGE-005")),
        pytest.param("default", id="anywhere", marks=covers("MANAGE-006")),
    ],
)
def test_the_default_queue_is_given(lab: Lab, queue: str | None) -> None:
    """A Job that gets a queue is suspended, and any other one runs."""
    lab.start(**SELECTED)
    job = run_without_a_queue(lab, lab.namespace(**ALONE), "default")

    assert lab.read(job.ref)["metadata"].get("labels", {}).get(QUEUE_LABEL) == queue
    assert lab.is_suspended(job) is (queue is not None)


@covers("MANAGE-007")
def test_no_queue_is_given(lab: Lab) -> None:
    """No Job runs without a queue where a default queue exists, and a Job that has a queue may leave it."""
    lab.start(gates={"LocalQueueDefaulting": False})
    namespace = lab.namespace()
    job = run_without_a_queue(lab, namespace, "default")
    waiting = lab.local_queue(lab.cluster_queue({"cpu": 0}), namespace).submit(a_job(cpu="1"))

    assert not lab.is_suspended(job)
    assert not lab.denied(marked(waiting.made, {QUEUE_LABEL: None}))
