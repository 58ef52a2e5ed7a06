"""AppWrappers: which pods they have, and which of their devices are charged (Kueue, AppWrapper integration)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kueue_dra_fixtures.builders import GPU, Pods, Work, a_job, a_pod_set, a_template, gpu, work_of
from kueue_dra_fixtures.lab import Job, Lab, Queue
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, finished, pending
from kueue_dra_ref.target import Manifest
from kueue_dra_ref.verdict import Verdict

pytestmark = owns_kueue

CARD = "vendor.example.com/card"


def cards(name: str, pods: int, each: int) -> Pods:
    """Pods that request cards by the name of an extended resource."""
    return a_pod_set(name, pods=pods, requests={CARD: str(each)})


def wrapped(lab: Lab, queue: Queue, *components: Mapping[str, Any]) -> Manifest:
    """An AppWrapper of components."""
    written = lab.written(work_of("AppWrapper", a_pod_set("main")), queue)
    return {**written, "spec": {"components": [dict(each) for each in components]}}


def component_of(lab: Lab, queue: Queue, work: Work, **spec: Any) -> Manifest:
    """Work without its queue name, as a component."""
    written = lab.written(work, queue)
    template = {**written, "metadata": {"name": written["metadata"]["name"]}}
    return {"template": {**template, "spec": {**template["spec"], **spec}}}


@covers("EXT-027")
@pytest.mark.parametrize(
    ("quota", "verdict"),
    [
        pytest.param(9, admitted({"whole-gpus": 8}), id="one-to-spare"),
        pytest.param(8, admitted({"whole-gpus": 8}), id="fits-exactly"),
        pytest.param(7, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
@covers("WORK-028")
def test_all_components_are_charged_together(lab: Lab, quota: int, verdict: Verdict) -> None:
    """The pods of each Job in it are a pod set, named after the AppWrapper."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": quota})
    job = queue.submit(work_of("AppWrapper", cards("a", 1, 2), cards("b", 2, 3)))

    assert lab.verdict(job) == verdict
    pod_sets = lab.workload(job)["spec"]["podSets"]
    assert [each["name"] for each in pod_sets] == [f"{job.ref.name}-0", f"{job.ref.name}-1"]


@covers("EXT-027")
@pytest.mark.parametrize("kind", ["Job", "JobSet", "PyTorchJob", "RayCluster", "RayJob"])
@covers("WORK-028")
def test_the_pods_of_known_kinds_are_found(lab: Lab, kind: str) -> None:
    """Nothing needs to be declared for them."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": 8})
    component = component_of(lab, queue, work_of(kind, cards("workers", 3, 2)))
    job = lab.submit_manifest(wrapped(lab, queue, component))

    assert lab.verdict(job) == admitted({"whole-gpus": 6})


@covers("EXT-027", "WORK-034")
@pytest.mark.parametrize("kind", ["RayCluster", "RayJob"])
@covers("WORK-028")
def test_hosts_of_a_worker_group_are_not_counted(lab: Lab, kind: str) -> None:
    """The group has two replicas of two hosts each; only the replicas are charged."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": 8})
    component = component_of(lab, queue, work_of(kind, cards("workers", 4, 2)))
    job = lab.submit_manifest(wrapped(lab, queue, component))

    assert lab.verdict(job) == admitted({"whole-gpus": 4})


@covers("EXT-027")
@pytest.mark.parametrize(
    ("pod_sets", "usage"),
    [
        pytest.param([{"path": "template.spec.template", "replicas": 3}], 6, id="more-than-it-has"),
        pytest.param([{"path": "template.spec.template"}], 2, id="one-by-default"),
        pytest.param([{"path": "template.spec.template"}] * 2, 4, id="twice"),
    ],
)
@covers("WORK-028")
def test_declared_pod_sets_count(lab: Lab, pod_sets: list[Mapping[str, Any]], usage: int) -> None:
    """A declaration is taken instead of what the object says."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": 8})
    component = component_of(lab, queue, work_of("Job", cards("main", 4, 2)))
    job = lab.submit_manifest(wrapped(lab, queue, {**component, "podSets": pod_sets}))

    assert lab.verdict(job) == admitted({"whole-gpus": usage})


@covers("EXT-027", "WORK-035")
@covers("WORK-028")
def test_a_declared_pod_set_without_pods_never_starts(lab: Lab) -> None:
    """Kueue charges those that it finds, and misses the others when it starts the AppWrapper."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": 8})
    component = component_of(lab, queue, work_of("Job", cards("main", 4, 2)))
    pod_sets = [{"path": "template.spec.template"}, {"path": "template.spec.none"}]
    job = lab.submit_manifest(wrapped(lab, queue, {**component, "podSets": pod_sets}))

    assert lab.verdict(job) == finished("FailedToStart")
    assert lab.message(job, "Finished") == "invalid podset infos: expecting 2 podsets, got 1"


@covers("EXT-027")
@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
@covers("WORK-028")
def test_pods_of_a_deployment_are_found(lab: Lab, kind: str) -> None:
    """Each replica is a pod of the pod set."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": 8})
    template = lab.written(a_job(requests={CARD: "2"}), queue)["spec"]["template"]
    deployment = {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "d"},
        "spec": {"replicas": 3, "template": template},
    }
    job = lab.submit_manifest(wrapped(lab, queue, {"template": deployment}))

    assert lab.verdict(job) == admitted({"whole-gpus": 6})


@covers("WORK-029")
@pytest.mark.parametrize("quota", [0, 4])
@covers("WORK-028")
def test_claims_are_not_charged(lab: Lab, quota: int) -> None:
    """Kueue reads a part of each pod template, which lacks the claims: the pods run without quota for their devices."""
    queue = lab.queue({"cpu": "4", "whole-gpus": quota})
    job = queue.submit(work_of("AppWrapper", a_pod_set("main", pods=2, cpu="1", claims=[a_template(gpu(2))])))

    assert lab.verdict(job) == admitted({"cpu": "2"})
    pods = lab.workload(job)["spec"]["podSets"][0]["template"]["spec"]
    assert "resourceClaims" not in pods
    assert not lab.is_suspended(job)


@covers("WORK-003", "EXT-027")
@covers("WORK-028")
def test_a_finished_app_wrapper_frees_its_quota(lab: Lab) -> None:
    """Its phase says so."""
    queue, job = _running(lab)
    second = queue.submit(a_job(claims=[a_template(gpu())]))
    assert lab.verdict(second) == pending(Reason.NO_QUOTA)

    lab.finish(job)

    assert lab.verdict(job) == finished("Succeeded")
    assert lab.verdict(second) == admitted({"whole-gpus": 1})


@covers("WORK-003", "EXT-027")
@pytest.mark.parametrize(("deployed", "over"), [("True", False), ("False", True)])
@covers("WORK-028")
def test_a_failed_app_wrapper_is_over_once_its_objects_are_gone(lab: Lab, deployed: str, over: bool) -> None:
    """Its controller deletes what it has made first."""
    _, job = _running(lab)
    lab.report(job, phase="Failed", conditions=[_condition("ResourcesDeployed", deployed)])

    assert lab.condition(job, "Finished") == (("True", "Failed") if over else None)


@covers("STATUS-026", "EXT-027")
@pytest.mark.parametrize(("reserved", "holds"), [("True", True), ("False", False)])
@covers("WORK-028")
def test_an_evicted_app_wrapper_keeps_its_quota_until_its_objects_are_gone(
    lab: Lab, reserved: str, holds: bool
) -> None:
    """Its own condition QuotaReserved says so."""
    _, job = _running(lab)
    lab.report(job, phase="Running", conditions=[_condition("QuotaReserved", reserved)])

    lab.activate(job, False)

    assert lab.is_suspended(job)
    assert (lab.admission(job) is not None) is holds


@covers("STATUS-024", "EXT-027")
@covers("WORK-028")
def test_a_preempted_app_wrapper_is_suspended_again(lab: Lab) -> None:
    """It waits for quota, and starts again when the other is gone."""
    queue, low = _running(lab, preemption={"withinClusterQueue": "LowerPriority"})
    high = queue.submit(a_job(claims=[a_template(gpu())], priority=5))

    assert lab.verdict(high) == admitted({"whole-gpus": 1})
    assert lab.verdict(low) == pending(Reason.NO_QUOTA)
    assert lab.is_suspended(low)

    lab.finish(high)

    assert lab.verdict(low) == admitted({"whole-gpus": 4})


@covers("WORK-028")
def test_the_objects_in_an_app_wrapper_stay_as_they_are(lab: Lab) -> None:
    """Its own controller sends their pods to the nodes of the flavor."""
    queue = lab.queue(groups=[{lab.flavor(nodeLabels={"zone": "a"}): {"cpu": "4"}}])
    spec = lab.written(a_job(requests={"cpu": "1"}), queue)["spec"]["template"]["spec"]
    pods = {"spec": {**spec, "schedulingGates": [{"name": "example.com/gate"}]}}
    job = lab.submit_manifest(wrapped(lab, queue, component_of(lab, queue, a_job(), template=pods)))

    def template() -> Mapping[str, Any]:
        found: Mapping[str, Any] = lab.read(job.ref)["spec"]["components"][0]["template"]["spec"]["template"]
        return found

    assert lab.verdict(job) == admitted({"cpu": "1"})
    assert not lab.is_suspended(job)
    assert template() == pods

    lab.activate(job, False)

    assert lab.is_suspended(job)
    assert template() == pods


@covers("STATUS-041", "EXT-027")
@pytest.mark.parametrize(
    ("pods", "verdict"),
    [
        pytest.param(1, admitted({"whole-gpus": 2}), id="fits"),
        pytest.param(3, pending(Reason.NEVER_FITS), id="too-large"),
    ],
)
@covers("WORK-028")
def test_a_running_app_wrapper_of_another_size_is_admitted_anew(lab: Lab, pods: int, verdict: Verdict) -> None:
    """It is suspended, and gets another Workload."""
    _, job = _running(lab)
    template = job.made["spec"]["components"][0]["template"]
    resized = {**template, "spec": {**template["spec"], "parallelism": pods, "completions": pods}}
    lab.apply({**job.made, "spec": {"components": [{"template": resized}]}})
    lab.settle()

    assert lab.verdict(job) == verdict
    assert lab.is_suspended(job) is (verdict == pending(Reason.NEVER_FITS))


def _running(lab: Lab, **queue: Any) -> tuple[Queue, Job]:
    """An admitted AppWrapper of two pods with two devices each, in a queue of four."""
    lab.stands_for(CARD, GPU)
    made = lab.queue({"whole-gpus": 4}, **queue)
    job = made.submit(work_of("AppWrapper", cards("main", 2, 2)))
    assert lab.verdict(job) == admitted({"whole-gpus": 4})
    return made, job


def _condition(kind: str, status: str) -> Mapping[str, str]:
    return {
        "type": kind,
        "status": status,
        "reason": "Reported",
        "message": "m",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }


@covers("WORK-028")
def test_pods_of_a_component_may_have_no_containers(lab: Lab) -> None:
    """The API server does not know what a component is, and Kueue reads an empty list."""
    queue = lab.queue({"whole-gpus": 1})
    pods = {"spec": {"restartPolicy": "Never"}}
    job = lab.submit_manifest(wrapped(lab, queue, component_of(lab, queue, a_job(), template=pods)))

    assert lab.verdict(job) == admitted({})
    (pod_set,) = lab.workload(job)["spec"]["podSets"]
    assert pod_set["template"]["spec"]["containers"] == []
    assert not lab.is_suspended(job)
