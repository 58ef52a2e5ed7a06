"""Stop policies that are lifted: what was held or drained is admitted (Kueue 0.19)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import Work, a_job, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import admitted, evicted
from kueue_dra_ref.verdict import Verdict

ORDINARY = a_job(cpu="1")
DEVICES = a_job(claims=[a_template(gpu())])


@covers("QUEUE-012")
@pytest.mark.parametrize(
    ("work", "verdict"),
    [
        pytest.param(ORDINARY, admitted({"cpu": 1}), id="ordinary"),
        pytest.param(DEVICES, admitted({"whole-gpus": 1}), id="devices"),
    ],
)
def test_what_was_held_by_a_cluster_queue_is_admitted_when_it_runs_again(
    lab: Lab, work: Work, verdict: Verdict
) -> None:
    """No Job has to be submitted again."""
    queue = lab.queue({"cpu": 1, "whole-gpus": 1}, stopPolicy="Hold")
    job = queue.submit(work)

    queue.change(stopPolicy="None")

    assert lab.verdict(job) == verdict


@covers("QUEUE-012")
@pytest.mark.parametrize(
    ("work", "verdict"),
    [
        pytest.param(ORDINARY, admitted({"cpu": 1}), id="ordinary"),
        pytest.param(DEVICES, admitted({"whole-gpus": 1}), id="devices"),
    ],
)
def test_what_was_held_by_a_local_queue_is_admitted_when_it_runs_again(lab: Lab, work: Work, verdict: Verdict) -> None:
    """No Job has to be submitted again."""
    queue = lab.queue({"cpu": 1, "whole-gpus": 1}, local={"stopPolicy": "Hold"})
    job = queue.submit(work)

    queue.change_local(stopPolicy="None")

    assert lab.verdict(job) == verdict


@covers("QUEUE-012", "QUEUE-009")
@pytest.mark.parametrize(
    ("work", "requeued"),
    [
        pytest.param(ORDINARY, ("True", "ClusterQueueRestarted"), id="ordinary"),
        pytest.param(DEVICES, None, id="devices"),
    ],
)
def test_what_a_cluster_queue_drained_is_admitted_when_it_runs_again(
    lab: Lab, work: Work, requeued: tuple[str, str] | None
) -> None:
    """Its eviction is over, and Requeued says why it came back; of device work Kueue 0.19 forgets Requeued."""
    queue = lab.queue({"cpu": 1, "whole-gpus": 1})
    job = queue.submit(work)
    queue.change(stopPolicy="HoldAndDrain")
    assert lab.verdict(job) == evicted("ClusterQueueStopped")

    queue.change(stopPolicy="None")

    assert lab.condition(job, "Admitted") == ("True", "Admitted")
    assert lab.condition(job, "Evicted") == ("False", "QuotaReserved")
    assert lab.condition(job, "Requeued") == requeued


@covers("QUEUE-012", "QUEUE-011")
@pytest.mark.parametrize(
    ("work", "requeued"),
    [
        pytest.param(ORDINARY, ("True", "LocalQueueRestarted"), id="ordinary"),
        pytest.param(DEVICES, None, id="devices"),
    ],
)
def test_what_a_local_queue_drained_is_admitted_when_it_runs_again(
    lab: Lab, work: Work, requeued: tuple[str, str] | None
) -> None:
    """Its eviction is over, and Requeued says why it came back; of device work Kueue 0.19 forgets Requeued."""
    queue = lab.queue({"cpu": 1, "whole-gpus": 1})
    job = queue.submit(work)
    queue.change_local(stopPolicy="HoldAndDrain")
    assert lab.verdict(job) == evicted("LocalQueueStopped")

    queue.change_local(stopPolicy="None")

    assert lab.condition(job, "Admitted") == ("True", "Admitted")
    assert lab.condition(job, "Evicted") == ("False", "QuotaReserved")
    assert lab.condition(job, "Requeued") == requeued
