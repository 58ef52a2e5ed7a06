"""Workloads that cannot be made or changed: by Kueue's definition of them, and by Kueue itself (Kueue 0.19)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from kueue_dra_fixtures.builders import Pods, a_pod_set, a_template, a_workload, gpu
from kueue_dra_fixtures.lab import Lab, Queue, bare
from kueue_dra_fixtures.manifests import a_condition, with_spec
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.rejections import ACCEPTED, RejectedFields, refused
from kueue_dra_ref.api.job_kind import replaced

INVALID = 'Workload.kueue.x-k8s.io "{name}" is invalid: '
DENIED = 'admission webhook "vworkload.kb.io" denied the request: spec.podSets'
POD = f"{DENIED}[0].template.spec."
RESERVED = 'Invalid value: "pods": the key is reserved for internal kueue use'
NEGATIVE = "must be greater than or equal to 0"
SOME_CLASS = {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "some"}
ELASTIC = "ElasticJobsViaWorkloadSlices"


@covers("COUNT-021")
def test_a_workload_has_a_pod_set(lab: Lab) -> None:
    """A Workload of nothing is none."""
    made = lab.written(a_workload(), lab.missing_queue())
    words = f"{INVALID}spec.podSets: Invalid value: 0: spec.podSets in body should have at least 1 items"

    assert lab.denied(made) == words.format(**made["metadata"])


@pytest.mark.parametrize(
    ("count", "answer"),
    [
        pytest.param(18, ACCEPTED, id="18", marks=covers("COUNT-022")),
        pytest.param(19, refused("spec.podSets: Too many"), id="19", marks=covers("COUNT-022")),
        pytest.param(10, ACCEPTED, id="10", marks=covers("COUNT-023")),
        pytest.param(11, refused("spec.podSets: Too many"), id="11", marks=covers("COUNT-023")),
        pytest.param(8, ACCEPTED, id="8", marks=covers("COUNT-024")),
        pytest.param(9, refused("spec.podSets: Too many"), id="9", marks=covers("COUNT-024")),
    ],
)
def test_a_workload_has_not_too_many_pod_sets(lab: Lab, count: int, answer: RejectedFields) -> None:
    """The number of pod sets in a Workload is limited."""
    pod_sets = [a_pod_set(f"pods-{index}", cpu="1") for index in range(count)]

    assert lab.offer(lab.written(a_workload(*pod_sets), lab.missing_queue())) == answer


@covers("COUNT-025")
@pytest.mark.parametrize(
    ("used", "answer"),
    [
        pytest.param([{"name": "devices", "request": "a"}], ACCEPTED, id="one-request"),
        pytest.param(
            [{"name": "devices", "request": "a"}, {"name": "devices", "request": "b"}],
            refused("spec.podSets[0].template.spec.containers[0].resources.claims[1]: Duplicate value"),
            id="two-requests",
        ),
    ],
)
def test_a_container_lists_a_claim_once(lab: Lab, used: list[dict[str, str]], answer: RejectedFields) -> None:
    """A pod may list two requests of one claim, but no Workload can."""
    pod = {
        "containers": [{"name": "c", "image": "i", "resources": {"claims": used}}],
        "resourceClaims": [{"name": "devices", "resourceClaimTemplateName": "t"}],
    }
    made = lab.written(a_workload(a_pod_set("main", spec=pod)), lab.missing_queue())

    assert lab.offer(made) == answer


@covers("COUNT-022")
def test_beside_too_many_pod_sets_nothing_else_is_told(lab: Lab) -> None:
    """With too many pod sets, the rules between pod sets are not checked."""
    pod_sets = [a_pod_set(f"pods-{index}", cpu="1", pods=1, least=2) for index in range(19)]
    made = lab.written(a_workload(*pod_sets), lab.missing_queue())
    words = (
        f"{INVALID}[spec.podSets: Too many: 19: must have at most 18 items, <nil>: Invalid value: null: some "
        "validation rules were not checked because the object was invalid; "
        "correct the existing errors to complete validation]"
    )

    assert lab.denied(made) == words.format(**made["metadata"])


@pytest.mark.parametrize(
    ("least", "words"),
    [
        pytest.param(1, "", id="one", marks=covers("PARTIAL-008")),
        pytest.param(
            0,
            f"{INVALID}spec.podSets[0].minCount: Invalid value: 0: "
            "spec.podSets[0].minCount in body should be greater than or equal to 1",
            id="none",
            marks=covers("PARTIAL-008"),
        ),
        pytest.param(2, "", id="all", marks=covers("PARTIAL-009")),
        pytest.param(
            3,
            f"{INVALID}spec.podSets[0]: Invalid value: minCount should be positive and less or equal to count",
            id="more-than-all",
            marks=covers("PARTIAL-009"),
        ),
    ],
)
def test_the_fewest_pods_are_between_one_and_all(lab: Lab, least: int, words: str) -> None:
    """The minimum number of pods of a pod set with two is 1 or 2."""
    made = lab.written(a_workload(a_pod_set("main", pods=2, least=least, cpu="1")), lab.missing_queue())

    assert lab.denied(made) == words.format(**made["metadata"])


@covers("PARTIAL-010")
@pytest.mark.parametrize(
    ("least", "words"),
    [
        pytest.param(None, "", id="one-pod-set"),
        pytest.param(1, f"{DENIED}: Invalid value: 2: at most one podSet can use minCount", id="two-pod-sets"),
    ],
)
def test_at_most_one_pod_set_may_shrink(lab: Lab, least: int | None, words: str) -> None:
    """Otherwise it would be undefined which pod set shrinks."""
    first, second = a_pod_set("first", pods=2, least=1, cpu="1"), a_pod_set("second", pods=2, least=least, cpu="1")

    assert lab.denied(lab.written(a_workload(first, second), lab.missing_queue())) == words


@covers("PREEMPT-042")
@pytest.mark.parametrize(
    ("spec", "answer"),
    [
        pytest.param({"priority": 5}, ACCEPTED, id="with-its-priority"),
        pytest.param({}, refused("spec: Invalid value"), id="without-priority"),
    ],
)
def test_a_priority_class_comes_with_its_priority(lab: Lab, spec: Mapping[str, int], answer: RejectedFields) -> None:
    """Kueue does not look up the value of a priority class."""
    made = lab.written(a_workload(a_pod_set("main", cpu="1")), lab.missing_queue())

    assert lab.offer(with_spec(made, **{"priorityClassRef": SOME_CLASS, "priority": None, **spec})) == answer


@pytest.mark.parametrize(
    ("pods", "words"),
    [
        pytest.param(
            a_pod_set("main", requests={"pods": "1"}),
            f"{POD}containers[0].resources.requests[pods]: {RESERVED}",
            id="request",
            marks=covers("POD-020"),
        ),
        pytest.param(
            a_pod_set("main", init_requests={"pods": "1"}),
            f"{POD}initContainers[0].resources.requests[pods]: {RESERVED}",
            id="initial-request",
            marks=covers("POD-020"),
        ),
        pytest.param(
            a_pod_set("main", spec={"containers": [{"name": "c", "image": "i", "resources": {"limits": {"pods": 1}}}]}),
            f"{POD}containers[0].resources.limits[pods]: {RESERVED}",
            id="limit",
            marks=covers("POD-021"),
        ),
        pytest.param(
            a_pod_set("main", spec={"resources": {"requests": {"pods": "1"}}}),
            f"{POD}resources.requests[pods]: {RESERVED}",
            id="request-of-the-whole",
            marks=covers("POD-021"),
        ),
        pytest.param(a_pod_set("main", requests={"cpu": "0"}), "", id="nothing", marks=covers("POD-022")),
        pytest.param(
            a_pod_set("main", requests={"cpu": "-500m"}),
            f'{POD}containers[0].resources.requests[cpu]: Invalid value: "-500m": {NEGATIVE}',
            id="less-than-nothing",
            marks=covers("POD-022"),
        ),
        pytest.param(
            a_pod_set("main", spec={"resources": {"limits": {"cpu": "-1"}}}),
            f'{POD}resources.limits[cpu]: Invalid value: "-1": {NEGATIVE}',
            id="limit-of-the-whole-below-nothing",
            marks=covers("POD-022"),
        ),
    ],
)
def test_amounts_are_of_what_pods_can_have(lab: Lab, pods: Pods, words: str) -> None:
    """Kueue counts pods, and a negative request releases no resources."""
    assert lab.denied(lab.written(a_workload(pods), lab.missing_queue())) == words


LABEL = {"labels": {"app": "not a label"}}
ANNOTATION = {"annotations": {"no key": "a"}}
VALID = {"labels": {"app": "a"}, "annotations": {"A": "no label"}}
NO_LABEL = f'{DENIED}[0].template.metadata.labels: Invalid value: "not a label": '
NO_ANNOTATION = f'{DENIED}[0].template.metadata.annotations: Invalid value: "no key": '
GATE_OFF = {"WorkloadValidationForPodSetMetadata": False}


@owns_kueue
@pytest.mark.parametrize(
    ("gates", "meta", "words"),
    [
        pytest.param({}, LABEL, NO_LABEL, id="label", marks=covers("POD-026")),
        pytest.param({}, ANNOTATION, NO_ANNOTATION, id="annotation", marks=covers("POD-026")),
        pytest.param({}, VALID, "", id="valid", marks=covers("POD-026")),
        pytest.param(GATE_OFF, LABEL, "", id="label-with-gate-off", marks=covers("POD-027")),
        pytest.param({}, LABEL, "", id="any-label", marks=covers("POD-028")),
        pytest.param({}, ANNOTATION, "", id="any-annotation", marks=covers("POD-028")),
    ],
)
def test_a_workload_has_labels_that_pods_can_have(
    lab: Lab, gates: Mapping[str, bool], meta: Mapping[str, Any], words: str
) -> None:
    """Its pods could not be made otherwise."""
    lab.start(gates=gates)
    made = lab.written(a_workload(a_pod_set("main", cpu="1")), lab.missing_queue())
    template = ("spec", "podSets", 0, "template", "metadata")
    message = lab.denied(replaced(made, template, meta))

    assert message.startswith(words)
    assert bool(message) is bool(words)


@pytest.mark.parametrize(
    ("quota", "spec", "answer"),
    [
        pytest.param(1, {"queueName": "elsewhere"}, refused("422"), id="moved", marks=covers("QUEUE-047")),
        pytest.param(0, {"queueName": "elsewhere"}, ACCEPTED, id="waiting-moved", marks=covers("QUEUE-047")),
        pytest.param(1, {"queueName": None}, refused("422"), id="taken-out", marks=covers("QUEUE-048")),
        pytest.param(0, {"queueName": None}, ACCEPTED, id="waiting-taken-out", marks=covers("QUEUE-048")),
        pytest.param(
            1, {"priorityClassRef": SOME_CLASS}, refused("422"), id="given-a-class", marks=covers("PREEMPT-043")
        ),
        pytest.param(
            0, {"priorityClassRef": SOME_CLASS}, ACCEPTED, id="waiting-given-a-class", marks=covers("PREEMPT-043")
        ),
    ],
)
def test_what_quota_was_reserved_by_stays(
    lab: Lab, quota: int, spec: Mapping[str, Any], answer: RejectedFields
) -> None:
    """A workload that holds quota keeps its queue, and has a priority class or has none, as when it was admitted."""
    job = lab.queue({"cpu": quota}).submit(a_workload(a_pod_set("main", cpu="1"), priority=0))

    assert lab.offer(with_spec(job.made, **spec)) == answer


@covers("STATUS-046")
@pytest.mark.parametrize("elastic", [pytest.param(True, id="gate-on"), pytest.param(False, id="gate-off")])
@pytest.mark.parametrize(
    ("pods", "answer"),
    [
        pytest.param(a_pod_set("main", pods=2, cpu="100m"), ACCEPTED, id="the-same"),
        pytest.param(a_pod_set("main", pods=2, cpu="0.1"), ACCEPTED, id="in-other-words"),
        pytest.param(a_pod_set("main", pods=3, cpu="100m"), refused("403"), id="more-pods"),
        pytest.param(a_pod_set("main", pods=2, cpu="50m"), refused("403"), id="asking-for-less"),
    ],
)
@pytest.mark.owns_kueue
def test_pod_sets_with_quota_stay(lab: Lab, elastic: bool, pods: Pods, answer: RejectedFields) -> None:
    """The pod sets of a workload with quota are immutable."""
    lab.start(gates={ELASTIC: elastic})
    queue = lab.queue({"cpu": 1})
    job = queue.submit(a_workload(a_pod_set("main", pods=2, cpu="100m")))
    wanted = lab.written(a_workload(pods), queue)["spec"]["podSets"]

    assert lab.offer(with_spec(job.made, podSets=wanted)) == answer


@covers("STATUS-046")
@pytest.mark.parametrize("names", [["main"], ["main", "workers", "others"]], ids=["one-less", "one-more"])
def test_pod_sets_with_quota_stay_as_many(lab: Lab, names: list[str]) -> None:
    """A workload with quota neither loses a pod set nor gets another one."""
    queue = lab.queue({"cpu": 4})
    job = queue.submit(a_workload(a_pod_set("main", cpu="1"), a_pod_set("workers", cpu="1")))
    wanted = lab.written(a_workload(*[a_pod_set(name, cpu="1") for name in names]), queue)["spec"]["podSets"]

    assert lab.offer(with_spec(job.made, podSets=wanted)) == refused("422")


@covers("STATUS-047")
@pytest.mark.owns_kueue
def test_pod_sets_with_quota_do_not_shrink(lab: Lab) -> None:
    """Fewer pods are for those whose controller gives their quota back."""
    lab.start(gates={ELASTIC: False})
    queue = lab.queue({"cpu": 1})
    job = queue.submit(a_workload(a_pod_set("main", pods=2, cpu="100m")))
    wanted = lab.written(a_workload(a_pod_set("main", pods=1, cpu="100m")), queue)["spec"]["podSets"]

    assert lab.offer(with_spec(job.made, podSets=wanted)) == refused("403")


@pytest.mark.parametrize(
    ("reclaimed", "message"),
    [
        pytest.param({"workers": 3}, "", id="more", marks=covers("PARTIAL-016")),
        pytest.param({"workers": 2}, "", id="as-many", marks=covers("PARTIAL-016")),
        pytest.param({"workers": 1}, "cannot be less", id="fewer", marks=covers("PARTIAL-016")),
        pytest.param({}, "Required value: cannot be removed", id="none", marks=covers("PARTIAL-016")),
        pytest.param({"workers": 4}, "should be less or equal to 3", id="too-many", marks=covers("PARTIAL-015")),
        pytest.param(
            {"workers": 2, "others": 1},
            'status.reclaimablePods[others].name: Unsupported value: "others": supported values: "workers"',
            id="unknown",
            marks=covers("PARTIAL-015"),
        ),
    ],
)
def test_reclaimable_pods_of_work_with_quota_only_get_more(
    lab: Lab, reclaimed: Mapping[str, int], message: str
) -> None:
    """The webhook of Workloads compares them with the pods, and with those of before."""
    queue = lab.queue({"whole-gpus": 6})
    job = queue.submit(a_workload(a_pod_set("workers", pods=3, claims=[a_template(gpu(2))])))
    lab.reclaim(job, workers=2)

    pods = [{"name": name, "count": count} for name, count in reclaimed.items()]
    denied = lab.denied({**bare(lab.workload(job)), "status": {"reclaimablePods": pods}})

    assert message in denied if message else not denied


@covers("PARTIAL-016")
def test_reclaimable_pods_do_not_get_fewer_once_all_pods_are(lab: Lab) -> None:
    """The webhook makes an exception for elastic work only."""
    queue = lab.queue({"whole-gpus": 6})
    job = queue.submit(a_workload(a_pod_set("workers", pods=3, claims=[a_template(gpu(2))])))
    lab.reclaim(job, workers=3)

    fewer = {"reclaimablePods": [{"name": "workers", "count": 2}]}

    assert "cannot be less" in lab.denied({**bare(lab.workload(job)), "status": fewer})


def reserved(queue: Queue, *assignments: Mapping[str, Any]) -> dict[str, Any]:
    """The status of a Workload with quota for pod sets; without any, what it takes is missing."""
    admission = {"clusterQueue": queue.cluster, "podSetAssignments": [*assignments]}
    return {"conditions": [a_condition("QuotaReserved")], **({"admission": admission} if assignments else {})}


@pytest.mark.parametrize(
    ("admission", "message"),
    [
        pytest.param(
            {"name": "workers", "count": 2, "resourceUsage": {"cpu": "2"}},
            "",
            id="fits",
            marks=covers("STATUS-061", "STATUS-062"),
        ),
        pytest.param(
            {"name": "workers", "resourceUsage": {"cpu": "3m"}}, "", id="without-a-number", marks=covers("STATUS-062")
        ),
        pytest.param(
            None,
            "status.admission: Required value: must be set while the QuotaReserved condition is true",
            id="missing",
            marks=covers("STATUS-059"),
        ),
        pytest.param(
            None,
            "panic: runtime error: invalid memory address or nil pointer dereference [recovered]",
            id="missing-up-to-0.18",
            marks=covers("STATUS-060"),
        ),
        pytest.param(
            {"name": "others", "count": 2},
            'status.admission.podSetAssignments[0].name: Not found: "others"',
            id="unknown",
            marks=covers("STATUS-061"),
        ),
        pytest.param(
            {"name": "workers", "count": 2, "resourceUsage": {"cpu": "3m"}},
            'status.admission.podSetAssignments[0].resourceUsage[cpu]: Invalid value: "3m": is not a multiple of ',
            id="indivisible",
            marks=covers("STATUS-062"),
        ),
    ],
)
def test_a_reservation_says_what_it_takes(lab: Lab, admission: Mapping[str, Any] | None, message: str) -> None:
    """A client that is not Kueue reserves quota for pods."""
    queue = lab.queue({"cpu": 0})
    job = queue.submit(a_workload(a_pod_set("workers", pods=2, cpu="1")))
    status = reserved(queue, *([admission] if admission else []))

    denied = lab.denied({**bare(lab.workload(job)), "status": status})

    assert message in denied if message else not denied


@covers("STATUS-046")
@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        pytest.param([a_condition("QuotaReserved")], "podSetAssignments must have the same number", id="quota"),
        pytest.param([], "", id="no-quota"),
    ],
)
def test_an_admission_with_quota_is_for_all_pod_sets(
    lab: Lab, conditions: Sequence[Mapping[str, Any]], message: str
) -> None:
    """Without a reservation there is nothing to compare."""
    written = lab.written(a_workload(a_pod_set("main", cpu="1"), a_pod_set("workers", cpu="1")), lab.missing_queue())
    lab.apply(written)
    admission = {"clusterQueue": "none", "podSetAssignments": [{"name": "main", "count": 1}]}

    denied = lab.denied({**written, "status": {"conditions": conditions, "admission": admission}})

    assert message in denied if message else not denied


@covers("PARTIAL-016")
def test_reclaimable_pods_of_work_without_quota_may_get_fewer(lab: Lab) -> None:
    """Only work with quota has released some of it, which others may have."""
    queue = lab.queue({"whole-gpus": 0})
    job = queue.submit(a_workload(a_pod_set("workers", pods=3, claims=[a_template(gpu(2))])))
    lab.reclaim(job, workers=2)

    lab.reclaim(job, workers=1)

    assert lab.workload(job)["status"]["reclaimablePods"] == [{"name": "workers", "count": 1}]


@covers("PARTIAL-016")
def test_reclaimable_pods_may_get_fewer_as_quota_is_reserved(lab: Lab) -> None:
    """The webhook compares them only if there was quota before, too."""
    queue = lab.queue({"cpu": 0})
    job = queue.submit(a_workload(a_pod_set("workers", pods=3, cpu="1")))
    lab.reclaim(job, workers=2)
    taken = {"name": "workers", "count": 3, "resourceUsage": {"cpu": "3"}}

    status = {**reserved(queue, taken), "reclaimablePods": [{"name": "workers", "count": 1}]}

    assert not lab.denied({**bare(lab.workload(job)), "status": status})
