"""Fewer pods than asked for, and pods that end before the others (Kueue 0.19)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kueue_dra_fixtures.builders import Work, a_job, a_pod_set, a_template, a_workload, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.manifests import STARTED, marked, with_spec
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, pending
from kueue_dra_ref.api.jobs import SYNC_ANNOTATION as SYNC
from kueue_dra_ref.target import Ref
from kueue_dra_ref.verdict import Verdict

UNEQUAL = f"spec.completions: Invalid value: 3: should be equal to parallelism when {SYNC} annotation is true"


@covers("PARTIAL-001", "PARTIAL-002")
@pytest.mark.parametrize(
    ("least", "quota", "verdict"),
    [
        pytest.param(2, 5, admitted({"whole-gpus": 5}), id="all-of-them"),
        pytest.param(2, 3, admitted({"whole-gpus": 3}), id="some-of-them"),
        pytest.param(2, 2, admitted({"whole-gpus": 2}), id="the-fewest"),
        pytest.param(3, 2, pending(Reason.NEVER_FITS), id="not-so-few"),
        pytest.param(None, 4, pending(Reason.NEVER_FITS), id="all-or-nothing"),
    ],
)
def test_a_job_is_admitted_with_as_many_pods_as_fit(lab: Lab, least: int | None, quota: int, verdict: Verdict) -> None:
    """A Job that is content with fewer pods is charged for those that it gets."""
    queue = lab.queue({"whole-gpus": quota})
    job = queue.submit(a_job(pods=5, least=least, claims=[a_template(gpu())]))

    assert lab.verdict(job) == verdict


@owns_kueue
@pytest.mark.parametrize(
    "work",
    [
        pytest.param(a_job(pods=2, least=1, cpu="1"), id="of-a-job", marks=covers("PARTIAL-011")),
        pytest.param(
            a_workload(a_pod_set("main", pods=2, least=0, cpu="1")), id="by-itself", marks=covers("PARTIAL-012")
        ),
    ],
)
def test_without_the_gate_nothing_is_said_of_fewer_pods(lab: Lab, work: Work) -> None:
    """A Workload has no fewest pods, whatever its Job says, and even if it says itself that none will do."""
    lab.start(gates={"PartialAdmission": False})
    queue = lab.queue({"cpu": 1})
    job = queue.submit(work)

    assert "minCount" not in lab.workload(job)["spec"]["podSets"][0]
    assert lab.verdict(job) == pending(Reason.NEVER_FITS)


@covers("COUNT-019")
def test_fewer_pods_are_charged_fewer_devices(lab: Lab) -> None:
    """Of four pods with two devices each, the three that fit are charged six."""
    queue = lab.queue({"whole-gpus": 7})
    job = queue.submit(a_job(pods=4, least=1, claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == admitted({"whole-gpus": 6})


@covers("PARTIAL-001")
def test_only_the_pod_set_that_says_so_shrinks(lab: Lab) -> None:
    """Pods that are all needed are all admitted, or none is."""
    queue = lab.queue({"whole-gpus": 6})
    workers = a_pod_set("workers", pods=6, least=2, claims=[a_template(gpu())])
    readers = a_pod_set("readers", pods=3, claims=[a_template(gpu())])
    job = queue.submit(a_workload(workers, readers))

    assert lab.counts(job) == {"workers": 3, "readers": 3}


@covers("PARTIAL-003")
def test_a_job_runs_as_many_pods_as_were_admitted(lab: Lab) -> None:
    """Its parallelism follows the admission, and is whole again once the quota is lost."""
    queue = lab.queue({"whole-gpus": 3}, preemption={"withinClusterQueue": "LowerPriority"})
    job = queue.submit(a_job(pods=5, least=2, claims=[a_template(gpu())]))
    assert lab.read(job.ref)["spec"]["parallelism"] == 3

    queue.submit(a_job(priority=10, claims=[a_template(gpu(3))]))

    assert lab.read(job.ref)["spec"]["parallelism"] == 5


@covers("PARTIAL-022")
@pytest.mark.parametrize(
    ("written", "completions"),
    [
        pytest.param("true", 3, id="as-asked"),
        pytest.param("1", 3, id="also-true"),
        pytest.param("false", 5, id="not-asked"),
    ],
)
def test_completions_follow_the_pods_if_a_job_asks_for_it(lab: Lab, written: str, completions: int) -> None:
    """By an annotation, for a Job that completes once for each pod; whole again once the quota is lost."""
    queue = lab.queue({"whole-gpus": 3}, preemption={"withinClusterQueue": "LowerPriority"})
    made = lab.written(a_job(pods=5, least=2, claims=[a_template(gpu())]), queue)
    made = marked(made, annotations={SYNC: written})
    job = lab.submit_manifest(with_spec(made, completions=5, completionMode="Indexed"))
    assert lab.read(job.ref)["spec"]["parallelism"] == 3
    assert lab.read(job.ref)["spec"]["completions"] == completions

    queue.submit(a_job(priority=10, claims=[a_template(gpu(3))]))

    assert lab.read(job.ref)["spec"]["completions"] == 5


@pytest.mark.parametrize(
    ("written", "spec", "words"),
    [
        pytest.param("true", {}, "", id="equal", marks=covers("PARTIAL-023")),
        pytest.param("0", {"completions": 3}, "", id="off", marks=covers("PARTIAL-023")),
        pytest.param(
            "yes",
            {},
            f'metadata.annotations[{SYNC}]: Invalid value: "yes": strconv.ParseBool: parsing "yes": invalid syntax',
            id="no-boolean",
            marks=covers("PARTIAL-023"),
        ),
        pytest.param(
            "t",
            {"completionMode": "NonIndexed"},
            f'metadata.annotations[{SYNC}]: Invalid value: "t": should not be enabled for NonIndexed jobs',
            id="without-an-index",
            marks=covers("PARTIAL-023"),
        ),
        pytest.param("true", {"completions": 3}, UNEQUAL, id="unequal", marks=covers("PARTIAL-025")),
        pytest.param(
            "true",
            {"completions": 3},
            UNEQUAL.replace("annotation is", "is annotation is"),
            id="unequal-up-to-0.18",
            marks=covers("PARTIAL-026"),
        ),
    ],
)
def test_completions_that_follow_the_pods_are_as_many(
    lab: Lab, written: str, spec: Mapping[str, Any], words: str
) -> None:
    """The annotation is for Jobs that complete once for each pod."""
    made = lab.written(a_job(pods=2, cpu="1"), lab.queue({"cpu": 1}))
    made = marked(made, annotations={SYNC: written})

    denied = lab.denied(with_spec(made, **{"completions": 2, "completionMode": "Indexed", **spec}))

    assert denied.endswith(words)
    assert bool(denied) is bool(words)


@covers("PARTIAL-024")
@pytest.mark.parametrize(("quota", "runs"), [pytest.param(2, True, id="runs"), pytest.param(1, False, id="waits")])
@pytest.mark.parametrize(
    ("before", "after"), [pytest.param("true", "false", id="off"), pytest.param("false", "true", id="on")]
)
def test_completions_of_a_job_that_runs_go_on_to_follow_its_pods(
    lab: Lab, before: str, after: str, quota: int, runs: bool
) -> None:
    """Or they still do not."""
    made = lab.written(a_job(pods=2, cpu="1"), lab.queue({"cpu": quota}))
    made = with_spec(made, completions=2, completionMode="Indexed")
    job = lab.submit_manifest(marked(made, annotations={SYNC: before}))

    denied = lab.denied(marked(lab.read(job.ref), annotations={SYNC: after}))

    message = f"metadata.annotations[{SYNC}]: Forbidden: field is immutable while the job is not suspended"
    assert denied.endswith(message if runs else "")
    assert bool(denied) is runs


@covers("PARTIAL-004")
def test_pods_that_will_not_run_again_give_their_devices_back(lab: Lab) -> None:
    """Once fewer pods are left to complete than may run at once, the devices of the others are free."""
    queue = lab.queue({"whole-gpus": 3})
    job = queue.submit(a_job(pods=3, claims=[a_template(gpu())]))
    waiting = queue.submit(a_job(claims=[a_template(gpu(2))]))
    assert lab.verdict(waiting) == pending(Reason.NO_QUOTA)

    lab.run(job, pods=1, succeeded=2)

    assert lab.verdict(waiting) == admitted({"whole-gpus": 2})


@covers("PARTIAL-004")
def test_a_job_that_waits_is_admitted_for_the_pods_that_are_left(lab: Lab) -> None:
    """One of three pods had succeeded before: the Job starts with quota for two, and keeps it."""
    queue = lab.queue({"whole-gpus": 2})
    job = queue.submit(a_job(pods=3, claims=[a_template(gpu())]))
    assert lab.verdict(job) == pending(Reason.NEVER_FITS)

    lab.apply({**job.made, "status": {"active": 0, "succeeded": 1}})

    assert lab.verdict(job) == admitted({"whole-gpus": 2})
    assert not lab.is_suspended(job)


def _counted(succeeded: int) -> dict[str, Any]:
    return {"active": 0, "startTime": STARTED, "succeeded": succeeded}


def _indexed(*indexes: str) -> dict[str, Any]:
    completed, succeeded = indexes
    return {**_counted(int(succeeded)), "completedIndexes": completed}


@pytest.mark.parametrize(
    ("parallelism", "completions", "status", "reclaimable"),
    [
        pytest.param(3, 5, _counted(1), 0, id="more-left", marks=covers("PARTIAL-004")),
        pytest.param(3, 5, _counted(2), 0, id="as-many-left", marks=covers("PARTIAL-004")),
        pytest.param(3, 5, _counted(3), 1, id="fewer-left", marks=covers("PARTIAL-004")),
        pytest.param(2, 2, _counted(1), 1, id="two-at-once", marks=covers("PARTIAL-004")),
        pytest.param(2, 2, _counted(2), 2, id="none-left", marks=covers("PARTIAL-004")),
        pytest.param(2, 2, _counted(3), 2, id="more-than-all", marks=covers("PARTIAL-013")),
        pytest.param(2, 2, _counted(3), 0, id="more-than-all-are-denied", marks=covers("PARTIAL-014")),
        pytest.param(1, 1, _counted(1), 0, id="one-at-once", marks=covers("PARTIAL-004")),
        pytest.param(3, 2, _counted(1), 2, id="more-at-once-than-needed", marks=covers("PARTIAL-004")),
        pytest.param(3, 2, _counted(0), 0, id="none-succeeded", marks=covers("PARTIAL-004")),
        pytest.param(3, 5, _indexed("0", "1"), 0, id="more-indexes-left", marks=covers("PARTIAL-005")),
        pytest.param(3, 5, _indexed("0,3", "2"), 0, id="as-many-indexes-left", marks=covers("PARTIAL-005")),
        pytest.param(3, 5, _indexed("0,2-4", "4"), 2, id="fewer-indexes-left", marks=covers("PARTIAL-005")),
        pytest.param(3, 3, _indexed("2", "1"), 1, id="the-last-index", marks=covers("PARTIAL-005")),
        pytest.param(2, 2, _indexed("0", "1"), 1, id="two-indexes-at-once", marks=covers("PARTIAL-005")),
        pytest.param(1, 1, _indexed("0", "1"), 0, id="one-index-at-once", marks=covers("PARTIAL-005")),
        pytest.param(3, 2, _indexed("0", "1"), 2, id="more-at-once-than-indexes", marks=covers("PARTIAL-005")),
        pytest.param(3, 2, _indexed("", "0"), 0, id="no-index", marks=covers("PARTIAL-005")),
    ],
)
def test_pods_beyond_what_is_left_are_reclaimable(
    lab: Lab, parallelism: int, completions: int, status: dict[str, Any], reclaimable: int
) -> None:
    """A Job needs no more pods at once than it has left to complete."""
    queue = lab.queue({"cpu": 3})
    made = lab.written(a_job(pods=parallelism, cpu="1"), queue)
    mode = "Indexed" if "completedIndexes" in status else "NonIndexed"
    job = lab.submit_manifest(with_spec(made, completions=completions, completionMode=mode))
    lab.report(job, **status)

    expected = [{"name": "main", "count": reclaimable}] if reclaimable else None
    assert lab.workload(job)["status"].get("reclaimablePods") == expected


@covers("PARTIAL-005")
def test_indexes_that_a_job_has_no_longer_are_not_counted(lab: Lab) -> None:
    """Before it starts, a Job of four indexes of which the first and the last have ended becomes one of three."""
    queue = lab.queue({"cpu": 0})
    made = with_spec(lab.written(a_job(pods=4, cpu="1"), queue), completions=4, completionMode="Indexed")
    job = lab.submit_manifest(made)
    lab.report(job, succeeded=2, completedIndexes="0,3")

    lab.apply(with_spec(made, parallelism=3, completions=3, completionMode="Indexed"))

    assert lab.workload(job)["status"].get("reclaimablePods") == [{"name": "main", "count": 1}]


@covers("PARTIAL-005")
def test_indexes_that_failed_for_good_give_their_quota_back(lab: Lab) -> None:
    """One index of three has completed and one has failed: one pod is left to run."""
    queue = lab.queue({"cpu": 3})
    made = with_spec(lab.written(a_job(pods=3, cpu="1"), queue), completionMode="Indexed", backoffLimitPerIndex=0)
    lab.apply(made)
    waiting = queue.submit(a_job(cpu="2"))
    assert lab.verdict(waiting) == pending(Reason.NO_QUOTA)

    ended = {"succeeded": 1, "failed": 1, "completedIndexes": "0", "failedIndexes": "1"}
    lab.apply({**lab.read(Ref.of(made)), "status": {"active": 1, "startTime": STARTED, **ended}})

    assert lab.verdict(waiting) == admitted({"cpu": 2})
