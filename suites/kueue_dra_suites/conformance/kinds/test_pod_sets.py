"""Kinds of work: which pod sets a Workload has, and what their devices are charged (Kueue, integrations)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kueue_dra_fixtures.builders import GPU, Pods, a_pod_set, a_request, a_template, gpu, work_of
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.manifests import LEAST_ANNOTATION, marked
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, pending
from kueue_dra_ref.api.job_kind import replaced, template_of
from kueue_dra_ref.api.job_kinds import pod_set_places
from kueue_dra_ref.verdict import Verdict
from kueue_dra_suites.conformance.kinds.rows import EVERY, LATE, OF_KUBEFLOW, OF_THREE, SEVERAL

pytestmark = owns_kueue

CARD = "vendor.example.com/card"
NUMBERED = {"podIndexLabel": "batch.kubernetes.io/job-completion-index"}
IN_JOBS = {**NUMBERED, "subGroupIndexLabel": "jobset.sigs.k8s.io/job-index"}


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize(
    ("pods", "quota", "verdict"),
    [
        pytest.param(1, 3, admitted({"whole-gpus": 2}), id="one-pod"),
        pytest.param(3, 7, admitted({"whole-gpus": 6}), id="one-to-spare"),
        pytest.param(3, 6, admitted({"whole-gpus": 6}), id="fits-exactly"),
        pytest.param(4, 8, admitted({"whole-gpus": 8}), id="two-replicas"),
        pytest.param(4, 7, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_devices_are_charged_for_each_pod(lab: Lab, kind: str, pods: int, quota: int, verdict: Verdict) -> None:
    """Each pod of each replica gets claims of its own."""
    queue = lab.queue({"whole-gpus": quota})
    job = queue.submit(work_of(kind, a_pod_set("workers", pods=pods, claims=[a_template(gpu(2))])))

    assert lab.verdict(job) == verdict


@covers("PARTIAL-002", "PARTIAL-006")
@pytest.mark.parametrize("kind", ["JobSet", "PyTorchJob"])
@pytest.mark.parametrize(
    ("least", "quota", "verdict"),
    [
        pytest.param("0", 3, admitted({"cpu": 3}), id="none"),
        pytest.param("1", 2, pending(Reason.NEVER_FITS), id="fewer"),
    ],
)
def test_the_fewest_pods_are_of_jobs_alone(lab: Lab, kind: str, least: str, quota: int, verdict: Verdict) -> None:
    """Nothing reads the annotation on other work: it is not denied, and all pods are admitted or none."""
    made = lab.written(work_of(kind, a_pod_set("workers", pods=3, cpu="1")), lab.queue({"cpu": quota}))
    job = lab.submit_manifest(marked(made, annotations={LEAST_ANNOTATION: least}))

    assert lab.verdict(job) == verdict


@covers("CHECK-014")
@pytest.mark.parametrize("kind", ["JobSet", "PyTorchJob"])
def test_each_pod_set_gets_its_own_update(lab: Lab, kind: str) -> None:
    """By its name, in whatever order a check answers."""
    check = lab.admission_check()
    queue = lab.queue({"cpu": "8"}, admissionChecksStrategy={"admissionChecks": [{"name": check}]})
    job = queue.submit(work_of(kind, a_pod_set("master", cpu="1"), a_pod_set("workers", pods=2, cpu="1")))
    names = [each["name"] for each in lab.workload(job)["spec"]["podSets"]]

    updates = [{"name": name, "nodeSelector": {"zone": name}} for name in reversed(names)]
    lab.answer_check(job, check, "Ready", podSetUpdates=updates)

    started = lab.read(job.ref)
    templates = [template_of(started, place) for place in pod_set_places(started)]
    assert [each["spec"]["nodeSelector"] for each in templates] == [{"zone": name} for name in names]


@covers("WORK-040")
@pytest.mark.parametrize("kind", OF_KUBEFLOW)
def test_requests_of_the_pod_itself_are_dropped(lab: Lab, kind: str) -> None:
    """The definitions of these kinds are older than that field."""
    queue = lab.queue({"cpu": "8"})
    written = lab.written(work_of(kind, a_pod_set("workers", pods=2, cpu="1")), queue)
    (place,) = pod_set_places(written)
    asked = replaced(written, (*place.path, "spec", "resources"), {"requests": {"cpu": "3"}})
    job = lab.submit_manifest(asked)

    assert lab.verdict(job) == admitted({"cpu": "2"})


@pytest.mark.parametrize(
    "cpu",
    [
        pytest.param("2", id="dropped", marks=covers("WORK-043")),
        pytest.param("6", id="charged", marks=covers("WORK-044")),
    ],
)
def test_requests_of_the_pods_of_an_mpi_job(lab: Lab, cpu: str) -> None:
    """The definition of an MPIJob has that field from mpi-operator 0.7 on."""
    queue = lab.queue({"cpu": "8"})
    written = lab.written(work_of("MPIJob", a_pod_set("workers", pods=2, cpu="1")), queue)
    (place,) = pod_set_places(written)
    asked = replaced(written, (*place.path, "spec", "resources"), {"requests": {"cpu": "3"}})
    job = lab.submit_manifest(asked)
    assert lab.verdict(job) == admitted({"cpu": cpu})

    lab.apply(replaced(asked, ("spec", "slotsPerWorker"), 2))
    lab.settle()

    assert lab.verdict(job) == admitted({"cpu": cpu})


@covers("COUNT-011")
@pytest.mark.parametrize("kind", SEVERAL)
@pytest.mark.parametrize(
    ("quota", "verdict"),
    [
        pytest.param(9, admitted({"whole-gpus": 8}), id="one-to-spare"),
        pytest.param(8, admitted({"whole-gpus": 8}), id="fits-exactly"),
        pytest.param(7, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_pod_sets_add_up(lab: Lab, kind: str, quota: int, verdict: Verdict) -> None:
    """The pods of all replicated jobs are charged together: all of them start, or none."""
    queue = lab.queue({"whole-gpus": quota})
    leader = a_pod_set("leader", claims=[a_template(gpu(2))])
    workers = a_pod_set("workers", pods=2, claims=[a_template(gpu(3))])
    job = queue.submit(work_of(kind, leader, workers))

    assert lab.verdict(job) == verdict
    assert lab.is_suspended(job) is (verdict == pending(Reason.NEVER_FITS))


@covers("COUNT-011")
@pytest.mark.parametrize("kind", SEVERAL)
@pytest.mark.parametrize(
    ("pod_sets", "counts", "usage"),
    [
        pytest.param(
            [a_pod_set("leader", cpu="1"), a_pod_set("workers", pods=2, claims=[a_template(gpu(2))])],
            [1, 2],
            {"cpu": "1", "whole-gpus": "4"},
            id="claims-in-the-last",
        ),
        pytest.param(
            [a_pod_set("leader", claims=[a_template(gpu())]), a_pod_set("workers", pods=3, cpu="1")],
            [1, 3],
            {"cpu": "3", "whole-gpus": "1"},
            id="claims-in-the-first",
        ),
    ],
)
def test_each_pod_set_is_charged_for_its_own_claims(
    lab: Lab, kind: str, pod_sets: list[Pods], counts: list[int], usage: Mapping[str, str]
) -> None:
    """The Workload has one pod set for each group of pods, in the order of the object, with their numbers."""
    queue = lab.queue({"cpu": "8", "whole-gpus": 8, "example.com/nics": 8})
    job = queue.submit(work_of(kind, *pod_sets))

    assert list(lab.counts(job).values())[-len(counts) :] == counts
    assert lab.verdict(job) == admitted(usage)


@covers("COUNT-011")
@pytest.mark.parametrize("kind", LATE)
def test_a_pod_set_without_pods_is_not_charged(lab: Lab, kind: str) -> None:
    """It has no claims, so that what they would ask for does not matter."""
    queue = lab.queue({"whole-gpus": 8})
    none = a_pod_set("none", pods=0, claims=[a_template(gpu(9))])
    job = queue.submit(work_of(kind, none, a_pod_set("some", claims=[a_template(gpu())])))

    assert list(lab.counts(job).values())[-2:] == [0, 1]
    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@covers("COUNT-011")
@pytest.mark.parametrize("kind", SEVERAL)
def test_pod_sets_that_name_one_template_are_charged_each(lab: Lab, kind: str) -> None:
    """Each pod of each pod set gets a claim of its own from the template."""
    queue = lab.queue({"whole-gpus": 6})
    template = a_template(gpu(2))
    leader = a_pod_set("leader", claims=[template])
    workers = a_pod_set("workers", pods=2, claims=[template])
    job = queue.submit(work_of(kind, leader, workers))

    assert lab.verdict(job) == admitted({"whole-gpus": 6})


@covers("EXT-027")
@pytest.mark.parametrize("kind", SEVERAL)
@pytest.mark.parametrize(
    ("quota", "verdict"),
    [
        pytest.param(5, admitted({"whole-gpus": 5}), id="fits-exactly"),
        pytest.param(4, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_extended_resources_add_to_claims(lab: Lab, kind: str, quota: int, verdict: Verdict) -> None:
    """One pod set asks by claim, the other by the extended resource of the same class: both are charged."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": quota})
    by_claim = a_pod_set("by-claim", claims=[a_template(gpu(3))])
    by_name = a_pod_set("by-name", pods=2, requests={CARD: "1"})
    job = queue.submit(work_of(kind, by_claim, by_name))

    assert lab.verdict(job) == verdict


@pytest.mark.parametrize("kind", SEVERAL)
@pytest.mark.parametrize(
    ("users", "init_users"),
    [
        pytest.param((("c0",),), (("c0",),), id="both"),
        pytest.param(((),), (("c0",),), id="init-container-alone"),
        pytest.param((("c0",), ("c0",)), (), id="two-containers"),
    ],
)
def test_a_claim_is_charged_once_for_the_containers_of_a_pod(
    lab: Lab, kind: str, users: tuple[tuple[str, ...], ...], init_users: tuple[tuple[str, ...], ...]
) -> None:
    """Init containers and regular containers of a pod share its claim."""
    queue = lab.queue({"whole-gpus": 4})
    pods = a_pod_set("workers", pods=2, claims=[a_template(gpu(2))], users=users, init_users=init_users)
    job = queue.submit(work_of(kind, pods))

    assert lab.verdict(job) == admitted({"whole-gpus": 4})


@covers("COUNT-011")
@pytest.mark.parametrize("kind", OF_THREE)
@pytest.mark.parametrize(
    ("quota", "verdict"),
    [
        pytest.param(7, admitted({"whole-gpus": 7, "example.com/nics": 2}), id="fits-exactly"),
        pytest.param(6, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_three_pod_sets_ask_for_different_classes(lab: Lab, kind: str, quota: int, verdict: Verdict) -> None:
    """The pods of each of them are charged for what they ask for."""
    queue = lab.queue({"whole-gpus": quota, "example.com/nics": 2})
    first = a_pod_set("a", claims=[a_template(gpu())])
    second = a_pod_set("b", pods=2, claims=[a_template(a_request("nic.example.com"))])
    third = a_pod_set("c", pods=3, claims=[a_template(gpu(2))])
    job = queue.submit(work_of(kind, first, second, third))

    assert lab.verdict(job) == verdict


@covers("TAS-054")
@pytest.mark.parametrize(
    ("kind", "pods", "request_"),
    [
        pytest.param("Job", 4, NUMBERED, id="job"),
        pytest.param("JobSet", 3, {**IN_JOBS, "subGroupCount": 1}, id="jobset"),
        pytest.param("JobSet", 4, {**IN_JOBS, "subGroupCount": 2}, id="jobset-of-two"),
        pytest.param("TrainJob", 4, {**IN_JOBS, "subGroupCount": 1}, id="trainjob", marks=covers("WORK-030")),
        pytest.param("PyTorchJob", 4, {"podIndexLabel": "training.kubeflow.org/replica-index"}, id="pytorchjob"),
        pytest.param("MPIJob", 4, {"podIndexLabel": "training.kubeflow.org/replica-index"}, id="mpijob"),
        pytest.param("AppWrapper", 4, NUMBERED, id="appwrapper", marks=covers("WORK-028")),
        pytest.param("RayCluster", 4, {}, id="raycluster"),
    ],
)
def test_a_pod_set_says_what_numbers_its_pods(lab: Lab, kind: str, pods: int, request_: Mapping[str, object]) -> None:
    """In its topology request, though its pods may run anywhere."""
    queue = lab.queue({"cpu": 8})
    job = queue.submit(work_of(kind, a_pod_set("workers", pods=pods, cpu="1")))

    *_, found = lab.workload(job)["spec"]["podSets"]
    assert found.get("topologyRequest", {}) == request_
