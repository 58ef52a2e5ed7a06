"""Jobs that change after they were made, and what becomes of their Workloads (Kueue 0.19, job reconcile)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.lab import Job, Lab, Queue
from kueue_dra_fixtures.manifests import with_spec
from kueue_dra_fixtures.marks import IN_BOTH, breaks_law, covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, pending
from kueue_dra_ref.target import Ref

THREE = admitted({"whole-gpus": 3})
TWO = admitted({"whole-gpus": 2})


def uid(lab: Lab, job: Job) -> str:
    """Give the Workload of a Job."""
    return str(lab.workload(job)["metadata"]["uid"])


@covers("STATUS-041")
def test_a_job_that_waits_may_ask_for_fewer_pods(lab: Lab) -> None:
    """Its Workload asks for fewer too, and is the same one."""
    queue = lab.queue({"whole-gpus": 2})
    job = queue.submit(a_job(pods=3, claims=[a_template(gpu())]))
    before = uid(lab, job)
    assert lab.verdict(job) == pending(Reason.NEVER_FITS)

    lab.change(job.ref, parallelism=2)

    assert (lab.verdict(job), uid(lab, job)) == (TWO, before)


@covers("STATUS-041")
def test_a_job_that_lost_its_quota_may_ask_for_fewer_pods(lab: Lab) -> None:
    """It is admitted again with those that it asks for by then."""
    queue = lab.queue({"whole-gpus": 3})
    job = queue.submit(a_job(pods=3, claims=[a_template(gpu())]))
    queue.change(stopPolicy="HoldAndDrain")

    lab.change(job.ref, parallelism=2)
    queue.change(stopPolicy="None")

    assert lab.verdict(job) == TWO


@pytest.mark.parametrize(
    "active",
    [
        pytest.param(False, id="stays-inactive", marks=covers("STATUS-064")),
        pytest.param(True, id="active-again", marks=covers("STATUS-065")),
    ],
)
def test_a_deactivated_job_may_ask_for_fewer_pods(lab: Lab, active: bool) -> None:
    """There is quota for them."""
    queue = lab.queue({"whole-gpus": 2})
    job = queue.submit(a_job(pods=3, claims=[a_template(gpu())]))
    lab.activate(job, active=False)

    lab.change(job.ref, parallelism=2)

    assert lab.workload(job)["spec"]["active"] is active
    assert lab.is_suspended(job) is not active


@covers("STATUS-041")
def test_another_node_selector_of_a_job_that_waits_is_not_seen(lab: Lab) -> None:
    """Its Workload was created for the flavor that it may not use any more, and does not change."""
    flavor = lab.flavor(nodeLabels={"zone": "a"})
    queue = lab.queue(groups=[{flavor: {"whole-gpus": 1}}])
    job = queue.submit(a_job(pods=2, claims=[a_template(gpu())]))
    before = lab.workload(job)["spec"]["podSets"]
    template = lab.read(job.ref)["spec"]["template"]

    lab.change(job.ref, template={**template, "spec": {**template["spec"], "nodeSelector": {"zone": "b"}}})

    assert lab.workload(job)["spec"]["podSets"] == before


@covers("STATUS-051")
@pytest.mark.parametrize(
    ("zone", "starts"), [pytest.param("a", True, id="that-node"), pytest.param("b", False, id="another-node")]
)
def test_a_job_starts_on_no_other_nodes_than_those_of_its_flavor(lab: Lab, zone: str, starts: bool) -> None:
    """Its node selector was changed while it waited; the quota of a Job that cannot start goes to the next one."""
    flavor = lab.flavor(nodeLabels={"zone": "a"})
    queue = lab.queue(groups=[{flavor: {"whole-gpus": 1}}])
    first, job, last = (queue.submit(a_job(claims=[a_template(gpu())])) for _ in range(3))
    template = lab.read(job.ref)["spec"]["template"]
    lab.change(job.ref, template={**template, "spec": {**template["spec"], "nodeSelector": {"zone": zone}}})

    lab.finish(first)

    assert lab.is_suspended(job) is not starts
    assert (lab.condition(job, "Finished") == ("True", "FailedToStart")) is not starts
    assert lab.is_suspended(last) is starts


DOMAIN = "kueue.x-k8s.io"
OF_PODS = "labels", f"{DOMAIN}/podset"
OF_WORK = "annotations", f"{DOMAIN}/workload"
UNLABELLED = {"AssignQueueLabelsForPods": False}


def submitted(lab: Lab, queue: Queue, field: str, key: str, value: str) -> Job:
    """Create a Job whose pods have a label or an annotation."""
    made = lab.written(a_job(cpu="1"), queue)
    template = {**made["spec"]["template"], "metadata": {field: {key: value}}}
    return lab.submit_manifest(with_spec(made, template=template))


@covers("STATUS-057")
@pytest.mark.parametrize(
    ("field", "key", "value", "fault"),
    [
        pytest.param(*OF_PODS, "main", "", id="its-pod-set"),
        pytest.param(*OF_PODS, "other", "key=kueue.x-k8s.io/podset, value1=other, value2=main", id="another-pod-set"),
        pytest.param(*OF_WORK, "other", "key=kueue.x-k8s.io/workload, value1=other, value2=", id="another-workload"),
    ],
)
def test_pods_are_not_of_other_work_when_they_start(lab: Lab, field: str, key: str, value: str, fault: str) -> None:
    """A Job that was copied while it ran has these names; the quota goes to the next one if it cannot start."""
    queue = lab.queue({"cpu": 1})
    job = submitted(lab, queue, field, key, value)

    assert lab.is_suspended(job) is bool(fault)
    assert (lab.condition(job, "Finished") == ("True", "FailedToStart")) is bool(fault)
    assert f"conflict for {field}: conflict for {fault}" in lab.message(job, "Finished") or not fault
    assert lab.is_suspended(queue.submit(a_job(cpu="1"))) is not bool(fault)


@covers("STATUS-058")
@owns_kueue
@pytest.mark.parametrize("key", ["local-queue-name", "cluster-queue-name"])
@pytest.mark.parametrize(
    ("gates", "own", "starts"),
    [
        pytest.param({}, True, True, id="its-queues"),
        pytest.param({}, False, False, id="other-queues"),
        pytest.param(UNLABELLED, False, True, id="gate-off"),
    ],
)
def test_pods_are_not_of_other_queues_when_they_start(
    lab: Lab, key: str, gates: Mapping[str, bool], own: bool, starts: bool
) -> None:
    """Kueue labels pods with both queues, unless the gate is off."""
    lab.start(gates=gates)
    queue = lab.queue({"cpu": 1})
    name = queue.local if key.startswith("local") else queue.cluster
    job = submitted(lab, queue, "labels", f"{DOMAIN}/{key}", name if own else "other")

    assert lab.is_suspended(job) is not starts
    assert (lab.condition(job, "Finished") == ("True", "FailedToStart")) is not starts


@covers("STATUS-058")
@pytest.mark.parametrize("starts", [pytest.param(False, id="fits"), pytest.param(True, id="does-not-fit")])
def test_a_cluster_queue_whose_name_fits_no_label_is_not_written(lab: Lab, starts: bool) -> None:
    """Its name has a dot: pods with another one do not contradict it."""
    name = lab.name("cq")
    cluster = lab.cluster_queue({"cpu": 1}, name=f"{name}.a" if starts else name)
    queue = lab.local_queue(cluster)
    job = submitted(lab, queue, "labels", f"{DOMAIN}/cluster-queue-name", "other")

    assert lab.is_suspended(job) is not starts


@covers("STATUS-042")
def test_a_job_that_runs_and_asks_for_fewer_pods_has_another_workload(lab: Lab) -> None:
    """Kueue releases the quota of all its pods, and reserves that of fewer pods."""
    queue = lab.queue({"whole-gpus": 3})
    job = queue.submit(a_job(pods=3, claims=[a_template(gpu())]))
    before = uid(lab, job)
    assert lab.verdict(job) == THREE

    lab.change(job.ref, parallelism=2)

    assert lab.verdict(job) == TWO
    assert uid(lab, job) != before
    assert not lab.is_suspended(job)


@covers("STATUS-044")
def test_a_workload_that_is_deleted_is_made_again(lab: Lab) -> None:
    """The Job goes on when the new one has been admitted."""
    queue = lab.queue({"whole-gpus": 3})
    job = queue.submit(a_job(pods=3, claims=[a_template(gpu())]))
    before = uid(lab, job)

    lab.remove(Ref.of(lab.workload(job)))
    lab.settle()

    assert lab.verdict(job) == THREE
    assert uid(lab, job) != before
    assert not lab.is_suspended(job)


@covers("STATUS-045")
def test_who_loses_its_quota_loses_what_its_flavor_gave_it(lab: Lab) -> None:
    """Its pods may go to other nodes next time."""
    flavor = lab.flavor(nodeLabels={"zone": "a"}, tolerations=[{"key": "spot", "operator": "Exists"}])
    queue = lab.queue(groups=[{flavor: {"whole-gpus": 1}}])
    job = queue.submit(a_job(claims=[a_template(gpu())]))
    assert lab.read(job.ref)["spec"]["template"]["spec"]["nodeSelector"] == {"zone": "a"}

    queue.change(stopPolicy="HoldAndDrain")

    left = lab.read(job.ref)["spec"]["template"]["spec"]
    assert (left.get("nodeSelector") or {}, left.get("tolerations") or []) == ({}, [])


@covers("STATUS-045")
def test_who_loses_its_quota_keeps_the_labels_of_its_pods(lab: Lab) -> None:
    """So do the annotations stay that the Job was created with."""
    queue = lab.queue({"whole-gpus": 1})
    written = lab.written(a_job(claims=[a_template(gpu())]), queue)
    written["spec"]["template"]["metadata"] = {"labels": {"app": "a"}, "annotations": {"note": "b"}}
    job = lab.submit_manifest(written)
    assert not lab.is_suspended(job)

    queue.change(stopPolicy="HoldAndDrain")

    left = lab.read(job.ref)["spec"]["template"]["metadata"]
    assert (left["labels"]["app"], left["annotations"]) == ("a", {"note": "b"})


@covers("STATUS-043")
def test_a_job_without_a_queue_gets_the_default_one(lab: Lab) -> None:
    """It is as if the Job had named it."""
    queue = lab.local_queue(lab.cluster_queue({"whole-gpus": 1}), name="default")
    job = replace(queue, local="").submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(job) == admitted({"whole-gpus": 1})
    assert lab.read(job.ref)["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "default"


def moved(lab: Lab, flavor: str) -> tuple[Job, Queue, Queue]:
    """A Job of three cards that waits in one queue of two and names another one now; the former queue comes first."""
    namespace = lab.namespace()
    former, other = (lab.queue(groups=[{flavor: {"whole-gpus": 2}}], namespace=namespace) for _ in range(2))
    job = former.submit(a_job(pods=3, claims=[a_template(gpu())]))
    lab.move(job, other.local)
    return job, former, other


@pytest.mark.parametrize(
    "counts",
    [
        pytest.param([0, 1], id="in-one", marks=covers("QUEUE-069")),
        pytest.param([1, 1], id="in-both", marks=[covers("QUEUE-067"), IN_BOTH]),
    ],
)
def test_moved_work_with_devices_is_pending(lab: Lab, counts: list[int]) -> None:
    """In the queue that it names now, and up to 0.15 in the one that it has left as well."""
    _, *queues = moved(lab, lab.flavor())

    assert [each.figures.counts.pending for each in queues] == counts


@covers("QUEUE-068")
@IN_BOTH
@breaks_law("metrics agree", "0.14 counts it in the metric of the queue that it has left even then")
def test_moved_work_with_devices_is_admitted_in_the_queue_that_it_has_left(lab: Lab) -> None:
    """Once that has quota, and the other one has not."""
    flavor = lab.flavor()
    job, former, other = moved(lab, flavor)

    former.regroup({flavor: {"whole-gpus": 3}})

    assert lab.workload(job)["status"]["admission"]["clusterQueue"] == former.cluster
    assert [each.figures.counts.reserving for each in (former, other)] == [1, 0]
