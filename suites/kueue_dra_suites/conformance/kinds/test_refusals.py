"""Kinds of work: claims that Kueue does not charge, and work that it does not queue (Kueue, integrations)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures import frameworks
from kueue_dra_fixtures.builders import (
    ClaimOf,
    a_direct_claim,
    a_missing_template,
    a_pod_set,
    a_request,
    a_template,
    gpu,
    work_of,
)
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.manifests import PRIORITY_LABEL, QUEUE_LABEL, marked
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible
from kueue_dra_ref.api.job_kind import Path, replaced
from kueue_dra_ref.api.job_kinds import pod_set_places
from kueue_dra_ref.api.queued_pods import PREBUILT
from kueue_dra_ref.api.topologies import REQUIRED, UNCONSTRAINED
from kueue_dra_ref.target import Ref
from kueue_dra_suites.conformance.kinds.rows import JOB_SET, LATE, PYTORCH_JOB, RAY_CLUSTER, RAY_SERVICE, SEVERAL, TYPED

pytestmark = owns_kueue

OTHERS = covers("TAS-050")
FROM_0_15 = covers("TAS-052")
UP_TO_0_14 = covers("TAS-051")
OF_0_17 = covers("TAS-050", "WORK-011")
UNREAD = 'strconv.ParseBool: parsing "yes": invalid syntax'
DENIED = 'admission webhook "v{}.kb.io" denied the request'
HEAD = ("spec", "headGroupSpec", "template", "spec")
CLAIM = "spec.podSets[1].template.spec.resourceClaims[1]"


@covers("CLAIM-020")
@pytest.mark.parametrize("kind", SEVERAL)
@pytest.mark.parametrize(
    ("claim", "reason", "field"),
    [
        pytest.param(a_direct_claim(), Reason.DIRECT_CLAIM, "", id="direct-claim"),
        pytest.param(
            a_template(a_request("fpga.example.com")),
            Reason.UNMAPPED,
            f"{CLAIM}.resourceClaimTemplateName",
            id="unmapped-class",
        ),
        pytest.param(
            a_template(gpu(), a_request(count=None, mode="All")),
            Reason.MODE_ALL,
            f"{CLAIM}.devices.requests[1].exactly.allocationMode: ",
            id="mode-all",
        ),
        pytest.param(a_missing_template(), Reason.NO_TEMPLATE, "", id="missing-template"),
    ],
)
def test_the_message_names_the_pod_set(lab: Lab, kind: str, claim: ClaimOf, reason: Reason, field: str) -> None:
    """A claim is found by the number of its pod set in the Workload, and by its own number in there."""
    queue = lab.queue({"whole-gpus": 4})
    good = a_pod_set("driver", claims=[a_template(gpu())])
    job = queue.submit(work_of(kind, good, a_pod_set("workers", claims=[a_template(gpu()), claim])))

    assert lab.verdict(job) == inadmissible(reason)
    assert lab.message(job).startswith(field)
    assert lab.is_suspended(job)


@covers("WORK-001")
@pytest.mark.parametrize("kind", LATE)
def test_a_kind_without_its_framework_is_not_queued(lab: Lab, kind: str) -> None:
    """Kueue neither suspends it nor creates a Workload, until it runs with the framework of the kind."""
    lab.start(integrations=frameworks.JOBS_ALONE)
    queue = lab.queue({"whole-gpus": 2})
    job = queue.submit(work_of(kind, a_pod_set("workers", claims=[a_template(gpu(2))])))

    assert not lab.workloads(job)
    assert not lab.is_suspended(job)

    lab.start(integrations=frameworks.all_of(lab.behaviour.kueue))

    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@covers("WORK-055")
@pytest.mark.parametrize("kind", LATE)
def test_a_kind_without_its_framework_may_have_any_queue_name(lab: Lab, kind: str) -> None:
    """Its webhooks let everything pass."""
    queue = lab.queue({"whole-gpus": 2})
    written = lab.written(work_of(kind, a_pod_set("workers")), queue)
    wrong = marked(written, {QUEUE_LABEL: "not_a_name"})
    assert f"metadata.labels[{QUEUE_LABEL}]: Invalid value: " in lab.denied(wrong)

    lab.start(integrations=frameworks.JOBS_ALONE)

    assert lab.denied(wrong) == ""


@covers("WORK-056")
@pytest.mark.parametrize("kind", [JOB_SET, PYTORCH_JOB, RAY_CLUSTER])
def test_work_whose_workload_is_denied_stays_suspended(lab: Lab, kind: str) -> None:
    """The API server knows less of the pods of these kinds than the webhook for Workloads."""
    queue = lab.queue({"cpu": "1"})
    job = queue.submit(work_of(kind, a_pod_set("workers", requests={"pods": "1"})))

    assert not lab.workloads(job)
    assert lab.is_suspended(job)


@covers("WORK-007")
@pytest.mark.parametrize("kind", TYPED)
def test_pods_need_containers(lab: Lab, kind: str) -> None:
    """The API server names the field, with the path that it has in each kind."""
    queue = lab.queue({"whole-gpus": 2})
    written = lab.written(work_of(kind, a_pod_set("workers")), queue)
    place = pod_set_places(written)[-1]
    broken = replaced(written, (*place.path, "spec"), {"restartPolicy": "Never"})

    assert f"{place.pod_path}.containers: Invalid value: " in lab.denied(broken)


@covers("WORK-009")
@pytest.mark.parametrize(
    ("path", "field"),
    [
        pytest.param(("spec", "headGroupSpec"), "spec.headGroupSpec", id="head"),
        pytest.param(("spec", "workerGroupSpecs", 0), "spec.workerGroupSpecs[0]", id="workers"),
    ],
)
def test_ray_groups_need_start_parameters(lab: Lab, path: Path, field: str) -> None:
    """The API server names the group that lacks them."""
    queue = lab.queue({"whole-gpus": 2})
    written = lab.written(work_of("RayCluster", a_pod_set("workers")), queue)
    broken = replaced(written, (*path, "rayStartParams"), None)

    assert f"{field}.rayStartParams: Invalid value: " in lab.denied(broken)


@covers("OBJECT-053")
@pytest.mark.parametrize(
    ("kind", "path"),
    [
        pytest.param("JobSet", ("spec", "replicatedJobs", 0), id="replicated-jobs"),
        pytest.param("RayCluster", (*HEAD, "containers", 0), id="containers"),
        pytest.param("RayCluster", (*HEAD, "resourceClaims"), id="claims"),
        pytest.param("RayCluster", (*HEAD, "containers", 0, "resources", "claims"), id="claims-of-a-container"),
    ],
)
def test_the_items_of_a_list_of_pods_are_objects(lab: Lab, kind: str, path: Path) -> None:
    """The definitions of other kinds have lists by name, too."""
    job = lab.missing_queue().submit(work_of(kind, a_pod_set("workers")))
    wrong = replaced(job.made, path, "some" if path[-1] == 0 else ["some"])

    assert "must be an object for an array of list-type map" in lab.denied(wrong)


@covers("WORK-008")
def test_replicated_jobs_have_different_names(lab: Lab) -> None:
    """Each name is that of one replicated job."""
    queue = lab.queue({"whole-gpus": 2})
    written = lab.written(work_of("JobSet", a_pod_set("workers"), a_pod_set("workers")), queue)

    assert "spec.replicatedJobs[1]: Duplicate value" in lab.denied(written)


@covers("QUEUE-046")
@pytest.mark.parametrize("kind", SEVERAL)
def test_a_queue_name_has_to_be_a_name(lab: Lab, kind: str) -> None:
    """The webhook of each kind checks the queue label."""
    queue = lab.queue({"whole-gpus": 2})
    written = lab.written(work_of(kind, a_pod_set("workers", claims=[a_template(gpu())])), queue)
    message = lab.denied(marked(written, {QUEUE_LABEL: "No_Name"}))

    assert f'"v{kind.lower()}.kb.io" denied the request' in message
    assert f"metadata.labels[{QUEUE_LABEL}]" in message


@covers("QUEUE-045")
@pytest.mark.parametrize("kind", SEVERAL)
def test_running_work_keeps_its_queue(lab: Lab, kind: str) -> None:
    """Once it runs, work cannot be moved to another queue."""
    queue = lab.queue({"whole-gpus": 2})
    job = queue.submit(work_of(kind, a_pod_set("workers", claims=[a_template(gpu())])))
    message = lab.denied(marked(job.made, {QUEUE_LABEL: "another"}))

    assert f"metadata.labels[{QUEUE_LABEL}]: Invalid value: " in message
    assert "field is immutable" in message


@covers("QUEUE-045")
@pytest.mark.parametrize("kind", [JOB_SET, PYTORCH_JOB, RAY_CLUSTER, RAY_SERVICE])
def test_waiting_work_may_be_moved_and_changed(lab: Lab, kind: str) -> None:
    """It stays suspended, also where another field of the object that says so is changed."""
    job = lab.missing_queue().submit(work_of(kind, a_pod_set("workers")))
    place = pod_set_places(job.made)[-1]
    changed = replaced(job.made, (*place.path, "metadata"), {"labels": {"team": "a"}})

    assert not lab.denied(marked(changed, {QUEUE_LABEL: "elsewhere"}))
    lab.apply(changed)
    assert lab.is_suspended(job)


@pytest.mark.parametrize(
    ("kind", "pod_set", "place"),
    [
        pytest.param(
            "PyTorchJob", 1, "spec.pytorchReplicaSpecs[Worker].template.metadata", id="pytorchjob", marks=OTHERS
        ),
        pytest.param("MPIJob", 0, "spec.mpiReplicaSpecs[Launcher].template.metadata", id="mpijob", marks=OTHERS),
        pytest.param(
            "JobSet", 1, "spec.replicatedJobs[1].template.spec.template.metadata", id="jobset", marks=FROM_0_15
        ),
        pytest.param("JobSet", 1, "spec.replicatedJobs[1].template.metadata", id="jobset-0.14", marks=UP_TO_0_14),
        pytest.param("RayCluster", 1, "spec.workerGroupSpecs[0].template.metadata", id="raycluster", marks=OTHERS),
        pytest.param("RayCluster", 0, "spec.headGroupSpec.template.metadata", id="head", marks=FROM_0_15),
        pytest.param("RayCluster", 0, "spec.headGroupSpec.template, metadata", id="head-0.14", marks=UP_TO_0_14),
        pytest.param(
            "RayJob", 1, "spec.rayClusterSpec.workerGroupSpecs[0].template.metadata", id="rayjob", marks=OTHERS
        ),
        pytest.param(
            "RayService", 0, "spec.rayClusterSpec.headGroupSpec.template.metadata", id="rayservice", marks=OF_0_17
        ),
    ],
)
def test_pods_request_a_valid_topology(lab: Lab, kind: str, pod_set: int, place: str) -> None:
    """The webhook of each kind names the annotation, with the path that it has in each kind."""
    written = lab.written(work_of(kind, a_pod_set("first"), a_pod_set("second")), lab.queue({"cpu": 1}))
    path = (*pod_set_places(written)[pod_set].path, "metadata", "annotations")
    several = f"{place}.annotations: Invalid value: must not contain more than one topology annotation: "
    wrong = f'{place}.annotations[{UNCONSTRAINED}]: Invalid value: "yes": must be a boolean value'

    denied = lab.denied(replaced(written, path, {REQUIRED: "rack", UNCONSTRAINED: "yes"}))

    assert denied.startswith(f"{DENIED.format(kind.lower())}: [{several}")
    assert denied.endswith(f", {wrong}]")
    assert not lab.denied(replaced(written, path, {UNCONSTRAINED: "true"}))


@covers("TAS-053")
@pytest.mark.parametrize(
    ("kind", "field"),
    [
        pytest.param("JobSet", "", id="jobset"),
        pytest.param("MPIJob", "", id="mpijob"),
        pytest.param("RayCluster", "", id="raycluster"),
        pytest.param("PyTorchJob", "spec.pytorchReplicaSpecs[Worker].template.metadata", id="pytorchjob"),
        pytest.param("RayJob", "spec.rayClusterSpec.workerGroupSpecs[0].template.metadata", id="rayjob"),
    ],
)
def test_an_unconstrained_topology_is_a_boolean(lab: Lab, kind: str, field: str) -> None:
    """The webhooks of some kinds read the pods before they check them, and then name no field."""
    written = lab.written(work_of(kind, a_pod_set("first"), a_pod_set("second")), lab.queue({"cpu": 1}))
    path = (*pod_set_places(written)[1].path, "metadata", "annotations")
    message = f'{field}.annotations[{UNCONSTRAINED}]: Invalid value: "yes": must be a boolean value'

    denied = lab.denied(replaced(written, path, {UNCONSTRAINED: "yes"}))

    assert denied == f"{DENIED.format(kind.lower())}: {message if field else UNREAD}"


@covers("TAS-053")
@pytest.mark.parametrize(
    ("kind", "names"),
    [
        pytest.param("MPIJob", ["first", "second"], id="mpijob"),
        pytest.param("RayCluster", ["head", "first", "second"], id="raycluster"),
    ],
)
def test_the_first_topology_that_is_no_boolean_is_named(lab: Lab, kind: str, names: list[str]) -> None:
    """The webhook reads the pods in their order, and ends at the first one."""
    written = lab.written(work_of(kind, *map(a_pod_set, names)), lab.queue({"cpu": 1}))
    for place, value in zip(pod_set_places(written)[-2:], ("yes", "maybe"), strict=True):
        written = replaced(written, (*place.path, "metadata", "annotations"), {UNCONSTRAINED: value})

    assert lab.denied(written).endswith(UNREAD)


@covers("TAS-053")
def test_the_head_of_a_cluster_is_checked_first(lab: Lab) -> None:
    """Its workers have no boolean, which is named only if the head is right."""
    written = lab.written(work_of("RayCluster", a_pod_set("first"), a_pod_set("second")), lab.queue({"cpu": 1}))
    head, workers = ((*place.path, "metadata", "annotations") for place in pod_set_places(written))
    wrong = replaced(written, workers, {UNCONSTRAINED: "yes"})

    denied = lab.denied(replaced(wrong, head, {REQUIRED: "rack", UNCONSTRAINED: "true"}))

    several = "spec.headGroupSpec.template.metadata.annotations: Invalid value: must not contain more than one topology"
    assert denied.startswith(f"{DENIED.format('raycluster')}: {several}")
    assert UNREAD not in denied


@covers("PREEMPT-040")
@pytest.mark.parametrize("kind", SEVERAL)
def test_a_priority_class_is_not_removed(lab: Lab, kind: str) -> None:
    """Work that names a priority class keeps one."""
    queue = lab.queue({"whole-gpus": 2})
    job = queue.submit(work_of(kind, a_pod_set("workers", claims=[a_template(gpu())]), priority=5))
    message = lab.denied(marked(job.made, {PRIORITY_LABEL: None}))

    assert "WorkloadPriorityClass cannot be removed from a workload" in message
    assert lab.workload(job)["spec"]["priority"] == 5
    assert lab.is_there(Ref.of(job.made))


@covers("MK-049")
def test_a_jax_job_names_no_workload(lab: Lab) -> None:
    """Kueue makes one for it."""
    queue = lab.queue({"whole-gpus": 2})
    written = lab.written(work_of("JAXJob", a_pod_set("workers", claims=[a_template(gpu())])), queue)

    message = f'metadata.labels[{PREBUILT}]: Forbidden: Is not supported for "kubeflow.org/v1, Kind=JAXJob"'
    assert message in lab.denied(marked(written, {PREBUILT: "made-before"}))
    assert not lab.denied(written)


@covers("WORK-046")
def test_a_train_job_gets_no_workload(lab: Lab) -> None:
    """Kueue may not create the JobSet that shows the pods of a TrainJob, so the TrainJob waits for ever."""
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(work_of("TrainJob", a_pod_set("node", claims=[a_template(gpu())])))

    assert not lab.workloads(job)
    assert lab.is_suspended(job)
