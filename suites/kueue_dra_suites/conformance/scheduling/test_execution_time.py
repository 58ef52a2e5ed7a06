"""Maximum execution time: work with devices is deactivated when it was admitted for long enough (text silent)."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from kueue_dra_clusters.waiting import NotYet, eventually
from kueue_dra_fixtures.aging import aged
from kueue_dra_fixtures.builders import Pods, Work, a_job, a_template, a_workload, gpu
from kueue_dra_fixtures.lab import Job, Lab, Queue, bare
from kueue_dra_fixtures.manifests import marked
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import evicted
from kueue_dra_ref.api.conditions import condition
from kueue_dra_ref.api.execution_time import BEFORE, LIMIT, LIMIT_LABEL
from kueue_dra_ref.target import Ref

CARD = a_job(claims=[a_template(gpu())])
CARDS = a_job(pods=2, claims=[a_template(gpu())])
CPU = a_job(pods=2, cpu="1")
KINDS = [pytest.param(CARDS, id="devices"), pytest.param(CPU, id="ordinary")]
OVER = "DeactivatedDueToMaximumExecutionTimeExceeded"


def submit(queue: Queue, work: Work, label: str) -> Job:
    """Create work with a limit."""
    written = queue.lab.written(work, queue)
    return queue.lab.submit_manifest(marked(written, {LIMIT_LABEL: label}))


def relabel(lab: Lab, job: Job, label: str | None) -> None:
    """Change the limit of work, or remove it."""
    lab.apply(marked(bare(lab.read(job.ref)), {LIMIT_LABEL: label}))
    lab.settle()


def limit_of(lab: Lab, job: Job) -> int | None:
    """The limit of a Workload."""
    found: int | None = lab.workload(job)["spec"].get(LIMIT)
    return found


def moment_of(lab: Lab, job: Job) -> datetime:
    """When a job was admitted, or lost its admission."""
    found = condition(lab.workload(job), "Admitted") or {}
    return datetime.fromisoformat(found["lastTransitionTime"])


@covers("EXEC-001")
@pytest.mark.parametrize(
    ("label", "limit"),
    [
        pytest.param("1", 1, id="a-second"),
        pytest.param("0600", 600, id="leading-zero"),
        pytest.param("2147483647", 2147483647, id="32-bits"),
        pytest.param("2147483648", None, id="more-than-32-bits"),
    ],
)
def test_a_label_limits_the_workload(lab: Lab, label: str, limit: int | None) -> None:
    """A number that the Workload cannot hold is accepted, and limits nothing."""
    queue = lab.queue({"whole-gpus": 1})
    job = submit(queue, CARDS, label)

    assert limit_of(lab, job) == limit


@covers("EXEC-002", "STATUS-005")
@pytest.mark.parametrize("work", KINDS)
def test_work_is_deactivated_after_its_time(lab: Lab, work: Work) -> None:
    """Its quota goes to pending work."""
    queue = lab.queue({"whole-gpus": 2, "cpu": 2})
    job = submit(queue, work, "600")
    waiting = queue.submit(work)

    aged(lab, job, 600)

    assert lab.verdict(job) == evicted(OVER)
    assert lab.workload(job)["spec"]["active"] is False
    assert lab.message(job, "Evicted") == "The workload is deactivated due to exceeding the maximum execution time"
    assert lab.condition(waiting, "QuotaReserved") == ("True", "QuotaReserved")


@covers("EXEC-002")
@pytest.mark.parametrize(
    ("limit", "seconds"), [pytest.param("600", 500, id="before-its-time"), pytest.param(None, 900, id="no-limit")]
)
def test_work_runs_until_its_time_is_over(lab: Lab, limit: str | None, seconds: int) -> None:
    """Without a limit it goes on."""
    queue = lab.queue({"whole-gpus": 2})
    job = queue.submit(CARDS) if limit is None else submit(queue, CARDS, limit)

    aged(lab, job, seconds)

    assert lab.admission(job) is not None
    assert lab.condition(job, "DeactivationTarget") is None


@covers("EXEC-002")
def test_work_is_not_deactivated_a_second_before_its_time(lab: Lab) -> None:
    """Kueue looks again when its time is over."""
    queue = lab.queue({"whole-gpus": 2})
    job = submit(queue, CARDS, "600")
    began = moment_of(lab, job) - timedelta(seconds=590)
    aged(lab, job, 590)

    def deactivated() -> datetime:
        lab.settle()
        found = condition(lab.workload(job), "Evicted")
        if found is None:
            raise NotYet(f"{job} is not evicted")
        return datetime.fromisoformat(found["lastTransitionTime"])

    ended = eventually(deactivated, within=20, what=f"{job} to be deactivated")

    assert (ended - began).seconds >= 600


@covers("EXEC-002")
def test_a_workload_without_work_is_deactivated_after_its_time(lab: Lab) -> None:
    """Its own field is the limit."""
    queue = lab.queue({"whole-gpus": 1})
    written = lab.written(a_workload(Pods(claims=(a_template(gpu()),))), queue)
    job = lab.submit_manifest({**written, "spec": {**written["spec"], LIMIT: 600}})

    aged(lab, job, 600)

    assert lab.condition(job, "Evicted") == ("True", OVER)
    assert lab.workload(job)["spec"]["active"] is False


@covers("EXEC-002")
def test_evicted_work_is_deactivated_while_its_pods_stop(lab: Lab) -> None:
    """It is admitted until they have stopped, so that its time may be over before."""
    queue = lab.queue({"whole-gpus": 2})
    job = submit(queue, CARDS, "600")
    lab.run(job, pods=2)
    queue.change(stopPolicy="HoldAndDrain")
    assert lab.condition(job, "Evicted") == ("True", "ClusterQueueStopped")

    aged(lab, job, 600)

    assert lab.workload(job)["spec"]["active"] is False
    assert lab.condition(job, "Admitted") == ("True", "Admitted")


@covers("EXEC-003")
@pytest.mark.parametrize(
    ("seconds", "over"), [pytest.param(150, False, id="together-less"), pytest.param(250, True, id="together-more")]
)
def test_the_time_before_a_preemption_counts(lab: Lab, seconds: int, over: bool) -> None:
    """Both admissions together reach the limit."""
    queue = lab.queue({"whole-gpus": 2}, preemption={"withinClusterQueue": "LowerPriority"})
    job = submit(queue, CARDS, "600")
    aged(lab, job, 400)
    began = moment_of(lab, job)
    urgent = queue.submit(a_job(pods=2, priority=1, claims=[a_template(gpu())]))
    assert lab.condition(job, "Evicted") == ("True", "Preempted")
    ended = moment_of(lab, job)
    assert lab.workload(job)["status"][BEFORE] == (ended - began).seconds

    lab.delete(urgent)
    assert lab.admission(job) is not None
    aged(lab, job, seconds)

    assert (lab.condition(job, "Evicted") == ("True", OVER)) is over
    assert (lab.admission(job) is None) is over


@covers("EXEC-004")
@pytest.mark.parametrize(
    ("label", "detail"),
    [
        pytest.param("0", "should be greater than 0", id="zero"),
        pytest.param("10m", 'strconv.Atoi: parsing "10m": invalid syntax', id="with-a-unit"),
        pytest.param("1.5", 'strconv.Atoi: parsing "1.5": invalid syntax', id="fraction"),
        pytest.param("", 'strconv.Atoi: parsing "": invalid syntax', id="empty"),
        pytest.param("9223372036854775807", "", id="64-bits"),
        pytest.param(
            "9223372036854775808", 'strconv.Atoi: parsing "9223372036854775808": value out of range', id="65-bits"
        ),
    ],
)
@pytest.mark.parametrize("changed", [pytest.param(False, id="new"), pytest.param(True, id="changed")])
def test_the_label_is_a_number_above_zero(lab: Lab, label: str, detail: str, changed: bool) -> None:
    """The webhook names the label and says why."""
    queue = lab.queue({"whole-gpus": 1})
    written = lab.written(CARDS, queue)
    if changed:
        written = bare(lab.read(lab.submit_manifest(written).ref))

    message = lab.denied(marked(written, {LIMIT_LABEL: label})) if detail else ""

    assert message.endswith(detail)
    if detail:
        assert f"metadata.labels[{LIMIT_LABEL}]: Invalid value: " in message
    else:
        lab.apply(marked(written, {LIMIT_LABEL: label}))


@covers("EXEC-005")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("600", "700", id="another"),
        pytest.param(None, "600", id="first"),
        pytest.param("600", None, id="removed"),
    ],
)
def test_running_work_keeps_its_limit(lab: Lab, before: str | None, after: str | None) -> None:
    """The webhook denies each change."""
    queue = lab.queue({"whole-gpus": 2})
    job = queue.submit(CARDS) if before is None else submit(queue, CARDS, before)

    message = lab.denied(marked(bare(lab.read(job.ref)), {LIMIT_LABEL: after}))

    assert f"metadata.labels[{LIMIT_LABEL}]: Invalid value: " in message
    assert message.endswith("field is immutable")
    assert limit_of(lab, job) == (before and int(before))


@covers("EXEC-006", "EXEC-001")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("600", "700", id="another"),
        pytest.param(None, "600", id="first"),
        pytest.param("600", None, id="removed"),
    ],
)
def test_the_limit_of_pending_work_may_change(lab: Lab, before: str | None, after: str | None) -> None:
    """Its Workload has what the work has now."""
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(CARDS) if before is None else submit(queue, CARDS, before)
    assert lab.admission(job) is None

    relabel(lab, job, after)

    assert limit_of(lab, job) == (after and int(after))


@covers("EXEC-007")
def test_work_whose_time_is_over_is_not_activated_again(lab: Lab) -> None:
    """It would have no time left: that of its last admission counts."""
    queue = lab.queue({"whole-gpus": 2})
    job = submit(queue, CARDS, "600")
    aged(lab, job, 600)
    assert lab.verdict(job) == evicted(OVER)

    lab.change(Ref.of(lab.workload(job)), active=True)

    assert lab.workload(job)["spec"]["active"] is False
    assert lab.admission(job) is None
