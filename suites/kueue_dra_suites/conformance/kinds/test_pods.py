"""Pods of a queue, each with a Workload of its own: gated, charged, ended and deleted (Kueue, Pod integration)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kueue_dra_fixtures import frameworks
from kueue_dra_fixtures.builders import (
    GPU,
    ClaimOf,
    Work,
    a_direct_claim,
    a_missing_template,
    a_pod_set,
    a_request,
    a_template,
    gpu,
    work_of,
)
from kueue_dra_fixtures.lab import Job, Lab, bare
from kueue_dra_fixtures.manifests import PRIORITY_LABEL, QUEUE_LABEL, marked
from kueue_dra_fixtures.marks import breaks_law, covers, owns_kueue
from kueue_dra_fixtures.pod_groups import AT_AN_END
from kueue_dra_fixtures.verdicts import Reason, admitted, finished, inadmissible, pending
from kueue_dra_ref.api.queued_pods import MANAGED
from kueue_dra_ref.target import Ref
from kueue_dra_ref.verdict import Verdict

pytestmark = owns_kueue

CARD = "vendor.example.com/card"
CLAIM = "spec.podSets[0].template.spec.resourceClaims[1]"
NOT_OF_THE_SYSTEM = {
    "key": "kubernetes.io/metadata.name",
    "operator": "NotIn",
    "values": ["kube-system", "kueue-system"],
}
SKIPS = "SkipReassignmentForPodOwnedWorkloads"
LEFT = {"FinishOrphanedWorkloads": False}
POLICY = {"withinClusterQueue": "LowerPriority"}
NEWER_TOO = {"withinClusterQueue": "LowerOrNewerEqualPriority"}
FIRST_FLAVOR = {"whenCanPreempt": "MayStopSearch"}


def a_pod(count: int = 1, **shape: object) -> Work:
    """A pod that asks for some devices."""
    return work_of("Pod", a_pod_set("main", claims=[a_template(gpu(count))]), **shape)  # type: ignore[arg-type]


@covers("PODS-003")
@pytest.mark.parametrize(
    ("devices", "quota", "verdict"),
    [
        pytest.param(1, 3, admitted({"whole-gpus": 1}), id="to-spare"),
        pytest.param(3, 3, admitted({"whole-gpus": 3}), id="fits-exactly"),
        pytest.param(4, 3, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_a_pod_is_charged_for_its_devices(lab: Lab, devices: int, quota: int, verdict: Verdict) -> None:
    """Its Workload has one pod set of one pod."""
    queue = lab.queue({"whole-gpus": quota})
    pod = queue.submit(a_pod(devices))

    assert lab.verdict(pod) == verdict
    assert [each["count"] for each in lab.workload(pod)["spec"]["podSets"]] == [1]


@covers("PODS-001")
@pytest.mark.parametrize(
    ("quota", "is_gated"),
    [
        pytest.param(2, False, id="fits-exactly"),
        pytest.param(1, True, id="one-too-many"),
    ],
)
def test_a_pod_is_gated_until_its_admission(lab: Lab, quota: int, is_gated: bool) -> None:
    """The scheduler does not see a gated pod, so it gets no devices without quota."""
    queue = lab.queue({"whole-gpus": quota})
    pod = queue.submit(a_pod(2))

    assert lab.is_suspended(pod) is is_gated


@covers("PODS-001", "PODS-003")
def test_each_pod_waits_for_itself(lab: Lab) -> None:
    """Two pods have two Workloads: the first runs, the second waits for what is left."""
    queue = lab.queue({"whole-gpus": 3})
    first, second = queue.submit(a_pod(2)), queue.submit(a_pod(2))

    assert lab.verdict(first) == admitted({"whole-gpus": 2})
    assert lab.verdict(second) == pending(Reason.NO_QUOTA)
    assert lab.is_suspended(second)


@covers("CLAIM-020", "PODS-003")
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
def test_the_message_names_the_claim_of_the_pod(lab: Lab, claim: ClaimOf, reason: Reason, field: str) -> None:
    """The claim is found in the only pod set of the Workload; the pod stays gated."""
    queue = lab.queue({"whole-gpus": 4})
    pod = queue.submit(work_of("Pod", a_pod_set("main", claims=[a_template(gpu()), claim])))

    assert lab.verdict(pod) == inadmissible(reason)
    assert lab.message(pod).startswith(field)
    assert lab.is_suspended(pod)


@covers("EXT-027", "PODS-003")
@pytest.mark.parametrize(
    ("quota", "verdict"),
    [
        pytest.param(5, admitted({"whole-gpus": 5}), id="fits-exactly"),
        pytest.param(4, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_extended_resources_of_a_pod_add_to_its_claims(lab: Lab, quota: int, verdict: Verdict) -> None:
    """A pod asks by claim, and by the extended resource of the same class: both are charged."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": quota})
    shape = a_pod_set("main", claims=[a_template(gpu(3))], requests={CARD: "2"})
    pod = queue.submit(work_of("Pod", shape))

    assert lab.verdict(pod) == verdict


@covers("PODS-003")
@pytest.mark.parametrize(
    ("users", "init_users"),
    [
        pytest.param((("c0",),), (("c0",),), id="both"),
        pytest.param(((),), (("c0",),), id="init-container-alone"),
        pytest.param((("c0",), ("c0",)), (), id="two-containers"),
    ],
)
def test_containers_of_a_pod_share_its_claim(
    lab: Lab, users: tuple[tuple[str, ...], ...], init_users: tuple[tuple[str, ...], ...]
) -> None:
    """A claim is charged once, whichever containers use it."""
    queue = lab.queue({"whole-gpus": 2})
    shape = a_pod_set("main", claims=[a_template(gpu(2))], users=users, init_users=init_users)
    pod = queue.submit(work_of("Pod", shape))

    assert lab.verdict(pod) == admitted({"whole-gpus": 2})


@covers("PODS-004")
@pytest.mark.parametrize(
    ("phase", "reason"),
    [pytest.param("Succeeded", "Succeeded", id="succeeded"), pytest.param("Failed", "Failed", id="failed")],
)
def test_a_pod_that_ends_frees_its_quota(lab: Lab, phase: str, reason: str) -> None:
    """Its Workload is finished, and the next pod is admitted."""
    queue = lab.queue({"whole-gpus": 2})
    first, second = queue.submit(a_pod(2)), queue.submit(a_pod(1))
    assert lab.verdict(second) == pending(Reason.NO_QUOTA)

    lab.report(first, phase=phase)

    assert lab.verdict(first) == finished(reason)
    assert lab.verdict(second) == admitted({"whole-gpus": 1})


@covers("PODS-001")
def test_a_deleted_pod_frees_its_quota(lab: Lab) -> None:
    """Its Workload goes with it, and the next pod runs."""
    queue = lab.queue({"whole-gpus": 2})
    first, second = queue.submit(a_pod(2)), queue.submit(a_pod(1))

    lab.delete(first)

    assert lab.verdict(second) == admitted({"whole-gpus": 1})
    assert not lab.is_suspended(second)


@covers("PODS-005")
def test_a_preempted_pod_is_deleted(lab: Lab) -> None:
    """A pod cannot be gated again, so Kueue deletes it; a controller of the pod may create another one."""
    queue = lab.queue({"whole-gpus": 2}, preemption=POLICY)
    low = queue.submit(a_pod(2))
    high = queue.submit(a_pod(1, priority=5))

    assert lab.verdict(high) == admitted({"whole-gpus": 1})
    assert not lab.is_there(low.ref)


@covers("PODS-005")
@pytest.mark.parametrize(
    ("quota", "stays"),
    [
        pytest.param(2, False, id="running"),
        pytest.param(1, True, id="gated"),
    ],
)
def test_the_pod_of_an_inactive_workload_is_deleted_if_it_runs(lab: Lab, quota: int, stays: bool) -> None:
    """A gated pod stays: it holds nothing."""
    queue = lab.queue({"whole-gpus": quota})
    pod = queue.submit(a_pod(2))

    lab.activate(pod, False)

    assert lab.is_there(pod.ref) is stays


@covers("PODS-006")
@pytest.mark.parametrize("quota", [pytest.param(2, id="running"), pytest.param(1, id="gated")])
def test_a_pod_goes_with_its_workload(lab: Lab, quota: int) -> None:
    """The pod is deleted with its Workload, gated or not."""
    queue = lab.queue({"whole-gpus": quota})
    pod = queue.submit(a_pod(2))

    lab.remove(Ref.of(lab.workload(pod)))

    assert not lab.is_there(pod.ref)


@breaks_law("nothing runs unreserved", "Kueue does not manage the namespace")
@covers("PODS-002")
@pytest.mark.parametrize(
    ("labels", "is_gated"),
    [
        pytest.param({}, True, id="selected"),
        pytest.param({"left-alone": ""}, False, id="not-selected"),
    ],
)
def test_a_pod_of_an_unmanaged_namespace_is_left_alone(lab: Lab, labels: dict[str, str], is_gated: bool) -> None:
    """Kueue does not gate it, although it names a queue without quota."""
    selector = {"matchExpressions": [NOT_OF_THE_SYSTEM, {"key": "left-alone", "operator": "DoesNotExist"}]}
    lab.start(integrations=frameworks.all_of(lab.behaviour.kueue), managedJobsNamespaceSelector=selector)
    queue = lab.queue({"whole-gpus": 1}, namespace=lab.namespace(**labels))
    pod = queue.submit(a_pod(2))

    assert lab.is_suspended(pod) is is_gated
    assert len(lab.workloads(pod)) == is_gated


@breaks_law("nothing runs unreserved", "Kueue does not queue pods")
@covers("WORK-001")
def test_a_pod_is_not_queued_without_the_framework(lab: Lab) -> None:
    """Kueue neither gates it nor creates a Workload."""
    lab.start(integrations=frameworks.JOBS_ALONE)
    queue = lab.queue({"whole-gpus": 1})
    pod = queue.submit(a_pod(2))

    assert not lab.is_suspended(pod)
    assert not lab.workloads(pod)


@covers("MANAGE-001", "PODS-001")
@pytest.mark.parametrize("unnamed_too", [pytest.param(True, id="all"), pytest.param(False, id="named")])
def test_a_pod_without_a_queue_runs_unless_all_are_managed(lab: Lab, unnamed_too: bool) -> None:
    """With manageJobsWithoutQueueName, Kueue gates pods that name no queue, too."""
    lab.start(integrations=frameworks.all_of(lab.behaviour.kueue), manageJobsWithoutQueueName=unnamed_too)
    queue = lab.queue({"whole-gpus": 2})
    written = lab.written(a_pod(2), queue)
    lab.apply(marked(written, {QUEUE_LABEL: None}))

    gates = lab.read(Ref.of(written))["spec"].get("schedulingGates") or []
    assert bool(gates) is unnamed_too


@covers("API-039")
def test_a_pod_needs_containers(lab: Lab) -> None:
    """The API server names the field of the pod."""
    queue = lab.queue({"whole-gpus": 2})
    written = lab.written(a_pod(), queue)
    broken = {**written, "spec": {"restartPolicy": "Never"}}

    assert "spec.containers: Required value" in lab.denied(broken)


@covers("QUEUE-046")
def test_the_queue_of_a_pod_has_to_be_a_name(lab: Lab) -> None:
    """The webhook of pods checks the queue label."""
    queue = lab.queue({"whole-gpus": 2})
    message = lab.denied(marked(lab.written(a_pod(), queue), {QUEUE_LABEL: "No_Name"}))

    assert '"vpod.kb.io" denied the request' in message
    assert f"metadata.labels[{QUEUE_LABEL}]" in message


@covers("TAS-047")
def test_a_pod_requests_one_topology(lab: Lab) -> None:
    """The webhook of pods checks their annotations as that of Jobs does."""
    annotations = {f"kueue.x-k8s.io/podset-{each}-topology": "rack" for each in ("required", "preferred")}
    message = lab.denied(marked(lab.written(a_pod(), lab.queue({"whole-gpus": 2})), annotations=annotations))

    assert message.startswith(
        'admission webhook "vpod.kb.io" denied the request: metadata.annotations: Invalid value: '
    )
    assert message.count("must not contain more than one topology annotation") == 1


@covers("QUEUE-045", "PODS-001")
def test_a_running_pod_keeps_its_queue(lab: Lab) -> None:
    """Once it runs, a pod cannot be moved to another queue."""
    queue = lab.queue({"whole-gpus": 2})
    pod = queue.submit(a_pod())
    message = lab.denied(marked(lab.read(pod.ref), {QUEUE_LABEL: "another"}))

    assert f"metadata.labels[{QUEUE_LABEL}]: Invalid value: " in message
    assert "field is immutable" in message


@covers("PREEMPT-040")
def test_the_priority_class_of_a_pod_is_not_removed(lab: Lab) -> None:
    """A pod that names a priority class keeps one."""
    queue = lab.queue({"whole-gpus": 2})
    pod = queue.submit(a_pod(priority=5))
    message = lab.denied(marked(lab.read(pod.ref), {PRIORITY_LABEL: None}))

    assert "WorkloadPriorityClass cannot be removed from a workload" in message
    assert lab.workload(pod)["spec"]["priority"] == 5


@covers("PRIORITY-002", "PODS-003")
def test_a_gated_pod_goes_along_with_the_class_that_it_names(lab: Lab) -> None:
    """The last in line is the first once it names a higher class."""
    queue = lab.queue({"whole-gpus": 1})
    first, second, third = (queue.submit(a_pod(priority=priority)) for priority in (9, 5, 1))

    lab.prefer(third, 7)
    lab.report(first, phase="Succeeded")

    assert lab.verdict(second) == pending(Reason.NO_QUOTA)
    assert lab.verdict(third) == admitted({"whole-gpus": 1})


@covers("PODS-001")
def test_a_gated_pod_can_move_to_another_queue(lab: Lab) -> None:
    """Its Workload follows."""
    queue = lab.queue({"whole-gpus": 1})
    pod = queue.submit(a_pod(2))
    other = queue.beside()

    lab.apply(marked(lab.read(pod.ref), {QUEUE_LABEL: other.local}))
    lab.settle()

    assert lab.workload(pod)["spec"]["queueName"] == other.local
    assert lab.verdict(pod) == pending(Reason.NEVER_FITS)


@covers("PODS-004", "PODS-006")
def test_a_pod_that_has_ended_stays_without_its_workload(lab: Lab) -> None:
    """The Workload of a pod that has ended can be deleted; the pod stays, and gets no other one."""
    queue = lab.queue({"whole-gpus": 1})
    pod = queue.submit(a_pod())
    lab.report(pod, phase="Succeeded")

    lab.remove(Ref.of(lab.workload(pod)))
    lab.settle()

    assert lab.is_there(pod.ref)
    assert lab.workloads(pod) == []


@covers("PODS-003")
@pytest.mark.parametrize(
    ("quota", "same"), [pytest.param(1, True, id="without-quota"), pytest.param(2, False, id="with-quota")]
)
def test_the_workload_of_a_gated_pod_follows_what_it_tolerates(lab: Lab, quota: int, same: bool) -> None:
    """A toleration may be added to a pod; while it is gated, its Workload is changed, or replaced if it has quota."""
    check = lab.admission_check()
    queue = lab.queue({"whole-gpus": quota}, admissionChecksStrategy={"admissionChecks": [{"name": check}]})
    pod = queue.submit(a_pod(2))
    before = lab.workload(pod)

    tolerations = tolerate(lab, pod)

    after = lab.workload(pod)
    assert after["spec"]["podSets"][0]["template"]["spec"]["tolerations"] == tolerations
    assert (after["metadata"]["uid"] == before["metadata"]["uid"]) is same
    assert lab.is_suspended(pod)


@pytest.mark.parametrize(
    ("gates", "requeued"),
    [
        pytest.param({}, "False", id="as-it-is", marks=covers("PREEMPT-054")),
        pytest.param({SKIPS: False}, "True", id="gate-off", marks=covers("PREEMPT-055")),
    ],
)
@pytest.mark.parametrize(
    "claims", [pytest.param([a_template(gpu(2))], id="devices"), pytest.param([], id="no-devices")]
)
def test_a_preempted_pod_that_is_still_gated_waits(
    lab: Lab, gates: Mapping[str, bool], requeued: str, claims: list[ClaimOf]
) -> None:
    """It stays, since it waits for a check, and gets quota again only if it is requeued, with devices or without."""
    lab.start(gates=gates, integrations=frameworks.WITH_PODS)
    check = lab.admission_check()
    strategy = {"admissionChecks": [{"name": check}]}
    queue = lab.queue({"whole-gpus": 2, "cpu": 2}, preemption=POLICY, admissionChecksStrategy=strategy)
    pod = queue.submit(work_of("Pod", a_pod_set("main", cpu="2", claims=claims)))
    other = queue.submit(work_of("Pod", a_pod_set("main", cpu="2"), priority=10))
    assert lab.condition(pod, "Requeued") == (requeued, "Preempted")

    lab.delete(other)

    reserved = lab.condition(pod, "QuotaReserved")
    assert reserved is not None
    assert reserved[0] == requeued


@covers("TAS-054")
def test_a_pod_set_says_what_numbers_the_pods(lab: Lab) -> None:
    """In its topology request, though the pods may run anywhere."""
    pod = lab.queue({"whole-gpus": 1}).submit(a_pod())

    (found,) = lab.workload(pod)["spec"]["podSets"]
    assert found["topologyRequest"] == {"podIndexLabel": "kueue.x-k8s.io/pod-group-pod-index"}


@pytest.mark.parametrize(
    ("gates", "claims", "loses"),
    [
        pytest.param({}, [], True, id="as-it-was", marks=covers("PODS-073")),
        pytest.param(LEFT, [a_template(gpu())], True, id="devices", marks=covers("PODS-074")),
        pytest.param(LEFT, [], False, id="no-devices", marks=covers("PREEMPT-054")),
        pytest.param({**LEFT, SKIPS: False}, [], True, id="requeued", marks=covers("PODS-074", "PREEMPT-055")),
    ],
)
def test_a_preempted_pod_preempts_before_it_is_gone(
    lab: Lab, gates: Mapping[str, bool], claims: list[ClaimOf], loses: bool
) -> None:
    """Kueue tries its Workload again if it requeues it, always so with devices, and a newer pod ends for nothing."""
    lab.start(gates=gates, integrations=frameworks.WITH_PODS)
    groups = [{lab.flavor(name): {"whole-gpus": 1, "cpu": 1} for name in ("first", "second")}]
    queue = lab.queue(groups=groups, preemption=NEWER_TOO, flavorFungibility=FIRST_FLAVOR)
    old, new, high = [
        queue.submit(work_of("Pod", a_pod_set("main", cpu="1", claims=claims), priority=priority))
        for priority in (0, 0, 10)
    ]

    assert not lab.is_suspended(high)
    assert lab.workloads(old) == []
    assert (lab.workloads(new) == []) is loses


def tolerate(lab: Lab, pod: Job) -> list[Mapping[str, str]]:
    """Add a toleration to a pod, settle, and give those that it has."""
    found = lab.read(pod.ref)
    tolerations = [*found["spec"].get("tolerations", ()), {"key": "spot", "operator": "Exists"}]
    lab.apply({**found, "spec": {**found["spec"], "tolerations": tolerations}})
    lab.settle()
    return tolerations


@covers("PODS-004")
def test_the_workload_of_a_pod_that_has_ended_stays_as_it_is(lab: Lab) -> None:
    """Whatever is added to the pod."""
    queue = lab.queue({"whole-gpus": 1})
    pod = queue.submit(a_pod())
    lab.report(pod, phase="Succeeded")
    before = lab.workload(pod)

    tolerate(lab, pod)

    assert lab.workload(pod)["spec"] == before["spec"]
    assert lab.workload(pod)["metadata"]["uid"] == before["metadata"]["uid"]


@covers("PODS-003")
def test_a_pod_whose_workload_is_finished_is_let_go(lab: Lab) -> None:
    """Anyone may finish a Workload: the pod stays gated, without Kueue's finalizer, and frees its quota."""
    check = lab.admission_check()
    queue = lab.queue({"whole-gpus": 1}, admissionChecksStrategy={"admissionChecks": [{"name": check}]})
    pod = queue.submit(a_pod())
    workload = lab.workload(pod)
    conditions = [*workload["status"]["conditions"], AT_AN_END]

    lab.apply({**bare(workload), "status": {**workload["status"], "conditions": conditions}})
    lab.settle()

    assert lab.is_suspended(pod)
    assert MANAGED not in lab.read(pod.ref)["metadata"].get("finalizers", ())
    assert queue.figures.counts.reserving == 0


@pytest.mark.parametrize(
    "follows",
    [
        pytest.param(False, id="left-alone", marks=covers("MANAGE-003", "PODS-002")),
        pytest.param(True, id="followed", marks=covers("MANAGE-004", "PODS-002")),
    ],
)
def test_a_gated_pod_whose_namespace_is_not_selected_any_more(lab: Lab, follows: bool) -> None:
    """Whether its Workload goes along to another queue depends on the namespace as it is then."""
    selector = {"matchExpressions": [NOT_OF_THE_SYSTEM, {"key": "left-alone", "operator": "DoesNotExist"}]}
    lab.start(integrations=frameworks.all_of(lab.behaviour.kueue), managedJobsNamespaceSelector=selector)
    queue = lab.queue({"whole-gpus": 0})
    pod = queue.submit(a_pod())
    other = queue.beside()

    lab.label(queue.namespace, **{"left-alone": ""})
    lab.apply(marked(lab.read(pod.ref), {QUEUE_LABEL: other.local}))
    lab.settle()

    assert (lab.workload(pod)["spec"]["queueName"] == other.local) is follows


@covers("CHECK-014", "PODS-003")
def test_a_pod_with_contradicting_updates_is_never_started(lab: Lab) -> None:
    """Two checks that want different nodes cannot both have their way; the devices are free again."""
    names = [lab.admission_check() for _ in range(2)]
    checks = {"admissionChecks": [{"name": name} for name in names]}
    queue = lab.queue({"whole-gpus": 1}, admissionChecksStrategy=checks)
    pod = queue.submit(a_pod())

    for name, zone in zip(names, "ab", strict=True):
        lab.answer_check(pod, name, "Ready", podSetUpdates=[{"name": "main", "nodeSelector": {"zone": zone}}])

    assert lab.verdict(pod) == finished("FailedToStart")
    assert lab.is_suspended(pod)
    assert queue.figures.counts.reserving == 0
