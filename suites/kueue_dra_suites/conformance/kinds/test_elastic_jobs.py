"""Elastic Jobs: their number of pods changes while they run, and the quota of their devices (Kueue)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kueue_dra_fixtures.builders import Pods, a_job, a_pod_set, a_template, a_workload, gpu
from kueue_dra_fixtures.lab import Job, Lab, bare
from kueue_dra_fixtures.manifests import marked, with_spec
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, finished, pending
from kueue_dra_ref.verdict import Verdict
from kueue_dra_suites.conformance.kinds.elastic import (
    BY_PRIORITY,
    EACH,
    ELASTIC,
    GATE,
    ON,
    REPLACED,
    REPLACES,
    SLICE_NAME,
    WAITS,
    elastic_job,
    held,
    marks_of,
    of,
    written_job,
)

pytestmark = owns_kueue

WORKLOAD = "kueue.x-k8s.io/workload"
BOTH = ("first", "second")


@pytest.fixture(autouse=True)
def every_kind(lab: Lab) -> None:
    """Kueue runs with elastic work."""
    lab.start(switched={GATE: True})


@covers("ELASTIC-001", "ELASTIC-007", "ELASTIC-009")
@pytest.mark.parametrize(
    ("quota", "slices", "used"),
    [
        pytest.param(5, [REPLACED, of(5)], 5, id="fits-exactly"),
        pytest.param(4, [of(2), WAITS], 2, id="one-too-many"),
    ],
)
def test_a_job_that_grows_is_charged_for_all_its_pods(
    lab: Lab, quota: int, slices: Sequence[Verdict], used: int
) -> None:
    """A new Workload replaces the one before it if its new pods fit; otherwise that one keeps its devices."""
    queue = lab.queue({"whole-gpus": quota})
    job = elastic_job(queue, pods=2)

    lab.scale(job, 5)

    assert lab.slices(job) == slices
    assert held(queue) == used


@covers("ELASTIC-002")
def test_the_first_workload_is_marked(lab: Lab) -> None:
    """It has the annotation of the Job, and replaces none."""
    job = elastic_job(lab.queue({"whole-gpus": 2}), pods=2)

    (found,) = marks_of(lab, job)
    assert found[ELASTIC] == "true"
    assert REPLACES not in found


@covers("ELASTIC-001")
def test_a_larger_workload_names_the_one_that_it_replaces(lab: Lab) -> None:
    """Namespace and name are in an annotation; the owner is the Job."""
    queue = lab.queue({"whole-gpus": 3})
    job = elastic_job(queue, pods=2)
    first = lab.workload(job)["metadata"]["name"]

    lab.scale(job, 3)

    assert marks_of(lab, job)[1][REPLACES] == f"{queue.namespace}/{first}"


@covers("ELASTIC-003")
def test_every_workload_names_the_first_one(lab: Lab) -> None:
    """So Kueue finds the pods of a Job that has grown twice."""
    job = elastic_job(lab.queue({"whole-gpus": 4}), pods=2)
    first = lab.workload(job)["metadata"]["name"]

    lab.scale(job, 3)
    lab.scale(job, 4)

    assert lab.slices(job) == [REPLACED, REPLACED, of(4)]
    assert [each[SLICE_NAME] for each in marks_of(lab, job)] == [first] * 3


@covers("ELASTIC-007")
def test_a_replaced_workload_gives_the_reason(lab: Lab) -> None:
    """It is finished as replaced; in 0.18 the Job controller may have finished it before that."""
    job = elastic_job(lab.queue({"whole-gpus": 4}), pods=2)

    lab.scale(job, 4)

    replaced = finished("WorkloadSliceReplaced")
    known = [replaced, finished("OutOfSync")] if lab.behaviour.kueue == "0.18" else [replaced]
    assert lab.slices(job)[0] in known


@covers("ELASTIC-004")
@pytest.mark.parametrize(
    ("pods", "verdict"),
    [
        pytest.param(4, of(4), id="fewer-which-fit"),
        pytest.param(6, WAITS, id="more"),
    ],
)
def test_a_job_that_waits_is_resized(lab: Lab, pods: int, verdict: Verdict) -> None:
    """Its Workload gets the number of pods."""
    queue = lab.queue({"whole-gpus": 6})
    queue.submit(a_job(pods=2, claims=[EACH]))
    job = elastic_job(queue, pods=5)

    lab.scale(job, pods)

    assert lab.slices(job) == [verdict]


@covers("ELASTIC-004")
@pytest.mark.parametrize(
    ("pods", "slices", "used"),
    [
        pytest.param(6, [of(2), WAITS], 2, id="still-too-many"),
        pytest.param(4, [REPLACED, of(4)], 4, id="as-many-as-fit"),
        pytest.param(2, [REPLACED, of(2)], 2, id="as-before"),
        pytest.param(1, [REPLACED, of(1)], 1, id="fewer-than-before"),
    ],
)
def test_a_growth_that_waits_is_resized(lab: Lab, pods: int, slices: Sequence[Verdict], used: int) -> None:
    """The Workload that waits gets the number of pods, and replaces the other even if it is no larger."""
    queue = lab.queue({"whole-gpus": 4})
    job = elastic_job(queue, pods=2)
    lab.scale(job, 5)

    lab.scale(job, pods)

    assert lab.slices(job) == slices
    assert held(queue) == used


@covers("ELASTIC-005")
@pytest.mark.parametrize(
    ("pods", "verdict"),
    [
        pytest.param(3, WAITS, id="one-free"),
        pytest.param(2, of(2), id="two-free"),
    ],
)
def test_a_job_that_shrinks_gives_devices_back(lab: Lab, pods: int, verdict: Verdict) -> None:
    """It keeps its Workload, runs on, and others get the devices of its former pods."""
    queue = lab.queue({"whole-gpus": 4})
    job = elastic_job(queue, pods=4)
    other = queue.submit(a_job(claims=[a_template(gpu(2))]))
    assert lab.verdict(other) == WAITS

    lab.scale(job, pods)

    assert lab.verdict(other) == verdict
    assert len(lab.slices(job)) == 1
    assert not lab.is_suspended(job)


@covers("ELASTIC-009", "ELASTIC-005")
@pytest.mark.parametrize(
    ("pods", "slices"),
    [
        pytest.param(3, [REPLACED, of(3)], id="fits"),
        pytest.param(4, [of(4), WAITS], id="one-too-many"),
    ],
)
def test_a_job_that_shrank_grows_from_what_it_has(lab: Lab, pods: int, slices: Sequence[Verdict]) -> None:
    """The devices that it released are not its own any more, though its old admission lists them."""
    queue = lab.queue({"whole-gpus": 4})
    job = elastic_job(queue, pods=4)
    lab.scale(job, 2)
    queue.submit(a_job(claims=[EACH]))

    lab.scale(job, pods)

    assert lab.slices(job) == slices


@covers("ELASTIC-006")
@pytest.mark.parametrize(
    ("given", "gates"),
    [
        pytest.param(ON, [{"name": ELASTIC}], id="elastic"),
        pytest.param({ELASTIC: "false"}, [], id="not-elastic"),
    ],
)
def test_pods_of_an_elastic_job_are_gated(lab: Lab, given: dict[str, str], gates: list[Any]) -> None:
    """The webhook gives the template a scheduling gate, which stays there when the Job starts."""
    queue = lab.queue({"whole-gpus": 2})
    job = lab.submit_manifest(marked(written_job(queue, 2), annotations=given))

    assert lab.verdict(job) == of(2)
    assert (lab.read(job.ref)["spec"]["template"]["spec"].get("schedulingGates") or []) == gates


@covers("ELASTIC-008")
def test_a_job_runs_on_while_a_larger_one_waits(lab: Lab) -> None:
    """It is not suspended, and the larger one is admitted once there are devices."""
    queue = lab.queue({"whole-gpus": 4})
    other = queue.submit(a_job(pods=2, claims=[EACH]))
    job = elastic_job(queue, pods=2)

    lab.scale(job, 4)

    assert lab.slices(job) == [of(2), WAITS]
    assert not lab.is_suspended(job)

    lab.finish(other)

    assert lab.slices(job) == [REPLACED, of(4)]
    assert not lab.is_suspended(job)


@covers("ELASTIC-009")
@pytest.mark.parametrize(
    ("pods", "reason"),
    [
        pytest.param(7, Reason.NO_QUOTA, id="five-more-than-two"),
        pytest.param(8, Reason.NEVER_FITS, id="six-more-than-two"),
    ],
)
def test_the_reason_is_about_the_new_pods(lab: Lab, pods: int, reason: Reason) -> None:
    """A quota of five never suffices for six new pods; it lacks for now for five new ones."""
    job = elastic_job(lab.queue({"whole-gpus": 5}), pods=2)

    lab.scale(job, pods)

    assert lab.slices(job) == [of(2), pending(reason)]


@covers("ELASTIC-010")
@pytest.mark.parametrize(
    ("quota", "slices"),
    [
        pytest.param(4, [REPLACED, of(4)], id="the-same-suffices"),
        pytest.param(3, [of(2), WAITS], id="only-another-suffices"),
    ],
)
def test_a_job_that_grows_keeps_its_flavor(lab: Lab, quota: int, slices: Sequence[Verdict]) -> None:
    """Another flavor has devices for all pods, but is not used."""
    first, second = lab.flavor("first"), lab.flavor("second")
    queue = lab.queue(groups=[{first: {"whole-gpus": quota}, second: {"whole-gpus": 10}}])
    job = elastic_job(queue, pods=2)

    lab.scale(job, 4)

    assert lab.slices(job) == slices
    waits = f"could not assign {second} flavor since the original workload is assigned: {first}"
    assert (waits in lab.message(job)) == (slices[-1] == WAITS)


@covers("ELASTIC-009")
def test_a_growth_preempts_for_the_new_pods_only(lab: Lab) -> None:
    """One of two others goes for one new pod, and the Job keeps the devices that it has."""
    queue = lab.queue({"whole-gpus": 4}, preemption=BY_PRIORITY)
    others = [queue.submit(a_job(claims=[EACH])) for _ in range(2)]
    job = elastic_job(queue, pods=2, priority=5)

    lab.scale(job, 3)

    assert lab.slices(job) == [REPLACED, of(3)]
    assert [lab.verdict(each) for each in others] == [of(1), WAITS]


@covers("ELASTIC-009", "STATUS-024", "ELASTIC-033")
def test_a_preempted_job_waits_with_all_its_pods(lab: Lab) -> None:
    """It is suspended, and needs the devices of all its pods to run again."""
    queue = lab.queue({"whole-gpus": 4}, preemption=BY_PRIORITY)
    job = elastic_job(queue, pods=2)
    lab.scale(job, 3)

    high = queue.submit(a_job(pods=2, claims=[EACH], priority=5))

    assert lab.slices(job) == [REPLACED, WAITS]
    assert lab.is_suspended(job)

    lab.finish(high)

    assert lab.slices(job) == [REPLACED, of(3)]
    assert not lab.is_suspended(job)


@pytest.mark.parametrize(
    ("name", "starts"),
    [
        pytest.param(WORKLOAD, True, id="starts-with-its-workload", marks=covers("ELASTIC-036")),
        pytest.param(SLICE_NAME, True, id="starts-with-its-first-workload", marks=covers("ELASTIC-036")),
        pytest.param(WORKLOAD, False, id="workload", marks=covers("ELASTIC-037")),
        pytest.param(SLICE_NAME, False, id="first-workload", marks=covers("ELASTIC-038")),
    ],
)
def test_a_copied_job_has_the_names_of_other_workloads(lab: Lab, name: str, starts: bool) -> None:
    """It was copied while it ran, and its pods name a Workload of the Job that it was copied from."""
    made = marked(written_job(lab.queue({"whole-gpus": 2}), 2), annotations=ON)
    meta = {"annotations": {name: "other"}}
    template = {**made["spec"]["template"], "metadata": meta}
    job = lab.submit_manifest(with_spec(made, template=template))

    assert lab.slices(job)[:1] == [of(2) if starts else finished("FailedToStart")]
    assert lab.is_suspended(job) is not starts


@pytest.mark.parametrize(
    "starts",
    [
        pytest.param(True, id="starts", marks=covers("ELASTIC-041")),
        pytest.param(False, id="fails", marks=covers("ELASTIC-040")),
    ],
)
def test_a_copied_job_that_is_not_elastic_has_the_name_of_a_first_workload(lab: Lab, starts: bool) -> None:
    """The gate of elastic work is on in both cases."""
    made = written_job(lab.queue({"whole-gpus": 2}), 2)
    template = {**made["spec"]["template"], "metadata": {"annotations": {SLICE_NAME: "other"}}}
    job = lab.submit_manifest(with_spec(made, template=template))

    assert lab.slices(job)[:1] == [of(2) if starts else finished("FailedToStart")]
    assert lab.is_suspended(job) is not starts


@pytest.mark.parametrize(
    ("succeeded", "reclaimable"),
    [
        pytest.param(5, 2, id="most", marks=covers("PARTIAL-018")),
        pytest.param(3, 0, id="some", marks=covers("PARTIAL-018")),
        pytest.param(5, 2, id="as-many-as-are-left", marks=covers("PARTIAL-019")),
        pytest.param(3, 1, id="fewer-than-are-left", marks=covers("PARTIAL-019")),
        pytest.param(5, 3, id="most-are-kept", marks=covers("PARTIAL-020")),
        pytest.param(3, 1, id="some-are-kept", marks=covers("PARTIAL-020")),
    ],
)
def test_a_job_that_shrinks_may_need_more_of_its_pods(lab: Lab, succeeded: int, reclaimable: int) -> None:
    """It has six pods to complete, of which at first four and then three run at once."""
    job = shrunk(lab, succeeded=succeeded, pods=3)

    expected = [{"name": "main", "count": reclaimable}] if reclaimable else []
    assert lab.workload(job)["status"].get("reclaimablePods", []) == expected


@pytest.mark.parametrize(
    ("pods", "reclaimable"),
    [
        pytest.param(2, 1, id="smaller", marks=covers("PARTIAL-018")),
        pytest.param(2, 1, id="smaller-in-0.18", marks=covers("PARTIAL-019")),
        pytest.param(4, 3, id="not-smaller", marks=covers("PARTIAL-021")),
    ],
)
def test_a_job_shrinks_below_its_reclaimable_pods(lab: Lab, pods: int, reclaimable: int) -> None:
    """Of its four pods three have no more to do, and then it is to have two of which one has."""
    job = shrunk(lab, succeeded=5, pods=2)

    workload = lab.workload(job)
    assert [each["count"] for each in workload["spec"]["podSets"]] == [pods]
    assert workload["status"]["reclaimablePods"] == [{"name": "main", "count": reclaimable}]


@pytest.mark.parametrize(
    "detail",
    [
        pytest.param("cannot be less than 2", id="smaller", marks=covers("PARTIAL-018")),
        pytest.param("cannot be less then 2", id="smaller-in-0.18", marks=covers("PARTIAL-019")),
    ],
)
def test_only_pod_sets_that_shrank_have_fewer_reclaimable_pods(lab: Lab, detail: str) -> None:
    """Of two pod sets with two reclaimable pods each, the first is to have one pod."""
    queue = lab.queue({"whole-gpus": 6})
    pod_sets = [a_pod_set(name, pods=3, claims=(EACH,)) for name in BOTH]
    job = lab.submit_manifest(marked(lab.written(a_workload(*pod_sets), queue), annotations=ON))
    lab.write_status(job, reclaimablePods=each_reclaimed(2))
    first, second = lab.workload(job)["spec"]["podSets"]
    lab.change(job.ref, podSets=[{**first, "count": 1}, second])

    denied = lab.denied({**bare(lab.workload(job)), "status": {"reclaimablePods": each_reclaimed(1)}})

    assert denied.endswith(f"status.reclaimablePods[second].count: Invalid value: 1: {detail}")


@covers("COUNT-012")
@pytest.mark.parametrize(
    "pods",
    [
        pytest.param(1, id="smaller", marks=covers("PARTIAL-018")),
        pytest.param(1, id="smaller-in-0.18", marks=covers("PARTIAL-019")),
    ],
)
def test_a_workload_has_fewer_pods_than_reclaimable_ones(lab: Lab, pods: int) -> None:
    """It charges none of its pods, and not less than none."""
    queue = lab.queue({"whole-gpus": 4})
    made = lab.written(a_workload(Pods(count=3, claims=(EACH,))), queue)
    job = lab.submit_manifest(marked(made, annotations=ON))
    lab.write_status(job, reclaimablePods=[{"name": "main", "count": 2}])
    assert held(queue) == 1

    (pod_set,) = lab.workload(job)["spec"]["podSets"]
    lab.change(job.ref, podSets=[{**pod_set, "count": pods}])

    assert held(queue) == 0


def shrunk(lab: Lab, *, succeeded: int, pods: int) -> Job:
    """A Job with six pods to complete, of which four run at once until some have succeeded, and then fewer."""
    queue = lab.queue({"whole-gpus": 4})
    job = elastic_job(queue, pods=4, completions=6)
    lab.report(job, succeeded=succeeded)
    lab.scale(job, pods)
    return job


def each_reclaimed(count: int) -> list[dict[str, Any]]:
    """So many reclaimable pods of each pod set."""
    return [{"name": name, "count": count} for name in BOTH]
