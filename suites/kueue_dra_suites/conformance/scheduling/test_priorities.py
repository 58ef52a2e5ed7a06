"""Priority classes that come late, and that change (Kueue 0.19, job reconcile and priority class controller)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.manifests import KUEUE
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, pending
from kueue_dra_ref.target import Ref

LOWER = {"withinClusterQueue": "LowerPriority"}
ONE = admitted({"whole-gpus": 1})
WAITS = pending(Reason.NO_QUOTA)


@covers("PRIORITY-001")
def test_a_job_waits_for_its_priority_class(lab: Lab) -> None:
    """There is quota, and no Workload that could have it."""
    queue, name = lab.queue({"whole-gpus": 1}), lab.name("class")
    job = queue.submit(a_job(claims=[a_template(gpu())], spec={"priorityClassName": name}))
    assert lab.workloads(job) == []

    lab.apply({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": 5})
    lab.retry(job)

    assert lab.verdict(job) == ONE


@covers("PRIORITY-001")
def test_a_priority_class_without_a_value(lab: Lab) -> None:
    """Its value is 0."""
    queue, name = lab.queue({"whole-gpus": 1}), lab.name("class")
    lab.apply({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}})

    job = queue.submit(a_job(claims=[a_template(gpu())], spec={"priorityClassName": name}))

    assert lab.workload(job)["spec"]["priority"] == 0


@owns_kueue
@pytest.mark.parametrize(
    "switched",
    [
        pytest.param({"WorkloadPriorityClassDefaulting": True}, id="gate-on", marks=covers("PRIORITY-006")),
        pytest.param({}, id="by-default", marks=covers("GATE-026")),
    ],
)
def test_a_job_gets_the_default_class(lab: Lab, switched: dict[str, bool]) -> None:
    """A Job without a class gets the default one and comes first; a named class stays."""
    lab.start(switched=switched)
    queue = lab.queue({"whole-gpus": 1})
    first, named = (queue.submit(a_job(priority=p, claims=[a_template(gpu())])) for p in (9, 5))
    kind = {"apiVersion": KUEUE, "kind": "WorkloadPriorityClass", "metadata": {"name": "default"}}
    lab.apply({**kind, "value": 7})
    last = queue.submit(a_job(claims=[a_template(gpu())]))

    lab.finish(first)

    assert [lab.verdict(named), lab.verdict(last)] == [WAITS, ONE]


@covers("PRIORITY-002")
def test_who_waits_goes_along_with_the_class_that_its_job_names(lab: Lab) -> None:
    """The last in line is the first once its Job names a higher class."""
    queue = lab.queue({"whole-gpus": 1})
    first = queue.submit(a_job(claims=[a_template(gpu())]))
    second, third = (queue.submit(a_job(priority=p, claims=[a_template(gpu())])) for p in (5, 1))

    lab.prefer(third, 9)
    lab.finish(first)

    assert [lab.verdict(second), lab.verdict(third)] == [WAITS, ONE]


@covers("PRIORITY-002")
def test_the_line_changes_while_its_queue_is_stopped(lab: Lab) -> None:
    """The last in line is the first once its Job names a higher class, although no workload is tried."""
    queue = lab.queue({"cpu": "1"})
    queue.change(stopPolicy="Hold")
    first, last = (queue.submit(a_job(priority=p, cpu="1")) for p in (5, 1))
    lab.prefer(last, 9)

    queue.change(stopPolicy="None")

    assert [lab.verdict(first), lab.verdict(last)] == [WAITS, admitted({"cpu": 1})]


@covers("PRIORITY-002", "PRIORITY-005")
def test_who_runs_goes_along_with_the_class_that_its_job_names(lab: Lab) -> None:
    """A workload that could not preempt before is tried again, and preempts."""
    queue = lab.queue({"whole-gpus": 1}, preemption=LOWER)
    running = queue.submit(a_job(priority=5, claims=[a_template(gpu())]))
    waiting = queue.submit(a_job(priority=4, claims=[a_template(gpu())]))
    assert lab.verdict(waiting) == WAITS

    lab.prefer(running, 1)

    assert lab.verdict(waiting) == ONE


@covers("PRIORITY-003")
def test_who_waits_gets_its_first_class(lab: Lab) -> None:
    """A Job that named none preempts once it names a high one."""
    queue = lab.queue({"whole-gpus": 1}, preemption=LOWER)
    queue.submit(a_job(priority=5, claims=[a_template(gpu())]))
    waiting = queue.submit(a_job(claims=[a_template(gpu())]))
    assert lab.verdict(waiting) == WAITS

    lab.prefer(waiting, 9)

    assert lab.verdict(waiting) == ONE


@covers("PRIORITY-004")
@pytest.mark.parametrize(
    ("changed", "value"), [pytest.param(4, 9, id="of-who-waits"), pytest.param(5, 1, id="of-who-runs")]
)
def test_workloads_have_the_value_that_their_class_has_now(lab: Lab, changed: int, value: int) -> None:
    """The one that waits preempts when its class rises above the other's, or the other's falls below its own."""
    queue = lab.queue({"whole-gpus": 1}, preemption=LOWER)
    queue.submit(a_job(priority=5, claims=[a_template(gpu())]))
    waiting = queue.submit(a_job(priority=4, claims=[a_template(gpu())]))
    assert lab.verdict(waiting) == WAITS

    lab.revalue(changed, value)

    assert lab.verdict(waiting) == ONE


@covers("PRIORITY-007")
@pytest.mark.parametrize(
    ("changed", "value"), [pytest.param(4, 9, id="of-who-waits"), pytest.param(5, 1, id="of-who-runs")]
)
def test_workloads_have_the_value_that_their_class_had(lab: Lab, changed: int, value: int) -> None:
    """The one that waits goes on waiting, whichever class has another value now."""
    queue = lab.queue({"whole-gpus": 1}, preemption=LOWER)
    jobs = [queue.submit(a_job(priority=priority, claims=[a_template(gpu())])) for priority in (5, 4)]

    lab.revalue(changed, value)

    assert [lab.verdict(job) for job in jobs] == [ONE, WAITS]
    assert [lab.workload(job)["spec"]["priority"] for job in jobs] == [5, 4]


@covers("PRIORITY-008")
def test_workloads_keep_the_value_of_a_class_that_is_gone(lab: Lab) -> None:
    """The one that waits still preempts nothing."""
    queue = lab.queue({"whole-gpus": 1}, preemption=LOWER)
    jobs = [queue.submit(a_job(priority=priority, claims=[a_template(gpu())])) for priority in (5, 4)]

    lab.remove(Ref(api_version=KUEUE, kind="WorkloadPriorityClass", name=lab.priority_class(5)))
    lab.settle()

    assert [lab.verdict(job) for job in jobs] == [ONE, WAITS]
    assert [lab.workload(job)["spec"]["priority"] for job in jobs] == [5, 4]
