"""SparkApplications: a driver and executors that are described by fields (Kueue, SparkApplication integration)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kueue_dra_fixtures import frameworks
from kueue_dra_fixtures.aging import aged
from kueue_dra_fixtures.builders import GPU, Pods, a_job, a_pod_set, a_template, gpu, work_of
from kueue_dra_fixtures.lab import Lab, Queue
from kueue_dra_fixtures.manifests import QUEUE_LABEL, marked
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, evicted, pending
from kueue_dra_ref.api.job_kind import replaced
from kueue_dra_ref.api.job_kinds import is_in
from kueue_dra_ref.api.spark_application import SPARK_APPLICATION
from kueue_dra_ref.api.topologies import REQUIRED, UNCONSTRAINED
from kueue_dra_ref.target import Manifest
from kueue_dra_ref.verdict import Verdict

pytestmark = owns_kueue

CARD = "vendor.example.com/card"
GATE = "SparkApplicationIntegration"


def start(lab: Lab, **fields: Any) -> None:
    """Kueue runs with the framework of SparkApplications, and with the gate that it needs."""
    if not is_in(SPARK_APPLICATION, lab.behaviour.kueue):
        return
    integrations = frameworks.all_and(SPARK_APPLICATION, lab.behaviour.kueue)
    lab.start(integrations=integrations, switched={GATE: True}, **fields)


@pytest.fixture(autouse=True)
def spark(lab: Lab, every_kind: None) -> None:
    """Each case begins with such a Kueue."""
    start(lab)


def roles(executors: int, each: int, *, driver: int = 0) -> tuple[Pods, Pods]:
    """A driver and executors with cards, which the field gpu names."""
    cards = {CARD: str(driver)} if driver else {}
    return a_pod_set("driver", requests=cards), a_pod_set("executor", pods=executors, requests={CARD: str(each)})


def an_application(lab: Lab, queue: Queue, **spec: Any) -> Manifest:
    """A SparkApplication of two executors with one card each, with other fields."""
    written = lab.written(work_of("SparkApplication", *roles(2, 1)), queue)
    return {**written, "spec": {**written["spec"], **spec}}


@covers("TAS-050", "WORK-037")
@pytest.mark.parametrize("role", ["driver", "executor"])
def test_pods_request_a_valid_topology(lab: Lab, role: str) -> None:
    """The webhook names the field of the role, whose annotations are those of its pods."""
    written = lab.written(work_of("SparkApplication", *roles(1, 1)), lab.queue({CARD: 2}))
    path = ("spec", role, "annotations")
    message = f"spec.{role}.annotations: Invalid value: must not contain more than one topology annotation: "

    assert message in lab.denied(replaced(written, path, {REQUIRED: "rack", UNCONSTRAINED: "yes"}))
    unread = 'denied the request: strconv.ParseBool: parsing "yes": invalid syntax'
    assert lab.denied(replaced(written, path, {UNCONSTRAINED: "yes"})).endswith(unread)
    assert not lab.denied(replaced(written, path, {UNCONSTRAINED: "true"}))


@covers("WORK-037", "WORK-038")
@pytest.mark.parametrize(
    ("quota", "verdict"),
    [
        pytest.param(8, admitted({CARD: 7}), id="one-to-spare"),
        pytest.param(7, admitted({CARD: 7}), id="fits-exactly"),
        pytest.param(6, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_driver_and_executors_are_charged_together(lab: Lab, quota: int, verdict: Verdict) -> None:
    """The driver is one pod, and there is an executor for each instance."""
    queue = lab.queue({CARD: quota})
    job = queue.submit(work_of("SparkApplication", *roles(3, 2, driver=1)))

    assert lab.verdict(job) == verdict
    pod_sets = lab.workload(job)["spec"]["podSets"]
    assert [(each["name"], each.get("count")) for each in pod_sets] == [("driver", 1), ("executor", 3)]
    assert lab.is_suspended(job) is (verdict == pending(Reason.NEVER_FITS))


@covers("WORK-037")
def test_no_instances_are_no_executors(lab: Lab) -> None:
    """Without instances only the driver is charged, though Spark starts an executor."""
    queue = lab.queue({"cpu": "8"})
    written = an_application(lab, queue, driver={"coreRequest": "1"}, executor={"coreRequest": "2"})
    job = lab.submit_manifest(written)

    assert lab.verdict(job) == admitted({"cpu": "1"})


@covers("WORK-038")
@pytest.mark.parametrize(
    ("role", "usage"),
    [
        pytest.param({"coreRequest": "500m", "cores": 4}, {"cpu": "1"}, id="core-request"),
        pytest.param({"cores": 4}, {}, id="cores-alone"),
        pytest.param({"coreLimit": "2"}, {"cpu": "4"}, id="core-limit"),
        pytest.param({"memory": "512m", "memoryOverhead": "1g"}, {"memory": "1Gi"}, id="memory"),
        pytest.param({"memory": "1gb"}, {"memory": "2Gi"}, id="memory-in-two-letters"),
        pytest.param({"memory": "1Gi"}, {"memory": "2Gi"}, id="memory-as-kubernetes-writes-it"),
        pytest.param({"memoryLimit": "2g"}, {"memory": "4Gi"}, id="memory-limit"),
    ],
)
def test_fields_say_what_executors_request(lab: Lab, role: Mapping[str, Any], usage: Mapping[str, str]) -> None:
    """Cores and memory overhead are what Spark adds itself, and they are not charged."""
    queue = lab.queue({"cpu": "8", "memory": "8Gi"})
    job = lab.submit_manifest(an_application(lab, queue, driver={}, executor={"instances": 2, **role}))

    assert lab.verdict(job) == admitted(dict(usage))


@covers("EXT-027", "WORK-038")
@pytest.mark.parametrize(
    ("containers", "usage"),
    [
        pytest.param({"sidecars": 1}, 4, id="beside"),
        pytest.param({"initContainers": 3}, 6, id="before"),
        pytest.param({"initContainers": 1}, 2, id="smaller-before"),
    ],
)
def test_other_containers_are_charged(lab: Lab, containers: Mapping[str, int], usage: int) -> None:
    """A sidecar adds to the pod, and an init container counts if it needs more."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": 9})
    ((field, cards),) = containers.items()
    amounts = {CARD: str(cards)}
    other = {"name": "other", "image": "none.invalid/none", "resources": {"requests": amounts, "limits": amounts}}
    executor = {"instances": 2, "gpu": {"name": CARD, "quantity": 1}, field: [other]}
    job = lab.submit_manifest(an_application(lab, queue, executor=executor))

    assert lab.verdict(job) == admitted({"whole-gpus": usage})


@covers("WORK-038")
def test_a_gpu_is_not_charged_as_a_device(lab: Lab) -> None:
    """It is a limit without a request, which Kueue charges under its own name, though a class provides it."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": 8})
    job = queue.submit(work_of("SparkApplication", *roles(2, 1)))

    assert lab.verdict(job) == pending(Reason.NOT_COVERED)


@covers("WORK-038")
def test_claims_of_a_template_take_no_quota(lab: Lab) -> None:
    """Kueue builds the pods without the spec of the template, where the claims are."""
    queue = lab.queue({"cpu": "8", "whole-gpus": 2})
    model = lab.written(a_job(claims=[a_template(gpu(2))], cpu="1"), queue)
    template = {"spec": model["spec"]["template"]["spec"]}
    executor = {"instances": 2, "coreRequest": "1", "template": template}
    job = lab.submit_manifest(an_application(lab, queue, executor=executor))

    assert lab.verdict(job) == admitted({"cpu": "2"})


@covers("WORK-039")
@pytest.mark.parametrize(
    ("spec", "words"),
    [
        pytest.param({"mode": "client"}, "spec.mode: Invalid value", id="client-mode"),
        pytest.param(
            {"dynamicAllocation": {"enabled": True}},
            "spec.dynamicAllocation.enabled: Invalid value",
            id="dynamic-allocation",
        ),
        pytest.param({"executor": {"memory": "512M"}}, "failed to parse memory requests", id="no-quantity"),
    ],
)
def test_what_cannot_be_counted_is_denied(lab: Lab, spec: Mapping[str, Any], words: str) -> None:
    """Kueue has to know all pods before it admits them; Spark's memory in capital letters it cannot read."""
    queue = lab.queue({"cpu": "8"})

    assert words in lab.denied(an_application(lab, queue, **spec))


@covers("WORK-039")
@pytest.mark.parametrize(
    ("spec", "words"),
    [
        pytest.param({"mode": "client"}, "", id="client-mode"),
        pytest.param({"dynamicAllocation": {"enabled": True}}, "", id="dynamic-allocation"),
        pytest.param({"executor": {"memory": "512M"}}, "failed to parse memory requests", id="no-quantity"),
    ],
)
def test_an_application_without_a_queue_may_be_anything_that_kueue_can_read(
    lab: Lab, spec: Mapping[str, Any], words: str
) -> None:
    """Kueue does not queue it."""
    queue = lab.queue({"cpu": "8"})
    written = an_application(lab, queue, **spec)

    message = lab.denied(marked(written, {QUEUE_LABEL: None}))

    assert words in message
    assert bool(message) is bool(words)


@covers("WORK-039")
def test_dynamic_allocation_that_is_off_is_accepted(lab: Lab) -> None:
    """Only what is enabled counts."""
    queue = lab.queue({CARD: 2})
    job = lab.submit_manifest(an_application(lab, queue, dynamicAllocation={"enabled": False}))

    assert lab.verdict(job) == admitted({CARD: 2})


@covers("WORK-003")
@pytest.mark.parametrize(
    ("state", "reason"),
    [
        pytest.param("COMPLETED", "Succeeded", id="completed"),
        pytest.param("FAILED", "Failed", id="failed"),
        pytest.param("SUBMISSION_FAILED", "Failed", id="not-submitted"),
        pytest.param("PENDING_RERUN", "", id="to-be-run-again"),
    ],
)
@covers("WORK-037")
def test_a_finished_application_frees_its_quota(lab: Lab, state: str, reason: str) -> None:
    """It is over when it completed or failed, not when it is run again."""
    queue = lab.queue({CARD: 2})
    first = queue.submit(work_of("SparkApplication", *roles(2, 1)))
    second = queue.submit(work_of("SparkApplication", *roles(1, 2)))
    assert lab.verdict(first) == admitted({CARD: 2})

    lab.report(first, applicationState={"state": state, "errorMessage": "because"}, driverInfo={})

    assert lab.condition(first, "Finished") == (("True", reason) if reason else None)
    assert lab.is_suspended(second) is not bool(reason)


@covers("WORK-047")
@pytest.mark.parametrize("executors", [pytest.param(1, id="fewer"), pytest.param(3, id="more")])
def test_a_running_application_keeps_its_size(lab: Lab, executors: int) -> None:
    """Kueue stops it because its Workload no longer matches, and restores the executors of that Workload."""
    queue = lab.queue({CARD: 4})
    job = queue.submit(work_of("SparkApplication", *roles(2, 1)))
    assert lab.verdict(job) == admitted({CARD: 2})

    executor = lab.read(job.ref)["spec"]["executor"]
    lab.change(job.ref, executor={**executor, "instances": executors})

    assert lab.verdict(job) == admitted({CARD: 2})
    assert not lab.is_suspended(job)
    assert lab.read(job.ref)["spec"]["executor"]["instances"] == 2


@covers("STATUS-024")
@covers("WORK-037")
def test_a_preempted_application_is_suspended_again(lab: Lab) -> None:
    """It waits for quota with as many executors as before, and starts again when the other is gone."""
    queue = lab.queue({CARD: 2}, preemption={"withinClusterQueue": "LowerPriority"})
    low = queue.submit(work_of("SparkApplication", *roles(2, 1)))
    high = queue.submit(work_of("SparkApplication", *roles(1, 2), priority=100))

    assert lab.verdict(high) == admitted({CARD: 2})
    assert lab.is_suspended(low)
    spec = lab.read(low.ref)["spec"]
    assert spec["executor"]["instances"] == 2
    assert not {"metadata", "spec"} & (spec["driver"].keys() | spec["executor"].keys())

    lab.finish(high)

    assert lab.verdict(low) == admitted({CARD: 2})


def wait_for_pods(lab: Lab) -> None:
    """Run a Kueue that waits for pods for ten minutes."""
    section = {"timeout": "10m", "recoveryTimeout": "10m", "requeuingStrategy": {"backoffBaseSeconds": 3600}}
    start(lab, waitForPodsReady=section)


@pytest.mark.parametrize(
    ("executors", "ready"),
    [
        pytest.param({}, False, id="none", marks=covers("READY-036")),
        pytest.param({}, True, id="the-driver-is-enough", marks=covers("READY-037")),
        pytest.param({"a": "RUNNING", "b": "PENDING"}, False, id="one-of-two", marks=covers("READY-036")),
        pytest.param({"a": "RUNNING", "b": "FAILED"}, False, id="one-failed", marks=covers("READY-036")),
        pytest.param({"a": "RUNNING", "b": "COMPLETED"}, True, id="both", marks=covers("READY-036")),
    ],
)
def test_the_executors_of_an_application_are_waited_for(lab: Lab, executors: Mapping[str, str], ready: bool) -> None:
    """The driver runs."""
    wait_for_pods(lab)
    job = lab.queue({CARD: 2}).submit(work_of("SparkApplication", *roles(2, 1)))

    lab.report(job, applicationState={"state": "RUNNING"}, driverInfo={}, executorState=dict(executors))

    assert lab.pods_ready(job) == (("True", "Started") if ready else ("False", "WaitForStart"))


@covers("READY-036", "STATUS-026")
def test_an_application_without_executors_gives_its_quota_to_others(lab: Lab) -> None:
    """Its time is over; the quota is free when its driver is gone."""
    wait_for_pods(lab)
    queue = lab.queue({CARD: 2})
    job = queue.submit(work_of("SparkApplication", *roles(2, 1)))
    lab.report(job, applicationState={"state": "RUNNING"}, driverInfo={}, executorState={"a": "PENDING"})

    aged(lab, job, 660)
    assert lab.condition(job, "Evicted") == ("True", "PodsReadyTimeout")
    assert lab.is_suspended(job)
    assert lab.admission(job) is not None

    lab.report(job, applicationState={"state": "SUSPENDED"}, driverInfo={})

    assert lab.verdict(job) == evicted("PodsReadyTimeout")
    assert queue.figures.counts.reserving == 0
