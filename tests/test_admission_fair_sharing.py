"""Admission fair sharing: amounts by an independent formula, in simulated time, and the output about them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kueue_dra_fixtures.builders import a_job as a_case_job
from kueue_dra_fixtures.builders import a_template, gpu
from kueue_dra_fixtures.lab.usage import UsageSample
from kueue_dra_ref.api.conditions import condition
from kueue_dra_ref.controlplane.clock import seconds_of
from tests.commands import kueue_dra
from tests.labs import a_lab
from tests.test_cli_simulate import QUEUES, a_job

BY_USAGE: dict[str, Any] = {"admissionScope": {"admissionMode": "UsageBasedAdmissionFairSharing"}}
HALF_LIFE, INTERVAL = 40.0, 10.0
SETTINGS = {"usageHalfLifeTime": "40s", "usageSamplingInterval": "10s"}
LEFT = 2.0 ** (-INTERVAL / HALF_LIFE)
"""The part of the usage that is left after a sampling interval."""


@pytest.mark.parametrize(("release", "digits"), [("kueue-0.19.2", 6), ("kueue-0.18.3", 1), ("kueue-0.17.1", 1)])
def test_samples_follow_the_exponential_average(release: str, digits: int) -> None:
    """Sample by sample: what was there decays, what is in use is added, and an admission adds one interval at once."""
    lab = a_lab(release, suffix="usage")
    gate = {"AdmissionFairSharing": True}
    lab.start(switched=gate, admissionFairSharing=SETTINGS)
    queue = lab.queue({"whole-gpus": 100}, **BY_USAGE)
    before = queue.await_usage(lambda _: True)
    job = queue.submit(a_case_job(claims=[a_template(gpu(64))]))
    reserved = condition(lab.workload(job), "QuotaReserved") or {}
    last = seconds_of(reserved["lastTransitionTime"])

    # What is in use at an admission counts from the last sample on, and the penalty for one interval in addition.
    since = 2.0 ** (-(last - before.updated) / HALF_LIFE)
    expected = 64 * (1 - since) + 64 * (1 - LEFT)
    for used in (64, 64, 64, 0, 0, 0):
        if not used and job in lab.seen:
            lab.delete(job)
        before = queue.await_usage(_after(before))
        left = 2.0 ** (-(before.updated - last) / HALF_LIFE)
        expected, last = expected * left + used * (1 - left), before.updated
        shown = before.consumed.get("whole-gpus", 0.0)
        assert round(abs(shown - expected), digits) <= 10**-digits


def _after(sample: UsageSample) -> Callable[[UsageSample], bool]:
    return lambda shown: shown.updated > sample.updated


USAGE = "kind: Configuration\nadmissionFairSharing: {usageHalfLifeTime: 24h, usageSamplingInterval: 1h}\n"
TWO_QUEUES = QUEUES.replace("kind: Configuration\n", USAGE).replace(
    "  namespaceSelector: {}",
    "  namespaceSelector: {}\n  admissionScope: {admissionMode: UsageBasedAdmissionFairSharing}",
) + (
    "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: other}\n"
    "spec: {clusterQueue: all, fairSharing: {weight: 2}}\n"
)


def in_queue(name: str, queue: str) -> str:
    """A Job of two devices."""
    return a_job().replace("name: job", f"name: {name}", 1).replace("mine", queue)


def given(folder: Path, *documents: str) -> Path:
    """Write documents to a file."""
    file = folder / "input.yaml"
    file.write_text("---\n".join(documents))
    return file


def test_explain_names_the_usage_that_decides(tmp_path: Path) -> None:
    """The younger Job is before the older one, because its LocalQueue has used less."""
    jobs = in_queue("first", "mine"), in_queue("second", "mine"), in_queue("third", "other")
    found = kueue_dra("explain", "-f", given(tmp_path, TWO_QUEUES, *jobs), "second")

    assert found.exit_code == 0, found.stderr
    assert found.stderr == ""
    assert "Job default/third" in found.output
    assert "is before it: its LocalQueue other has a usage of 0, lower than 0.0569" in found.output


CREATED = "2025-12-01T00:00:00Z"


def running(consumed: str, updated: str = "2026-01-01T00:00:00Z") -> str:
    """The LocalQueues of a running cluster, one of which has consumed devices."""
    active = f'{{type: Active, status: "True", reason: Ready, message: m, lastTransitionTime: "{CREATED}"}}'
    status = (
        f"status: {{conditions: [{active}], "
        "fairSharing: {admissionFairSharingStatus: {consumedResources: {whole-gpus: "
        f'"{consumed}"}}, lastUpdate: "{updated}"}}}}}}\n'
    )
    known = f'uid: "1", creationTimestamp: "{CREATED}"'
    queues = TWO_QUEUES.replace("metadata: {name: mine}\n", f"metadata: {{name: mine, {known}}}\n{status}")
    return queues.replace("metadata: {name: other}", f"metadata: {{name: other, {known.replace('1', '2', 1)}}}")


def test_a_dump_goes_on_from_the_usage_in_its_status(tmp_path: Path) -> None:
    """A LocalQueue that has consumed something before the dump waits behind one that has not."""
    jobs = in_queue("blocking", "other"), in_queue("older", "mine"), in_queue("younger", "other")
    gate = ("--feature-gates", "DynamicResourceAllocation=true")
    file = given(tmp_path, running("40"), *jobs)

    found = kueue_dra("explain", "-f", file, "older", "--behaviour", "kueue-0.17.1", *gate)

    assert "its LocalQueue other has a usage of" in found.output, found.output + found.stderr


@pytest.mark.parametrize(
    ("consumed", "updated", "fault"),
    [
        pytest.param("many", "2026-01-01T00:00:00Z", "consumedResources", id="amount"),
        pytest.param("4", "yesterday", "lastUpdate", id="time"),
    ],
)
def test_a_status_that_cannot_be_read_is_an_error(consumed: str, updated: str, fault: str, tmp_path: Path) -> None:
    """The error names the field, without a traceback."""
    found = kueue_dra("simulate", "-f", given(tmp_path, running(consumed, updated), in_queue("job", "mine")))

    assert found.exit_code == 2
    assert f"status.fairSharing.admissionFairSharingStatus.{fault}" in found.stderr


def test_usage_from_quota_reservation_on_is_not_decided(tmp_path: Path) -> None:
    """0.20 counts from the reservation on by default; the note names that."""
    options = ("--behaviour", "kueue-0.20.0")
    found = kueue_dra("simulate", "-f", given(tmp_path, TWO_QUEUES, in_queue("job", "mine")), *options)

    assert "admissionFairSharing: Not decided: usage from the reservation of quota on" in found.stderr
