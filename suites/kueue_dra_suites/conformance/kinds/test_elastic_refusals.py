"""Elastic work: what Kueue's webhooks deny, and what becomes of the annotation without the gate (Kueue)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kueue_dra_fixtures import frameworks
from kueue_dra_fixtures.builders import a_job, a_pod_set, work_of
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.lab.ground import bare
from kueue_dra_fixtures.manifests import LEAST_ANNOTATION, marked
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_ref.api.topologies import PREFERRED, REQUIRED, UNCONSTRAINED
from kueue_dra_suites.conformance.kinds.elastic import EACH, ELASTIC, GATE, ON, WAITS, elastic_job, of, written_job
from kueue_dra_suites.conformance.kinds.rows import (
    JAX_JOB,
    JOB_SET,
    MPI_JOB,
    OF_RAY,
    PADDLE_JOB,
    PYTORCH_JOB,
    TF_JOB,
    TRAIN_JOB,
    XGBOOST_JOB,
)

pytestmark = owns_kueue
OFF = {ELASTIC: "false"}


@pytest.fixture(autouse=True)
def every_kind(lab: Lab) -> None:
    """Kueue runs with elastic work of every kind."""
    lab.start(switched={GATE: True}, integrations=frameworks.all_of(lab.behaviour.kueue))


@covers("ELASTIC-015")
@pytest.mark.parametrize(
    ("before", "after", "value"),
    [
        pytest.param(ON, OFF, "false", id="no-longer"),
        pytest.param(OFF, ON, "true", id="from-now-on"),
    ],
)
def test_a_job_stays_elastic_or_not(lab: Lab, before: Mapping[str, str], after: Mapping[str, str], value: str) -> None:
    """The annotation cannot be changed, even while the Job waits."""
    queue = lab.queue({"whole-gpus": 1})
    job = lab.submit_manifest(marked(written_job(queue, 2), annotations=before))

    message = lab.denied(marked(bare(lab.read(job.ref)), annotations=after))

    assert f"[{ELASTIC}]: Invalid value: {value}: field is immutable" in message


@covers("ELASTIC-016")
@pytest.mark.parametrize("kind", [JOB_SET, PYTORCH_JOB, TF_JOB, XGBOOST_JOB, PADDLE_JOB, MPI_JOB, JAX_JOB, TRAIN_JOB])
def test_other_kinds_are_not_elastic(lab: Lab, kind: str) -> None:
    """Kueue cannot hold their pods one by one."""
    queue = lab.queue({"whole-gpus": 4})
    written = lab.written(work_of(kind, a_pod_set("workers", claims=[EACH])), queue)

    message = lab.denied(marked(written, annotations=ON))

    assert f"metadata.annotations[{ELASTIC}]: Forbidden: elastic job is not supported for " in message


@covers("ELASTIC-002")
@pytest.mark.parametrize("kind", OF_RAY)
def test_ray_work_may_be_elastic(lab: Lab, kind: str) -> None:
    """It is charged like other Ray work."""
    queue = lab.queue({"whole-gpus": 4, "cpu": "4", "memory": "8Gi"})
    written = lab.written(work_of(kind, a_pod_set("workers", pods=2, claims=[EACH])), queue)
    job = lab.submit_manifest(marked(written, annotations=ON))

    assert lab.workload(job)["metadata"]["annotations"][ELASTIC] == "true"


@covers("ELASTIC-035")
@pytest.mark.parametrize(
    ("given", "topology", "word"),
    [
        pytest.param(ON, {REQUIRED: "rack"}, "required", id="required"),
        pytest.param(ON, {PREFERRED: "rack"}, "preferred", id="preferred"),
        pytest.param(ON, {UNCONSTRAINED: "true"}, "", id="unconstrained"),
        pytest.param(OFF, {REQUIRED: "rack"}, "", id="not-elastic"),
    ],
)
def test_an_elastic_job_is_in_no_domain(
    lab: Lab, given: Mapping[str, str], topology: Mapping[str, str], word: str
) -> None:
    """Those of its pods that come later might have no room in it."""
    made = lab.written(a_job(cpu="1", annotations=topology), lab.queue({"cpu": 0}))

    message = lab.denied(marked(made, annotations=given))

    assert message.endswith(f"Forbidden: {word} topology is not supported with elastic jobs" if word else "")
    assert bool(message) is bool(word)


@covers("ELASTIC-017")
@pytest.mark.parametrize(
    ("given", "denied"),
    [
        pytest.param(ON, True, id="elastic"),
        pytest.param(OFF, False, id="not-elastic"),
    ],
)
def test_an_elastic_job_is_not_admitted_in_part(lab: Lab, given: Mapping[str, str], denied: bool) -> None:
    """Both change the number of pods."""
    queue = lab.queue({"whole-gpus": 4})
    written = marked(written_job(queue, 3), annotations={**given, LEAST_ANNOTATION: "1"})

    message = lab.denied(written)

    assert ("partial admission and elastic job cannot be used together" in message) is denied


@covers("STATUS-041")
@pytest.mark.parametrize(
    ("pods", "suspended"),
    [
        pytest.param(4, False, id="fits"),
        pytest.param(5, True, id="does-not-fit"),
    ],
)
def test_without_the_gate_a_job_starts_again(lab: Lab, pods: int, suspended: bool) -> None:
    """The annotation does nothing: the Job is suspended, and waits for the devices of all its pods."""
    lab.start(switched={GATE: False})
    queue = lab.queue({"whole-gpus": 4})
    job = elastic_job(queue, pods=2)

    lab.scale(job, pods)

    assert lab.is_suspended(job) is suspended
    assert len(lab.workloads(job)) == 1


@covers("STATUS-041", "STATUS-024")
def test_without_the_gate_a_job_that_grows_gives_its_devices_to_others(lab: Lab) -> None:
    """Another Job gets them while it is suspended, which the gate would prevent."""
    lab.start(switched={GATE: False})
    queue = lab.queue({"whole-gpus": 4})
    job = elastic_job(queue, pods=2)
    other = queue.submit(a_job(pods=4, claims=[EACH]))
    assert lab.verdict(other) == WAITS

    lab.scale(job, 5)

    assert lab.verdict(other) == of(4)
