"""Kinds of work: objects that the controller of other work makes are not queued by themselves (Kueue, jobframework)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kueue_dra_fixtures import frameworks
from kueue_dra_fixtures.builders import Work, a_pod_set, a_template, gpu, work_of
from kueue_dra_fixtures.lab import Job, Lab, Queue
from kueue_dra_fixtures.manifests import QUEUE_LABEL, marked, owned
from kueue_dra_fixtures.marks import breaks_law, covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, pending, unseen
from kueue_dra_ref.api.job_kinds import JOB_KINDS, with_suspend
from kueue_dra_ref.target import Manifest, Ref
from kueue_dra_suites.conformance.kinds.elastic import GATE, ON

pytestmark = owns_kueue

OWNERS = (
    pytest.param("JobSet", "Job", id="job-of-a-jobset"),
    pytest.param("MPIJob", "Job", id="launcher-of-an-mpijob"),
    pytest.param("RayJob", "RayCluster", id="cluster-of-a-rayjob"),
    pytest.param("RayJob", "Job", id="submitter-of-a-rayjob"),
    pytest.param("RayService", "RayCluster", id="cluster-of-a-rayservice", marks=covers("WORK-011")),
)
"""Work, and what its controller makes of it."""
RUNS = breaks_law("nothing runs unreserved", "Kueue leaves it to the pods of elastic work to wait, which have a gate")


def work(kind: str) -> Work:
    """Two pods with two devices each."""
    return work_of(kind, a_pod_set("workers", pods=2, claims=[a_template(gpu(2))]))


def child_of(lab: Lab, queue: Queue, kind: str, owner: Ref, *, named: bool = True) -> Manifest:
    """What a controller makes: with the labels of its owner, as KubeRay copies them."""
    written = with_suspend(lab.written(work(kind), queue), False)
    child = owned(written, lab.read(owner))
    return child if named else marked(child, {QUEUE_LABEL: None})


def unnamed(lab: Lab, queue: Queue, kind: str) -> Job:
    """Work without a queue name."""
    return lab.submit_manifest(marked(lab.written(work(kind), queue), {QUEUE_LABEL: None}))


@covers("WORK-023")
@pytest.mark.parametrize(("owner", "kind"), OWNERS)
@pytest.mark.parametrize("named", [True, False], ids=["named", "unnamed"])
def test_what_a_controller_makes_takes_no_quota(lab: Lab, owner: str, kind: str, named: bool) -> None:
    """The Workload of the owner has all the pods already."""
    queue = lab.queue({"whole-gpus": 8})
    parent = queue.submit(work(owner))
    child = lab.submit_manifest(child_of(lab, queue, kind, parent.ref, named=named))

    assert lab.verdict(parent) == admitted({"whole-gpus": 4})
    assert not lab.workloads(child)
    assert not lab.is_suspended(child)


@covers("WORK-026")
@pytest.mark.parametrize(("owner", "kind"), OWNERS)
def test_what_a_controller_makes_waits_with_its_owner(lab: Lab, owner: str, kind: str) -> None:
    """A controller that makes pods of suspended work cannot run them past the quota."""
    queue = lab.queue({"whole-gpus": 3})
    parent = queue.submit(work(owner))
    child = lab.submit_manifest(child_of(lab, queue, kind, parent.ref))

    assert lab.verdict(parent) == pending(Reason.NEVER_FITS)
    assert not lab.workloads(child)
    assert lab.is_suspended(child)


@pytest.mark.parametrize(
    "stops",
    [
        pytest.param(False, id="runs", marks=covers("WORK-052")),
        pytest.param(True, id="stops", marks=covers("WORK-051")),
    ],
)
def test_what_a_controller_makes_when_its_owner_has_finished(lab: Lab, stops: bool) -> None:
    """No Workload of the owner is left that could have devices."""
    queue = lab.queue({"whole-gpus": 8})
    parent = queue.submit(work("JobSet"))
    lab.finish(parent)
    child = lab.submit_manifest(child_of(lab, queue, "Job", parent.ref))

    assert lab.verdict(queue.submit(work("Job"))) == admitted({"whole-gpus": 4})
    assert lab.is_suspended(child) is stops


@covers("WORK-026")
@pytest.mark.parametrize("ends", [False, True], ids=["runs", "has-finished"])
def test_jobs_of_evicted_work_stop_unless_they_have_finished(lab: Lab, ends: bool) -> None:
    """Kueue looks at them when the Workload of their owner changes."""
    queue = lab.queue({"whole-gpus": 8})
    parent = queue.submit(work("JobSet"))
    child = lab.submit_manifest(child_of(lab, queue, "Job", parent.ref))
    if ends:
        lab.finish(child)
    lab.activate(parent, False)

    assert lab.admission(parent) is None
    assert lab.is_suspended(child) is not ends


@pytest.mark.parametrize(
    ("own", "of_owner", "waits"),
    [
        pytest.param({}, {}, True, id="neither", marks=covers("WORK-026")),
        pytest.param(ON, {}, False, id="elastic", marks=[covers("WORK-053"), RUNS]),
        pytest.param({}, ON, False, id="of-elastic-work", marks=[covers("WORK-053"), RUNS]),
    ],
)
def test_elastic_work_does_not_wait_with_its_owner(
    lab: Lab, own: Mapping[str, str], of_owner: Mapping[str, str], waits: bool
) -> None:
    """It is suspended only once the owner is evicted."""
    lab.start(switched={GATE: True}, integrations=frameworks.all_of(lab.behaviour.kueue))
    queue = lab.queue({"whole-gpus": 4})
    parent = lab.submit_manifest(marked(lab.written(work("RayCluster"), queue), annotations=of_owner))
    other = lab.submit_manifest(marked(lab.written(work("RayCluster"), queue), annotations=of_owner))
    assert [lab.verdict(each) for each in (parent, other)] == [admitted({"whole-gpus": 4}), pending(Reason.NO_QUOTA)]

    def stops(owner: Job) -> bool:
        made = marked(child_of(lab, queue, "Job", owner.ref), annotations=own)
        return lab.is_suspended(lab.submit_manifest(made))

    assert stops(other) is waits

    lab.activate(parent, False)

    assert stops(parent)


@covers("WORK-023", "WORK-001")
@pytest.mark.parametrize(("owner", "kind"), OWNERS)
def test_without_the_framework_of_the_owner_each_child_is_queued(lab: Lab, owner: str, kind: str) -> None:
    """Then Kueue sees what the controller makes, and only that."""
    enabled = [*frameworks.all_of(lab.behaviour.kueue)["frameworks"]]
    enabled.remove(JOB_KINDS[owner].framework)
    lab.start(integrations={"frameworks": enabled})
    queue = lab.queue({"whole-gpus": 8})
    parent = queue.submit(work(owner))
    child = lab.submit_manifest(child_of(lab, queue, kind, parent.ref))

    assert not lab.workloads(parent)
    assert lab.verdict(child) == admitted({"whole-gpus": 4})


@covers("WORK-001")
def test_without_the_framework_of_the_child_it_does_not_wait(lab: Lab) -> None:
    """Kueue sees only its owner."""
    enabled = [*frameworks.all_of(lab.behaviour.kueue)["frameworks"]]
    enabled.remove(JOB_KINDS["RayCluster"].framework)
    lab.start(integrations={"frameworks": enabled})
    queue = lab.queue({"whole-gpus": 3})
    parent = queue.submit(work("RayJob"))
    child = lab.submit_manifest(child_of(lab, queue, "RayCluster", parent.ref))

    assert lab.verdict(parent) == pending(Reason.NEVER_FITS)
    assert not lab.is_suspended(child)


@covers("WORK-023")
@pytest.mark.parametrize(("owner", "kind"), OWNERS)
def test_a_child_of_work_without_a_queue_is_queued(lab: Lab, owner: str, kind: str) -> None:
    """Kueue does not manage the owner, so what it makes stands alone."""
    queue = lab.queue({"whole-gpus": 8})
    parent = unnamed(lab, queue, owner)
    child = lab.submit_manifest(child_of(lab, queue, kind, parent.ref))

    assert not lab.workloads(parent)
    assert lab.verdict(child) == admitted({"whole-gpus": 4})


@covers("WORK-023", "MANAGE-001")
@pytest.mark.parametrize(("owner", "kind"), OWNERS)
@pytest.mark.parametrize("named", [True, False], ids=["named", "unnamed"])
def test_with_all_work_managed_nothing_is_queued_twice(lab: Lab, owner: str, kind: str, named: bool) -> None:
    """The owner needs no queue name then; what it makes follows it, and has no Workload."""
    lab.start(integrations=frameworks.all_of(lab.behaviour.kueue), manageJobsWithoutQueueName=True)
    queue = lab.queue({"whole-gpus": 8})
    parent = unnamed(lab, queue, owner)
    child = lab.submit_manifest(child_of(lab, queue, kind, parent.ref, named=named))

    assert lab.verdict(parent) in {unseen(), pending(Reason.QUEUE_MISSING)}
    assert lab.is_suspended(parent)
    assert not lab.workloads(child)
    assert lab.is_suspended(child)


@covers("WORK-025")
@pytest.mark.parametrize(("owner", "kind"), OWNERS)
def test_what_a_controller_makes_gets_no_default_queue(lab: Lab, owner: str, kind: str) -> None:
    """Only the owner gets the LocalQueue named default."""
    queue = lab.local_queue(lab.cluster_queue({"whole-gpus": 8}), name="default")
    parent = unnamed(lab, queue, owner)
    child = lab.submit_manifest(child_of(lab, queue, kind, parent.ref, named=False))

    assert _queue_of(lab, parent) == "default"
    assert lab.verdict(parent) == admitted({"whole-gpus": 4})
    assert _queue_of(lab, child) is None
    assert not lab.workloads(child)


@covers("WORK-025")
def test_the_nearest_owner_keeps_the_default_queue_away(lab: Lab) -> None:
    """Kueue queues the RayCluster, but not the RayJob that it belongs to."""
    enabled = [*frameworks.all_of(lab.behaviour.kueue)["frameworks"]]
    enabled.remove(JOB_KINDS["RayJob"].framework)
    lab.start(integrations={"frameworks": enabled})
    queue = lab.local_queue(lab.cluster_queue({"whole-gpus": 8}), name="default")
    parent = unnamed(lab, queue, "RayJob")
    cluster = lab.submit_manifest(child_of(lab, queue, "RayCluster", parent.ref, named=False))
    job = lab.submit_manifest(child_of(lab, queue, "Job", cluster.ref, named=False))

    assert _queue_of(lab, parent) is None
    assert _queue_of(lab, cluster) == "default"
    assert _queue_of(lab, job) is None
    assert not lab.workloads(job)


@covers("WORK-024")
def test_an_owner_of_another_uid_does_not_count(lab: Lab) -> None:
    """The owner of that name is another object: it was deleted and created again."""
    queue = lab.queue({"whole-gpus": 8})
    parent = queue.submit(work("JobSet"))
    child = child_of(lab, queue, "Job", parent.ref)
    child["metadata"]["ownerReferences"][0]["uid"] = "00000000-0000-0000-0000-000000000001"
    stray = lab.submit_manifest(child)

    assert lab.verdict(stray) == admitted({"whole-gpus": 4})


@covers("WORK-023")
def test_an_owner_that_does_not_exist_is_answered(lab: Lab) -> None:
    """Kueue cannot tell whether the work is queued by itself."""
    queue = lab.queue({"whole-gpus": 8})
    parent = queue.submit(work("JobSet"))
    child = child_of(lab, queue, "Job", parent.ref)
    child["metadata"]["ownerReferences"][0]["name"] = "missing"

    assert "not found" in lab.denied(child)


def _queue_of(lab: Lab, job: Job) -> Any:
    return (lab.read(job.ref)["metadata"].get("labels") or {}).get(QUEUE_LABEL)
