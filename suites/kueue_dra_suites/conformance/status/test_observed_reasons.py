"""The reasons that the scheduler sets, with UnadmittedWorkloadsObservability on (Kueue 0.19)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import Work, a_job, a_request, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, pending, unseen

pytestmark = owns_kueue

OBSERVED = {"UnadmittedWorkloadsObservability": True}
TAINT = {"key": "example.com/spot", "value": "yes", "effect": "NoSchedule"}
NOT_ADMITTED = ("False", "NoReservation")


@covers("OBSERVE-001", "OBSERVE-002", "OBSERVE-012", "QUOTA-005")
@pytest.mark.parametrize(
    ("work", "reason", "verdict"),
    [
        pytest.param(a_job(cpu="2"), "ExceedsMaxQuota", pending(Reason.NEVER_FITS), id="too-much-cpu"),
        pytest.param(
            a_job(claims=[a_template(gpu(2))]), "ExceedsMaxQuota", pending(Reason.NEVER_FITS), id="too-many-devices"
        ),
        pytest.param(
            a_job(claims=[a_template(a_request("nic.example.com"))]),
            "NoMatchingFlavor",
            pending(Reason.NOT_COVERED),
            id="not-covered",
        ),
        pytest.param(
            a_job(requests={"memory": "1Gi"}, claims=[a_template(gpu())]),
            "NoMatchingFlavor",
            pending(Reason.NOT_COVERED),
            id="not-covered-beside-devices",
        ),
    ],
)
def test_what_can_never_be_had_is_told_apart(lab: Lab, work: Work, reason: str, verdict: object) -> None:
    """Too much of what there is differs from what there is not at all; either way nothing is reserved."""
    lab.start(gates=OBSERVED)
    queue = lab.queue({"cpu": 1, "whole-gpus": 1})
    job = queue.submit(work)

    assert lab.conditions(job) == {"QuotaReserved": ("False", reason), "Admitted": NOT_ADMITTED}
    assert lab.verdict(job) == verdict


@covers("OBSERVE-001")
def test_flavors_that_suit_no_pod_match_none(lab: Lab) -> None:
    """A taint that the pods do not tolerate is reported as a flavor that does not match."""
    lab.start(gates=OBSERVED)
    queue = lab.queue(groups=[{lab.flavor("spot", nodeTaints=[TAINT]): {"whole-gpus": 2}}])
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    assert lab.condition(job, "QuotaReserved") == ("False", "NoMatchingFlavor")
    assert lab.verdict(job) == pending(Reason.NO_FLAVOR)


@covers("OBSERVE-003", "OBSERVE-012")
@pytest.mark.parametrize(
    "work", [pytest.param(a_job(cpu="1"), id="ordinary"), pytest.param(a_job(claims=[a_template(gpu())]), id="devices")]
)
def test_what_others_hold_is_waited_for(lab: Lab, work: Work) -> None:
    """Quota that comes back is worth waiting for; once it is there, nothing is left of the reason."""
    lab.start(gates=OBSERVED)
    queue = lab.queue({"cpu": 1, "whole-gpus": 1})
    first = queue.submit(work)
    job = queue.submit(work)

    assert lab.conditions(job) == {"QuotaReserved": ("False", "WaitingForQuota"), "Admitted": NOT_ADMITTED}
    assert lab.verdict(job) == pending(Reason.NO_QUOTA)

    lab.delete(first)

    assert lab.conditions(job) == {"QuotaReserved": ("True", "QuotaReserved"), "Admitted": ("True", "Admitted")}


@covers("OBSERVE-004")
def test_victims_are_waited_for(lab: Lab) -> None:
    """While pods of a victim run, the message of the preemptor says that it waits for these pods."""
    lab.start(gates=OBSERVED)
    queue = lab.queue({"whole-gpus": 1}, preemption={"withinClusterQueue": "LowerPriority"})
    victim = queue.submit(a_job(priority=1, claims=[a_template(gpu())]))
    lab.run(victim, pods=1)
    job = queue.submit(a_job(priority=2, claims=[a_template(gpu())]))

    assert lab.condition(job, "QuotaReserved") == ("False", "WaitingForPreemptedWorkloads")
    assert lab.condition(job, "Admitted") == NOT_ADMITTED


@covers("OBSERVE-013")
@pytest.mark.parametrize("order", [pytest.param((0, 1), id="tainted-first"), pytest.param((1, 0), id="tainted-last")])
def test_the_nearest_flavor_gives_the_reason(lab: Lab, order: tuple[int, int]) -> None:
    """A flavor that is too small came nearer than one that the pods do not tolerate, in whatever order they stand."""
    lab.start(gates=OBSERVED)
    flavors: list[dict[str, Any]] = [
        {lab.flavor("spot", nodeTaints=[TAINT]): {"whole-gpus": 2}},
        {lab.flavor("small"): {"whole-gpus": 1}},
    ]
    queue = lab.queue(groups=[flavors[order[0]] | flavors[order[1]]])
    job = queue.submit(a_job(claims=[a_template(gpu(2))]))

    assert lab.condition(job, "QuotaReserved") == ("False", "ExceedsMaxQuota")


@covers("OBSERVE-014", "OBSERVE-003")
@pytest.mark.parametrize(
    ("cpu", "reason"),
    [
        pytest.param("1", "WaitingForQuota", id="only-devices-are-lent-out"),
        pytest.param("3", "ExceedsMaxQuota", id="cpu-never-fits"),
    ],
)
def test_the_farthest_resource_gives_the_reason(lab: Lab, cpu: str, reason: str) -> None:
    """Devices that others of the cohort use are released later, but cpu without quota never is."""
    lab.start(gates=OBSERVED)
    cohort, flavor = lab.name("cohort"), lab.flavor()
    quota = {flavor: {"cpu": 1, "whole-gpus": 1}}
    queue = lab.queue(groups=[quota], cohortName=cohort)
    other = lab.queue(groups=[quota], cohortName=cohort)
    other.submit(a_job(claims=[a_template(gpu())]))
    job = queue.submit(a_job(cpu=cpu, claims=[a_template(gpu(2))]))

    assert lab.condition(job, "QuotaReserved") == ("False", reason)


@covers("OBSERVE-014")
def test_a_flavor_that_was_passed_over_counts(lab: Lab) -> None:
    """Only cpu is waited for; yet the flavor that is too small for the devices gives the reason."""
    lab.start(gates=OBSERVED)
    cohort, of_cpu = lab.name("cohort"), lab.flavor("cpu")
    small, large = lab.flavor("small"), lab.flavor("large")
    devices = {small: {"whole-gpus": 1}, large: {"whole-gpus": 2}}
    queue = lab.queue(groups=[devices, {of_cpu: {"cpu": 1}}], cohortName=cohort)
    other = lab.queue(groups=[{of_cpu: {"cpu": 1}}], cohortName=cohort)
    other.submit(a_job(cpu="1"))
    job = queue.submit(a_job(cpu="2", claims=[a_template(gpu(2))]))

    assert lab.condition(job, "QuotaReserved") == ("False", "ExceedsMaxQuota")
    assert lab.verdict(job) == pending(Reason.NO_QUOTA)


@covers("OBSERVE-015")
def test_nothing_is_told_of_what_is_not_covered_beside_what_fits(lab: Lab) -> None:
    """Kueue checks the devices first and finds enough; an uncovered cpu gives no reason."""
    lab.start(gates=OBSERVED)
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(cpu="1", claims=[a_template(gpu())]))

    assert lab.verdict(job) == unseen()
    assert lab.conditions(job) == {}


@covers("OBSERVE-016")
def test_nothing_is_told_before_the_turn_comes(lab: Lab) -> None:
    """A workload behind one that does not fit has no condition."""
    lab.start(gates=OBSERVED)
    queue = lab.queue({"cpu": 1}, queueingStrategy="StrictFIFO")
    queue.submit(a_job(cpu="2"))
    job = queue.submit(a_job(cpu="1"))

    assert lab.conditions(job) == {}
