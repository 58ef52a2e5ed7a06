"""Kinds of Ray: what submits a RayJob, which Ray work is refused, and when it is over (Kueue, integrations)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kueue_dra_fixtures import frameworks
from kueue_dra_fixtures.builders import a_job, a_pod_set, a_template, gpu, work_of
from kueue_dra_fixtures.lab import Job, Lab, Queue
from kueue_dra_fixtures.manifests import QUEUE_LABEL, marked
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, pending
from kueue_dra_ref.api.execution_time import LIMIT, LIMIT_LABEL
from kueue_dra_ref.api.job_kind import part_at, replaced
from kueue_dra_ref.api.metadata import labels_of
from kueue_dra_ref.api.ray_kinds import CLUSTER_PATHS
from kueue_dra_ref.target import Manifest
from kueue_dra_ref.verdict import Admitted, Verdict
from kueue_dra_suites.conformance.kinds.rows import OF_RAY, RAY_CLUSTER, RAY_JOB, RAY_SERVICE

pytestmark = owns_kueue

UPDATES = "ValidateRayAndSparkJobUpdates"

WORKERS = a_pod_set("workers", pods=2, claims=[a_template(gpu(2))])
ELASTIC = {"kueue.x-k8s.io/elastic-job": "true"}
IDLE = {"spec": {"containers": [{"name": "s", "image": "i"}], "restartPolicy": "Never"}}
"""A submitter that requests nothing."""
MOST_GROUPS = {
    7: "8: must have at most 7 items",
    9: "11: must have at most 10 items",
    17: "19: must have at most 18 items",
}
"""How many worker groups some release accepts, and what it says about one more; later ones count the head, too."""
FIELDS = {"RayCluster": "spec", "RayJob": "spec.rayClusterSpec", "RayService": "spec.rayClusterSpec"}
"""What messages of Kueue call the cluster; a RayService has it in rayClusterConfig."""


def a_ray_job(lab: Lab, queue: Queue, **spec: Any) -> Manifest:
    """A RayJob of two workers with two devices each."""
    written = lab.written(work_of("RayJob", WORKERS), queue)
    return {**written, "spec": {**written["spec"], **spec}}


def with_cluster(lab: Lab, queue: Queue, kind: str, **spec: Any) -> Manifest:
    """Ray work whose cluster has other fields."""
    written = lab.written(work_of(kind, WORKERS), queue)
    path = CLUSTER_PATHS[kind]
    changed: Manifest = replaced(written, path, {**part_at(written, path), **spec})
    return changed


@covers("WORK-010")
@pytest.mark.parametrize(
    ("spec", "usage"),
    [
        pytest.param({}, {"cpu": "500m", "memory": "200Mi"}, id="as-kuberay-makes-it"),
        pytest.param(
            {"submitterPodTemplate": {"spec": {"containers": [{"name": "s", "image": "i"}]}}},
            {},
            id="own-template-without-requests",
        ),
        pytest.param(
            {
                "submitterPodTemplate": {
                    "spec": {"containers": [{"name": "s", "image": "i", "resources": {"requests": {"cpu": "2"}}}]}
                }
            },
            {"cpu": "2"},
            id="own-template",
        ),
    ],
)
@pytest.mark.parametrize("mode", [None, "K8sJobMode"], ids=["default-mode", "job-mode"])
def test_the_pod_that_submits_is_a_pod_set(
    lab: Lab, mode: str | None, spec: Mapping[str, Any], usage: Mapping[str, str]
) -> None:
    """A Job submits, unless another mode is given: its pod is charged in addition to those of the cluster."""
    queue = lab.queue({"cpu": "2", "memory": "1Gi", "whole-gpus": 4})
    written = a_ray_job(lab, queue, **spec)
    del written["spec"]["submissionMode"]
    job = lab.submit_manifest(replaced(written, ("spec", "submissionMode"), mode) if mode else written)

    assert list(lab.counts(job)) == ["head", "workers", "submitter"]
    assert lab.verdict(job) == admitted({"whole-gpus": 4, **usage})


@covers("WORK-010")
def test_a_queue_without_cpu_admits_no_submitter(lab: Lab) -> None:
    """The default submitter asks for cpu, which the queue does not have."""
    queue = lab.queue({"whole-gpus": 4})
    job = lab.submit_manifest(a_ray_job(lab, queue, submissionMode="K8sJobMode"))

    assert lab.verdict(job) == pending(Reason.NOT_COVERED)


@covers("WORK-010")
def test_claims_of_the_submitter_are_charged(lab: Lab) -> None:
    """Its template may claim devices like every other."""
    queue = lab.queue({"whole-gpus": 5})
    submitter = lab.written(a_job(claims=[a_template(gpu())]), queue)["spec"]["template"]
    job = lab.submit_manifest(a_ray_job(lab, queue, submissionMode="K8sJobMode", submitterPodTemplate=submitter))

    assert lab.verdict(job) == admitted({"whole-gpus": 5})


@covers("WORK-012")
@pytest.mark.parametrize(
    ("cpu", "verdict"),
    [
        pytest.param("500m", admitted({"whole-gpus": 4, "cpu": "500m", "memory": "200Mi"}), id="fits-exactly"),
        pytest.param("499m", pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_a_submitter_in_the_head_is_charged_there(lab: Lab, cpu: str, verdict: Verdict) -> None:
    """In SidecarMode the head has one more container, and there is no further pod."""
    queue = lab.queue({"cpu": cpu, "memory": "200Mi", "whole-gpus": 4})
    job = lab.submit_manifest(a_ray_job(lab, queue, submissionMode="SidecarMode"))

    assert lab.verdict(job) == verdict
    if isinstance(verdict, Admitted):
        assert list(lab.counts(job)) == ["head", "workers"]


@covers("WORK-013")
@pytest.mark.parametrize("kind", OF_RAY)
@pytest.mark.parametrize(
    "marks",
    [
        pytest.param({"gcsFaultToleranceOptions": {"redisAddress": "redis:6379"}}, id="options"),
        pytest.param({}, id="annotation"),
    ],
)
def test_the_clean_up_of_redis_fits_in_the_head(lab: Lab, kind: str, marks: Mapping[str, Any]) -> None:
    """Ray stores its state there, and a Job with fixed requests removes it after the head has ended."""
    queue = lab.queue({"cpu": "1", "memory": "1Gi", "whole-gpus": 4})
    written = with_cluster(lab, queue, kind, **marks)
    if not marks:
        written = marked(written, annotations={"ray.io/ft-enabled": "true"})
    job = lab.submit_manifest(written)

    assert lab.verdict(job) == admitted({"whole-gpus": 4, "cpu": "200m", "memory": "256Mi"})


@covers("WORK-013")
@pytest.mark.parametrize("kind", OF_RAY)
def test_a_head_that_requests_more_than_the_clean_up_keeps_its_requests(lab: Lab, kind: str) -> None:
    """Only what is less is raised."""
    queue = lab.queue({"cpu": "2", "memory": "2Gi", "whole-gpus": 4})
    container = {"name": "head", "image": "i", "resources": {"requests": {"cpu": "1", "memory": "64Mi"}}}
    head = {"rayStartParams": {}, "template": {"spec": {"containers": [container]}}}
    marks = {"gcsFaultToleranceOptions": {"redisAddress": "redis:6379"}, "headGroupSpec": head}
    job = lab.submit_manifest(with_cluster(lab, queue, kind, **marks))

    assert lab.verdict(job) == admitted({"whole-gpus": 4, "cpu": "1", "memory": "256Mi"})


@covers("WORK-014")
def test_a_ray_job_on_an_existing_cluster_is_not_managed(lab: Lab) -> None:
    """Kueue suspends it like all work of a queue, and creates no Workload that could start it."""
    queue = lab.queue({"whole-gpus": 4})
    written = a_ray_job(lab, queue, clusterSelector={"ray.io/cluster": "old"})
    del written["spec"]["rayClusterSpec"]
    job = lab.submit_manifest(written)

    assert not lab.workloads(job)
    assert lab.is_suspended(job)


@covers("WORK-058")
def test_nothing_of_a_ray_job_on_an_existing_cluster_is_validated(lab: Lab) -> None:
    """Its queue does not even need the name of an object."""
    written = a_ray_job(lab, lab.queue({"whole-gpus": 4}), clusterSelector={"ray.io/cluster": "old"})
    del written["spec"]["rayClusterSpec"]

    assert lab.denied(marked(written, {QUEUE_LABEL: "No_Name"})) == ""


@covers("WORK-057")
def test_a_ray_job_has_a_cluster(lab: Lab) -> None:
    """It neither makes one nor selects one; nothing else is looked at then, such as the name of its queue."""
    written = a_ray_job(lab, lab.queue({"whole-gpus": 4}))
    del written["spec"]["rayClusterSpec"]

    assert lab.denied(marked(written, {QUEUE_LABEL: "No_Name"})) == (
        'admission webhook "vrayjob.kb.io" denied the request: spec.rayClusterSpec: Required value: '
        "rayClusterSpec is required for Kueue-managed jobs that don't use clusterSelector"
    )


@covers("WORK-060")
@pytest.mark.parametrize(
    "spec",
    [pytest.param({"clusterSelector": {"ray.io/cluster": "old"}}, id="selects-one"), pytest.param({}, id="none")],
)
def test_a_ray_job_that_makes_no_cluster_is_a_panic(lab: Lab, spec: Mapping[str, Any]) -> None:
    """Up to 0.14 no RayJob of a queue can run on a cluster that is there."""
    written = a_ray_job(lab, lab.queue({"whole-gpus": 4}), **spec)
    del written["spec"]["rayClusterSpec"]

    assert "panic: runtime error: invalid memory address or nil pointer dereference" in lab.denied(written)


@covers("WORK-015", "WORK-016")
@pytest.mark.parametrize(
    ("spec", "message"),
    [
        pytest.param(
            {"clusterSelector": {"ray.io/cluster": "old"}},
            'spec.clusterSelector: Invalid value: {"ray.io/cluster":"old"}: '
            "a kueue managed job should not use an existing cluster",
            id="selects-a-cluster-too",
        ),
        pytest.param(
            {"shutdownAfterJobFinishes": False},
            "spec.shutdownAfterJobFinishes: Invalid value: false: "
            "a kueue managed job should delete the cluster after finishing",
            id="keeps-its-cluster",
        ),
    ],
)
def test_a_ray_job_owns_its_cluster(lab: Lab, spec: Mapping[str, Any], message: str) -> None:
    """Otherwise the cluster would run without the quota of the RayJob."""
    queue = lab.queue({"whole-gpus": 4})

    assert message in lab.denied(a_ray_job(lab, queue, **spec))


@pytest.mark.parametrize(
    "also",
    [
        pytest.param(False, id="alone", marks=covers("WORK-058")),
        pytest.param(True, id="up-to-0.14", marks=covers("WORK-059")),
    ],
)
def test_a_ray_job_that_selects_a_cluster_is_denied_for_that(lab: Lab, also: bool) -> None:
    """The cluster that it makes would outlive it, and has a worker group of the head's name."""
    queue = lab.queue({"whole-gpus": 4})
    written = a_ray_job(lab, queue, clusterSelector={"ray.io/cluster": "old"}, shutdownAfterJobFinishes=False)
    (group,) = written["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    group["groupName"] = "head"

    denied = lab.denied(written)

    assert "spec.clusterSelector" in denied
    others = ["spec.shutdownAfterJobFinishes", 'workerGroupSpecs[0].groupName: Forbidden: "head" is reserved']
    assert [each in denied for each in others] == [also, also]


@pytest.mark.parametrize(
    ("status", "holds"),
    [
        pytest.param("ValidationFailed", False, id="invalid", marks=covers("WORK-042")),
        pytest.param("ValidationFailed", True, id="invalid-up-to-0.18", marks=covers("WORK-045")),
        pytest.param("Retrying", True, id="retried", marks=covers("WORK-010")),
    ],
)
def test_an_invalid_ray_job_needs_no_quota(lab: Lab, status: str, holds: bool) -> None:
    """KubeRay never makes its cluster."""
    queue = lab.queue({"whole-gpus": 4})
    held = lab.submit_manifest(a_ray_job(lab, queue))
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    lab.report(held, jobDeploymentStatus=status)

    assert lab.verdict(job) == (pending(Reason.NO_QUOTA) if holds else admitted({"whole-gpus": 1}))
    assert (lab.admission(held) is not None) is holds
    assert not lab.is_suspended(held)


@covers("WORK-042", "WORK-022")
def test_an_invalid_elastic_ray_job_needs_no_quota(lab: Lab) -> None:
    """Its Workload is on hold as that of any other."""
    lab.start(switched={"ElasticJobsViaWorkloadSlices": True}, integrations=frameworks.all_of(lab.behaviour.kueue))
    queue = lab.queue({"whole-gpus": 4})
    job = lab.submit_manifest(marked(a_ray_job(lab, queue), annotations=ELASTIC))
    waiting = lab.submit_manifest(marked(a_ray_job(lab, queue), annotations=ELASTIC))
    assert [lab.verdict(each) for each in (job, waiting)] == [admitted({"whole-gpus": 4}), pending(Reason.NO_QUOTA)]

    lab.report(waiting, jobDeploymentStatus="ValidationFailed")
    assert lab.verdict(waiting) == pending(Reason.NO_QUOTA)
    lab.report(job, jobDeploymentStatus="ValidationFailed")

    assert _reserved(lab, job) == ("OnHold", "Job is on hold")
    assert lab.admission(job) is None


@covers("WORK-042", "WORK-056")
def test_an_invalid_ray_job_may_have_no_workload(lab: Lab) -> None:
    """Its webhook denied the Workload: there is nothing to put on hold."""
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(work_of("RayJob", a_pod_set("workers", requests={"pods": "1"})))

    lab.report(job, jobDeploymentStatus="ValidationFailed")

    assert not lab.workloads(job)
    assert lab.is_suspended(job)


@covers("WORK-042", "EXEC-006")
def test_the_workload_of_an_invalid_ray_job_follows_it(lab: Lab) -> None:
    """While it waits, it gets a limit of its execution time."""
    job = lab.submit_manifest(a_ray_job(lab, lab.queue({"whole-gpus": 1})))
    lab.report(job, jobDeploymentStatus="ValidationFailed")

    lab.apply(marked(lab.read(job.ref), {LIMIT_LABEL: "60"}))
    lab.settle()

    assert lab.workload(job)["spec"][LIMIT] == 60


@covers("WORK-042")
def test_a_ray_job_stays_on_hold(lab: Lab) -> None:
    """Kueue suspends it once it is valid, and never admits it again."""
    queue = lab.queue({"whole-gpus": 4})
    job = lab.submit_manifest(a_ray_job(lab, queue))
    lab.report(job, jobDeploymentStatus="ValidationFailed")

    lab.report(job, jobDeploymentStatus="Suspended")

    assert lab.is_suspended(job)
    assert lab.admission(job) is None
    assert _reserved(lab, job) == ("OnHold", "Job is on hold")


@covers("WORK-042")
def test_a_waiting_invalid_ray_job_is_not_started(lab: Lab) -> None:
    """One that waits keeps its place in the queue, and loses it when it is admitted."""
    queue = lab.queue({"whole-gpus": 4})
    first = queue.submit(a_job(claims=[a_template(gpu())]))
    job = lab.submit_manifest(a_ray_job(lab, queue))
    lab.report(job, jobDeploymentStatus="ValidationFailed")
    assert lab.verdict(job) == pending(Reason.NO_QUOTA)

    lab.finish(first)

    assert lab.admission(job) is None
    assert _reserved(lab, job) == ("OnHold", "Job is on hold")
    assert lab.is_suspended(job)


def _reserved(lab: Lab, job: Job) -> tuple[str, str]:
    """The reason and the message of the condition QuotaReserved."""
    for each in lab.workload(job)["status"]["conditions"]:
        if each["type"] == "QuotaReserved":
            return each["reason"], each["message"]
    return "", ""


@covers("WORK-022")
@pytest.mark.parametrize("kind", [RAY_JOB, RAY_SERVICE])
def test_an_elastic_cluster_may_scale_itself(lab: Lab, kind: str) -> None:
    """Each size gets a Workload of its own then."""
    queue = lab.queue({"whole-gpus": 4})
    written = with_cluster(lab, queue, kind, enableInTreeAutoscaling=True)

    assert not lab.denied(marked(written, annotations={"kueue.x-k8s.io/elastic-job": "true"}))


@covers("WORK-048")
@pytest.mark.parametrize(
    ("annotations", "suspended", "detail"),
    [
        pytest.param({}, False, "should enable workload slicing if autoscaling is enabled", id="not-elastic"),
        pytest.param(ELASTIC, True, "should not set suspend to true if autoscaling is enabled", id="suspended"),
        pytest.param(ELASTIC, False, "", id="elastic"),
    ],
)
def test_a_new_ray_job_that_scales_itself_is_elastic(
    lab: Lab, annotations: dict[str, str], suspended: bool, detail: str
) -> None:
    """It names no queue; with the gate, the annotation makes it elastic."""
    lab.start(switched={"ElasticJobsViaWorkloadSlices": True}, integrations=frameworks.all_of(lab.behaviour.kueue))
    queue = lab.queue({"whole-gpus": 4})
    written = marked(with_cluster(lab, queue, "RayJob", enableInTreeAutoscaling=True), {QUEUE_LABEL: None})
    written = {**written, "spec": {**written["spec"], "suspend": suspended}}
    message = lab.denied(marked(written, annotations=annotations))

    denial = f'admission webhook "mrayjob.kb.io" denied the request: RayJob {detail}'
    assert message == (denial if detail else "")


@covers("WORK-017")
@pytest.mark.parametrize(
    "kind", [RAY_CLUSTER, pytest.param("RayJob", marks=covers("WORK-010", "WORK-049"), id="rayjob"), RAY_SERVICE]
)
def test_a_cluster_in_a_queue_does_not_scale_itself(lab: Lab, kind: str) -> None:
    """Ray would add workers without quota."""
    queue = lab.queue({"whole-gpus": 4})
    message = lab.denied(with_cluster(lab, queue, kind, enableInTreeAutoscaling=True))

    field = FIELDS[kind]
    assert f"{field}.enableInTreeAutoscaling: Invalid value: true: " in message
    assert "autoscaling" in message


@covers("WORK-018")
@pytest.mark.parametrize("kind", OF_RAY)
def test_worker_groups_are_limited(lab: Lab, kind: str) -> None:
    """A Workload has only so many pod sets."""
    queue = lab.queue({"whole-gpus": 4})
    groups = [{**_group(lab, queue), "groupName": f"w{index}"} for index in range(19)]

    def denied(count: int) -> str:
        return lab.denied(with_cluster(lab, queue, kind, workerGroupSpecs=groups[:count]))

    most, text = next((most, text) for most, text in MOST_GROUPS.items() if denied(most + 1))
    assert f"{FIELDS[kind]}.workerGroupSpecs: Too many: {text}" in denied(most + 1)
    assert not denied(most)


@covers("WORK-020")
@pytest.mark.parametrize("kind", OF_RAY)
def test_the_name_of_the_head_is_taken(lab: Lab, kind: str) -> None:
    """Each pod set of a Workload has its own name."""
    queue = lab.queue({"whole-gpus": 4})
    groups = [{**_group(lab, queue), "groupName": "head"}]
    message = lab.denied(with_cluster(lab, queue, kind, workerGroupSpecs=groups))

    field = FIELDS[kind]
    assert f'{field}.workerGroupSpecs[0].groupName: Forbidden: "head" is reserved for the head group' in message


@covers("WORK-021")
@pytest.mark.parametrize("kind", OF_RAY)
def test_running_ray_work_keeps_its_queue_name(lab: Lab, kind: str) -> None:
    """Without its queue it would run on, and Kueue would know nothing of it."""
    queue = lab.queue({"whole-gpus": 4})
    job = queue.submit(work_of(kind, WORKERS))

    assert "field is immutable" in lab.denied(marked(job.made, {QUEUE_LABEL: None}))


@covers("WORK-036")
@pytest.mark.parametrize("kind", [RAY_CLUSTER, RAY_JOB])
@pytest.mark.parametrize("unnamed_too", [pytest.param(False, id="named-only"), pytest.param(True, id="unnamed-too")])
def test_unchecked_ray_work_loses_its_queue_name(lab: Lab, kind: str, unnamed_too: bool) -> None:
    """It runs on, and its Workload keeps the quota; where Kueue manages work without a queue, it is checked."""
    known = UPDATES in lab.behaviour.gates.table
    switched = {UPDATES: False} if known else {}
    integrations = frameworks.all_of(lab.behaviour.kueue)
    lab.start(integrations=integrations, switched=switched, manageJobsWithoutQueueName=unnamed_too)
    queue = lab.queue({"whole-gpus": 4})
    job = queue.submit(work_of(kind, WORKERS))

    message = lab.denied(marked(job.made, {QUEUE_LABEL: None}))

    assert ("field is immutable" in message) is unnamed_too
    assert (QUEUE_LABEL in labels_of(lab.read(job.ref))) is unnamed_too
    assert not lab.is_suspended(job)


@pytest.mark.parametrize("kind", [RAY_CLUSTER, RAY_JOB])
@pytest.mark.parametrize(
    ("replicas", "verdict"),
    [
        pytest.param(2, admitted({"whole-gpus": 8}), id="fits"),
        pytest.param(3, pending(Reason.NEVER_FITS), id="too-large"),
    ],
)
@covers("STATUS-041")
def test_running_ray_work_of_another_size_is_admitted_anew(
    lab: Lab, kind: str, replicas: int, verdict: Verdict
) -> None:
    """Work that is not elastic is suspended, and gets another Workload."""
    queue = lab.queue({"whole-gpus": 8})
    job = queue.submit(work_of(kind, WORKERS))
    assert lab.verdict(job) == admitted({"whole-gpus": 4})

    path = (*CLUSTER_PATHS[kind], "workerGroupSpecs", 0, "replicas")
    lab.apply(replaced(job.made, path, replicas))
    lab.settle()

    assert lab.verdict(job) == verdict
    assert lab.is_suspended(job) is not isinstance(verdict, Admitted)


@covers("STATUS-026")
@pytest.mark.parametrize(
    ("deployment", "holds"),
    [
        pytest.param("Running", True, id="runs"),
        pytest.param("Suspending", True, id="suspending"),
        pytest.param("Suspended", False, id="suspended"),
        pytest.param("", False, id="new"),
    ],
)
def test_an_evicted_ray_job_keeps_its_quota_until_it_is_suspended(lab: Lab, deployment: str, holds: bool) -> None:
    """KubeRay says so in the status of the RayJob."""
    queue = lab.queue({"whole-gpus": 4})
    job = queue.submit(work_of("RayJob", WORKERS))
    lab.report(job, jobDeploymentStatus=deployment)

    lab.activate(job, False)

    assert lab.is_suspended(job)
    assert (lab.admission(job) is not None) is holds


@covers("WORK-027")
def test_an_evicted_ray_job_starts_on_the_nodes_of_its_next_flavor(lab: Lab) -> None:
    """It does not keep the node selector of the first flavor, which would contradict that of the next."""
    first = lab.flavor(nodeLabels={"zone": "a"})
    second = lab.flavor(nodeLabels={"zone": "b"})
    queue = lab.queue(groups=[{first: {"whole-gpus": 4}, second: {"whole-gpus": 4}}])
    job = lab.submit_manifest(a_ray_job(lab, queue, submissionMode="K8sJobMode", submitterPodTemplate=IDLE))
    assert lab.flavors(job)["workers"] == {"whole-gpus": first}

    lab.activate(job, False)
    other = queue.submit(a_job(claims=[a_template(gpu(4))]))
    assert lab.flavors(other)["main"] == {"whole-gpus": first}
    lab.activate(job, True)

    assert lab.verdict(job) == admitted({"whole-gpus": 4})
    assert lab.flavors(job)["workers"] == {"whole-gpus": second}


@covers("WORK-019")
def test_the_submitter_runs_on_the_nodes_of_its_flavor(lab: Lab) -> None:
    """Kueue writes its template, which the RayJob did not have."""
    queue = lab.queue(groups=[{lab.flavor(nodeLabels={"zone": "a"}): {"cpu": "1", "memory": "1Gi", "whole-gpus": 4}}])
    job = lab.submit_manifest(a_ray_job(lab, queue, submissionMode="K8sJobMode"))

    template = lab.read(job.ref)["spec"]["submitterPodTemplate"]
    assert template["spec"]["nodeSelector"] == {"zone": "a"}
    assert template["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "500m", "memory": "200Mi"}


@covers("WORK-062")
def test_a_ray_job_without_a_submitter_gets_none(lab: Lab) -> None:
    """Neither when it starts nor when it stops, although the pod of the submitter is charged."""
    queue = lab.queue({"cpu": "1", "memory": "1Gi", "whole-gpus": 4})
    job = lab.submit_manifest(a_ray_job(lab, queue, submissionMode="K8sJobMode"))
    assert not lab.is_suspended(job)
    assert "submitterPodTemplate" not in lab.read(job.ref)["spec"]

    lab.activate(job, False)

    assert lab.is_suspended(job)
    assert "submitterPodTemplate" not in lab.read(job.ref)["spec"]


@covers("WORK-010")
def test_a_submitter_of_its_own_runs_on_the_nodes_of_its_flavor(lab: Lab) -> None:
    """The RayJob has its template, to which Kueue adds the labels of the nodes."""
    queue = lab.queue(groups=[{lab.flavor(nodeLabels={"zone": "a"}): {"cpu": "1", "whole-gpus": 4}}])
    submitter = lab.written(a_job(cpu="1"), queue)["spec"]["template"]
    job = lab.submit_manifest(a_ray_job(lab, queue, submissionMode="K8sJobMode", submitterPodTemplate=submitter))

    template = lab.read(job.ref)["spec"]["submitterPodTemplate"]
    assert template["spec"]["nodeSelector"] == {"zone": "a"}


@covers("WORK-003", "WORK-010")
@pytest.mark.parametrize(
    ("status", "reason"),
    [
        pytest.param({"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED"}, "Succeeded", id="succeeded"),
        pytest.param({"jobDeploymentStatus": "Complete", "jobStatus": "STOPPED"}, "Failed", id="stopped"),
        pytest.param({"jobDeploymentStatus": "Failed", "jobStatus": "FAILED"}, "Failed", id="failed"),
        pytest.param({"jobDeploymentStatus": "Running", "jobStatus": "SUCCEEDED"}, None, id="not-over"),
    ],
)
def test_a_ray_job_is_over_when_its_deployment_is(lab: Lab, status: Mapping[str, str], reason: str | None) -> None:
    """The status of the Ray job says whether it succeeded."""
    queue = lab.queue({"whole-gpus": 4})
    job = queue.submit(work_of("RayJob", WORKERS))
    lab.report(job, **status)

    assert lab.condition(job, "Finished") == (("True", reason) if reason else None)


def _group(lab: Lab, queue: Queue) -> Manifest:
    written = lab.written(work_of("RayCluster", WORKERS), queue)
    group: Manifest = written["spec"]["workerGroupSpecs"][0]
    return group
