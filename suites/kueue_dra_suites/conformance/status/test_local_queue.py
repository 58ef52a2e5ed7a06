"""The status of a LocalQueue: its own workloads only, and whether work may be submitted (Kueue 0.19)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.lab import Lab, bare
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.queue_status import WorkloadCounts
from kueue_dra_fixtures.rejections import ACCEPTED, refused
from kueue_dra_fixtures.verdicts import Reason, admitted, pending


@covers("STATUS-018")
def test_a_local_queue_counts_its_own_workloads(lab: Lab) -> None:
    """Two LocalQueues share a ClusterQueue: one holds the quota, the work of the other waits."""
    one = lab.queue({"whole-gpus": 2})
    other = lab.local_queue(one.cluster)
    one.submit(a_job(claims=[a_template(gpu())]))
    one.submit(a_job(claims=[a_template(gpu())]))
    other.submit(a_job(claims=[a_template(gpu())]))

    assert one.local_figures.counts == WorkloadCounts(reserving=2, admitted=2)
    assert other.local_figures.counts == WorkloadCounts(pending=1)
    assert one.figures.counts == WorkloadCounts(pending=1, reserving=2, admitted=2)


@covers("STATUS-018")
def test_a_new_local_queue_counts_no_running_workload_as_pending(lab: Lab) -> None:
    """Its ClusterQueue is stopped, so that no cycle takes the first Workload out of the queue."""
    queue = lab.queue({"cpu": 1})
    for _ in range(2):
        queue.submit(a_job(cpu="1"))
    queue.change(stopPolicy="Hold")
    queue.delete_local()

    again = lab.local_queue(queue.cluster, queue.namespace, name=queue.local)
    lab.settle()

    assert again.local_figures.counts == WorkloadCounts(pending=1, reserving=1, admitted=1)
    assert again.figures.counts == WorkloadCounts(pending=1, reserving=1, admitted=1)


@covers("STATUS-019")
def test_a_local_queue_lists_the_quota_of_its_own_workloads(lab: Lab) -> None:
    """Each LocalQueue lists its share, zeros included; the ClusterQueue lists the sum."""
    flavor = lab.flavor()
    one = lab.queue(groups=[{flavor: {"cpu": 4, "whole-gpus": 4}}])
    other = lab.local_queue(one.cluster, one.namespace)
    one.submit(a_job(cpu="1", claims=[a_template(gpu())]))
    other.submit(a_job(claims=[a_template(gpu(2))]))

    assert one.local_figures.reserved == {flavor: {"cpu": "1", "whole-gpus": "1"}}
    assert one.local_figures.used == {flavor: {"cpu": "1", "whole-gpus": "1"}}
    assert other.local_figures.reserved == {flavor: {"cpu": "0", "whole-gpus": "2"}}
    assert other.local_figures.used == {flavor: {"cpu": "0", "whole-gpus": "2"}}
    assert one.figures.used == {flavor: {"cpu": "1", "whole-gpus": "3"}}


@covers("STATUS-053")
def test_a_local_queue_shows_its_flavors(lab: Lab) -> None:
    """A user who may read only the LocalQueue sees the flavors, in the order in which Kueue tries them."""
    taint = {"key": "vendor", "value": "x", "effect": "NoSchedule"}
    plain = lab.flavor("plain")
    labelled = lab.flavor("labelled", nodeLabels={"kind": "fast"}, nodeTaints=[taint])
    queue = lab.queue(groups=[{labelled: {"whole-gpus": 1, "cpu": 1}, plain: {"whole-gpus": 1, "cpu": 1}}])

    assert lab.read(queue.local_ref)["status"]["flavors"] == [
        {"name": labelled, "resources": ["cpu", "whole-gpus"], "nodeLabels": {"kind": "fast"}, "nodeTaints": [taint]},
        {"name": plain, "resources": ["cpu", "whole-gpus"]},
    ]


@covers("STATUS-023")
def test_a_local_queue_whose_cluster_queue_can_admit_is_ready(lab: Lab) -> None:
    """Work may be submitted."""
    queue = lab.queue({"whole-gpus": 1})

    assert queue.local_figures.active == ("True", "Ready")


@covers("STATUS-023")
@pytest.mark.parametrize("policy", ["Hold", "HoldAndDrain"])
def test_a_stopped_local_queue_is_not_active(lab: Lab, policy: str) -> None:
    """Its ClusterQueue is ready all the same."""
    queue = lab.queue({"whole-gpus": 1}, local={"stopPolicy": policy})
    queue.submit(a_job(claims=[a_template(gpu())]))

    assert queue.local_figures.active == ("False", "Stopped")
    assert queue.local_figures.counts == WorkloadCounts()
    assert queue.figures.active == ("True", "Ready")


@covers("STATUS-023")
def test_a_local_queue_says_that_its_cluster_queue_is_missing_until_it_comes(lab: Lab) -> None:
    """The ClusterQueue may be made after the LocalQueue."""
    queue = lab.local_queue(lab.name("late"))
    assert queue.local_figures.active == ("False", "ClusterQueueDoesNotExist")

    lab.cluster_queue({"whole-gpus": 1}, name=queue.cluster)
    lab.settle()

    assert queue.local_figures.active == ("True", "Ready")


@covers("STATUS-023")
@pytest.mark.parametrize("policy", ["Hold", "HoldAndDrain"])
def test_a_local_queue_says_that_its_cluster_queue_is_stopped(lab: Lab, policy: str) -> None:
    """The LocalQueue itself is not stopped."""
    queue = lab.queue({"whole-gpus": 1}, stopPolicy=policy)

    assert queue.local_figures.active == ("False", "ClusterQueueIsInactive")


@covers("STATUS-023")
def test_a_local_queue_says_that_its_cluster_queue_lacks_a_flavor(lab: Lab) -> None:
    """A ClusterQueue with a flavor that does not exist is inactive too."""
    queue = lab.queue(groups=[{lab.name("unknown"): {"whole-gpus": 1}}])

    assert queue.local_figures.active == ("False", "ClusterQueueIsInactive")


@covers("QUEUE-042")
def test_a_local_queue_is_not_moved_to_another_cluster_queue(lab: Lab) -> None:
    """There is quota in the other one, but the pending workload stays in its queue."""
    queue = lab.queue({"whole-gpus": 0})
    other = lab.cluster_queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_template(gpu())]))
    moved = {**bare(lab.read(queue.local_ref)), "spec": {"clusterQueue": other}}

    assert lab.offer(moved) == refused("spec.clusterQueue: Invalid value")
    assert lab.verdict(job) == pending(Reason.NEVER_FITS)


@covers("QUEUE-060")
def test_a_local_queue_that_names_nothing_in_between_is_moved(lab: Lab) -> None:
    """The rule compares two names; where there is none it has nothing to say."""
    queue = lab.queue({"whole-gpus": 0})
    other = lab.cluster_queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_template(gpu())]))
    stored = bare(lab.read(queue.local_ref))
    lab.apply({**stored, "spec": {}})
    assert lab.verdict(job) == pending(Reason.NEVER_FITS)

    lab.apply({**stored, "spec": {"clusterQueue": other}})

    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@covers("QUEUE-042")
def test_a_local_queue_that_stays_with_its_cluster_queue_is_changed(lab: Lab) -> None:
    """Only the name of the ClusterQueue is for good."""
    queue = lab.queue({"whole-gpus": 1})
    held = {**bare(lab.read(queue.local_ref)), "spec": {"clusterQueue": queue.cluster, "stopPolicy": "Hold"}}

    assert lab.offer(held) == ACCEPTED
