"""Extended resources: classes that come, change and go while work waits or runs (Kueue 0.19, extended resources)."""

from __future__ import annotations

from kueue_dra_fixtures.builders import GPU, a_job, a_pod_set, a_request, a_template, a_workload
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible, pending

CARD = "vendor.example.com/card"
OTHER_CARD = "vendor.example.com/other-card"
SHARED = "ts-shard-gpus.example.com"


@covers("EXT-019")
def test_a_class_that_comes_lets_waiting_work_in(lab: Lab) -> None:
    """A pending workload with an ordinary resource is charged to the mapping once a class has that resource name."""
    queue = lab.queue({"whole-gpus": 2})
    job = queue.submit(a_job(requests={CARD: "2"}))
    assert lab.verdict(job) == pending(Reason.NOT_COVERED)

    lab.stands_for(CARD, GPU)

    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@covers("EXT-020")
def test_a_class_that_goes_leaves_an_ordinary_resource(lab: Lab) -> None:
    """A pending workload with devices is charged under the resource name once no class has that name."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": 1, CARD: 2})
    job = queue.submit(a_job(requests={CARD: "2"}))
    assert lab.verdict(job) == pending(Reason.NEVER_FITS)

    lab.remove_class(GPU)

    assert lab.verdict(job) == admitted({CARD: 2})


@covers("EXT-020")
def test_another_class_takes_over_from_one_that_goes(lab: Lab) -> None:
    """While another class has the name, pending workloads are charged to the mapping of that class."""
    lab.stands_for(CARD, SHARED, GPU)
    queue = lab.queue({"whole-gpus": 1, "shared-gpus": 1})
    job = queue.submit(a_job(requests={CARD: "2"}))
    assert lab.verdict(job) == pending(Reason.NEVER_FITS)

    lab.remove_class(GPU)
    queue.regroup({lab.flavor(): {"whole-gpus": 1, "shared-gpus": 2}})

    assert lab.verdict(job) == admitted({"shared-gpus": 2})


@covers("EXT-021")
def test_a_class_of_another_name_concerns_both_names(lab: Lab) -> None:
    """Work that waits under the old name is ordinary from then on; under the new name it asks for devices."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": 1, CARD: 2})
    old = queue.submit(a_job(requests={CARD: "2"}))
    new = queue.submit(a_job(requests={OTHER_CARD: "1"}))
    assert (lab.verdict(old), lab.verdict(new)) == (pending(Reason.NEVER_FITS), pending(Reason.NOT_COVERED))

    lab.stands_for(OTHER_CARD, GPU)

    assert (lab.verdict(old), lab.verdict(new)) == (admitted({CARD: 2}), admitted({"whole-gpus": 1}))


@covers("EXT-022", "EXT-032")
def test_a_newer_class_takes_waiting_work_over(lab: Lab) -> None:
    """Pending workloads are charged to the mapping of the newer class; admitted ones keep their charge."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": 1, "shared-gpus": 2})
    holder = queue.submit(a_job(requests={CARD: "1"}))
    waiter = queue.submit(a_job(requests={CARD: "2"}))  # a second of the cluster's clock lies between two jobs
    assert lab.verdict(waiter) == pending(Reason.NEVER_FITS)

    lab.stands_for(CARD, SHARED)

    assert (lab.verdict(holder), lab.verdict(waiter)) == (admitted({"whole-gpus": 1}), admitted({"shared-gpus": 2}))


@covers("EXT-032")
def test_work_that_runs_keeps_its_charge_without_the_class(lab: Lab) -> None:
    """Once admitted, a workload holds what it was charged, and others are kept out by it."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": 2, CARD: 1})
    holder = queue.submit(a_job(requests={CARD: "2"}))
    lab.remove_class(GPU)
    ordinary = queue.submit(a_job(requests={CARD: "1"}))
    lab.stands_for(CARD, GPU)
    waiter = queue.submit(a_job(requests={CARD: "1"}))

    verdicts = [lab.verdict(holder), lab.verdict(ordinary), lab.verdict(waiter)]
    assert verdicts == [admitted({"whole-gpus": 2}), admitted({CARD: 1}), pending(Reason.NO_QUOTA)]


@covers("EXT-019")
def test_a_claim_is_resolved_again_with_the_name(lab: Lab) -> None:
    """Once a class has the name, a workload that also has claims is charged for the name as devices."""
    queue = lab.queue({"example.com/nics": 1, "whole-gpus": 2})
    claim = a_template(a_request("nic.example.com"))
    job = queue.submit(a_job(requests={CARD: "2"}, claims=[claim]))
    assert lab.verdict(job) == pending(Reason.NOT_COVERED)

    lab.stands_for(CARD, GPU)

    assert lab.verdict(job) == admitted({"example.com/nics": 1, "whole-gpus": 2})


@covers("EXT-021", "EXT-017")
def test_a_refusal_outlives_the_class(lab: Lab) -> None:
    """A rejected workload becomes ordinary once no class has its resource name; Kueue 0.19 still does not admit it."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({CARD: 8})
    job = queue.submit(a_workload(a_pod_set("main", requests={CARD: "1500m"})))

    lab.remove_class(GPU)

    assert lab.verdict(job) == inadmissible(Reason.NOT_WHOLE)


@covers("EXT-034")
def test_a_resolved_refusal_still_holds_work_back(lab: Lab) -> None:
    """Requeued is False until the admission; a StrictFIFO queue does not retry the workload on released quota."""
    lab.stands_for(CARD, GPU)
    lab.stands_for(OTHER_CARD, SHARED)
    queue = lab.queue({"whole-gpus": 2, OTHER_CARD: 2}, queueingStrategy="StrictFIFO")
    holder = queue.submit(a_job(requests={CARD: "2"}))
    job = queue.submit(a_workload(a_pod_set("main", requests={CARD: "1", OTHER_CARD: "1500m"})))
    lab.remove_class(SHARED)
    resolved = (lab.verdict(job), lab.condition(job, "Requeued"))
    lab.delete(holder)
    freed = lab.verdict(job)
    lab.retry(job)

    assert resolved == (pending(Reason.NO_QUOTA), ("False", "Inadmissible"))
    assert (freed, lab.verdict(job)) == (pending(Reason.NO_QUOTA), admitted({"whole-gpus": 1, OTHER_CARD: 2}))


@covers("EXT-035")
def test_evicted_work_comes_back_as_ordinary_work_without_the_class(lab: Lab) -> None:
    """Kueue releases the devices that it charged; the name is an ordinary resource by then."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": 2, CARD: 2})
    job = queue.submit(a_job(requests={CARD: "2"}))
    lab.remove_class(GPU)
    held = lab.verdict(job)
    lab.activate(job, False)
    lab.activate(job, True)

    assert (held, lab.verdict(job)) == (admitted({"whole-gpus": 2}), admitted({CARD: 2}))


@covers("EXT-036")
def test_ordinary_work_keeps_its_charge_when_a_class_comes(lab: Lab) -> None:
    """Only what comes later is charged as devices."""
    queue = lab.queue({"whole-gpus": 1, CARD: 1})
    before = queue.submit(a_job(requests={CARD: "1"}))
    lab.stands_for(CARD, GPU)
    after = queue.submit(a_job(requests={CARD: "1"}))

    assert (lab.verdict(before), lab.verdict(after)) == (admitted({CARD: 1}), admitted({"whole-gpus": 1}))


@covers("EXT-020")
def test_work_with_claims_is_charged_for_an_ordinary_resource_without_the_class(lab: Lab) -> None:
    """Work that waits and has claims as well stays one with devices, and the name is an ordinary resource."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"example.com/nics": 1, "whole-gpus": 1, CARD: 2})
    claim = a_template(a_request("nic.example.com"))
    job = queue.submit(a_job(requests={CARD: "2"}, claims=[claim]))
    assert lab.verdict(job) == pending(Reason.NEVER_FITS)

    lab.remove_class(GPU)

    assert lab.verdict(job) == admitted({"example.com/nics": 1, CARD: 2})
