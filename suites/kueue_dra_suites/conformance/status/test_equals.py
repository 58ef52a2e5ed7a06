"""Equivalent workloads of which one did not fit: attempts and messages (Kueue 0.16, 0.17 and 0.19)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import Work, a_job, a_pod_set, a_template, a_workload, gpu
from kueue_dra_fixtures.containers import containers, limited
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, pending, unseen
from kueue_dra_ref.verdict import Verdict

ORDINARY = a_job(cpu="1")
DEVICES = a_job(claims=[a_template(gpu())])
TOO_MANY = a_job(claims=[a_template(gpu(2))])

SPREAD = [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]


def condition_of_equivalent(lab: Lab) -> tuple[str, str] | None:
    """The message of the second of two equivalent Jobs of which the first did not fit."""
    queue = lab.queue({"cpu": 1})
    first = queue.submit(a_job(cpu="2"))
    assert lab.condition(first, "QuotaReserved") == ("False", "Pending")

    return lab.condition(queue.submit(a_job(cpu="2")), "QuotaReserved")


@covers("QUEUE-024")
def test_an_equal_of_one_that_did_not_fit_is_not_told(lab: Lab) -> None:
    """Nothing has changed since Kueue tried the first, so it does not try the second."""
    assert condition_of_equivalent(lab) is None


@covers("QUEUE-025")
def test_an_equal_of_one_that_did_not_fit_is_told_for_itself(lab: Lab) -> None:
    """Kueue tries each workload, whatever it decided about equivalent ones."""
    assert condition_of_equivalent(lab) == ("False", "Pending")


@owns_kueue
@pytest.mark.parametrize(
    ("gate", "message"),
    [
        pytest.param(True, None, id="on", marks=covers("QUEUE-057")),
        pytest.param(False, ("False", "Pending"), id="off", marks=covers("QUEUE-058")),
    ],
)
def test_whether_equals_wait_together_is_a_gate(lab: Lab, gate: bool, message: tuple[str, str] | None) -> None:
    """Whatever the default of the release is."""
    lab.start(gates={"SchedulingEquivalenceHashing": gate})
    assert condition_of_equivalent(lab) == message


@covers("QUEUE-037")
def test_an_equal_that_comes_with_its_local_queue_is_told_for_itself(lab: Lab) -> None:
    """Kueue tries the workloads of a LocalQueue that is created later, whatever happened to equivalent ones."""
    queue = lab.queue({"cpu": 1})
    later = lab.missing_queue()
    second = later.submit(a_job(cpu="2"))
    assert lab.condition(second, "QuotaReserved") == ("False", "Inadmissible")
    first = queue.submit(a_job(cpu="2"))
    assert lab.condition(first, "QuotaReserved") == ("False", "Pending")

    lab.local_queue(queue.cluster, later.namespace, name=later.local)

    assert lab.condition(second, "QuotaReserved") == ("False", "Pending")


@covers("QUEUE-037")
def test_an_equal_is_admitted_when_its_local_queue_runs_again(lab: Lab) -> None:
    """Quota that became free while the LocalQueue was held is available to its pending workloads."""
    queue = lab.queue({"cpu": 1})
    first = queue.submit(ORDINARY)
    second = queue.submit(ORDINARY)
    assert lab.verdict(second) == pending(Reason.NO_QUOTA)
    queue.change_local(stopPolicy="Hold")
    lab.finish(first)

    queue.change_local(stopPolicy="None")

    assert lab.verdict(second) == admitted({"cpu": 1})


@pytest.mark.parametrize(
    "verdict",
    [
        pytest.param(unseen(), id="with-its-equals", marks=covers("QUEUE-038")),
        pytest.param(pending(Reason.NEVER_FITS), id="for-itself", marks=covers("QUEUE-039")),
    ],
)
def test_device_work_that_comes_with_its_local_queue_is_told_as_new_work_is(lab: Lab, verdict: Verdict) -> None:
    """Kueue requeues it, together with equivalent workloads if they became inadmissible together."""
    queue = lab.queue({"whole-gpus": 1})
    later = lab.local_queue(queue.cluster, queue.namespace)
    later.delete_local()
    assert lab.verdict(queue.submit(TOO_MANY)) == pending(Reason.NEVER_FITS)
    job = later.submit(TOO_MANY)
    assert lab.verdict(job) == unseen()

    lab.local_queue(queue.cluster, later.namespace, name=later.local)

    assert lab.verdict(job) == verdict


@pytest.mark.parametrize(
    "waits",
    [
        pytest.param(True, id="with-its-equals", marks=covers("QUEUE-038")),
        pytest.param(False, id="for-itself", marks=covers("QUEUE-039")),
    ],
)
def test_device_work_whose_local_queue_runs_again_is_queued_as_new_work_is(lab: Lab, waits: bool) -> None:
    """Quota became free while the LocalQueue was held; equivalent inadmissible workloads were not tried since."""
    queue = lab.queue({"whole-gpus": 1})
    first = queue.submit(DEVICES)
    second = queue.submit(DEVICES)
    assert lab.verdict(second) == pending(Reason.NO_QUOTA)
    queue.change_local(stopPolicy="Hold")
    lab.finish(first)

    queue.change_local(stopPolicy="None")

    assert lab.is_suspended(second) is waits


@covers("QUEUE-043")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(a_job(cpu="1500m"), a_job(cpu="1.5"), id="a-job-in-other-words"),
        pytest.param(
            a_workload(a_pod_set("main", cpu="1500m")), a_workload(a_pod_set("main", cpu="1.5")), id="in-other-words"
        ),
        pytest.param(
            a_workload(a_pod_set("main", cpu="2")),
            a_workload(a_pod_set("main", spec={"containers": limited(cpu="2")})),
            id="by-its-limit",
        ),
        pytest.param(
            a_job(cpu="2", spec={"nodeSelector": {"zone": "one", "disk": "fast"}}),
            a_job(cpu="2", spec={"nodeSelector": {"disk": "fast", "zone": "one"}}),
            id="in-another-order",
        ),
    ],
)
def test_an_equal_may_be_written_otherwise(lab: Lab, one: Work, other: Work) -> None:
    """A workload with the same requests in another form, or by limits, is not tried after one that did not fit."""
    queue = lab.queue({"cpu": 1})
    assert lab.condition(queue.submit(one), "QuotaReserved") == ("False", "Pending")

    assert lab.condition(queue.submit(other), "QuotaReserved") is None


@covers("QUEUE-044", "TAS-054")
def test_a_workload_whose_pods_are_numbered_is_no_equal(lab: Lab) -> None:
    """As those of a Job are; in all else both are the same."""
    queue = lab.queue({"cpu": 1})
    assert lab.condition(queue.submit(a_job(cpu="2")), "QuotaReserved") == ("False", "Pending")

    other = queue.submit(a_workload(a_pod_set("main", cpu="2")))

    assert lab.condition(other, "QuotaReserved") == ("False", "Pending")


@covers("QUEUE-044")
@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"topologySpreadConstraints": SPREAD}, id="spread"),
        pytest.param({"resources": {"requests": {"cpu": "2"}}}, id="requested-as-a-whole"),
        pytest.param({"containers": containers({"cpu": "2"}, ports=[{"containerPort": 80}])}, id="a-port"),
    ],
)
def test_who_is_shaped_otherwise_is_no_equal(lab: Lab, spec: dict[str, Any]) -> None:
    """A workload with the same requests but with spreading, a port, or for the whole pod, is tried separately."""
    queue = lab.queue({"cpu": 1})
    first = queue.submit(a_workload(a_pod_set("main", cpu="2")))
    assert lab.condition(first, "QuotaReserved") == ("False", "Pending")

    second = queue.submit(a_workload(a_pod_set("main", cpu="2", spec=spec)))

    assert lab.condition(second, "QuotaReserved") == ("False", "Pending")
