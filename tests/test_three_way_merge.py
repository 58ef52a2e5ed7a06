"""A Job that is applied once more, as in a replay: Kueue's changes stay, the writer's are applied."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from tests.labs import a_lab


@pytest.fixture
def lab() -> Lab:
    """Give a lab on the reference of the newest Kueue."""
    return a_lab(suffix="rewritten")


def test_a_job_applied_again_stays_as_kueue_left_it(lab: Lab) -> None:
    """How many of its pods run, and that they run, is Kueue's to say."""
    job = lab.queue({"whole-gpus": 2}).submit(a_job(pods=3, least=1, claims=[a_template(gpu())]))

    lab.apply(job.made)

    spec = lab.read(job.ref)["spec"]
    assert (spec["parallelism"], spec["suspend"]) == (2, False)


def test_what_its_writer_changed_is_taken_over(lab: Lab) -> None:
    """A pending Job requests as many pods as in its last state, also after it was applied twice."""
    job = lab.queue({"whole-gpus": 2}).submit(a_job(pods=3, claims=[a_template(gpu())]))

    for pods in (4, 1):
        lab.apply({**job.made, "spec": {**job.made["spec"], "parallelism": pods}})

    assert lab.counts(job) == {"main": 1}


def test_a_job_that_is_made_anew_is_new(lab: Lab) -> None:
    """The stored state of a deleted Job does not affect its successor."""
    queue = lab.queue({"whole-gpus": 2})
    job = queue.submit(a_job(pods=3, least=1, claims=[a_template(gpu())]))
    lab.target.delete([job.ref])

    lab.apply(job.made)
    lab.settle()

    assert lab.counts(job) == {"main": 2}
