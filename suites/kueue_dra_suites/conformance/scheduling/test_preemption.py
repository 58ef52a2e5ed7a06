"""Preemption within one queue: preemptors, candidates, and victims afterwards (Proposal: preemptable scheduling)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_pod_set, a_request, a_template, a_workload, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import Reason, admitted, pending, unseen
from kueue_dra_ref.verdict import Verdict

LOWER = {"withinClusterQueue": "LowerPriority"}
LOWER_OR_NEWER = {"withinClusterQueue": "LowerOrNewerEqualPriority"}


@covers("PREEMPT-001", "PREEMPT-002", "PREEMPT-004")
@pytest.mark.parametrize(
    ("policy", "priority", "verdict"),
    [
        pytest.param(LOWER, 11, admitted({"whole-gpus": 2}), id="higher"),
        pytest.param(LOWER, 10, pending(Reason.NO_QUOTA), id="equal"),
        pytest.param(LOWER, 9, pending(Reason.NO_QUOTA), id="lower"),
        pytest.param(LOWER_OR_NEWER, 11, admitted({"whole-gpus": 2}), id="higher-newer-allowed"),
        pytest.param({}, 11, pending(Reason.NO_QUOTA), id="higher-without-a-policy"),
    ],
)
def test_lower_priorities_are_preempted(lab: Lab, policy: dict[str, str], priority: int, verdict: Verdict) -> None:
    """A workload frees the devices that it lacks from lower priorities in its queue, if the queue lets it."""
    queue = lab.queue({"whole-gpus": 2}, preemption=policy)
    queue.submit(a_job(priority=10, claims=[a_template(gpu(2))]))
    job = queue.submit(a_job(priority=priority, claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == verdict


@covers("PREEMPT-002", "PREEMPT-004")
@pytest.mark.parametrize(
    ("priority", "evicted"),
    [
        pytest.param(1, ("True", "Preempted"), id="lower-than-1"),
        pytest.param(0, None, id="no-lower-than-0"),
    ],
)
def test_no_priority_is_priority_0(lab: Lab, priority: int, evicted: tuple[str, str] | None) -> None:
    """A Workload without a priority is preempted for a Job of priority 1, and not for one of 0."""
    queue = lab.queue({"whole-gpus": 1}, preemption=LOWER)
    written = lab.written(a_workload(a_pod_set("main", claims=[a_template(gpu())])), queue)
    del written["spec"]["priority"]
    running = lab.submit_manifest(written)
    assert lab.verdict(running) == admitted({"whole-gpus": 1})

    lab.verdict(queue.submit(a_job(priority=priority, claims=[a_template(gpu())])))

    assert lab.condition(running, "Evicted") == evicted


@covers("PREEMPT-003")
@pytest.mark.parametrize(
    ("policy", "verdict"),
    [
        pytest.param(LOWER_OR_NEWER, admitted({"whole-gpus": 2}), id="newer-too"),
        pytest.param(LOWER, pending(Reason.NO_QUOTA), id="lower-only"),
    ],
)
def test_newer_equals_are_preempted(lab: Lab, policy: dict[str, str], verdict: Verdict) -> None:
    """A large workload that had to wait preempts a workload of equal priority that was created later."""
    queue = lab.queue({"whole-gpus": 2}, preemption=policy)
    first = queue.submit(a_job(priority=20, claims=[a_template(gpu(1))]))
    older = queue.submit(a_job(priority=10, claims=[a_template(gpu(2))]))
    queue.submit(a_job(priority=10, claims=[a_template(gpu(1))]))

    lab.delete(first)

    assert lab.verdict(older) == verdict


@covers("PREEMPT-035")
def test_counted_pods_are_not_reckoned_with(lab: Lab) -> None:
    """One victim would free one of two pods, and there is no other candidate: Kueue preempts none."""
    queue = lab.queue({"cpu": 9, "pods": 2}, preemption=LOWER)
    low = [queue.submit(a_job(cpu="1")) for _ in range(2)]
    high = queue.submit(a_job(priority=10, pods=2, cpu="1"))

    assert lab.verdict(high) == pending(Reason.OUTRUN)
    assert [lab.verdict(job) for job in low] == [admitted({"cpu": 1, "pods": 1})] * 2


@covers("PREEMPT-036")
def test_counted_pods_are_freed_too(lab: Lab) -> None:
    """Two victims have a pod each, and two are needed."""
    queue = lab.queue({"cpu": 9, "pods": 2}, preemption=LOWER)
    for _ in range(2):
        queue.submit(a_job(cpu="1"))
    high = queue.submit(a_job(priority=10, pods=2, cpu="1"))

    assert lab.verdict(high) == admitted({"cpu": 2, "pods": 2})


@covers("PREEMPT-005")
def test_only_users_of_the_devices_that_are_short_are_preempted(lab: Lab) -> None:
    """A workload of the lowest priority keeps devices of another class."""
    queue = lab.queue({"whole-gpus": 1, "example.com/nics": 1}, preemption=LOWER)
    bystander = queue.submit(a_job(priority=1, claims=[a_template(a_request("nic.example.com"))]))
    victim = queue.submit(a_job(priority=5, claims=[a_template(gpu())]))
    job = queue.submit(a_job(priority=10, claims=[a_template(gpu())]))

    assert lab.verdict(job) == admitted({"whole-gpus": 1})
    assert lab.condition(victim, "Preempted") == ("True", "InClusterQueue")
    assert lab.condition(bystander, "Preempted") is None


@covers("PREEMPT-015")
def test_the_lowest_priority_goes_first(lab: Lab) -> None:
    """Of two candidates, the one with the lower priority is preempted, though it was admitted earlier."""
    queue = lab.queue({"whole-gpus": 2}, preemption=LOWER)
    low = queue.submit(a_job(priority=1, claims=[a_template(gpu())]))
    middle = queue.submit(a_job(priority=5, claims=[a_template(gpu())]))
    queue.submit(a_job(priority=10, claims=[a_template(gpu())]))

    assert lab.condition(low, "Preempted") == ("True", "InClusterQueue")
    assert lab.condition(middle, "Preempted") is None


@covers("PREEMPT-016")
def test_who_was_admitted_last_goes_first(lab: Lab) -> None:
    """Of two candidates with equal priority, the one with the latest reservation is preempted, though it is older."""
    queue = lab.queue({"whole-gpus": 3}, preemption=LOWER)
    holder = queue.submit(a_job(priority=1, claims=[a_template(gpu(2))]))
    late = queue.submit(a_job(priority=1, claims=[a_template(gpu(2))]))
    early = queue.submit(a_job(priority=1, claims=[a_template(gpu())]))
    assert lab.verdict(early) == admitted({"whole-gpus": 1})
    queue.submit(a_job(priority=1, claims=[a_template(gpu(4))]))  # is created in a later second, and waits for ever
    lab.finish(holder)
    assert lab.verdict(late) == admitted({"whole-gpus": 2})
    queue.submit(a_job(priority=10, claims=[a_template(gpu())]))

    assert lab.condition(early, "Preempted") is None
    assert lab.condition(late, "Preempted") == ("True", "InClusterQueue")


@covers("PREEMPT-019")
def test_who_is_not_needed_is_spared(lab: Lab) -> None:
    """A small victim that comes first by priority is not preempted when a larger one frees enough."""
    queue = lab.queue({"whole-gpus": 3}, preemption=LOWER)
    small = queue.submit(a_job(priority=1, claims=[a_template(gpu(1))]))
    large = queue.submit(a_job(priority=2, claims=[a_template(gpu(2))]))
    job = queue.submit(a_job(priority=10, claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == admitted({"whole-gpus": 2})
    assert lab.condition(large, "Preempted") == ("True", "InClusterQueue")
    assert lab.condition(small, "Preempted") is None


@covers("PREEMPT-013")
def test_who_is_being_evicted_already_is_counted_on(lab: Lab) -> None:
    """Kueue waits for the quota that a drained queue releases, and preempts no other workload."""
    queue = lab.queue({"whole-gpus": 2}, preemption=LOWER)
    drained = lab.local_queue(queue.cluster, queue.namespace)
    leaving = drained.submit(a_job(claims=[a_template(gpu())]))
    lab.run(leaving, pods=1)
    staying = queue.submit(a_job(claims=[a_template(gpu())]))
    drained.change_local(stopPolicy="HoldAndDrain")

    job = queue.submit(a_job(priority=10, claims=[a_template(gpu())]))
    assert lab.verdict(job) == pending(Reason.NO_QUOTA)
    assert lab.verdict(staying) == admitted({"whole-gpus": 1})

    lab.run(leaving, pods=0)

    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@covers("PREEMPT-025")
def test_a_preemptor_waits_for_the_pods_of_its_victims(lab: Lab) -> None:
    """While pods of a victim run, its devices are taken; the preemptor says for how many victims it waits."""
    queue = lab.queue({"whole-gpus": 2}, preemption=LOWER)
    first, second = queue.submit(a_job(claims=[a_template(gpu())])), queue.submit(a_job(claims=[a_template(gpu())]))
    lab.run(first, pods=1)
    lab.run(second, pods=1)
    job = queue.submit(a_job(priority=10, claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == pending(Reason.NO_QUOTA)
    assert lab.message(job).endswith(". Pending the preemption of 2 workload(s)")
    assert lab.condition(first, "QuotaReserved") == ("True", "QuotaReserved")
    assert lab.condition(second, "Evicted") == ("True", "Preempted")

    lab.run(first, pods=0)
    lab.run(second, pods=0)

    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@covers("PREEMPT-026")
def test_a_preemptor_is_not_overtaken(lab: Lab) -> None:
    """Kueue does not try a higher priority that would fit before it admits the preemptor."""
    queue = lab.queue({"whole-gpus": 1, "cpu": 8}, preemption=LOWER)
    victim = queue.submit(a_job(priority=1, claims=[a_template(gpu())]))
    lab.run(victim, pods=1)
    preemptor = queue.submit(a_job(priority=5, claims=[a_template(gpu())]))
    higher = queue.submit(a_job(priority=10, cpu="1"))
    assert lab.verdict(higher) == unseen()

    lab.run(victim, pods=0)

    assert lab.verdict(preemptor) == admitted({"whole-gpus": 1})
    assert lab.verdict(higher) == admitted({"cpu": 1})


@covers("PREEMPT-026")
def test_a_preemptor_that_is_deleted_is_overtaken(lab: Lab) -> None:
    """Another Workload of its name waits like any other."""
    queue = lab.queue({"whole-gpus": 1, "cpu": 8}, preemption=LOWER)
    victim = queue.submit(a_job(priority=1, claims=[a_template(gpu())]))
    lab.run(victim, pods=1)
    preemptor = queue.submit(a_workload(a_pod_set("main", claims=[a_template(gpu())]), priority=5))
    lab.delete(preemptor)
    queue.change(stopPolicy="Hold")
    written = lab.written(a_workload(a_pod_set("main", cpu="8")), queue)
    namesake = lab.submit_manifest({**written, "metadata": {**written["metadata"], "name": preemptor.ref.name}})
    higher = queue.submit(a_job(priority=10, cpu="8"))

    queue.change(stopPolicy="None")

    assert lab.verdict(higher) == admitted({"cpu": 8})
    assert lab.verdict(namesake) == pending(Reason.NO_QUOTA)


@covers("PREEMPT-034")
def test_a_preemptor_is_overtaken(lab: Lab) -> None:
    """A higher priority that fits at once is admitted while the preemptor waits for its devices."""
    queue = lab.queue({"whole-gpus": 1, "cpu": 8}, preemption=LOWER)
    victim = queue.submit(a_job(priority=1, claims=[a_template(gpu())]))
    lab.run(victim, pods=1)
    preemptor = queue.submit(a_job(priority=5, claims=[a_template(gpu())]))
    higher = queue.submit(a_job(priority=10, cpu="1"))
    assert lab.verdict(higher) == admitted({"cpu": 1})

    lab.run(victim, pods=0)

    assert lab.verdict(preemptor) == admitted({"whole-gpus": 1})


@covers("PREEMPT-023", "PREEMPT-024")
def test_a_victim_is_told_for_whom_it_gives_way(lab: Lab) -> None:
    """Both conditions name the preemptor by the UIDs of its Workload and Job, the reason, and both queues."""
    queue = lab.queue({"whole-gpus": 1}, preemption=LOWER)
    victim = queue.submit(a_job(claims=[a_template(gpu())]))
    job = queue.submit(a_job(priority=10, claims=[a_template(gpu())]))
    uid, owner = lab.workload(job)["metadata"]["uid"], lab.read(job.ref)["metadata"]["uid"]

    message = (
        f"Preempted to accommodate a workload (UID: {uid}, JobUID: {owner}) due to prioritization in the ClusterQueue; "
        f"preemptor path: /{queue.cluster}; preemptee path: /{queue.cluster}"
    )
    assert lab.message(victim, "Preempted") == message
    assert lab.message(victim, "Evicted") == message
    assert lab.condition(victim, "Preempted") == ("True", "InClusterQueue")


@covers("PREEMPT-024", "PREEMPT-033")
def test_a_victim_is_told_for_whom_but_not_where(lab: Lab) -> None:
    """Both conditions name the preemptor by the UIDs of its Workload and Job, and the reason."""
    queue = lab.queue({"whole-gpus": 1}, preemption=LOWER)
    victim = queue.submit(a_job(claims=[a_template(gpu())]))
    job = queue.submit(a_job(priority=10, claims=[a_template(gpu())]))
    uid, owner = lab.workload(job)["metadata"]["uid"], lab.read(job.ref)["metadata"]["uid"]

    message = (
        f"Preempted to accommodate a workload (UID: {uid}, JobUID: {owner}) due to prioritization in the ClusterQueue"
    )
    assert lab.message(victim, "Preempted") == message
    assert lab.message(victim, "Evicted") == message
    assert lab.condition(victim, "Preempted") == ("True", "InClusterQueue")


@covers("PREEMPT-027", "PREEMPT-028")
def test_a_victim_is_queued_again(lab: Lab) -> None:
    """Its Job is suspended; it waits like any other, and its eviction is over once it is admitted again."""
    queue = lab.queue({"whole-gpus": 1}, preemption=LOWER)
    victim = queue.submit(a_job(claims=[a_template(gpu())]))
    job = queue.submit(a_job(priority=10, claims=[a_template(gpu())]))
    assert lab.is_suspended(victim)
    assert lab.verdict(victim) == pending(Reason.NO_QUOTA)
    assert lab.condition(victim, "Requeued") == ("True", "Preempted")

    lab.delete(job)

    assert lab.conditions(victim) == {
        "QuotaReserved": ("True", "QuotaReserved"),
        "Admitted": ("True", "Admitted"),
        "Requeued": ("True", "Preempted"),
        "Evicted": ("False", "QuotaReserved"),
        "Preempted": ("False", "QuotaReserved"),
    }
    assert not lab.is_suspended(victim)
