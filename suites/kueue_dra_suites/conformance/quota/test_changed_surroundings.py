"""LimitRanges and RuntimeClasses that come, change or go while workloads wait (Kueue, workload reconciliation)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import ClaimOf, a_job, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, pending
from kueue_dra_ref.verdict import Verdict

Limits = dict[str, dict[str, dict[str, str]]]
NOT_ADMITTED = ("False", "NoReservation")


@covers("POD-013")
@pytest.mark.parametrize(
    ("claims", "devices"),
    [pytest.param([], {}, id="ordinary"), pytest.param([a_template(gpu(2))], {"whole-gpus": 2}, id="devices")],
)
def test_a_changed_default_lets_in_what_waits(lab: Lab, claims: list[ClaimOf], devices: dict[str, int]) -> None:
    """A workload that waits because of a LimitRange default is counted again once the default is smaller."""
    namespace = lab.namespace()
    lab.limit(namespace, Container={"defaultRequest": {"cpu": "4"}})
    queue = lab.queue({"cpu": "2", "whole-gpus": 2}, namespace=namespace)
    job = queue.submit(a_job(claims=claims))

    assert lab.verdict(job) == pending(Reason.NEVER_FITS)

    lab.limit(namespace, Container={"defaultRequest": {"cpu": "1"}})

    assert lab.verdict(job) == admitted({"cpu": "1", **devices})


@pytest.mark.parametrize(
    "verdict",
    [
        pytest.param(admitted({"whole-gpus": 2}), id="tried-again", marks=covers("POD-017")),
        pytest.param(pending(Reason.NEVER_FITS), id="overlooked", marks=covers("POD-018")),
    ],
)
def test_a_default_that_goes(lab: Lab, verdict: Verdict) -> None:
    """Without its LimitRange a namespace has no defaults, and a workload that is tried again is admitted."""
    namespace = lab.namespace()
    lab.limit(namespace, Container={"defaultRequest": {"cpu": "4"}})
    queue = lab.queue({"cpu": "2", "whole-gpus": 2}, namespace=namespace)
    job = queue.submit(a_job(claims=[a_template(gpu(2))]))
    lab.lift_limit(namespace)

    assert lab.verdict(job) == verdict


@covers("POD-013")
def test_a_missing_class_that_comes_counts_for_what_waits(lab: Lab) -> None:
    """A RuntimeClass that is made later adds its overhead to those that wait, not to those that hold quota."""
    runtime = lab.name("runtime")
    queue = lab.queue({"cpu": "4", "whole-gpus": 2})
    work = a_job(cpu="2", claims=[a_template(gpu(2))], spec={"runtimeClassName": runtime})
    first, waiting = queue.submit(work), queue.submit(work)
    lab.runtime_class(runtime, cpu="1")

    assert lab.verdict(first) == admitted({"cpu": "2", "whole-gpus": 2})
    assert lab.verdict(waiting) == pending(Reason.NO_QUOTA)

    lab.delete(first)

    assert lab.verdict(waiting) == admitted({"cpu": "3", "whole-gpus": 2})


@covers("POD-013")
def test_a_changed_default_queues_no_inactive_work(lab: Lab) -> None:
    """It waits to be activated, not for quota."""
    namespace = lab.namespace()
    queue = lab.queue({"cpu": "4"}, namespace=namespace)
    queue.submit(a_job(cpu="4"))
    inactive = queue.submit(a_job(cpu="4"))
    lab.activate(inactive, False)

    lab.limit(namespace, Container={"defaultRequest": {"cpu": "1"}})
    lab.settle()

    assert lab.read(queue.ref)["status"]["pendingWorkloads"] == 0


@covers("POD-013")
def test_who_holds_quota_keeps_what_it_is_charged(lab: Lab) -> None:
    """A LimitRange that comes later neither charges nor evicts what is admitted."""
    namespace = lab.namespace()
    queue = lab.queue({"cpu": "4", "whole-gpus": 2}, namespace=namespace)
    job = queue.submit(a_job(claims=[a_template(gpu(2))]))
    lab.limit(namespace, Container={"defaultRequest": {"cpu": "8"}}, Pod={"max": {"cpu": "1"}})

    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@owns_kueue
@covers("POD-016")
@pytest.mark.parametrize("claims", [pytest.param(0, id="ordinary"), pytest.param(1, id="devices")])
def test_a_refusal_is_told_as_a_misconfiguration(lab: Lab, claims: int) -> None:
    """A workload that can never be admitted has another message than one that waits for quota."""
    lab.start(gates={"UnadmittedWorkloadsObservability": True})
    namespace = lab.namespace()
    lab.limit(namespace, Pod={"max": {"cpu": "1"}})
    queue = lab.queue({"cpu": "8", "whole-gpus": 2}, namespace=namespace)
    job = queue.submit(a_job(cpu="2", claims=[a_template(gpu())] * claims))

    assert lab.conditions(job) == {"QuotaReserved": ("False", "Misconfigured"), "Admitted": NOT_ADMITTED}
    assert lab.verdict(job) == pending(Reason.LIMIT_RANGE)


@owns_kueue
@covers("POD-016")
@pytest.mark.parametrize(
    ("claims", "limits", "message"),
    [
        pytest.param(0, {"Pod": {"max": {"cpu": "1"}}}, ("False", "Misconfigured"), id="ordinary"),
        pytest.param(1, {"Pod": {"max": {"cpu": "1"}}}, ("False", "Misconfigured"), id="devices"),
        pytest.param(0, {"Container": {"default": {"cpu": "1"}}}, None, id="ordinary-by-default"),
        pytest.param(1, {"Container": {"default": {"cpu": "1"}}}, ("False", "Misconfigured"), id="devices-by-default"),
    ],
)
def test_a_refusal_is_told_before_its_turn(lab: Lab, claims: int, limits: Limits, message: object) -> None:
    """The scheduler need not get to it; but defaults are only known by then of workloads with devices."""
    lab.start(gates={"UnadmittedWorkloadsObservability": True})
    namespace = lab.namespace()
    lab.limit(namespace, **limits)
    queue = lab.queue({"cpu": "8", "whole-gpus": 2}, namespace=namespace, queueingStrategy="StrictFIFO")
    queue.submit(a_job(cpu="1", claims=[a_template(gpu(3))]))
    job = queue.submit(a_job(cpu="2", claims=[a_template(gpu())] * claims))

    assert lab.condition(job, "QuotaReserved") == message
