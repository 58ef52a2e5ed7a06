"""The status of a ClusterQueue: counts, reserved and used quota, and whether it can admit (Kueue 0.19)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import ClaimOf, a_direct_claim, a_job, a_missing_template, a_request, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.manifests import QUEUE_LABEL, marked
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.queue_status import WorkloadCounts


@covers("STATUS-013", "STATUS-015")
@pytest.mark.parametrize(
    ("quota", "counts"),
    [
        pytest.param(2, WorkloadCounts(pending=0, reserving=2, admitted=2), id="all-fit"),
        pytest.param(1, WorkloadCounts(pending=1, reserving=1, admitted=1), id="one-waits"),
        pytest.param(0, WorkloadCounts(pending=2, reserving=0, admitted=0), id="all-wait"),
    ],
)
def test_workloads_are_counted_where_they_stand(lab: Lab, quota: int, counts: WorkloadCounts) -> None:
    """A workload waits, or holds quota and is admitted; it is counted there and nowhere else."""
    queue = lab.queue({"whole-gpus": quota})
    queue.submit(a_job(claims=[a_template(gpu())]))
    queue.submit(a_job(claims=[a_template(gpu())]))

    assert queue.figures.counts == counts


@covers("STATUS-014")
@pytest.mark.parametrize(
    "claim",
    [
        pytest.param(a_direct_claim(), id="direct-claim"),
        pytest.param(a_missing_template(), id="missing-template"),
        pytest.param(a_template(a_request("unmapped.example.com")), id="unmapped-class"),
    ],
)
def test_a_refused_workload_is_not_counted(lab: Lab, claim: ClaimOf) -> None:
    """A rejected workload does not count as pending, unlike one that waits."""
    queue = lab.queue({"whole-gpus": 1})
    queue.submit(a_job(claims=[claim]))
    queue.submit(a_job(claims=[a_template(gpu(2))]))

    assert queue.figures.counts == WorkloadCounts(pending=1)
    assert queue.local_figures.counts == WorkloadCounts(pending=1)


@covers("STATUS-052")
@pytest.mark.parametrize("moves", [pytest.param(False, id="stays"), pytest.param(True, id="moves")])
def test_who_is_refused_later_is_counted_where_it_waited(lab: Lab, moves: bool) -> None:
    """It waits, its template goes, it is refused; and it is not counted elsewhere when it names another queue."""
    queue = lab.queue({"whole-gpus": 0})
    other = lab.queue({"whole-gpus": 0}, namespace=queue.namespace)
    lab.template(a_template(gpu()), "devices", queue.namespace)
    job = queue.submit(a_job(claims=[a_missing_template("devices")]))
    lab.remove_template("devices", queue.namespace)
    lab.retry(job)
    if moves:
        lab.apply(marked(job.made, {QUEUE_LABEL: other.local}))
        lab.settle()

    assert (queue.figures.counts, other.figures.counts) == (WorkloadCounts(pending=1), WorkloadCounts())
    assert (queue.local_figures.counts, other.local_figures.counts) == (WorkloadCounts(pending=1), WorkloadCounts())


@covers("STATUS-016", "STATUS-017")
def test_an_empty_queue_lists_every_flavor_and_resource_with_zero(lab: Lab) -> None:
    """The status lists resources without usage too."""
    large, small = lab.flavor("large"), lab.flavor("small")
    queue = lab.queue(groups=[{large: {"cpu": 4, "whole-gpus": 4}, small: {"cpu": 1, "whole-gpus": 1}}])

    assert queue.figures.reserved == {large: {"cpu": "0", "whole-gpus": "0"}, small: {"cpu": "0", "whole-gpus": "0"}}
    assert queue.figures.used == {large: {"cpu": "0", "whole-gpus": "0"}, small: {"cpu": "0", "whole-gpus": "0"}}


@covers("STATUS-016", "STATUS-017")
def test_quota_of_all_admitted_workloads_is_added_up(lab: Lab) -> None:
    """Devices and CPUs of two workloads; what a third waits for is not listed."""
    flavor = lab.flavor()
    queue = lab.queue(groups=[{flavor: {"cpu": 4, "whole-gpus": 4, "shared-gpus": 4}}])
    queue.submit(a_job(pods=2, cpu="500m", claims=[a_template(gpu())]))
    queue.submit(a_job(cpu="1", claims=[a_template(gpu())]))
    queue.submit(a_job(claims=[a_template(gpu(2))]))

    assert queue.figures.reserved == {flavor: {"cpu": "2", "whole-gpus": "3", "shared-gpus": "0"}}
    assert queue.figures.used == {flavor: {"cpu": "2", "whole-gpus": "3", "shared-gpus": "0"}}


@covers("STATUS-028")
def test_quota_of_a_deleted_workload_disappears(lab: Lab) -> None:
    """Totals go back to what the remaining workload holds, of the ClusterQueue and of the LocalQueue."""
    flavor = lab.flavor()
    queue = lab.queue(groups=[{flavor: {"whole-gpus": 4}}])
    first = queue.submit(a_job(claims=[a_template(gpu(3))]))
    queue.submit(a_job(claims=[a_template(gpu())]))
    assert queue.figures.used == {flavor: {"whole-gpus": "4"}}

    lab.delete(first)

    assert queue.figures.counts == WorkloadCounts(reserving=1, admitted=1)
    assert queue.figures.reserved == {flavor: {"whole-gpus": "1"}}
    assert queue.figures.used == {flavor: {"whole-gpus": "1"}}
    assert queue.local_figures.reserved == {flavor: {"whole-gpus": "1"}}
    assert queue.local_figures.used == {flavor: {"whole-gpus": "1"}}


@covers("STATUS-028")
def test_quota_of_a_finished_workload_disappears(lab: Lab) -> None:
    """A Job that is done holds nothing and is not counted, although its Workload is still there."""
    flavor = lab.flavor()
    queue = lab.queue(groups=[{flavor: {"whole-gpus": 1}}])
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    lab.finish(job)

    assert queue.figures.counts == WorkloadCounts()
    assert queue.figures.reserved == {flavor: {"whole-gpus": "0"}}
    assert queue.figures.used == {flavor: {"whole-gpus": "0"}}
    assert queue.local_figures.counts == WorkloadCounts()
    assert queue.local_figures.reserved == {flavor: {"whole-gpus": "0"}}
    assert queue.local_figures.used == {flavor: {"whole-gpus": "0"}}


@covers("STATUS-020")
def test_a_queue_that_can_admit_is_ready(lab: Lab) -> None:
    """It is active whether or not its quota is used up."""
    queue = lab.queue({"whole-gpus": 1})
    queue.submit(a_job(claims=[a_template(gpu())]))

    assert queue.figures.active == ("True", "Ready")


@covers("STATUS-021")
@pytest.mark.parametrize("policy", ["Hold", "HoldAndDrain"])
def test_a_stopped_queue_is_not_active(lab: Lab, policy: str) -> None:
    """Either policy shows, and is gone when the queue runs again."""
    queue = lab.queue({"whole-gpus": 1}, stopPolicy=policy)
    assert queue.figures.active == ("False", "Stopped")

    queue.change(stopPolicy="None")

    assert queue.figures.active == ("True", "Ready")


@covers("STATUS-022")
def test_a_queue_with_an_unknown_flavor_is_not_active(lab: Lab) -> None:
    """One flavor is missing and one exists; when the missing one is created, the queue is ready."""
    known, unknown = lab.flavor(), lab.name("unknown")
    queue = lab.queue(groups=[{known: {"whole-gpus": 1}, unknown: {"whole-gpus": 1}}])
    assert queue.figures.active == ("False", "FlavorNotFound")

    lab.flavor(name=unknown)
    lab.settle()

    assert queue.figures.active == ("True", "Ready")
