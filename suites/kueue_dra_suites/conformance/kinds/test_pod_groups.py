"""Groups of pods with one Workload: roles by their claims, completeness, replacements (Kueue, Pod integration)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kueue_dra_fixtures import frameworks
from kueue_dra_fixtures.builders import (
    GPU,
    ClaimOf,
    Pods,
    a_direct_claim,
    a_job,
    a_missing_template,
    a_pod_set,
    a_request,
    a_template,
    gpu,
    work_of,
)
from kueue_dra_fixtures.cohorts import a_cohort
from kueue_dra_fixtures.frameworks import WITH_PODS
from kueue_dra_fixtures.lab import Lab, Queue, bare
from kueue_dra_fixtures.manifests import KUEUE, QUEUE_LABEL, marked
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.pod_groups import AT_AN_END, PodGroup, a_group_of
from kueue_dra_fixtures.verdicts import Reason, admitted, finished, inadmissible, pending
from kueue_dra_ref.api.execution_time import LIMIT, LIMIT_LABEL
from kueue_dra_ref.api.queued_pods import (
    GATE,
    GROUP,
    INDEX,
    INDEX_LABEL,
    IS_GROUP,
    MANAGED,
    RETRIABLE,
    ROLE,
    SERVING,
    TOTAL,
    with_gates,
)
from kueue_dra_ref.api.topologies import REQUIRED
from kueue_dra_ref.target import Ref
from kueue_dra_ref.verdict import Verdict
from kueue_dra_suites.conformance.kinds.rows import RACK, two_racks

pytestmark = owns_kueue

CARD = "vendor.example.com/card"
POLICY = {"withinClusterQueue": "LowerPriority"}
ONE = a_template(gpu())


def a_worker(pods: int = 1, claims: tuple[ClaimOf, ...] = (ONE,)) -> Pods:
    """Pods of a group with a device each."""
    return a_pod_set("workers", pods=pods, claims=claims)


@covers("PODS-008")
@pytest.mark.parametrize(
    ("pods", "quota", "verdict"),
    [
        pytest.param(1, 1, admitted({"whole-gpus": 1}), id="one-pod"),
        pytest.param(3, 4, admitted({"whole-gpus": 3}), id="one-to-spare"),
        pytest.param(3, 3, admitted({"whole-gpus": 3}), id="fits-exactly"),
        pytest.param(3, 2, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_all_pods_of_a_group_start_or_none(lab: Lab, pods: int, quota: int, verdict: Verdict) -> None:
    """The pods of a group are charged together in one Workload."""
    queue = lab.queue({"whole-gpus": quota})
    group = a_group_of(lab, queue, a_worker(pods))

    assert group.verdict == verdict
    assert group.gated == [verdict == pending(Reason.NEVER_FITS)] * pods


@covers("PODS-007")
@pytest.mark.parametrize(
    ("shapes", "counts", "usage"),
    [
        pytest.param([a_worker(2)], [2], {"whole-gpus": 2}, id="one-template"),
        pytest.param([a_worker(2), a_worker(1, (a_template(gpu(3)),))], [1, 2], {"whole-gpus": 5}, id="other-template"),
        pytest.param([a_worker(2), a_worker(1, (ONE, ONE))], [1, 2], {"whole-gpus": 4}, id="more-claims"),
        pytest.param([a_worker(1), a_worker(3, ())], [1, 3], {"whole-gpus": 1}, id="claims-in-one-role"),
        pytest.param(
            [a_worker(1), a_worker(1, (a_template(a_request("nic.example.com")),))],
            [1, 1],
            {"whole-gpus": 1, "example.com/nics": 1},
            id="other-class",
        ),
    ],
)
def test_roles_differ_by_their_claims(
    lab: Lab, shapes: list[Pods], counts: list[int], usage: Mapping[str, int]
) -> None:
    """Pods with other claims are another pod set, and each is charged for its own."""
    queue = lab.queue({"whole-gpus": 8, "example.com/nics": 8})
    group = a_group_of(lab, queue, *shapes)

    assert group.counts == counts
    assert group.verdict == admitted(usage)


@covers("PODS-007")
@pytest.mark.parametrize(
    ("requests", "counts"),
    [
        pytest.param({"cpu": "1"}, [1, 2], id="other-amount"),
        pytest.param({"cpu": "2000m"}, [3], id="same-amount"),
    ],
)
def test_roles_differ_by_their_requests(lab: Lab, requests: Mapping[str, str], counts: list[int]) -> None:
    """The amount decides, not how it is written."""
    queue = lab.queue({"cpu": "8", "whole-gpus": 8})
    first = a_pod_set("a", pods=2, cpu="2", claims=[ONE])
    group = a_group_of(lab, queue, first, a_pod_set("b", requests=requests, claims=[ONE]))

    assert group.counts == counts


@covers("POD-001", "PODS-007")
def test_the_overhead_of_a_runtime_class_is_part_of_the_role(lab: Lab) -> None:
    """The API server writes it into each pod, so one that states the same has the same role."""
    runtime = lab.runtime_class(cpu="250m")
    queue = lab.queue({"cpu": "8", "whole-gpus": 8})
    named = {"runtimeClassName": runtime}
    boxed = a_pod_set("boxed", cpu="1", claims=[ONE], spec=named)
    stated = a_pod_set("stated", cpu="1", claims=[ONE], spec={**named, "overhead": {"cpu": "250m"}})
    group = a_group_of(lab, queue, boxed, stated)

    assert group.counts == [2]
    assert group.verdict == admitted({"cpu": "2500m", "whole-gpus": 2})


@pytest.mark.parametrize(
    ("counts", "cpu"),
    [
        pytest.param([2], "4", id="one-role", marks=covers("PODS-039")),
        pytest.param([1, 1], "5", id="two-roles", marks=covers("PODS-040")),
    ],
)
def test_what_pods_request_as_a_whole_makes_roles(lab: Lab, counts: list[int], cpu: str) -> None:
    """Both have the same containers, and another amount for all of them together."""
    queue = lab.queue({"cpu": "8", "whole-gpus": 8})
    small, large = (
        a_pod_set(f"of-{each}", cpu="1", claims=[ONE], spec={"resources": {"requests": {"cpu": each}}}) for each in "23"
    )
    group = a_group_of(lab, queue, small, large)

    assert group.counts == counts
    assert group.verdict == admitted({"cpu": cpu, "whole-gpus": 2})


@covers("EXT-027", "PODS-007")
@pytest.mark.parametrize(
    ("quota", "verdict"),
    [
        pytest.param(5, admitted({"whole-gpus": 5}), id="fits-exactly"),
        pytest.param(4, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_extended_resources_of_a_group_add_to_claims(lab: Lab, quota: int, verdict: Verdict) -> None:
    """One role asks by claim, the other by the extended resource of the same class: both are charged."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": quota})
    by_name = a_pod_set("by-name", pods=2, requests={CARD: "1"})
    group = a_group_of(lab, queue, a_worker(1, (a_template(gpu(3)),)), by_name)

    assert group.verdict == verdict


@covers("CLAIM-020", "PODS-008")
@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        pytest.param(a_direct_claim(), Reason.DIRECT_CLAIM, id="direct-claim"),
        pytest.param(a_template(a_request("fpga.example.com")), Reason.UNMAPPED, id="unmapped-class"),
        pytest.param(a_missing_template(), Reason.NO_TEMPLATE, id="missing-template"),
    ],
)
def test_one_refused_claim_holds_the_whole_group(lab: Lab, claim: ClaimOf, reason: Reason) -> None:
    """No pod of the group starts, although the others ask for what can be charged."""
    queue = lab.queue({"whole-gpus": 4})
    group = a_group_of(lab, queue, a_worker(2), a_worker(1, (claim,)))

    assert group.verdict == inadmissible(reason)
    assert group.gated == [True, True, True]


@covers("PODS-008")
def test_a_group_waits_for_all_its_pods(lab: Lab) -> None:
    """Without the last pod there is no Workload; with it, all are ungated."""
    queue = lab.queue({"whole-gpus": 3})
    group = a_group_of(lab, queue, a_worker(2), total=3)
    assert not group.has_workload
    assert group.gated == [True, True]

    group.add(a_worker())

    assert group.verdict == admitted({"whole-gpus": 3})
    assert group.gated == [False, False, False]


@covers("PODS-008")
def test_a_group_takes_the_workload_of_its_name(lab: Lab) -> None:
    """Another client may create it before the pods."""
    queue = lab.queue({"whole-gpus": 2})
    like = a_group_of(lab, queue, a_worker())
    group = PodGroup(lab=lab, queue=queue, name=lab.name("group"), total=1)
    meta = {"name": group.name, "namespace": queue.namespace, "annotations": {IS_GROUP: "true"}}
    made = {"apiVersion": KUEUE, "kind": "Workload", "metadata": meta, "spec": like.workload["spec"]}
    lab.apply(made)
    lab.settle()
    uid = group.workload["metadata"]["uid"]

    group.add(a_worker())

    assert group.workload["metadata"]["uid"] == uid
    assert group.verdict == admitted({"whole-gpus": 1})
    assert group.gated == [False]


def a_group_in_conflict(lab: Lab, queue: Queue) -> PodGroup:
    """A group whose name a Workload has that is like its own, and is not marked as that of a group."""
    like = a_group_of(lab, queue, a_worker())
    group = PodGroup(lab=lab, queue=queue, name=lab.name("group"), total=1)
    meta = {"name": group.name, "namespace": queue.namespace}
    lab.apply({"apiVersion": KUEUE, "kind": "Workload", "metadata": meta, "spec": like.workload["spec"]})
    lab.settle()
    group.add(a_worker())
    return group


@pytest.mark.parametrize(
    ("gates", "gated"),
    [
        pytest.param({}, True, id="refused", marks=covers("PODS-050")),
        pytest.param({}, False, id="taken", marks=covers("PODS-051")),
        pytest.param({"PodIntegrationValidateGroupOwner": False}, False, id="gate-off", marks=covers("PODS-052")),
    ],
)
def test_a_workload_that_is_not_of_a_group_has_its_name(lab: Lab, gates: Mapping[str, bool], gated: bool) -> None:
    """A client has created it, and it keeps its quota whether the group takes it or waits.

    Only an event of a pod lets Kueue look at such a group again.
    """
    lab.start(integrations=WITH_PODS, switched=gates)
    group = a_group_in_conflict(lab, lab.queue({"whole-gpus": 2}))

    lab.apply(marked(lab.read(Ref.of(group.pods[0])), {"changed": "once"}))
    lab.settle()

    assert group.gated == [gated]
    assert ("ownerReferences" in group.workload["metadata"]) is not gated
    assert group.verdict == admitted({"whole-gpus": 1})


@covers("PODS-050")
def test_a_group_waits_until_its_name_is_free(lab: Lab) -> None:
    """The Workload of its own is admitted with the devices that the other one has released."""
    group = a_group_in_conflict(lab, lab.queue({"whole-gpus": 2}))
    assert group.gated == [True]

    lab.remove(Ref.of(group.workload))
    lab.settle()

    assert group.gated == [False]
    assert group.workload["metadata"]["annotations"][IS_GROUP] == "true"
    assert group.verdict == admitted({"whole-gpus": 1})


@covers("PODS-050")
def test_a_group_that_waits_for_its_name_can_be_deleted(lab: Lab) -> None:
    """Kueue lets go of its pods, and the Workload that has the name keeps its quota."""
    group = a_group_in_conflict(lab, lab.queue({"whole-gpus": 2}))

    group.delete(0)

    assert group.gated == []
    assert group.verdict == admitted({"whole-gpus": 1})


@covers("PODS-050")
def test_a_group_cannot_take_the_workload_of_a_job(lab: Lab) -> None:
    """The Job runs on, and the group with the name of its Workload does not start."""
    queue = lab.queue({"whole-gpus": 2})
    job = queue.submit(a_job(claims=[ONE]))
    group = PodGroup(lab=lab, queue=queue, name=lab.workload(job)["metadata"]["name"], total=1)

    group.add(a_worker())

    assert group.gated == [True]
    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@covers("PODS-009")
@pytest.mark.parametrize(
    ("quota", "verdict"),
    [
        pytest.param(3, admitted({"whole-gpus": 3}), id="fits-exactly"),
        pytest.param(2, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_fast_admission_charges_what_the_group_announces(lab: Lab, quota: int, verdict: Verdict) -> None:
    """The first of three pods is enough for a Workload of three."""
    queue = lab.queue({"whole-gpus": quota})
    group = a_group_of(lab, queue, a_worker(), total=3, fast=True)

    assert group.verdict == verdict
    assert group.counts == [3]


@covers("PODS-020")
def test_a_group_announces_one_total(lab: Lab) -> None:
    """Pods that announce different totals get no Workload."""
    queue = lab.queue({"whole-gpus": 4})
    group = a_group_of(lab, queue, a_worker(), total=2)
    group.add(a_worker(), **{TOTAL: "1"})

    assert not group.has_workload
    assert group.gated == [True, True]


@covers("PODS-020")
def test_a_group_has_one_queue(lab: Lab) -> None:
    """Pods that name different queues get no Workload."""
    queue = lab.queue({"whole-gpus": 4})
    group = a_group_of(lab, queue, a_worker(), total=2)
    pod = marked(group.written(a_worker()), {QUEUE_LABEL: queue.beside().local})
    lab.apply(pod)
    group.pods.append(pod)
    lab.settle()

    assert not group.has_workload
    assert group.gated == [True, True]


@pytest.mark.parametrize(
    ("labels", "annotations", "has_workload"),
    [
        pytest.param({INDEX: "0"}, {}, True, id="below-the-total", marks=covers("PODS-059")),
        pytest.param({INDEX: "1"}, {}, False, id="as-high", marks=covers("PODS-059")),
        pytest.param({INDEX: "first"}, {}, False, id="no-number", marks=covers("PODS-059")),
        pytest.param({"place": "0"}, {INDEX_LABEL: "place"}, True, id="of-a-label", marks=covers("PODS-060")),
        pytest.param({}, {INDEX_LABEL: "place"}, False, id="of-no-label", marks=covers("PODS-060")),
    ],
)
def test_pods_of_a_group_are_numbered(
    lab: Lab, labels: dict[str, str], annotations: dict[str, str], has_workload: bool
) -> None:
    """The number of a pod is one of those of its group, here of one pod."""
    queue = lab.queue({"whole-gpus": 4})
    group = PodGroup(lab=lab, queue=queue, name=lab.name("group"), total=1)
    lab.apply(marked(group.written(a_worker(), **annotations), labels))
    lab.settle()

    assert group.has_workload is has_workload


@pytest.mark.parametrize(
    ("annotations", "verdict"),
    [
        pytest.param({}, admitted({"cpu": 2}), id="any-nodes"),
        pytest.param({REQUIRED: RACK}, pending(Reason.NO_ROOM), id="one-rack"),
    ],
)
@covers("TAS-001", "TAS-015")
def test_the_pods_of_a_group_request_a_topology(lab: Lab, annotations: dict[str, str], verdict: Verdict) -> None:
    """Two pods fit two racks, and not one of them."""
    queue = two_racks(lab)
    group = a_group_of(lab, queue, a_pod_set("workers", pods=2, cpu="1"), annotations=annotations)

    assert group.verdict == verdict


@covers("TAS-001", "PODS-007")
def test_each_role_requests_its_own_topology(lab: Lab) -> None:
    """The pods of a role have the annotation; those of the other one may run anywhere."""
    queue = two_racks(lab)
    group = PodGroup(lab=lab, queue=queue, name=lab.name("group"), total=3)
    group.add(a_pod_set("drivers", cpu="500m"))
    group.add(a_pod_set("workers", pods=2, cpu="1"), **{REQUIRED: RACK})

    requests = {each["count"]: each.get("topologyRequest") or {} for each in group.workload["spec"]["podSets"]}
    assert [requests[count].get("required") for count in (1, 2)] == [None, RACK]


@covers("PODS-010", "QUEUE-007")
def test_a_group_finishes_when_all_pods_have_succeeded(lab: Lab) -> None:
    """Its Workload is finished, and the next group is admitted."""
    queue = lab.queue({"whole-gpus": 2})
    first = a_group_of(lab, queue, a_worker(2))
    second = a_group_of(lab, queue, a_worker(2))
    assert second.verdict == pending(Reason.NO_QUOTA)

    first.report(0, 1, phase="Succeeded")

    assert first.verdict == finished("Succeeded")
    assert second.verdict == admitted({"whole-gpus": 2})


@covers("PODS-011")
@pytest.mark.parametrize(
    ("retriable", "verdict"),
    [
        pytest.param("false", finished("Succeeded"), id="not-retriable"),
        pytest.param("true", admitted({"whole-gpus": 2}), id="retriable"),
    ],
)
def test_failed_pods_finish_a_group_that_is_not_retriable(lab: Lab, retriable: str, verdict: Verdict) -> None:
    """Otherwise the group keeps its quota for pods that take their place."""
    queue = lab.queue({"whole-gpus": 2})
    group = a_group_of(lab, queue, a_worker(2), annotations={RETRIABLE: retriable})
    group.report(0, 1, phase="Failed")

    assert group.verdict == verdict


@covers("PODS-011")
def test_one_pod_is_enough_for_a_group_that_is_not_retriable(lab: Lab) -> None:
    """The other pod says nothing about it."""
    queue = lab.queue({"whole-gpus": 2})
    group = a_group_of(lab, queue, a_worker(), total=2)
    group.add(a_worker(), **{RETRIABLE: "false"})
    group.report(0, 1, phase="Failed")

    assert group.verdict == finished("Succeeded")


@covers("PODS-012")
@pytest.mark.parametrize(
    ("succeeded", "verdict"),
    [
        pytest.param((), pending(Reason.NO_QUOTA), id="none"),
        pytest.param((0,), admitted({"whole-gpus": 2}), id="one-of-three"),
    ],
)
def test_succeeded_pods_free_their_quota(lab: Lab, succeeded: tuple[int, ...], verdict: Verdict) -> None:
    """The devices of a pod that succeeded are for others, while the rest of its group runs."""
    queue = lab.queue({"whole-gpus": 4})
    held = a_group_of(lab, queue, a_worker(3))
    waiting = a_group_of(lab, queue, a_worker(1, (a_template(gpu(2)),)))

    held.report(*succeeded, phase="Succeeded")

    assert waiting.verdict == verdict


@covers("PODS-013")
@pytest.mark.parametrize("quota", [pytest.param(2, id="running"), pytest.param(1, id="gated")])
def test_pods_beyond_the_group_are_deleted(lab: Lab, quota: int) -> None:
    """The pod that was created last goes; it is never charged."""
    queue = lab.queue({"whole-gpus": quota})
    group = a_group_of(lab, queue, a_worker(2))
    group.add(a_worker())

    assert [lab.is_there(Ref.of(pod)) for pod in group.pods] == [True, True, False]
    assert group.counts == [2]


@covers("PODS-014")
def test_a_failed_pod_is_replaced_within_its_quota(lab: Lab) -> None:
    """The group keeps its quota while it waits, and the new pod starts at once."""
    queue = lab.queue({"whole-gpus": 2})
    group = a_group_of(lab, queue, a_worker(2))
    group.report(1, phase="Failed")
    assert group.verdict == admitted({"whole-gpus": 2})
    assert waits_for_pods(group) == ("True", "PodsFailed")

    group.add(a_worker())

    assert group.gated[-1] is False
    assert waits_for_pods(group) == ("False", "PodsReady")


@covers("PODS-043")
@pytest.mark.parametrize("total", [1, 2])
def test_a_fast_group_waits_when_its_last_pod_failed(lab: Lab, total: int) -> None:
    """One pod is enough for such a group, whatever it announces, but it needs one."""
    queue = lab.queue({"whole-gpus": 2})
    group = a_group_of(lab, queue, a_worker(), total=total, fast=True)
    group.report(0, phase="Failed")
    assert waits_for_pods(group) == ("True", "PodsFailed")

    group.add(a_worker())

    assert group.gated[-1] is False
    assert waits_for_pods(group) == ("False", "PodsReady")


@covers("PODS-044")
def test_a_fast_group_runs_while_it_waits_for_its_pods(lab: Lab) -> None:
    """The Workload is admitted with the first pod, and says that others are missing."""
    queue = lab.queue({"whole-gpus": 2})
    group = a_group_of(lab, queue, a_worker(), total=2, fast=True)
    assert group.verdict == admitted({"whole-gpus": 2})
    assert waits_for_pods(group) == ("True", "PodsFailed")

    group.add(a_worker())

    assert group.gated == [False, False]
    assert waits_for_pods(group) == ("False", "PodsReady")


def waits_for_pods(group: PodGroup) -> tuple[str, str]:
    """Status and reason of the condition about pods that are missing."""
    conditions = {each["type"]: each for each in group.workload["status"]["conditions"]}
    found = conditions["WaitingForReplacementPods"]
    return found["status"], found["reason"]


@covers("PODS-005", "PODS-014")
def test_the_pods_of_a_preempted_group_are_deleted(lab: Lab) -> None:
    """Its Workload waits for quota, and for pods that take their place."""
    queue = lab.queue({"whole-gpus": 2}, preemption=POLICY)
    low = a_group_of(lab, queue, a_worker(2))
    high = a_group_of(lab, queue, a_worker(2), priority=5)

    assert high.verdict == admitted({"whole-gpus": 2})
    assert not holds_quota(low)
    assert [lab.read(Ref.of(pod))["metadata"].get("deletionTimestamp") is None for pod in low.pods] == [False, False]
    assert waits_for_pods(low) == ("True", "Preempted")


def holds_quota(group: PodGroup) -> bool:
    """Whether a group has quota."""
    return "admission" in group.workload["status"]


@covers("PODS-027")
def test_a_preempted_group_waits_for_other_pods(lab: Lab) -> None:
    """It is not admitted when its quota is free again, but when pods take the place of those that Kueue deleted."""
    queue = lab.queue({"whole-gpus": 2}, preemption=POLICY)
    low = a_group_of(lab, queue, a_worker(2))
    high = a_group_of(lab, queue, a_worker(2), priority=5)

    high.report(0, 1, phase="Succeeded")
    assert not holds_quota(low)

    lab.change(Ref.of(low.workload), priority=1)
    assert not holds_quota(low)

    low.add(a_worker(2))
    assert low.verdict == admitted({"whole-gpus": 2})
    assert low.gated[-2:] == [False, False]


@covers("PODS-077")
def test_a_preempted_group_is_tried_again_after_its_preemptor(lab: Lab) -> None:
    """It loses its quota to the other ClusterQueue in the cycle that admits the Job, and finds none in the next one."""
    cohort = a_cohort(lab)
    owner = cohort.queue({"whole-gpus": 2}, preemption={"reclaimWithinCohort": "Any"})
    group = a_group_of(lab, cohort.queue({"whole-gpus": 0}), a_worker(2))

    job = owner.submit(a_job(claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == admitted({"whole-gpus": 2})
    assert group.verdict == pending(Reason.NO_QUOTA)


@covers("PODS-064")
def test_a_drained_group_does_not_wait_for_other_pods(lab: Lab) -> None:
    """It is queued before it is known which pods are missing, and so it is admitted once its queue goes on."""
    queue = lab.queue({"whole-gpus": 2})
    group = a_group_of(lab, queue, a_worker(2))
    queue.change(stopPolicy="HoldAndDrain")
    assert not holds_quota(group)

    queue.change(stopPolicy="None")

    assert holds_quota(group)


@covers("PODS-006")
def test_the_pods_of_a_group_go_with_their_workload(lab: Lab) -> None:
    """The pods of a group are deleted with its Workload, also those that run."""
    queue = lab.queue({"whole-gpus": 2})
    group = a_group_of(lab, queue, a_worker(2))

    lab.remove(Ref.of(group.workload))

    assert group.gated == []


@covers("PODS-005")
def test_a_pod_that_runs_in_a_group_without_a_workload_is_deleted(lab: Lab) -> None:
    """A user finishes the Workload, deletes a pod and then the Workload: the other pod cannot make a group of two."""
    group = a_group_of(lab, lab.queue({"whole-gpus": 2}), a_worker(2))
    workload = group.workload
    lab.apply({**bare(workload), "status": {"conditions": [AT_AN_END]}})
    group.delete(0)
    assert group.gated == [False]

    lab.remove(Ref.of(workload))
    lab.settle()

    assert group.gated == []
    assert not group.has_workload


@covers("PODS-008")
def test_a_group_goes_when_its_last_pod_is_deleted(lab: Lab) -> None:
    """While one pod is left, the group keeps its quota."""
    queue = lab.queue({"whole-gpus": 2})
    first = a_group_of(lab, queue, a_worker(2))
    second = a_group_of(lab, queue, a_worker(1))

    first.delete(0)
    assert second.verdict == pending(Reason.NO_QUOTA)

    lab.remove(Ref.of(first.workload))

    assert second.verdict == admitted({"whole-gpus": 1})


@covers("PODS-010")
@pytest.mark.parametrize(
    ("serving", "verdict"),
    [
        pytest.param("true", admitted({"whole-gpus": 2}), id="serving"),
        pytest.param("false", finished("Succeeded"), id="not-serving"),
    ],
)
def test_a_serving_group_never_finishes(lab: Lab, serving: str, verdict: Verdict) -> None:
    """Its pods are replaced when they end."""
    queue = lab.queue({"whole-gpus": 2})
    group = a_group_of(lab, queue, a_worker(2), annotations={SERVING: serving})
    group.report(0, 1, phase="Succeeded")

    assert group.verdict == verdict


@covers("PODS-015", "PODS-016")
@pytest.mark.parametrize(
    ("labels", "annotations", "message"),
    [
        pytest.param({GROUP: "g"}, {}, f"metadata.annotations[{TOTAL}]: Required value: both", id="no-total"),
        pytest.param({}, {TOTAL: "1"}, f"metadata.labels[{GROUP}]: Required value: both", id="no-name"),
        pytest.param({GROUP: "g"}, {TOTAL: "0"}, "group total count should be greater than zero", id="zero"),
        pytest.param({GROUP: "g"}, {TOTAL: "x"}, 'parsing "x": invalid syntax', id="no-number"),
    ],
)
def test_a_pod_names_its_group_and_its_total(
    lab: Lab, labels: Mapping[str, str], annotations: Mapping[str, str], message: str
) -> None:
    """The webhook of pods names the label or the annotation that is wrong."""
    queue = lab.queue({"whole-gpus": 2})
    pod = marked(lab.written(work_of("Pod", a_worker()), queue), dict(labels), dict(annotations))

    assert message in lab.denied(pod)


@covers("PODS-069")
def test_the_name_of_a_group_is_one_of_a_workload(lab: Lab) -> None:
    """As the group has a Workload of its name."""
    pod = lab.written(work_of("Pod", a_worker()), lab.queue({"whole-gpus": 2}))

    message = f'metadata.labels[{GROUP}]: Invalid value: "A_Group": a lowercase RFC 1123 subdomain must consist of '
    assert message in lab.denied(marked(pod, {GROUP: "A_Group"}, {TOTAL: "1"}))


@covers("PODS-068")
@pytest.mark.parametrize("value", ["true", "false", ""])
def test_a_pod_without_a_queue_is_marked_as_managed_or_not_at_all(lab: Lab, value: str) -> None:
    """Kueue writes the label on pods that it manages."""
    pod = marked(lab.written(work_of("Pod", a_worker()), lab.missing_queue()), {MANAGED: value, QUEUE_LABEL: None})

    denied = lab.denied(pod)

    message = f"metadata.labels[{MANAGED}]: Forbidden: managed label value can only be 'true'"
    assert denied.endswith(message if value != "true" else "")
    assert bool(denied) is (value != "true")


@covers("PODS-017", "PODS-018")
@pytest.mark.parametrize(
    ("labels", "annotations", "message"),
    [
        pytest.param({GROUP: "other"}, {RETRIABLE: "false"}, "field is immutable", id="group"),
        pytest.param({}, {RETRIABLE: "true"}, "unretriable pod group can't be converted to retriable", id="retriable"),
    ],
)
def test_a_pod_stays_what_it_is_in_its_group(
    lab: Lab, labels: Mapping[str, str], annotations: Mapping[str, str], message: str
) -> None:
    """Neither its group nor that it is not retriable can be changed."""
    queue = lab.queue({"whole-gpus": 2})
    group = a_group_of(lab, queue, a_worker(2), annotations={RETRIABLE: "false"})
    changed = marked(lab.read(Ref.of(group.pods[0])), dict(labels), dict(annotations))

    assert message in lab.denied(changed)


@covers("PODS-019")
def test_an_annotation_may_name_the_group(lab: Lab) -> None:
    """Its pods are charged together, as with the label."""
    queue = lab.queue({"whole-gpus": 2})
    group = a_group_of(lab, queue, a_worker(2), in_annotation=True)

    assert group.verdict == admitted({"whole-gpus": 2})
    assert group.gated == [False, False]


@covers("PODS-014", "PODS-027")
def test_a_group_that_is_admitted_again_waits_for_pods_that_fail(lab: Lab) -> None:
    """Its Workload says that pods have failed, no longer that it was preempted."""
    queue = lab.queue({"whole-gpus": 2}, preemption=POLICY)
    low = a_group_of(lab, queue, a_worker(2))
    high = a_group_of(lab, queue, a_worker(2), priority=5)
    high.report(0, 1, phase="Succeeded")
    low.add(a_worker(2))
    assert waits_for_pods(low) == ("False", "PodsReady")

    low.report(3, phase="Failed")

    assert waits_for_pods(low) == ("True", "PodsFailed")
    assert low.verdict == admitted({"whole-gpus": 2})


@covers("PODS-005")
def test_a_group_keeps_its_quota_while_a_pod_runs(lab: Lab) -> None:
    """A pod that is gated is not deleted, so that the quota is free once it does not run any more."""
    check = lab.admission_check()
    queue = lab.queue({"whole-gpus": 2}, admissionChecksStrategy={"admissionChecks": [{"name": check}]})
    group = a_group_of(lab, queue, a_worker(2))
    group.report(0, phase="Running")

    lab.change(Ref.of(group.workload), active=False)
    assert holds_quota(group)

    group.report(0, phase="Pending")
    assert not holds_quota(group)
    assert group.gated == [True, True]


@pytest.mark.parametrize(
    ("serving", "moves"),
    [
        pytest.param("false", True, id="that-ends", marks=covers("PODS-008")),
        pytest.param("true", False, id="that-serves", marks=covers("PODS-047")),
        pytest.param("true", True, id="that-serves-and-follows", marks=covers("PODS-048")),
    ],
)
def test_a_group_that_waits_can_move_to_another_queue(lab: Lab, serving: str, moves: bool) -> None:
    """The Workload of a group follows its pods, unless it serves."""
    queue = lab.queue({"whole-gpus": 1})
    group = a_group_of(lab, queue, a_worker(2), annotations={SERVING: serving})
    other = queue.beside()

    for pod in group.pods:
        lab.apply(marked(lab.read(Ref.of(pod)), {QUEUE_LABEL: other.local}))
    lab.settle()

    assert (group.workload["spec"]["queueName"] == other.local) is moves


@covers("PODS-008")
def test_groups_of_a_name_are_apart_in_their_namespaces(lab: Lab) -> None:
    """One has all its pods, the other waits for its second."""
    queue, other = lab.queue({"whole-gpus": 2}), lab.queue({"whole-gpus": 2})
    group = a_group_of(lab, queue, a_worker(1), total=2)
    namesake = PodGroup(lab=lab, queue=other, name=group.name, total=2)
    namesake.add(a_worker(2))

    assert namesake.verdict == admitted({"whole-gpus": 2})
    assert not group.has_workload
    assert group.gated == [True]

    group.add(a_worker())
    assert group.verdict == admitted({"whole-gpus": 2})
    assert group.counts == [2]


@covers("PODS-006", "PODS-014")
def test_pods_go_with_a_workload_that_has_outlived_others(lab: Lab) -> None:
    """The Workload of a group still names the pod that was replaced, which is gone."""
    queue = lab.queue({"whole-gpus": 2})
    group = a_group_of(lab, queue, a_worker(2))
    group.report(0, phase="Failed")
    group.add(a_worker())
    group.delete(0)
    assert group.gated == [False, False]
    owners = group.workload["metadata"]["ownerReferences"]
    assert {each["name"] for each in owners} == {each["metadata"]["name"] for each in group.pods}

    lab.remove(Ref.of(group.workload))
    lab.settle()

    assert group.gated == []


@covers("EXEC-006", "PODS-008")
@pytest.mark.parametrize(
    ("lost", "limit"), [pytest.param((), 600, id="complete"), pytest.param((1,), None, id="without-a-pod")]
)
def test_a_group_that_waits_gets_another_limit(lab: Lab, lost: tuple[int, ...], limit: int | None) -> None:
    """Its Workload is changed, not replaced, as soon as the group is complete."""
    queue = lab.queue({"whole-gpus": 1})
    group = a_group_of(lab, queue, a_worker(2))
    uid = group.workload["metadata"]["uid"]
    group.delete(*lost)

    for number in {0, 1}.difference(lost):
        pod = lab.read(Ref.of(group.pods[number]))
        lab.apply(marked(pod, {LIMIT_LABEL: "600"}))
    lab.settle()

    assert group.workload["spec"].get(LIMIT) == limit
    assert group.workload["metadata"]["uid"] == uid
    assert group.verdict == pending(Reason.NEVER_FITS)


@pytest.mark.parametrize(
    "active",
    [
        pytest.param(False, id="stays-inactive", marks=covers("STATUS-064")),
        pytest.param(True, id="active-again", marks=covers("STATUS-065")),
    ],
)
def test_a_deactivated_group_gets_another_limit(lab: Lab, active: bool) -> None:
    """Its Workload is changed."""
    queue = lab.queue({"whole-gpus": 1})
    group = a_group_of(lab, queue, a_worker(2))
    lab.change(Ref.of(group.workload), active=False)

    lab.apply(*(marked(lab.read(Ref.of(pod)), {LIMIT_LABEL: "600"}) for pod in group.pods))
    lab.settle()

    assert group.workload["spec"][LIMIT] == 600
    assert group.workload["spec"]["active"] is active


@covers("PODS-007")
@pytest.mark.parametrize(
    ("quota", "gated"), [pytest.param(1, [True, True], id="waiting"), pytest.param(2, [], id="admitted")]
)
def test_a_group_whose_role_is_another_one_has_no_workload_of_the_former(
    lab: Lab, quota: int, gated: list[bool]
) -> None:
    """While it waits, its Workload gets the role of its pods; that of an admitted one is deleted with its pods."""
    queue = lab.queue({"whole-gpus": quota})
    group = a_group_of(lab, queue, a_worker(2))

    for pod in group.pods:
        lab.apply(marked(lab.read(Ref.of(pod)), {}, {ROLE: "other"}))
    lab.settle()

    assert group.gated == gated
    assert group.has_workload is bool(gated)
    if gated:
        assert [each["name"] for each in group.workload["spec"]["podSets"]] == ["other"]


@covers("PODS-013")
def test_a_group_that_is_too_large_from_the_start_is_cut(lab: Lab) -> None:
    """Two of its three pods are charged."""
    queue = lab.queue({"whole-gpus": 2})
    group = a_group_of(lab, queue, a_worker(3), total=2)

    assert group.gated == [False, False]
    assert group.counts == [2]
    assert group.verdict == admitted({"whole-gpus": 2})


@covers("PODS-013")
def test_a_pod_without_a_finalizer_goes_first(lab: Lab) -> None:
    """It was created with gate and label before Kueue queued pods; two that came later are charged."""
    lab.start(integrations=frameworks.JOBS_ALONE)
    queue = lab.queue({"whole-gpus": 2})
    group = PodGroup(lab=lab, queue=queue, name=lab.name("group"), total=2)
    first = marked(with_gates(group.written(a_worker()), GATE), {MANAGED: "true"})
    lab.apply(first)
    group.pods.append(first)
    lab.start(integrations=WITH_PODS)

    group.add(a_worker(2))

    assert [lab.is_there(Ref.of(pod)) for pod in group.pods] == [False, True, True]
    assert group.counts == [2]


@covers("PODS-008")
def test_a_pod_that_has_failed_is_no_part_of_a_new_group(lab: Lab) -> None:
    """Kueue lets go of it, and waits for two others."""
    queue = lab.queue({"whole-gpus": 2})
    group = a_group_of(lab, queue, a_worker(), total=2)
    group.report(0, phase="Failed")
    group.add(a_worker())
    assert not group.has_workload

    group.add(a_worker())

    assert group.counts == [2]
    assert group.verdict == admitted({"whole-gpus": 2})
    assert MANAGED not in lab.read(Ref.of(group.pods[0]))["metadata"].get("finalizers", ())


@covers("CHECK-014", "PODS-007")
def test_each_pod_gets_the_updates_of_its_role(lab: Lab) -> None:
    """An admission check may send the roles of a group to different nodes."""
    check = lab.admission_check()
    queue = lab.queue({"whole-gpus": 3}, admissionChecksStrategy={"admissionChecks": [{"name": check}]})
    group = a_group_of(lab, queue, a_worker(1), a_worker(1, (ONE, ONE)))
    roles = [lab.read(Ref.of(pod))["metadata"]["annotations"][ROLE] for pod in group.pods]
    updates = [{"name": role, "nodeSelector": {"role": role}} for role in sorted(roles)]
    done = {"name": check, "state": "Ready", "message": "done", "podSetUpdates": updates}

    lab.apply({**bare(group.workload), "status": {"admissionChecks": [done]}})
    lab.settle()

    assert group.gated == [False, False]
    assert [lab.read(Ref.of(pod))["spec"]["nodeSelector"]["role"] for pod in group.pods] == roles
