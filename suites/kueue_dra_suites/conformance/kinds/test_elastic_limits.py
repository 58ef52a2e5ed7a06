"""Elastic work: where its quota and its pods come apart, and what else one may not expect (Kueue)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures import frameworks
from kueue_dra_fixtures.builders import (
    a_direct_claim,
    a_job,
    a_pod_set,
    a_template,
    gpu,
    work_of,
)
from kueue_dra_fixtures.cohorts import a_cohort
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.lab.ground import bare
from kueue_dra_fixtures.manifests import marked
from kueue_dra_fixtures.marks import breaks_law, covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, finished, inadmissible, pending, unseen
from kueue_dra_ref.api.job_kind import part_at, replaced
from kueue_dra_ref.verdict import Verdict
from kueue_dra_suites.conformance.kinds.elastic import (
    BY_PRIORITY,
    EACH,
    GATE,
    ON,
    REPLACED,
    WAITS,
    elastic_job,
    held,
    of,
)

pytestmark = owns_kueue
RUNS = "nothing runs unreserved"


@pytest.fixture(autouse=True)
def every_kind(lab: Lab) -> None:
    """Kueue runs with elastic work of every kind."""
    lab.start(switched={GATE: True}, integrations=frameworks.all_of(lab.behaviour.kueue))


@breaks_law(RUNS, "Kueue does not suspend the Job")
@covers("ELASTIC-012")
def test_a_job_that_waits_to_grow_is_not_stopped_by_preemption(lab: Lab) -> None:
    """Another Job gets its devices, but it is not suspended: its pods run on without quota."""
    queue = lab.queue({"whole-gpus": 4}, preemption=BY_PRIORITY)
    job = elastic_job(queue, pods=3)
    lab.scale(job, 5)

    high = queue.submit(a_job(pods=2, claims=[EACH], priority=5))

    assert lab.verdict(high) == of(2)
    assert lab.slices(job) == [REPLACED, pending(Reason.NEVER_FITS)]
    assert not lab.is_suspended(job)
    assert held(queue) == 2


@breaks_law(RUNS, "Kueue does not suspend the Job")
@covers("ELASTIC-013")
def test_a_preempted_workload_counts_as_replaced(lab: Lab) -> None:
    """The larger one that waits has not replaced it."""
    queue = lab.queue({"whole-gpus": 4}, preemption=BY_PRIORITY)
    job = elastic_job(queue, pods=3)
    lab.scale(job, 5)

    queue.submit(a_job(pods=2, claims=[EACH], priority=5))

    assert lab.slices(job)[0] == finished("WorkloadSliceReplaced")


@covers("ELASTIC-012", "ELASTIC-031")
def test_a_growth_that_is_deactivated_is_out_of_sync(lab: Lab) -> None:
    """The Job runs on as it is, until its size changes again."""
    queue = lab.queue({"whole-gpus": 4})
    job = elastic_job(queue, pods=3)
    lab.scale(job, 5)

    lab.activate(job, False)

    assert lab.slices(job) == [of(3), finished("OutOfSync")]
    assert not lab.is_suspended(job)

    lab.scale(job, 4)

    assert of(4) in lab.slices(job)


@covers("ELASTIC-030")
def test_a_job_whose_growth_is_deactivated_is_suspended(lab: Lab) -> None:
    """It keeps the quota of its first Workload."""
    queue = lab.queue({"whole-gpus": 4})
    job = elastic_job(queue, pods=3)
    lab.scale(job, 5)

    lab.activate(job, False)

    assert lab.is_suspended(job)
    assert held(queue) == 3


@covers("ELASTIC-032")
def test_a_job_that_has_grown_does_not_start_again(lab: Lab) -> None:
    """After preemption it stays suspended, though there are devices again."""
    queue = lab.queue({"whole-gpus": 4}, preemption=BY_PRIORITY)
    job = elastic_job(queue, pods=2)
    lab.scale(job, 3)
    high = queue.submit(a_job(pods=2, claims=[EACH], priority=5))
    assert lab.slices(job) == [REPLACED, WAITS]

    lab.finish(high)

    assert lab.slices(job)[1:] == [finished("FailedToStart")] * 2
    assert lab.is_suspended(job)
    assert held(queue) == 0


@covers("ELASTIC-021")
def test_a_job_that_completes_while_it_waits_to_grow_keeps_its_quota(lab: Lab) -> None:
    """Only the Workload that waits is finished; the devices are free once the Job is deleted."""
    queue = lab.queue({"whole-gpus": 4})
    job = elastic_job(queue, pods=3)
    lab.scale(job, 5)
    other = queue.submit(a_job(pods=2, claims=[EACH]))

    lab.finish(job)

    assert lab.slices(job) == [of(3), finished("Succeeded")]
    assert lab.verdict(other) == WAITS

    lab.delete(job)

    assert lab.verdict(other) == of(2)


@covers("QUEUE-007", "ELASTIC-007")
def test_a_job_that_has_grown_completes(lab: Lab) -> None:
    """Its last Workload is finished, and its devices are free."""
    queue = lab.queue({"whole-gpus": 4})
    job = elastic_job(queue, pods=2)
    lab.scale(job, 4)

    lab.finish(job)

    assert lab.slices(job) == [REPLACED, finished("Succeeded")]
    assert held(queue) == 0


@covers("ELASTIC-011")
def test_a_growth_takes_what_another_queue_has_taken(lab: Lab) -> None:
    """Eight of six devices are reserved: the cycle counts off twice what the Job has."""
    cohort = a_cohort(lab)
    grows, first, third = (cohort.queue({"whole-gpus": 2}) for _ in range(3))
    job = elastic_job(grows, pods=2)
    blocker = third.submit(a_job(pods=4, claims=[EACH]))
    other = first.submit(a_job(pods=4, claims=[EACH], priority=5))
    lab.scale(job, 4)
    assert lab.slices(job) == [of(2), WAITS]
    assert lab.verdict(other) == WAITS

    lab.finish(blocker)

    assert lab.verdict(other) == of(4)
    assert lab.slices(job) == [REPLACED, of(4)]


@covers("ELASTIC-014")
def test_a_waiting_growth_and_its_predecessor_get_another_priority(lab: Lab) -> None:
    """Otherwise one of them would be preempted by work that the other one precedes."""
    queue = lab.queue({"whole-gpus": 3})
    job = elastic_job(queue, pods=2, priority=1)
    lab.scale(job, 4)

    lab.prefer(job, 5)

    assert [each["spec"]["priority"] for each in lab.workloads(job)] == [5, 5]


@covers("ELASTIC-039")
def test_elastic_work_keeps_the_priority_that_it_had(lab: Lab) -> None:
    """Its Job names a higher class later."""
    job = elastic_job(lab.queue({"whole-gpus": 3}), pods=2, priority=1)

    lab.prefer(job, 5)

    assert [each["spec"]["priority"] for each in lab.workloads(job)] == [1]


@covers("ELASTIC-022")
@pytest.mark.parametrize("first", [pytest.param(1, id="once"), pytest.param(2, id="twice")])
def test_a_growth_without_its_template_waits(lab: Lab, first: int) -> None:
    """The Job runs on with the devices that it has."""
    queue = lab.queue({"whole-gpus": 6})
    job = elastic_job(queue, pods=2)
    for pods in range(1, first):
        lab.scale(job, 2 + pods)
    (claim,) = lab.read(job.ref)["spec"]["template"]["spec"]["resourceClaims"]
    lab.remove_template(claim["resourceClaimTemplateName"], queue.namespace)

    lab.scale(job, 5)

    assert lab.slices(job)[-2:] == [of(1 + first), inadmissible(Reason.NO_TEMPLATE)]
    assert not lab.is_suspended(job)


@covers("ELASTIC-022")
def test_a_growth_whose_class_is_not_mapped_any_more_waits(lab: Lab) -> None:
    """Kueue has started with another mapping since."""
    queue = lab.queue({"whole-gpus": 6}, classes={"whole-gpus": ["gpu.example.com"]})
    job = elastic_job(queue, pods=2)
    options: dict[str, Any] = {"integrations": frameworks.all_of(lab.behaviour.kueue)}
    lab.start({"whole-gpus": ["another.example.com"]}, switched={GATE: True}, **options)

    lab.scale(job, 3)

    assert lab.slices(job) == [of(2), inadmissible(Reason.UNMAPPED)]
    assert not lab.is_suspended(job)


@covers("ELASTIC-004")
@pytest.mark.parametrize("pods", [pytest.param(1, id="fewer"), pytest.param(4, id="more")])
def test_an_elastic_job_with_a_direct_claim_is_inadmissible(lab: Lab, pods: int) -> None:
    """With any number of pods."""
    queue = lab.queue({"whole-gpus": 6})
    job = elastic_job(queue, pods=2, claims=[a_direct_claim()])

    lab.scale(job, pods)

    assert lab.slices(job) == [inadmissible(Reason.DIRECT_CLAIM)]


@covers("ELASTIC-009")
@pytest.mark.parametrize(
    ("cpu", "grows"),
    [
        pytest.param("4", True, id="both-fit"),
        pytest.param("3", False, id="one-cpu-too-few"),
    ],
)
def test_a_growth_needs_cpu_and_devices(lab: Lab, cpu: str, grows: bool) -> None:
    """Each resource is counted for the new pods."""
    queue = lab.queue({"whole-gpus": 4, "cpu": cpu})
    job = elastic_job(queue, pods=2, cpu="1")

    lab.scale(job, 4)

    both = [admitted({"cpu": pods, "whole-gpus": pods}) for pods in (2, 4)]
    assert lab.slices(job) == ([REPLACED, both[1]] if grows else [both[0], WAITS])


@covers("ELASTIC-009", "EXT-027")
@pytest.mark.parametrize(
    ("quota", "slices"),
    [
        pytest.param(6, [REPLACED, of(6)], id="fits-exactly"),
        pytest.param(5, [of(4), WAITS], id="one-too-many"),
    ],
)
def test_devices_that_a_growth_requests_by_name_are_counted(lab: Lab, quota: int, slices: list[Verdict]) -> None:
    """Each of three pods requests two, of which two pods have theirs."""
    lab.stands_for("example.com/card", "gpu.example.com")
    queue = lab.queue({"whole-gpus": quota})
    job = elastic_job(queue, pods=2, claims=[], requests={"example.com/card": "2"})

    lab.scale(job, 3)

    assert lab.slices(job) == slices


@covers("PARTIAL-004", "ELASTIC-005")
def test_ended_pods_of_a_job_that_has_grown_give_devices_back(lab: Lab) -> None:
    """Once fewer pods are left than run in parallel."""
    queue = lab.queue({"whole-gpus": 4})
    job = elastic_job(queue, pods=2, completions=5)
    lab.scale(job, 4)

    lab.run(job, pods=3, succeeded=2)

    assert held(queue) == 3


@covers("ELASTIC-024")
@pytest.mark.parametrize(
    ("succeeded", "left"),
    [
        pytest.param(0, 3, id="none"),
        pytest.param(1, 0, id="one-of-three"),
    ],
)
def test_more_parallel_pods_than_completions_give_too_much_back(lab: Lab, succeeded: int, left: int) -> None:
    """After the first of three pods has ended the other two run without quota: Kueue starts counting at parallelism."""
    queue = lab.queue({"whole-gpus": 4})
    job = elastic_job(queue, pods=5, completions=3)
    assert lab.slices(job) == [of(3)]

    lab.run(job, pods=3 - succeeded, succeeded=succeeded)

    assert held(queue) == left


@covers("ELASTIC-023")
def test_a_waiting_cluster_is_charged_for_its_former_pods(lab: Lab) -> None:
    """Its workers request two devices now, and Kueue admits it for one each."""
    queue = lab.queue({"whole-gpus": 3})
    other = queue.submit(a_job(pods=3, claims=[EACH]))
    written = lab.written(work_of("RayCluster", a_pod_set("workers", pods=2, claims=[EACH])), queue)
    job = lab.submit_manifest(marked(written, annotations=ON))
    more = lab.written(work_of("RayCluster", a_pod_set("workers", pods=2, claims=[a_template(gpu(2))])), queue)
    path = ("spec", "workerGroupSpecs", 0, "template", "spec", "resourceClaims")

    lab.apply(replaced(bare(lab.read(job.ref)), path, part_at(more, path)))
    lab.settle()
    lab.finish(other)

    assert lab.slices(job) == [of(2)]


@covers("ELASTIC-028")
def test_an_equal_job_that_does_not_fit_keeps_a_growth_out(lab: Lab) -> None:
    """Four pods do not fit, so Kueue does not try the four pods of which two run already."""
    queue = lab.queue({"whole-gpus": 4})
    job = elastic_job(queue, pods=2)
    queue.submit(a_job(pods=4, claims=[EACH]))

    lab.scale(job, 4)

    assert lab.slices(job) == [of(2), unseen()]
