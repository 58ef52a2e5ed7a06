"""The names of Workloads: kind and name of the work, and five digits of a hash (Kueue; text silent)."""

from __future__ import annotations

import hashlib

import pytest

from kueue_dra_fixtures.builders import a_job, a_pod_set, work_of
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.variants import Contest
from kueue_dra_ref.target import Manifest

pytestmark = owns_kueue

SHORT = "ShortWorkloadNames"
CPU = a_job(cpu="1")


def named(made: Manifest, length: int) -> Manifest:
    """The same work with a name of this many characters."""
    meta = made["metadata"]
    name = meta["name"] + "a" * (length - len(meta["name"]))
    return {**made, "metadata": {**meta, "name": name}}


def digits(*owner: str) -> str:
    """The first five digits of the hash of an owner."""
    return hashlib.sha1("\n".join(owner).encode(), usedforsecurity=False).hexdigest()[:5]


@covers("WORK-054")
@pytest.mark.parametrize("length", [pytest.param(length, id=f"{length}-characters") for length in (52, 54, 63)])
def test_a_workload_has_the_name_of_its_job(lab: Lab, length: int) -> None:
    """The whole name, also if the name of the Workload cannot be the value of a label."""
    queue = lab.queue({"cpu": 1})
    job = lab.submit_manifest(named(lab.written(CPU, queue), length))

    meta = lab.read(job.ref)["metadata"]
    hashed = digits("Job", "batch", meta["name"], meta["uid"])
    assert lab.workload(job)["metadata"]["name"] == f"job-{meta['name']}-{hashed}"


@covers("WORK-054")
@pytest.mark.parametrize(
    ("length", "kept"), [pytest.param(236, 236, id="as-long-as-may-be"), pytest.param(237, 236, id="one-too-long")]
)
def test_a_workload_has_the_longest_name_of_an_object(lab: Lab, length: int, kept: int) -> None:
    """Of 253 characters, the hash among them."""
    queue = lab.queue({"cpu": 1})
    made = lab.written(work_of("PyTorchJob", a_pod_set("workers", cpu="1")), queue)
    job = lab.submit_manifest(named(made, length))

    meta = lab.read(job.ref)["metadata"]
    hashed = digits("PyTorchJob", "kubeflow.org", meta["name"], meta["uid"])
    name = lab.workload(job)["metadata"]["name"]
    assert name == f"pytorchjob-{meta['name'][:kept]}-{hashed}"
    assert len(name) == 253


@covers("WORK-050")
@pytest.mark.parametrize(
    ("length", "kept"), [pytest.param(53, 53, id="as-long-as-may-be"), pytest.param(54, 53, id="one-too-long")]
)
def test_a_workload_has_a_name_that_can_be_a_label(lab: Lab, length: int, kept: int) -> None:
    """Of 63 characters, the hash among them, which is that of the whole name."""
    lab.start(switched={SHORT: True})
    queue = lab.queue({"cpu": 1})
    job = lab.submit_manifest(named(lab.written(CPU, queue), length))

    meta = lab.read(job.ref)["metadata"]
    hashed = digits("Job", "batch", meta["name"], meta["uid"])
    name = lab.workload(job)["metadata"]["name"]
    assert name == f"job-{meta['name'][:kept]}-{hashed}"
    assert len(name) == 63


@pytest.mark.parametrize(
    ("short", "left"),
    [
        pytest.param(False, 253, id="whole", marks=covers("CONC-002")),
        pytest.param(True, 57, id="short", marks=covers("CONC-002", "WORK-050")),
    ],
)
def test_a_variant_has_the_name_of_its_parent(lab: Lab, short: bool, left: int) -> None:
    """And of its flavor, with a hash of its own in the place of that of its parent."""
    contest = Contest.of(lab, 2, 2, gates={SHORT: short})
    job = lab.submit_manifest(named(lab.written(CPU, contest.queue), 53))
    meta = lab.workload(job)["metadata"]

    for place, flavor in enumerate(contest.flavors):
        hashed = digits("Workload", "kueue.x-k8s.io", meta["name"], meta["uid"], flavor)
        prefix = f"job-{job.ref.name}-variant-{flavor}"[:left]
        assert contest.variant(job, place)["metadata"]["name"] == f"{prefix}-{hashed}"
