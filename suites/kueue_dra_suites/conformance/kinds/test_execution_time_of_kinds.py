"""Maximum execution time of each kind of work, and of pods (Kueue, integrations)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures import frameworks
from kueue_dra_fixtures.aging import aged
from kueue_dra_fixtures.builders import Work, a_pod_set, a_template, gpu, work_of
from kueue_dra_fixtures.lab import Lab, bare
from kueue_dra_fixtures.manifests import marked
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_ref.api.execution_time import LIMIT, LIMIT_LABEL
from kueue_dra_suites.conformance.kinds.rows import JOB_SET, LATE, MPI_JOB, OF_KUBEFLOW, OF_RAY, TRAIN_JOB

pytestmark = owns_kueue

KINDS = ["JobSet", "PyTorchJob", "RayCluster", "Pod"]
OVER = "DeactivatedDueToMaximumExecutionTimeExceeded"


def integrations(lab: Lab, kind: str) -> dict[str, Any]:
    """The integrations that a kind needs."""
    return frameworks.WITH_PODS if kind == "Pod" else frameworks.all_of(lab.behaviour.kueue)


def a_card(kind: str) -> Work:
    """Work of a kind that requests a device."""
    return work_of(kind, a_pod_set("workers", claims=[a_template(gpu())]))


@covers("EXEC-001", "EXEC-002")
@pytest.mark.parametrize("kind", KINDS)
def test_work_of_a_kind_is_deactivated_after_its_time(lab: Lab, kind: str) -> None:
    """Its devices are released."""
    lab.start(integrations=integrations(lab, kind))
    queue = lab.queue({"whole-gpus": 1})
    job = lab.submit_manifest(marked(lab.written(a_card(kind), queue), {LIMIT_LABEL: "600"}))
    assert lab.workload(job)["spec"][LIMIT] == 600

    aged(lab, job, 600)

    if kind != "Pod":  # a stopped pod is deleted
        assert lab.condition(job, "Evicted") == ("True", OVER)
    assert queue.figures.counts.reserving == 0


@covers("EXEC-004")
@pytest.mark.parametrize("kind", [*LATE, "Pod"])
def test_the_label_of_a_kind_is_above_zero(lab: Lab, kind: str) -> None:
    """The webhook of each kind denies another one."""
    lab.start(integrations=integrations(lab, kind))
    queue = lab.queue({"whole-gpus": 1})

    message = lab.denied(marked(lab.written(a_card(kind), queue), {LIMIT_LABEL: "0"}))

    assert f"metadata.labels[{LIMIT_LABEL}]: Invalid value: 0: should be greater than 0" in message


@covers("EXEC-004")
@pytest.mark.parametrize("kind", [JOB_SET, MPI_JOB, TRAIN_JOB, *OF_RAY])
def test_the_label_of_a_kind_is_not_changed_to_zero(lab: Lab, kind: str) -> None:
    """Its webhook reads the label of pending work again."""
    lab.start(integrations=integrations(lab, kind))
    job = lab.queue({"whole-gpus": 0}).submit(a_card(kind))

    message = lab.denied(marked(bare(lab.read(job.ref)), {LIMIT_LABEL: "0"}))

    assert f"metadata.labels[{LIMIT_LABEL}]: Invalid value: 0: should be greater than 0" in message


@covers("EXEC-001")
@pytest.mark.parametrize("label", [pytest.param("0", id="zero"), pytest.param("10m", id="with-a-unit")])
@pytest.mark.parametrize("kind", OF_KUBEFLOW)
def test_a_label_that_is_no_number_above_zero_limits_nothing(lab: Lab, kind: str, label: str) -> None:
    """No webhook reads the changed label of pending work of these kinds; the limit goes."""
    lab.start(integrations=integrations(lab, kind))
    queue = lab.queue({"whole-gpus": 0})
    job = lab.submit_manifest(marked(lab.written(a_card(kind), queue), {LIMIT_LABEL: "600"}))
    assert lab.workload(job)["spec"][LIMIT] == 600

    lab.apply(marked(bare(lab.read(job.ref)), {LIMIT_LABEL: label}))
    lab.settle()

    assert LIMIT not in lab.workload(job)["spec"]


@covers("EXEC-005")
@pytest.mark.parametrize("kind", KINDS)
def test_running_work_of_a_kind_keeps_its_limit(lab: Lab, kind: str) -> None:
    """The webhook denies another one."""
    lab.start(integrations=integrations(lab, kind))
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_card(kind))

    message = lab.denied(marked(bare(lab.read(job.ref)), {LIMIT_LABEL: "600"}))

    assert f"metadata.labels[{LIMIT_LABEL}]: Invalid value: " in message
    assert "field is immutable" in message
