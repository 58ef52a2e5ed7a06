"""Deployments, StatefulSets and LeaderWorkerSets: Kueue queues their pods, alone or as groups (Kueue, integrations)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from kueue_dra_fixtures import frameworks
from kueue_dra_fixtures.builders import (
    ClaimOf,
    a_direct_claim,
    a_job,
    a_missing_template,
    a_pod_set,
    a_request,
    a_template,
    gpu,
)
from kueue_dra_fixtures.lab import Lab, Queue
from kueue_dra_fixtures.manifests import KUEUE, PRIORITY_LABEL, QUEUE_LABEL, a_condition, marked
from kueue_dra_fixtures.marks import breaks_law, covers, owns_kueue
from kueue_dra_fixtures.pod_owners import PodOwner, a_written_owner, an_owner
from kueue_dra_fixtures.verdicts import Reason, admitted, finished, inadmissible, pending
from kueue_dra_ref.api.conditions import condition, is_true
from kueue_dra_ref.api.elastic_work import ELASTIC
from kueue_dra_ref.api.job_kind import Path, replaced
from kueue_dra_ref.api.job_kinds import JOB
from kueue_dra_ref.api.pod_owners import LEADER, POD_OWNERS, WORKER, template_paths
from kueue_dra_ref.api.queued_pods import FAST, MANAGED, ROLE
from kueue_dra_ref.api.topologies import REQUIRED, UNCONSTRAINED
from kueue_dra_ref.target import Ref
from kueue_dra_ref.verdict import Verdict
from kueue_dra_suites.conformance.kinds.elastic import ON
from kueue_dra_suites.conformance.kinds.rows import RACK, two_racks

pytestmark = owns_kueue

TWO = a_template(gpu(2))
ONE_CPU = {"requests": {"cpu": "1"}}
REPLICAS = ("spec", "replicas")
SIZE = ("spec", "leaderWorkerTemplate", "size")
POLICY = {"withinClusterQueue": "LowerPriority"}
NOT_RELEASED = pending(Reason.NO_QUOTA)
DEPLOYMENT = pytest.param("Deployment", id="deployment", marks=covers("PODS-021"))
STATEFUL_SET = pytest.param("StatefulSet", id="statefulset", marks=covers("PODS-023"))
LEADER_WORKER_SET = pytest.param("LeaderWorkerSet", id="leaderworkerset", marks=covers("PODS-024"))
EACH = (DEPLOYMENT, STATEFUL_SET, LEADER_WORKER_SET)
MOVED = (
    pytest.param("StatefulSet", id="statefulset", marks=covers("PODS-075")),
    pytest.param("LeaderWorkerSet", id="leaderworkerset", marks=covers("PODS-076")),
)


@pytest.fixture(autouse=True)
def every_owner(lab: Lab, every_kind: None) -> None:
    """Kueue runs with the frameworks of pods and of what makes them."""
    lab.start(integrations=frameworks.WITH_PODS)


@covers("PODS-021")
@pytest.mark.parametrize(
    ("quota", "verdicts"),
    [
        pytest.param(6, [admitted({"whole-gpus": 2})] * 3, id="fits-exactly"),
        pytest.param(5, [admitted({"whole-gpus": 2})] * 2 + [pending(Reason.NO_QUOTA)], id="one-too-many"),
    ],
)
def test_each_pod_of_a_deployment_is_charged_for_itself(lab: Lab, quota: int, verdicts: list[Verdict]) -> None:
    """The pods that fit run, the others wait gated."""
    queue = lab.queue({"whole-gpus": quota})
    owner = an_owner(lab, queue, "Deployment", a_pod_set("main", claims=[TWO]), replicas=3)

    assert sorted(owner.verdicts, key=str) == sorted(verdicts, key=str)
    assert sum(owner.gated) == verdicts.count(pending(Reason.NO_QUOTA))


@covers("QUEUE-065")
@pytest.mark.parametrize("kind", [DEPLOYMENT, STATEFUL_SET])
def test_an_annotation_names_the_queue_of_pods(lab: Lab, kind: str) -> None:
    """The pods get a label with what it names."""
    queue = lab.queue({"whole-gpus": 2})
    written = a_written_owner(lab, queue, kind, a_pod_set("main", claims=[TWO]))
    owner = PodOwner(lab=lab, written=marked(written, {QUEUE_LABEL: None}, {QUEUE_LABEL: queue.local}))
    lab.apply(owner.written)
    lab.settle()
    owner.roll_out()

    assert owner.verdicts == [admitted({"whole-gpus": 2})]


@pytest.mark.parametrize(
    "same",
    [
        pytest.param(True, id="by-name", marks=covers("PODS-029")),
        pytest.param(False, id="by-uid", marks=covers("PODS-030")),
    ],
)
def test_the_next_stateful_set_of_a_name_has_a_workload(lab: Lab, same: bool) -> None:
    """A Workload that is named by the UID, too, is never taken for that of an earlier StatefulSet."""
    queue = lab.queue({"whole-gpus": 2})
    written = a_written_owner(lab, queue, "StatefulSet", a_pod_set("main", claims=[TWO]))
    names = []
    for _ in range(2):
        lab.apply(written)
        lab.settle()
        owner = PodOwner(lab=lab, written=written)
        owner.roll_out()
        assert owner.verdicts == [admitted({"whole-gpus": 2})]
        names += [each["metadata"]["name"] for each in owner.workloads]
        owner.delete()

    assert (names[0] == names[1]) is same


@covers("TAS-001", "TAS-015")
@pytest.mark.parametrize(
    ("annotations", "starts"),
    [
        pytest.param({}, True, id="any-nodes"),
        pytest.param({REQUIRED: RACK}, False, id="one-rack"),
    ],
)
@pytest.mark.parametrize(
    ("kind", "size"),
    [
        pytest.param("StatefulSet", 1, id="statefulset"),
        pytest.param("LeaderWorkerSet", 2, id="leaderworkerset"),
    ],
)
def test_the_template_of_an_object_requests_a_topology(
    lab: Lab, kind: str, size: int, annotations: Mapping[str, str], starts: bool
) -> None:
    """Two pods fit two racks, and not one of them."""
    queue = two_racks(lab)
    written = a_written_owner(lab, queue, kind, a_pod_set("main", pods=size, cpu="1"), replicas=2 // size)
    (path,) = template_paths(written)
    owner = PodOwner(lab=lab, written=replaced(written, (*path, "metadata", "annotations"), annotations))
    lab.apply(owner.written)
    lab.settle()
    owner.roll_out()

    assert owner.gated == [not starts] * 2


@covers("TAS-054")
@pytest.mark.parametrize(
    ("kind", "labels"),
    [
        pytest.param("StatefulSet", ["apps.kubernetes.io/pod-index"], id="statefulset", marks=covers("PODS-028")),
        pytest.param("LeaderWorkerSet", [None, "leaderworkerset.sigs.k8s.io/worker-index"], id="leaderworkerset"),
    ],
)
def test_the_pod_sets_of_an_object_say_what_numbers_the_pods(lab: Lab, kind: str, labels: list[str | None]) -> None:
    """In the topology request, though the pods may run anywhere; there is one leader."""
    leader = a_pod_set("leader", cpu="1") if len(labels) > 1 else None
    owner = an_owner(lab, lab.queue({"cpu": 2}), kind, a_pod_set("worker", cpu="1"), leader=leader)

    (workload,) = owner.workloads
    requests = [each.get("topologyRequest") or {} for each in workload["spec"]["podSets"]]
    assert [each.get("podIndexLabel") for each in requests] == labels


@covers("TAS-050")
@pytest.mark.parametrize("path", [pytest.param(LEADER, id="leader"), pytest.param(WORKER, id="worker")])
def test_the_templates_of_a_group_request_a_valid_topology(lab: Lab, path: Path) -> None:
    """The webhook names the annotation of the template."""
    queue = lab.queue({"cpu": 2})
    leader = a_pod_set("leader", cpu="1")
    written = a_written_owner(lab, queue, "LeaderWorkerSet", a_pod_set("worker", cpu="1"), leader=leader)
    annotations = (*path, "metadata", "annotations")
    field = f"{'.'.join(map(str, annotations))}[{UNCONSTRAINED}]"

    denied = lab.denied(replaced(written, annotations, {UNCONSTRAINED: "yes"}))

    assert f'{field}: Invalid value: "yes": must be a boolean value' in denied
    assert not lab.denied(replaced(written, annotations, {UNCONSTRAINED: "true"}))


OFF = {"SkipFinalizersForPodsSuspendedByParent": False}


@pytest.mark.parametrize("kind", EACH)
@pytest.mark.parametrize(
    ("gates", "finalizers"),
    [
        pytest.param({}, [MANAGED], id="always", marks=covers("PODS-034")),
        pytest.param({}, [], id="none", marks=covers("PODS-035")),
        pytest.param(OFF, [MANAGED], id="gate-off", marks=covers("PODS-036")),
    ],
)
def test_the_pods_of_an_object_have_finalizers(
    lab: Lab, kind: str, gates: Mapping[str, bool], finalizers: list[str]
) -> None:
    """Without one, a pod that is deleted is gone at once, and what makes it can replace it."""
    lab.start(integrations=frameworks.WITH_PODS, gates=gates)
    queue = lab.queue({"whole-gpus": 2})
    owner = an_owner(lab, queue, kind, a_pod_set("main", claims=[TWO]))
    (pod,) = owner.pods

    assert (lab.read(pod)["metadata"].get("finalizers") or []) == finalizers


@pytest.mark.parametrize(
    ("kind", "gates"),
    [
        pytest.param("LeaderWorkerSet", {}, id="leaderworkerset", marks=covers("PODS-061")),
        pytest.param("LeaderWorkerSet", OFF, id="leaderworkerset-gate-off", marks=covers("PODS-062")),
        pytest.param("StatefulSet", OFF, id="statefulset-gate-off", marks=covers("PODS-062")),
    ],
)
def test_a_pod_that_has_ended_is_let_go_of(lab: Lab, kind: str, gates: Mapping[str, bool]) -> None:
    """The other pod of its group still runs."""
    lab.start(integrations=frameworks.WITH_PODS, gates=gates)
    queue = lab.queue({"whole-gpus": 4})
    size = 2 if kind == "LeaderWorkerSet" else 1
    owner = an_owner(lab, queue, kind, a_pod_set("main", pods=size, claims=[TWO]), replicas=2 // size)
    owner.report(0, "Succeeded")

    assert [bool(lab.read(pod)["metadata"].get("finalizers")) for pod in owner.pods] == [False, True]


@covers("PODS-062")
@pytest.mark.parametrize("kind", [STATEFUL_SET, LEADER_WORKER_SET])
def test_a_pod_that_is_deleted_is_let_go_of(lab: Lab, kind: str) -> None:
    """It is gone at once, although its group runs."""
    lab.start(integrations=frameworks.WITH_PODS, gates=OFF)
    owner = an_owner(lab, lab.queue({"whole-gpus": 2}), kind, a_pod_set("main", claims=[TWO]))
    (pod,) = owner.pods
    lab.remove(pod)
    lab.settle()

    assert not lab.is_there(pod)


@pytest.mark.parametrize("kind", [STATEFUL_SET, LEADER_WORKER_SET])
@pytest.mark.parametrize(
    "labelled",
    [
        pytest.param(False, id="not-labelled", marks=covers("PODS-037")),
        pytest.param(True, id="labelled", marks=covers("PODS-038")),
    ],
)
def test_messages_name_the_owner_of_a_preemptor(lab: Lab, kind: str, labelled: bool) -> None:
    """A message about a preemption names the UID of the preemptor's owner if its Workload has it."""
    queue = lab.queue({"whole-gpus": 2}, preemption=POLICY)
    low = queue.submit(a_job(claims=[TWO]))
    owner = an_owner(lab, queue, kind, a_pod_set("main", claims=[TWO]), priority=5)
    message = lab.message(low, "Evicted")

    assert ("JobUID: UNKNOWN" not in message) is labelled
    assert owner.verdicts == [admitted({"whole-gpus": 2})]


@pytest.mark.parametrize(
    "is_main",
    [
        pytest.param(False, id="by-its-hash", marks=covers("PODS-032")),
        pytest.param(True, id="main", marks=covers("PODS-033")),
    ],
)
def test_the_pod_set_of_a_stateful_set_has_a_name(lab: Lab, is_main: bool) -> None:
    """Messages and the status name it."""
    queue = lab.queue({"whole-gpus": 2})
    owner = an_owner(lab, queue, "StatefulSet", a_pod_set("main", claims=[TWO]))
    (workload,) = owner.workloads

    assert (workload["spec"]["podSets"][0]["name"] == "main") is is_main


@covers("PODS-023")
@pytest.mark.parametrize(
    ("quota", "verdict"),
    [
        pytest.param(7, admitted({"whole-gpus": 6}), id="one-to-spare"),
        pytest.param(6, admitted({"whole-gpus": 6}), id="fits-exactly"),
        pytest.param(5, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_the_pods_of_a_stateful_set_are_charged_together(lab: Lab, quota: int, verdict: Verdict) -> None:
    """All of its replicas have quota, or none: its controller starts them one after another."""
    queue = lab.queue({"whole-gpus": quota})
    owner = an_owner(lab, queue, "StatefulSet", a_pod_set("main", claims=[TWO]), replicas=3)

    assert owner.verdicts == [verdict]
    assert owner.gated == [verdict == pending(Reason.NEVER_FITS)] * 3


@covers("PODS-024")
@pytest.mark.parametrize(
    ("quota", "verdicts"),
    [
        pytest.param(10, [admitted({"whole-gpus": 5})] * 2, id="fits-exactly"),
        pytest.param(9, [admitted({"whole-gpus": 5}), pending(Reason.NO_QUOTA)], id="one-too-many"),
    ],
)
def test_each_group_of_a_leader_worker_set_is_charged_together(lab: Lab, quota: int, verdicts: list[Verdict]) -> None:
    """A leader with one device and its two workers with two each start together; the second group may wait."""
    queue = lab.queue({"whole-gpus": quota})
    leader = a_pod_set("leader", claims=[a_template(gpu())])
    workers = a_pod_set("workers", pods=2, claims=[TWO])
    owner = an_owner(lab, queue, "LeaderWorkerSet", workers, replicas=2, leader=leader)

    assert sorted(owner.verdicts, key=str) == sorted(verdicts, key=str)
    assert sum(owner.gated) == 3 * verdicts.count(pending(Reason.NO_QUOTA))


@covers("PODS-024")
def test_a_group_without_a_leader_has_one_pod_set(lab: Lab) -> None:
    """All its pods have one template."""
    queue = lab.queue({"whole-gpus": 6})
    owner = an_owner(lab, queue, "LeaderWorkerSet", a_pod_set("workers", pods=3, claims=[TWO]))

    assert owner.verdicts == [admitted({"whole-gpus": 6})]
    assert [each["count"] for each in owner.workloads[0]["spec"]["podSets"]] == [3]


@covers("PODS-041")
@pytest.mark.parametrize("missing", [pytest.param(1, id="a-worker"), pytest.param(0, id="the-leader")])
def test_a_group_is_admitted_without_a_pod_that_it_lost(lab: Lab, missing: int) -> None:
    """It stays queued when it is tried without the pod; later it is charged as a whole, and the other pod runs."""
    queue = lab.queue({"whole-gpus": 4})
    first, second = (queue.submit(a_job(claims=[TWO])) for _ in range(2))
    owner = an_owner(lab, queue, "LeaderWorkerSet", a_pod_set("main", pods=2, claims=[TWO]))
    assert owner.gated == [True, True]

    lab.remove(owner.pods.pop(missing))
    lab.settle()
    lab.finish(first)
    assert owner.gated == [True]

    lab.finish(second)

    assert owner.verdicts == [admitted({"whole-gpus": 4})]
    assert owner.gated == [False]


@covers("PODS-041")
def test_an_evicted_group_is_admitted_again_before_its_pods_are_back(lab: Lab) -> None:
    """Kueue deletes the pods of a preempted group, and does not wait for others before it charges the group again."""
    queue = lab.queue({"whole-gpus": 4}, preemption={"withinClusterQueue": "LowerPriority"})
    owner = an_owner(lab, queue, "LeaderWorkerSet", a_pod_set("main", pods=2, claims=[TWO]))
    high = queue.submit(a_job(claims=[a_template(gpu(count=4))], priority=100))
    assert lab.verdict(high) == admitted({"whole-gpus": 4})
    owner.pods.clear()

    lab.finish(high)

    assert owner.verdicts == [admitted({"whole-gpus": 4})]


@covers("QUEUE-070")
def test_a_preemptor_that_was_refused_before_does_not_get_the_quota(lab: Lab) -> None:
    """Its template came late; the group that it preempts gets its quota back, before it has its pods back."""
    queue = lab.queue({"whole-gpus": 4}, preemption=POLICY)
    owner = an_owner(lab, queue, "LeaderWorkerSet", a_pod_set("main", pods=2, claims=[TWO]))
    (group,) = owner.workloads
    high = queue.submit(a_job(priority=100, claims=[a_missing_template("gpus-to-come")]))

    lab.template(a_template(gpu(count=4)), "gpus-to-come", queue.namespace)
    lab.retry(high)

    preempted = lab.read(Ref.of(group))
    assert condition(preempted, "Preempted") is not None
    assert is_true(preempted, "Admitted")
    assert lab.admission(high) is None


@pytest.mark.parametrize(
    ("failed", "verdict"),
    [
        pytest.param(2, NOT_RELEASED, id="all", marks=covers("PODS-071")),
        pytest.param(1, admitted({"whole-gpus": 4}), id="all-but-one", marks=covers("PODS-023")),
        pytest.param(0, admitted({"whole-gpus": 4}), id="none", marks=covers("PODS-023")),
        pytest.param(2, admitted({"whole-gpus": 4}), id="all-released", marks=covers("PODS-072")),
    ],
)
def test_an_evicted_stateful_set_has_pods_that_failed(lab: Lab, failed: int, verdict: Verdict) -> None:
    """Kueue deletes those of its two pods that run."""
    queue = lab.queue({"whole-gpus": 4}, preemption=POLICY)
    owner = an_owner(lab, queue, "StatefulSet", a_pod_set("main", claims=[TWO]), replicas=2)

    assert preemptor(lab, queue, owner, failed=failed) == verdict


@covers("PODS-041")
def test_an_evicted_group_of_failed_pods_releases_its_quota(lab: Lab) -> None:
    """The pods of a LeaderWorkerSet are no group with fast admission."""
    queue = lab.queue({"whole-gpus": 4}, preemption=POLICY)
    owner = an_owner(lab, queue, "LeaderWorkerSet", a_pod_set("main", pods=2, claims=[TWO]))

    assert preemptor(lab, queue, owner, failed=2) == admitted({"whole-gpus": 4})


def preemptor(lab: Lab, queue: Queue, owner: PodOwner, *, failed: int) -> Verdict:
    """The verdict on a Job that needs the four devices of two pods, the first of which have failed."""
    for number in range(failed):
        owner.report(number, "Failed")
    high = queue.submit(a_job(claims=[a_template(gpu(count=4))], priority=100))
    return lab.verdict(high)


@pytest.mark.parametrize(
    "role",
    [
        pytest.param("worker", id="too-many-workers", marks=covers("PODS-049")),
        pytest.param("other", id="another", marks=covers("PODS-049", "PODS-035")),
    ],
)
def test_a_group_whose_leader_has_another_role_is_out_of_sync(lab: Lab, role: str) -> None:
    """Its Workload has one leader and one worker: it ends, and no pod starts."""
    queue = lab.queue({"whole-gpus": 3})
    leader = a_pod_set("leader", claims=[TWO])
    owner = an_owner(lab, queue, "LeaderWorkerSet", a_pod_set("workers", claims=[TWO]), leader=leader)

    lab.apply(marked(lab.read(owner.pods[0]), {}, {ROLE: role}))
    lab.settle()

    assert owner.verdicts == [finished("OutOfSync")]
    assert owner.gated == [True, True]


@pytest.mark.parametrize(
    "verdict",
    [
        pytest.param(admitted({"whole-gpus": 2}), id="at-once", marks=covers("PODS-045")),
        pytest.param(pending(Reason.NO_QUOTA), id="with-its-pods", marks=covers("PODS-046")),
    ],
)
def test_a_group_that_is_scaled_away_frees_its_quota(lab: Lab, verdict: Verdict) -> None:
    """The other group keeps what it has."""
    queue = lab.queue({"whole-gpus": 4})
    owner = an_owner(lab, queue, "LeaderWorkerSet", a_pod_set("main", claims=[TWO]), replicas=2)
    job = queue.submit(a_job(claims=[TWO]))
    assert lab.verdict(job) == pending(Reason.NO_QUOTA)

    lab.change(owner.ref, replicas=1)
    lab.settle()

    assert lab.verdict(job) == verdict
    owner.pods.pop()
    assert owner.verdicts == [admitted({"whole-gpus": 2})]


@covers("PODS-024")
@pytest.mark.parametrize(
    ("leaders", "workers", "priority"),
    [
        pytest.param("system-node-critical", "system-cluster-critical", 2_000_001_000, id="of-both"),
        pytest.param("", "system-cluster-critical", 2_000_000_000, id="of-workers"),
        pytest.param("system-node-critical", "", 2_000_001_000, id="of-leaders"),
        pytest.param("", "", 0, id="of-none"),
    ],
)
def test_a_group_has_the_first_priority_class_of_its_pods(lab: Lab, leaders: str, workers: str, priority: int) -> None:
    """Leaders come before workers; the class of those that name none is not the default."""
    queue = lab.queue({"whole-gpus": 1})
    first, others = ({"priorityClassName": name} if name else {} for name in (leaders, workers))
    leader = a_pod_set("leader", claims=[a_template(gpu())], spec=first)
    pods = a_pod_set("workers", spec=others)
    owner = an_owner(lab, queue, "LeaderWorkerSet", pods, leader=leader)

    assert [each["spec"]["priority"] for each in owner.workloads] == [priority]


@pytest.mark.parametrize(
    ("kind", "replicas", "workloads"),
    [
        pytest.param("StatefulSet", 3, 1, id="statefulset", marks=covers("PODS-028")),
        pytest.param("LeaderWorkerSet", 3, 3, id="leaderworkerset", marks=covers("PODS-024")),
    ],
)
def test_replicas_are_charged_before_their_pods_exist(lab: Lab, kind: str, replicas: int, workloads: int) -> None:
    """Their controllers may start pods one after another, but the quota of all is taken at once."""
    queue = lab.queue({"whole-gpus": 6})
    written = a_written_owner(lab, queue, kind, a_pod_set("main", claims=[TWO]), replicas=replicas)
    owner = PodOwner(lab=lab, written=written)
    lab.apply(written)

    assert len(owner.workloads) == workloads
    assert owner.verdicts == [admitted({"whole-gpus": 6 // workloads})] * workloads


@covers("CLAIM-020")
@pytest.mark.parametrize("kind", EACH)
@pytest.mark.parametrize(
    ("claim", "reason", "field"),
    [
        pytest.param(a_direct_claim(), Reason.DIRECT_CLAIM, "", id="direct-claim"),
        pytest.param(
            a_template(a_request("fpga.example.com")),
            Reason.UNMAPPED,
            "spec.podSets[0].template.spec.resourceClaims[0].resourceClaimTemplateName",
            id="unmapped-class",
        ),
    ],
)
def test_the_message_names_the_claim_of_the_pods(
    lab: Lab, kind: str, claim: ClaimOf, reason: Reason, field: str
) -> None:
    """The pods stay gated, and their Workload says why."""
    queue = lab.queue({"whole-gpus": 4})
    owner = an_owner(lab, queue, kind, a_pod_set("main", claims=[claim]))
    (workload,) = owner.workloads
    messages = {each["type"]: each["message"] for each in workload["status"]["conditions"]}

    assert owner.verdicts == [inadmissible(reason)]
    assert messages["QuotaReserved"].startswith(field)
    assert owner.gated == [True]


@pytest.mark.parametrize("kind", EACH)
def test_deleted_pods_free_their_quota(lab: Lab, kind: str) -> None:
    """What the object held is for others when it is gone with its pods."""
    queue = lab.queue({"whole-gpus": 2})
    owner = an_owner(lab, queue, kind, a_pod_set("main", claims=[TWO]))
    job = queue.submit(a_job(claims=[a_template(gpu())]))
    assert lab.verdict(job) == pending(Reason.NO_QUOTA)

    owner.delete()

    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@covers("PODS-005")
@pytest.mark.parametrize("kind", EACH)
def test_preempted_pods_are_deleted(lab: Lab, kind: str) -> None:
    """Kueue deletes the pods that run; the controller of the object makes others, which wait gated."""
    queue = lab.queue({"whole-gpus": 2}, preemption=POLICY)
    owner = an_owner(lab, queue, kind, a_pod_set("main", claims=[TWO]))
    assert owner.gated == [False]

    high = queue.submit(a_job(claims=[TWO], priority=5))

    assert lab.verdict(high) == admitted({"whole-gpus": 2})
    assert all(lab.is_leaving(ref) for ref in owner.pods)


@covers("PODS-005", "PODS-021")
def test_the_workload_of_a_preempted_pod_is_gone_with_it(lab: Lab) -> None:
    """A pod of a Deployment has no finalizer: what waited with it waits no more, though its quota is released."""
    queue = lab.queue({"whole-gpus": 2}, preemption=POLICY)
    an_owner(lab, queue, "Deployment", a_pod_set("main", claims=[TWO]))

    high = queue.submit(a_job(claims=[TWO], priority=5))

    assert lab.verdict(high) == admitted({"whole-gpus": 2})
    assert len(lab.target.list(KUEUE, "Workload", high.ref.namespace)) == 1


@covers("PODS-006", "PODS-023")
def test_pods_go_with_the_workload_of_a_stateful_set(lab: Lab) -> None:
    """Its pods are deleted with it."""
    queue = lab.queue({"whole-gpus": 2})
    owner = an_owner(lab, queue, "StatefulSet", a_pod_set("main", claims=[TWO]))
    (workload,) = owner.workloads

    lab.remove(Ref.of(workload))
    lab.settle()

    assert all(lab.is_leaving(ref) for ref in owner.pods)


@covers("PODS-023")
def test_the_pods_of_a_stateful_set_keep_what_kueue_has_written(lab: Lab) -> None:
    """Also when their number changes: they were marked when they came."""
    queue = lab.queue({"whole-gpus": 1})
    owner = an_owner(lab, queue, "StatefulSet", a_pod_set("main", claims=[TWO]))
    (pod,) = owner.pods
    before = lab.read(pod)["metadata"]

    lab.change(owner.ref, replicas=0)
    lab.apply(marked(lab.read(pod), annotations={"example.com/seen": "true"}))
    lab.settle()

    after = lab.read(pod)["metadata"]
    assert after["labels"] == before["labels"]
    assert after["annotations"] == {**before["annotations"], "example.com/seen": "true"}


@covers("MANAGE-001", "PODS-023")
def test_the_workload_of_a_stateful_set_without_a_queue_names_none(lab: Lab) -> None:
    """With manageJobsWithoutQueueName it waits for a queue."""
    lab.start(integrations=frameworks.WITH_PODS, manageJobsWithoutQueueName=True)
    queue = lab.queue({"whole-gpus": 2})
    written = a_written_owner(lab, queue, "StatefulSet", a_pod_set("main", claims=[TWO]))
    owner = PodOwner(lab=lab, written=marked(written, {QUEUE_LABEL: None}))
    lab.apply(owner.written)
    lab.settle()
    owner.roll_out()

    assert [each["spec"].get("queueName") for each in owner.workloads] == [None]
    assert owner.gated == [True]


@covers("PODS-024")
def test_a_leader_may_have_no_workers(lab: Lab) -> None:
    """A group of one pod is charged for its leader alone."""
    queue = lab.queue({"whole-gpus": 1})
    leader = a_pod_set("leader", claims=[a_template(gpu())])
    owner = an_owner(lab, queue, "LeaderWorkerSet", a_pod_set("workers", pods=0), leader=leader)

    assert [[each["count"] for each in found["spec"]["podSets"]] for found in owner.workloads] == [[1, 0]]
    assert owner.verdicts == [admitted({"whole-gpus": 1})]


@pytest.mark.parametrize("kind", EACH)
@pytest.mark.parametrize(
    ("users", "init_users"),
    [
        pytest.param((("c0",),), (("c0",),), id="both"),
        pytest.param(((),), (("c0",),), id="init-container-alone"),
    ],
)
def test_containers_share_the_claim_of_their_pod(
    lab: Lab, kind: str, users: tuple[tuple[str, ...], ...], init_users: tuple[tuple[str, ...], ...]
) -> None:
    """A claim is charged once, whichever containers use it."""
    queue = lab.queue({"whole-gpus": 2})
    owner = an_owner(lab, queue, kind, a_pod_set("main", claims=[TWO], users=users, init_users=init_users))

    assert owner.verdicts == [admitted({"whole-gpus": 2})]


@breaks_law("nothing runs unreserved", "Kueue does not queue these kinds")
@covers("WORK-001")
@pytest.mark.parametrize("kind", EACH)
def test_a_kind_that_is_off_gets_its_pods_at_once(lab: Lab, kind: str) -> None:
    """Without its framework, Kueue neither gates the pods nor charges them."""
    lab.start(integrations=frameworks.JOBS_ALONE)
    queue = lab.queue({"whole-gpus": 1})
    owner = an_owner(lab, queue, kind, a_pod_set("main", claims=[TWO]))

    assert owner.gated == [False]
    assert owner.workloads == []


@covers("PODS-057")
@pytest.mark.parametrize("kind", EACH)
def test_pods_need_the_framework_of_their_object_alone(lab: Lab, kind: str) -> None:
    """Pods are queued with that of their Deployment, StatefulSet or LeaderWorkerSet; others are not."""
    lab.start(integrations={"frameworks": [JOB.framework, POD_OWNERS[kind].framework]})
    queue = lab.queue({"whole-gpus": 3})
    owner = an_owner(lab, queue, kind, a_pod_set("main", claims=[TWO]))
    waiting = an_owner(lab, queue, kind, a_pod_set("main", claims=[TWO]))

    assert owner.verdicts == [admitted({"whole-gpus": 2})]
    assert waiting.verdicts == [pending(Reason.NO_QUOTA)]
    assert (owner.gated, waiting.gated) == ([False], [True])


@covers("QUEUE-046")
@pytest.mark.parametrize("kind", EACH)
def test_the_queue_of_an_object_has_to_be_a_name(lab: Lab, kind: str) -> None:
    """The webhook of each kind checks the queue label."""
    queue = lab.queue({"whole-gpus": 2})
    written = a_written_owner(lab, queue, kind, a_pod_set("main", claims=[TWO]))
    message = lab.denied(marked(written, {QUEUE_LABEL: "No_Name"}))

    assert f'"v{kind.lower()}.kb.io" denied the request' in message
    assert f"metadata.labels[{QUEUE_LABEL}]" in message


@covers("ELASTIC-016")
@pytest.mark.parametrize("kind", EACH)
def test_an_object_is_not_elastic(lab: Lab, kind: str) -> None:
    """Its pods are queued, alone or as groups, and grow in no other way."""
    written = a_written_owner(lab, lab.queue({"whole-gpus": 2}), kind, a_pod_set("main", claims=[TWO]))

    denied = lab.denied(marked(written, annotations=ON))

    assert f"metadata.annotations[{ELASTIC}]: Forbidden: elastic job is not supported for " in denied
    assert f'/v1, Kind={kind}"' in denied


@pytest.mark.parametrize(
    ("replicas", "words"),
    [
        pytest.param(-1, "-1: should be a non-negative integer", id="fewer-than-none", marks=covers("WORK-061")),
        pytest.param(0, "", id="none", marks=covers("WORK-061")),
        pytest.param(
            1_000_001,
            "1000001: invalid LeaderWorkerSet replicas: must be <= 1000000, got 1000001",
            id="too-many",
            marks=covers("PODS-070"),
        ),
    ],
)
def test_a_leader_worker_set_has_at_most_a_million_groups(lab: Lab, replicas: int, words: str) -> None:
    """Each group would have a Workload, in a queue; without one it is denied as well."""
    written = a_written_owner(lab, lab.missing_queue(), "LeaderWorkerSet", a_pod_set("main", cpu="1"))
    without_queue = marked(written, {QUEUE_LABEL: None})

    denied = lab.denied(replaced(without_queue, REPLICAS, replicas))

    assert denied.endswith(f"spec.replicas: Invalid value: {words}" if words else "")
    assert bool(denied) is bool(words)


@covers("PODS-070")
def test_a_million_groups_are_not_too_many(lab: Lab) -> None:
    """Something else has to be wrong here, so that nothing makes them."""
    written = a_written_owner(lab, lab.missing_queue(), "LeaderWorkerSet", a_pod_set("main", cpu="1"))

    denied = lab.denied(marked(replaced(written, REPLICAS, 1_000_000), {QUEUE_LABEL: "No_Name"}))

    assert f"metadata.labels[{QUEUE_LABEL}]" in denied
    assert "replicas" not in denied


@covers("PODS-022")
@pytest.mark.parametrize("kind", EACH)
@pytest.mark.parametrize("queue_name", [pytest.param(None, id="removed"), pytest.param("", id="emptied")])
def test_the_queue_of_an_object_is_not_removed(lab: Lab, kind: str, queue_name: str | None) -> None:
    """An object that names a queue keeps one, so that its pods do not run without quota."""
    queue = lab.queue({"whole-gpus": 1})
    owner = an_owner(lab, queue, kind, a_pod_set("main", claims=[TWO]))
    message = lab.denied(marked(lab.read(owner.ref), {QUEUE_LABEL: queue_name}))

    assert f"metadata.labels[{QUEUE_LABEL}]: Invalid value: " in message
    assert "field is immutable" in message


@covers("PODS-031")
def test_a_leader_worker_set_keeps_its_queue(lab: Lab) -> None:
    """Later releases let one without ready pods move."""
    queue = lab.queue({"whole-gpus": 1})
    owner = an_owner(lab, queue, "LeaderWorkerSet", a_pod_set("main", claims=[TWO]))
    message = lab.denied(marked(lab.read(owner.ref), {QUEUE_LABEL: "another"}))

    assert f"metadata.labels[{QUEUE_LABEL}]: Invalid value: " in message
    assert "field is immutable" in message


@pytest.mark.parametrize("kind", EACH)
@pytest.mark.parametrize(
    ("detail", "shows_old"),
    [
        pytest.param("field is immutable", ["LeaderWorkerSet"], id="changed-nor-removed", marks=covers("PREEMPT-041")),
        pytest.param(
            "WorkloadPriorityClass cannot be removed from a workload", [], id="removed", marks=covers("PREEMPT-040")
        ),
    ],
)
def test_the_priority_class_of_an_object_is_not_removed(
    lab: Lab, kind: str, detail: str, shows_old: Sequence[str]
) -> None:
    """An object that names a priority class keeps one; for a LeaderWorkerSet of 0.14 the error shows the old one."""
    queue = lab.queue({"whole-gpus": 1})
    owner = an_owner(lab, queue, kind, a_pod_set("main", claims=[TWO]), priority=7)
    found = lab.read(owner.ref)
    shown = found["metadata"]["labels"][PRIORITY_LABEL] if kind in shows_old else ""
    message = lab.denied(marked(found, {PRIORITY_LABEL: None}))

    assert f'metadata.labels[{PRIORITY_LABEL}]: Invalid value: "{shown}": {detail}' in message


@covers("PRIORITY-001")
@pytest.mark.parametrize("kind", EACH)
def test_pods_have_the_priority_class_of_their_object(lab: Lab, kind: str) -> None:
    """Their Workload has the priority that the object names."""
    queue = lab.queue({"whole-gpus": 2})
    owner = an_owner(lab, queue, kind, a_pod_set("main", claims=[TWO]), priority=7)

    assert [each["spec"]["priority"] for each in owner.workloads] == [7]
    assert PRIORITY_LABEL in lab.read(owner.ref)["metadata"]["labels"]


@covers("PODS-026")
@pytest.mark.parametrize(
    ("replicas", "message"),
    [
        pytest.param(3, "spec.replicas: Invalid value: 3: field is immutable", id="up"),
        pytest.param(1, "spec.replicas: Invalid value: 1: field is immutable", id="down"),
        pytest.param(0, "", id="to-zero"),
    ],
)
def test_a_stateful_set_keeps_its_number_of_replicas(lab: Lab, replicas: int, message: str) -> None:
    """Its replicas were admitted together, so only none or all of them can be taken away."""
    queue = lab.queue({"whole-gpus": 4})
    owner = an_owner(lab, queue, "StatefulSet", a_pod_set("main", claims=[TWO]), replicas=2)
    found = lab.read(owner.ref)
    denied = lab.denied({**found, "spec": {**found["spec"], "replicas": replicas}})

    assert message in denied
    assert bool(denied) is bool(message)


@covers("PODS-053")
@pytest.mark.parametrize("kind", [STATEFUL_SET, LEADER_WORKER_SET])
@pytest.mark.parametrize(
    ("field", "value"),
    [
        pytest.param("resourceClaims", [{"name": "c0", "resourceClaimName": "another"}], id="claims"),
        pytest.param("nodeSelector", {"pool": "a"}, id="node-selector"),
        pytest.param("containers[0].resources.requests", {"cpu": "2"}, id="requests"),
        pytest.param("containers[0].ports", [{"containerPort": 80}], id="ports"),
        pytest.param("containers", [{"name": "one", "image": "a"}, {"name": "two", "image": "a"}], id="containers"),
        pytest.param("initContainers", [{"name": "first", "image": "a"}], id="init-containers"),
    ],
)
def test_pods_that_are_admitted_together_keep_their_shape(lab: Lab, kind: str, field: str, value: Any) -> None:
    """What was charged for the pods stays true."""
    queue = lab.queue({"whole-gpus": 2, "cpu": "1"})
    owner = an_owner(lab, queue, kind, a_pod_set("main", claims=[TWO], cpu="1"))
    found = lab.read(owner.ref)
    (path,) = template_paths(found)
    message = lab.denied(replaced(found, (*path, "spec", *_keys(field)), value))

    assert f"{'.'.join(map(str, path))}.spec.{field}: Invalid value: " in message
    assert "field is immutable" in message


@covers("PODS-053")
@pytest.mark.parametrize("kind", [STATEFUL_SET, LEADER_WORKER_SET])
def test_all_that_gives_pods_another_shape_is_named(lab: Lab, kind: str) -> None:
    """One change may make several errors."""
    queue = lab.queue({"cpu": "1"})
    owner = an_owner(lab, queue, kind, a_pod_set("main", cpu="1"))
    changed = lab.read(owner.ref)
    (path,) = template_paths(changed)
    changes = {
        "initContainers": [{"name": "first", "image": "a"}],
        "containers[0].resources.requests": {"cpu": "2"},
        "containers[0].ports": [{"containerPort": 80}],
        "nodeSelector": {"pool": "a"},
    }
    for field, value in changes.items():
        changed = replaced(changed, (*path, "spec", *_keys(field)), value)
    message = lab.denied(changed)

    place = ".".join(map(str, path))
    assert [field for field in changes if f"{place}.spec.{field}: Invalid value: " not in message] == []


def _keys(field: str) -> tuple[str | int, ...]:
    """Read the path of a field, such as containers[0].ports."""
    return tuple(int(key) if key.isdigit() else key for key in re.findall(r"\w+", field))


@covers("PODS-053")
@pytest.mark.parametrize("kind", [STATEFUL_SET, LEADER_WORKER_SET])
def test_pods_that_are_admitted_together_may_get_another_image(lab: Lab, kind: str) -> None:
    """Nothing is charged for it; requests that are written otherwise are the same."""
    queue = lab.queue({"cpu": "1"})
    owner = an_owner(lab, queue, kind, a_pod_set("main", cpu="1"))
    found = lab.read(owner.ref)
    (path,) = template_paths(found)
    container = (*path, "spec", "containers", 0)
    other = replaced(
        replaced(found, (*container, "image"), "another"), (*container, "resources", "requests"), {"cpu": "1000m"}
    )

    assert lab.denied(other) == ""


@covers("PODS-058")
@pytest.mark.parametrize("kind", [STATEFUL_SET, LEADER_WORKER_SET])
@pytest.mark.parametrize(
    ("before", "after", "is_denied"),
    [
        pytest.param(ONE_CPU, {"requests": {"cpu": "2"}}, True, id="other"),
        pytest.param(None, ONE_CPU, True, id="new"),
        pytest.param(ONE_CPU, None, True, id="gone"),
        pytest.param(ONE_CPU, {"requests": {"cpu": "1000m"}, "limits": {"cpu": "2"}}, False, id="limits"),
    ],
)
def test_pods_that_are_admitted_together_keep_requests_of_the_pod(
    lab: Lab, kind: str, before: Any, after: Any, is_denied: bool
) -> None:
    """A pod may request something as a whole; its limits are not charged."""
    queue = lab.queue({"cpu": "2"})
    written = a_written_owner(lab, queue, kind, a_pod_set("main"))
    (path,) = template_paths(written)
    place = (*path, "spec", "resources")
    owner = PodOwner(lab=lab, written=replaced(written, place, before) if before else written)
    lab.apply(owner.written)
    lab.settle()
    message = lab.denied(replaced(lab.read(owner.ref), place, after))

    assert (f"{'.'.join(map(str, place))}: Invalid value: " in message) is is_denied
    assert bool(message) is is_denied


@covers("WORK-055")
@pytest.mark.parametrize("kind", EACH)
def test_objects_that_are_not_queued_change_freely(lab: Lab, kind: str) -> None:
    """Kueue runs without their framework: they may lose their queue name, and their pods get another shape."""
    lab.start(integrations=frameworks.JOBS_ALONE)
    queue = lab.queue({"cpu": "1"})
    owner = PodOwner(lab=lab, written=a_written_owner(lab, queue, kind, a_pod_set("main", cpu="1")))
    lab.apply(owner.written)
    found = lab.read(owner.ref)
    (path,) = template_paths(found)
    other = replaced(found, (*path, "spec", "nodeSelector"), {"pool": "a"})

    assert lab.denied(marked(other, {QUEUE_LABEL: None})) == ""
    if kind == "LeaderWorkerSet":
        assert lab.denied(replaced(found, SIZE, 2)) == ""


@covers("PODS-024")
def test_the_pods_of_a_leader_worker_set_wait_for_each_other(lab: Lab) -> None:
    """Kueue does not admit their group with its first pod, as that of a StatefulSet."""
    owner = an_owner(lab, lab.queue({"cpu": "1"}), "LeaderWorkerSet", a_pod_set("main", cpu="1"))

    assert [FAST in lab.read(pod)["metadata"]["annotations"] for pod in owner.pods] == [False]


@covers("PODS-053", "MANAGE-001")
@pytest.mark.parametrize("kind", [STATEFUL_SET, LEADER_WORKER_SET])
@pytest.mark.parametrize("is_managed", [pytest.param(True, id="managed"), pytest.param(False, id="unmanaged")])
def test_pods_without_a_queue_keep_their_shape_if_they_are_managed(lab: Lab, kind: str, is_managed: bool) -> None:
    """With manageJobsWithoutQueueName, Kueue gates them, too."""
    lab.start(integrations=frameworks.WITH_PODS, manageJobsWithoutQueueName=is_managed)
    queue = lab.queue({"cpu": "1"})
    written = marked(a_written_owner(lab, queue, kind, a_pod_set("main", cpu="1")), {QUEUE_LABEL: None})
    owner = PodOwner(lab=lab, written=written)
    lab.apply(owner.written)
    lab.settle()
    found = lab.read(owner.ref)
    (path,) = template_paths(found)
    message = lab.denied(replaced(found, (*path, "spec", "nodeSelector"), {"pool": "a"}))

    assert ("field is immutable" in message) is is_managed


@covers("PODS-053")
@pytest.mark.parametrize("has_leader", [pytest.param(True, id="gone"), pytest.param(False, id="new")])
def test_leaders_keep_having_a_template_of_their_own(lab: Lab, has_leader: bool) -> None:
    """Or keep having none; the other pods keep their shape, too."""
    queue = lab.queue({"cpu": "2"})
    leader = a_pod_set("leader", cpu="1")
    workers = a_pod_set("workers", cpu="1")
    owner = an_owner(lab, queue, "LeaderWorkerSet", workers, leader=leader if has_leader else None)
    found = lab.read(owner.ref)
    group = found["spec"]["leaderWorkerTemplate"]
    changed = replaced(found, LEADER, None if has_leader else group["workerTemplate"])
    message = lab.denied(replaced(changed, (*WORKER, "spec", "nodeSelector"), {"pool": "a"}))

    shown = "null" if has_leader else "{"
    assert f"spec.leaderWorkerTemplate.leaderTemplate: Invalid value: {shown}" in message
    assert "spec.leaderWorkerTemplate.workerTemplate.spec.nodeSelector: Invalid value: " in message


@pytest.mark.parametrize(
    ("gates", "message"),
    [
        pytest.param({}, "size: Invalid value: 3: field is immutable", id="kept", marks=covers("PODS-054")),
        pytest.param({"LWSImmutableGroupSize": False}, "", id="gate-off", marks=covers("PODS-055")),
        pytest.param({}, "", id="changed", marks=covers("PODS-056")),
    ],
)
def test_another_size_of_groups_is_not_charged(lab: Lab, gates: Mapping[str, bool], message: str) -> None:
    """A Workload has the pods that its group had; others would run without quota."""
    lab.start(integrations=frameworks.WITH_PODS, gates=gates)
    queue = lab.queue({"cpu": "5"})
    owner = an_owner(lab, queue, "LeaderWorkerSet", a_pod_set("main", pods=2, cpu="1"))
    found = lab.read(owner.ref)
    denied = lab.denied(replaced(found, SIZE, 3))

    assert message in denied
    assert bool(denied) is bool(message)
    assert owner.verdicts == [admitted({"cpu": "2"})]


@covers("PODS-021")
@pytest.mark.parametrize(
    ("replicas", "usage"),
    [pytest.param(0, {}, id="to-zero"), pytest.param(1, {"whole-gpus": "2"}, id="to-one")],
)
def test_a_deployment_is_scaled_pod_by_pod(lab: Lab, replicas: int, usage: Mapping[str, str]) -> None:
    """The pods that are taken away free their devices, those that are added are charged."""
    queue = lab.queue({"whole-gpus": 4})
    owner = an_owner(lab, queue, "Deployment", a_pod_set("main", claims=[TWO]), replicas=2)

    owner.scale(replicas)
    assert owner.verdicts == [admitted(usage)] * replicas

    owner.scale(2)
    assert owner.verdicts == [admitted({"whole-gpus": "2"})] * 2


@covers("PODS-025")
@pytest.mark.parametrize(
    ("shape", "each", "usage"),
    [
        pytest.param({"cpu": "1"}, {"cpu": "1"}, {"cpu": "2"}, id="cpu"),
        pytest.param({"claims": [a_template(gpu())]}, {"whole-gpus": 1}, {"whole-gpus": 2}, id="devices"),
    ],
)
def test_a_stateful_set_without_replicas_holds_no_quota(
    lab: Lab, shape: Mapping[str, Any], each: Mapping[str, str | int], usage: Mapping[str, str | int]
) -> None:
    """Scaled to zero it frees its quota, and takes it again when it is scaled up."""
    queue = lab.queue({"cpu": "2", "whole-gpus": 2})
    owner = an_owner(lab, queue, "StatefulSet", a_pod_set("main", **shape), replicas=2)
    assert owner.verdicts == [admitted(usage)]

    owner.scale(0)
    job = queue.submit(a_job(**shape))
    assert lab.verdict(job) == admitted(each)

    lab.finish(job)
    owner.scale(2)
    assert owner.verdicts == [admitted(usage)]


@covers("PODS-025")
def test_a_stateful_set_without_replicas_leaves_a_finished_workload_as_it_is(lab: Lab) -> None:
    """Only quota that counts is freed."""
    queue = lab.queue({"whole-gpus": 2})
    owner = an_owner(lab, queue, "StatefulSet", a_pod_set("main", claims=[TWO]))
    (workload,) = owner.workloads
    conditions = [*workload["status"]["conditions"], a_condition("Finished")]
    lab.apply({**workload, "status": {"conditions": conditions}})
    lab.settle()

    lab.change(owner.ref, replicas=0)

    assert owner.verdicts == [finished("Case")]
    (workload,) = owner.workloads
    reserved = [each["status"] for each in workload["status"]["conditions"] if each["type"] == "QuotaReserved"]
    assert reserved == ["True"]


@covers("PODS-063")
@pytest.mark.parametrize("quota", [pytest.param(2, id="admitted"), pytest.param(1, id="pending")])
def test_the_workload_of_a_stateful_set_without_replicas_goes_with_its_pods(lab: Lab, quota: int) -> None:
    """Scaled up, it gets another one."""
    queue = lab.queue({"whole-gpus": quota})
    owner = an_owner(lab, queue, "StatefulSet", a_pod_set("main", claims=[TWO]))
    expected = admitted({"whole-gpus": 2}) if quota == 2 else pending(Reason.NEVER_FITS)
    assert owner.verdicts == [expected]
    (before,) = owner.workloads

    owner.scale(0)
    assert not lab.is_there(Ref.of(before))
    assert queue.figures.counts.pending == 0
    assert queue.figures.counts.reserving == 0

    owner.scale(1)
    assert owner.verdicts == [expected]


@covers("QUEUE-047")
def test_a_stateful_set_with_quota_keeps_its_queue(lab: Lab) -> None:
    """Its pods are not ready, so it may name another one; the API server refuses that to its Workload."""
    check = lab.admission_check()
    queue = lab.queue({"whole-gpus": 2}, admissionChecksStrategy={"admissionChecks": [{"name": check}]})
    other = queue.beside()
    owner = an_owner(lab, queue, "StatefulSet", a_pod_set("main", claims=[TWO]))
    (before,) = owner.workloads

    owner.move(other)

    (after,) = owner.workloads
    assert after["spec"]["queueName"] == before["spec"]["queueName"] == queue.local_ref.name
    assert queue.figures.counts.reserving == 1


@covers("PODS-042")
@pytest.mark.parametrize(
    "shape", [pytest.param({"cpu": "3"}, id="cpu"), pytest.param({"claims": [a_template(gpu(3))]}, id="devices")]
)
def test_a_pending_stateful_set_without_replicas_stays_pending(lab: Lab, shape: Mapping[str, Any]) -> None:
    """Scaled to zero while it waits for quota, it keeps its place in the queue."""
    queue = lab.queue({"cpu": "2", "whole-gpus": 2})
    owner = an_owner(lab, queue, "StatefulSet", a_pod_set("main", **shape))
    assert owner.verdicts == [pending(Reason.NEVER_FITS)]

    owner.scale(0)

    assert owner.verdicts == [pending(Reason.NEVER_FITS)]
    assert queue.figures.counts.pending == 1


@pytest.mark.parametrize(
    "quota",
    [
        pytest.param(2, id="admitted", marks=covers("PODS-066")),
        pytest.param(1, id="pending", marks=covers("PODS-066")),
        pytest.param(1, id="not-on-hold", marks=covers("PODS-067")),
    ],
)
def test_a_stateful_set_with_a_workload_of_before_is_not_scaled_up(lab: Lab, quota: int) -> None:
    """The Workload has the number of pods that it had before it was scaled to zero."""
    queue = lab.queue({"whole-gpus": quota})
    owner = an_owner(lab, queue, "StatefulSet", a_pod_set("main", claims=[TWO]))
    lab.change(owner.ref, replicas=0)

    denied = lab.denied(replaced(lab.read(owner.ref), REPLICAS, 1))

    assert "spec.replicas: Forbidden: workload from previous scale-down is still being deleted" in denied


@covers("PODS-065")
def test_a_stateful_set_with_pods_of_before_is_not_scaled_up(lab: Lab) -> None:
    """They end before others are made."""
    queue = lab.queue({"whole-gpus": 2})
    owner = an_owner(lab, queue, "StatefulSet", a_pod_set("main", claims=[TWO]))
    owner.scale(0)
    found = lab.read(owner.ref)
    lab.apply({**found, "status": {**found.get("status", {}), "replicas": 1}})

    denied = lab.denied(replaced(lab.read(owner.ref), REPLICAS, 1))

    assert denied.endswith("spec.replicas: Forbidden: scaling down is still in progress")


@covers("PODS-065")
def test_a_stateful_set_without_a_queue_is_scaled_up_at_any_time(lab: Lab) -> None:
    """Kueue's webhook is for those of a queue alone."""
    queue = lab.queue({"whole-gpus": 2})
    written = a_written_owner(lab, queue, "StatefulSet", a_pod_set("main"), replicas=0)
    of_none = marked(written, labels={QUEUE_LABEL: None})
    lab.apply(of_none)
    ref = Ref.of(of_none)
    lab.apply({**lab.read(ref), "status": {"replicas": 1}})

    lab.change(ref, replicas=1)

    assert lab.read(ref)["spec"]["replicas"] == 1


@covers("API-039")
def test_templates_are_where_messages_say(lab: Lab) -> None:
    """The API server names the field of the pod template of each kind."""
    queue = lab.queue({"whole-gpus": 2})
    written = a_written_owner(lab, queue, "Deployment", a_pod_set("main"))
    (path,) = template_paths(written)
    template = {**written["spec"]["template"], "spec": {"restartPolicy": "Always"}}
    denied = lab.denied({**written, "spec": {**written["spec"], "template": template}})

    assert f"{'.'.join(map(str, path))}.spec.containers: Required value" in denied


@pytest.mark.parametrize("shape", [pytest.param({"cpu": "2"}, id="cpu"), pytest.param({"claims": [TWO]}, id="devices")])
@pytest.mark.parametrize("kind", MOVED)
def test_gated_pods_go_along_to_another_queue(lab: Lab, kind: str, shape: Mapping[str, Any]) -> None:
    """Their Workload is admitted there."""
    queue = lab.queue({"whole-gpus": 1, "cpu": "1"})
    other = lab.queue({"whole-gpus": 2, "cpu": "2"}, namespace=queue.namespace)
    owner = an_owner(lab, queue, kind, a_pod_set("main", **shape))
    assert owner.verdicts == [pending(Reason.NEVER_FITS)]

    owner.move(other)

    assert owner.queues == [other.local]
    (workload,) = owner.workloads
    assert workload["spec"]["queueName"] == other.local
    assert is_true(workload, "Admitted")
    assert owner.gated == [False]


@pytest.mark.parametrize("kind", MOVED)
def test_running_pods_do_not_go_along(lab: Lab, kind: str) -> None:
    """They are not ready, so the object may name another queue; the Workload keeps its own."""
    queue = lab.queue({"whole-gpus": 2})
    other = queue.beside()
    owner = an_owner(lab, queue, kind, a_pod_set("main", claims=[TWO]))
    assert owner.verdicts == [admitted({"whole-gpus": 2})]

    owner.move(other)

    assert owner.queues == [queue.local]
    (workload,) = owner.workloads
    assert workload["spec"]["queueName"] == queue.local


@covers("PODS-032")
def test_a_pending_stateful_set_of_before_does_not_move(lab: Lab) -> None:
    """Its Workload follows its pods, which are in the queue that they were created for."""
    queue = lab.queue({"cpu": "1"})
    other = lab.queue({"cpu": "2"}, namespace=queue.namespace)
    owner = an_owner(lab, queue, "StatefulSet", a_pod_set("main", cpu="2"))

    owner.move(other)

    assert owner.queues == [queue.local]
    (workload,) = owner.workloads
    assert workload["spec"]["queueName"] == queue.local
    assert owner.verdicts == [pending(Reason.NEVER_FITS)]
