"""Reasons for workloads that are not tried, with UnadmittedWorkloadsObservability on (Kueue 0.19, reconcile)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import (
    ClaimOf,
    Work,
    a_direct_claim,
    a_job,
    a_missing_template,
    a_request,
    a_template,
    gpu,
)
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, evicted, inadmissible, pending, unseen
from kueue_dra_ref.verdict import Verdict

pytestmark = owns_kueue

OBSERVED = {"UnadmittedWorkloadsObservability": True}
EXPLICIT = {**OBSERVED, "UnadmittedWorkloadsExplicitStatus": True}
NOT_ADMITTED = ("False", "NoReservation")
ORDINARY = a_job(cpu="1")
DEVICES = a_job(claims=[a_template(gpu())])
BOTH = [pytest.param(ORDINARY, id="ordinary"), pytest.param(DEVICES, id="devices")]


@covers("OBSERVE-011", "OBSERVE-012")
@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        pytest.param(a_direct_claim(), Reason.DIRECT_CLAIM, id="direct-claim"),
        pytest.param(a_missing_template(), Reason.NO_TEMPLATE, id="missing-template"),
        pytest.param(a_template(a_request("unmapped.example.com")), Reason.UNMAPPED, id="unmapped-class"),
        pytest.param(a_template(a_request(mode="All", count=None)), Reason.MODE_ALL, id="all-devices"),
    ],
)
def test_refused_devices_are_misconfigured(lab: Lab, claim: ClaimOf, reason: Reason) -> None:
    """The two conditions of a refusal differ in their reasons, and a third says that nothing is admitted."""
    lab.start(gates=OBSERVED)
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[claim]))

    assert lab.verdict(job) == inadmissible(reason)
    assert lab.conditions(job) == {
        "QuotaReserved": ("False", "Misconfigured"),
        "Requeued": ("False", "Inadmissible"),
        "Admitted": NOT_ADMITTED,
    }


@covers("OBSERVE-017")
def test_nothing_is_told_of_what_did_not_fit_before(lab: Lab) -> None:
    """A Job that waits asks for fewer pods, then for as many as at first: the scheduler does not try it again."""
    lab.start(gates=OBSERVED)
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(pods=3, claims=[a_template(gpu())]))
    lab.change(job.ref, parallelism=2)
    assert lab.verdict(job) == pending(Reason.NEVER_FITS)

    lab.change(job.ref, parallelism=3)

    assert lab.conditions(job) == {"Admitted": NOT_ADMITTED}


@covers("OBSERVE-011", "OBSERVE-012", "STATUS-031")
def test_nothing_is_left_of_a_misconfiguration_after_admission(lab: Lab) -> None:
    """A workload whose template came late carries the conditions of any other admitted one."""
    lab.start(gates=OBSERVED)
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_missing_template("late")]))
    assert lab.condition(job, "Admitted") == NOT_ADMITTED

    lab.template(a_template(gpu()), "late", queue.namespace)
    lab.retry(job)

    assert lab.verdict(job) == admitted({"whole-gpus": 1})
    assert lab.conditions(job) == {"QuotaReserved": ("True", "QuotaReserved"), "Admitted": ("True", "Admitted")}


@covers("OBSERVE-005", "OBSERVE-012")
def test_a_missing_queue_is_a_misconfiguration(lab: Lab) -> None:
    """A LocalQueue that is not there, and one whose ClusterQueue is not."""
    lab.start(gates=OBSERVED)
    nowhere = lab.missing_queue().submit(ORDINARY)
    astray = lab.local_queue(lab.name("cq")).submit(ORDINARY)

    assert lab.verdict(nowhere) == inadmissible(Reason.QUEUE_MISSING)
    assert lab.verdict(astray) == inadmissible(Reason.QUEUE_MISSING)
    assert lab.conditions(nowhere) == {"QuotaReserved": ("False", "Misconfigured"), "Admitted": NOT_ADMITTED}
    assert lab.conditions(astray) == {"QuotaReserved": ("False", "Misconfigured"), "Admitted": NOT_ADMITTED}


@covers("OBSERVE-006")
@pytest.mark.parametrize("work", BOTH)
def test_a_namespace_that_is_not_selected_is_a_misconfiguration(lab: Lab, work: Work) -> None:
    """The ClusterQueue takes nothing of it."""
    lab.start(gates=OBSERVED)
    queue = lab.queue({"cpu": 1, "whole-gpus": 1}, namespaceSelector=None)
    job = queue.submit(work)

    assert lab.verdict(job) == pending(Reason.NAMESPACE)
    assert lab.conditions(job) == {"QuotaReserved": ("False", "Misconfigured"), "Admitted": NOT_ADMITTED}


@covers("OBSERVE-006")
def test_a_namespace_that_is_not_selected_is_told_before_the_turn_comes(lab: Lab) -> None:
    """Behind a workload that does not fit, where other workloads get no message."""
    lab.start(gates=OBSERVED)
    selector = {"matchLabels": {"team": "research"}}
    inside, outside = lab.namespace(team="research"), lab.namespace()
    spec: dict[str, Any] = {"namespaceSelector": selector, "queueingStrategy": "StrictFIFO"}
    queue = lab.queue({"cpu": 1}, namespace=inside, **spec)
    queue.submit(a_job(cpu="2"))
    job = lab.local_queue(queue.cluster, outside).submit(ORDINARY)

    assert lab.verdict(job) == pending(Reason.NAMESPACE)
    assert lab.condition(job, "QuotaReserved") == ("False", "Misconfigured")


@covers("OBSERVE-007", "OBSERVE-012")
@pytest.mark.parametrize("work", BOTH)
def test_a_stopped_cluster_queue_suspends(lab: Lab, work: Work) -> None:
    """The message of the pending workload says so."""
    lab.start(gates=OBSERVED)
    queue = lab.queue({"cpu": 1, "whole-gpus": 1}, stopPolicy="Hold")
    job = queue.submit(work)

    assert lab.verdict(job) == inadmissible(Reason.QUEUE_STOPPED)
    assert lab.conditions(job) == {"QuotaReserved": ("False", "Suspended"), "Admitted": NOT_ADMITTED}


@covers("OBSERVE-007")
def test_a_stopped_local_queue_and_a_missing_flavor_suspend(lab: Lab) -> None:
    """A ClusterQueue without its flavor is as inactive as a stopped one."""
    lab.start(gates=OBSERVED)
    stopped = lab.queue({"cpu": 1}, local={"stopPolicy": "Hold"}).submit(ORDINARY)
    flavorless = lab.queue(groups=[{lab.name("flavor"): {"cpu": 1}}]).submit(ORDINARY)

    assert lab.condition(stopped, "QuotaReserved") == ("False", "Suspended")
    assert lab.condition(flavorless, "QuotaReserved") == ("False", "Suspended")


@covers("OBSERVE-007")
@pytest.mark.parametrize("work", BOTH)
def test_what_was_drained_is_suspended(lab: Lab, work: Work) -> None:
    """In addition to its eviction, the status shows what blocks its next admission."""
    lab.start(gates=OBSERVED)
    queue = lab.queue({"cpu": 1, "whole-gpus": 1})
    job = queue.submit(work)

    queue.change(stopPolicy="HoldAndDrain")

    assert lab.verdict(job) == evicted("ClusterQueueStopped")
    assert lab.condition(job, "QuotaReserved") == ("False", "Suspended")
    assert lab.condition(job, "Admitted") == NOT_ADMITTED


@covers("OBSERVE-008")
@pytest.mark.parametrize(
    ("work", "before"),
    [
        pytest.param(ORDINARY, admitted({"cpu": 1}), id="admitted"),
        pytest.param(DEVICES, admitted({"whole-gpus": 1}), id="admitted-devices"),
        pytest.param(a_job(cpu="2"), pending(Reason.NEVER_FITS), id="waiting"),
        pytest.param(a_job(claims=[a_template(gpu(2))]), pending(Reason.NEVER_FITS), id="waiting-devices"),
    ],
)
def test_a_deactivated_workload_is_told_so(lab: Lab, work: Work, before: Verdict) -> None:
    """Whatever its message was before."""
    lab.start(gates=OBSERVED)
    queue = lab.queue({"cpu": 1, "whole-gpus": 1})
    job = queue.submit(work)
    assert lab.verdict(job) == before

    lab.activate(job, False)

    assert lab.verdict(job) == evicted("Deactivated")
    assert lab.condition(job, "QuotaReserved") == ("False", "Deactivated")
    assert lab.message(job) == "The workload is deactivated"
    assert lab.condition(job, "Admitted") == NOT_ADMITTED


@covers("OBSERVE-009")
def test_a_block_that_is_gone_is_taken_back(lab: Lab) -> None:
    """When a queue runs again, workloads behind one that does not fit have the message to wait for their turn.

    Kueue may look at it a moment before it takes notice that the queue runs; so it is made to look once more.
    """
    lab.start(gates=OBSERVED)
    queue = lab.queue({"cpu": 1}, queueingStrategy="StrictFIFO", stopPolicy="Hold")
    first = queue.submit(a_job(cpu="2"))
    job = queue.submit(ORDINARY)
    assert lab.condition(job, "QuotaReserved") == ("False", "Suspended")

    queue.change(stopPolicy="None")
    lab.retry(job)

    assert lab.condition(first, "QuotaReserved") == ("False", "ExceedsMaxQuota")
    assert lab.condition(job, "QuotaReserved") == ("False", "PendingEvaluation")
    assert lab.verdict(job) == unseen()


@covers("OBSERVE-010")
def test_what_is_passed_over_is_given_the_reason_of_its_equal(lab: Lab) -> None:
    """Of two equivalent workloads Kueue tries only one; the other one gets its message at the next attempt."""
    lab.start(gates=OBSERVED)
    queue = lab.queue({"cpu": 1}, stopPolicy="Hold")
    first = queue.submit(a_job(cpu="2"))
    job = queue.submit(a_job(cpu="2"))

    queue.change(stopPolicy="None")
    lab.retry(job)

    assert lab.verdict(first) == pending(Reason.NEVER_FITS)
    assert lab.condition(job, "QuotaReserved") == ("False", "ExceedsMaxQuota")
    assert lab.message(job) == "Bypassed scheduling evaluation because an equivalent workload recently failed"
    assert lab.verdict(job) == unseen()


@covers("OBSERVE-018")
def test_the_new_are_told_that_they_wait(lab: Lab) -> None:
    """The message of each workload behind another one, in a StrictFIFO queue, says so."""
    lab.start(gates=EXPLICIT)
    queue = lab.queue({"whole-gpus": 1, "cpu": 1}, queueingStrategy="StrictFIFO")
    for _ in range(2):
        queue.submit(ORDINARY)
    job = queue.submit(DEVICES)

    assert lab.conditions(job) == {"QuotaReserved": ("False", "PendingEvaluation"), "Admitted": NOT_ADMITTED}


@covers("OBSERVE-018")
def test_an_equal_speaks_for_the_new(lab: Lab) -> None:
    """A workload that is skipped for an equivalent one gets the reason of that one, without its message."""
    lab.start(gates=EXPLICIT)
    queue = lab.queue({"whole-gpus": 1})
    for _ in range(2):
        queue.submit(DEVICES)
    lab.settle()
    job = queue.submit(DEVICES)

    assert lab.conditions(job) == {"QuotaReserved": ("False", "WaitingForQuota"), "Admitted": NOT_ADMITTED}
    assert lab.message(job).startswith("Bypassed")
