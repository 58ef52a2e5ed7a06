"""What the cases about elastic work begin with, and what they compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.lab import Job, Lab, Queue
from kueue_dra_fixtures.manifests import marked
from kueue_dra_fixtures.verdicts import Reason, admitted, finished, pending
from kueue_dra_ref.api.elastic_work import in_chain
from kueue_dra_ref.api.metadata import annotations_of
from kueue_dra_ref.target import Manifest
from kueue_dra_ref.verdict import Verdict

GATE = "ElasticJobsViaWorkloadSlices"
ELASTIC = "kueue.x-k8s.io/elastic-job"
SLICE_NAME = "kueue.x-k8s.io/workload-slice-name"
REPLACES = "kueue.x-k8s.io/workload-slice-replacement-for"
ON = {ELASTIC: "true"}
EACH = a_template(gpu())
"""Each pod gets one device."""


class Replaced:
    """Equals the verdict on a Workload that a larger one has replaced.

    In Kueue 0.18, the Job controller may be faster than the scheduler, and then the reason is OutOfSync.
    """

    def __eq__(self, other: object) -> bool:
        return other in (finished("WorkloadSliceReplaced"), finished("OutOfSync"))

    def __hash__(self) -> int:
        return hash(Replaced)

    def __repr__(self) -> str:
        return "replaced"


REPLACED: Any = Replaced()
WAITS = pending(Reason.NO_QUOTA)
BY_PRIORITY = {"withinClusterQueue": "LowerPriority"}


def of(devices: int) -> Verdict:
    """Admitted with so many devices."""
    return admitted({"whole-gpus": devices})


def elastic_job(queue: Queue, pods: int, **shape: Any) -> Job:
    """Submit an elastic Job with more pods to complete than run in parallel."""
    return queue.lab.submit_manifest(marked(written_job(queue, pods, **shape), annotations=ON))


def written_job(
    queue: Queue, pods: int, *, completions: int = 20, claims: Sequence[Any] = (EACH,), **shape: Any
) -> Manifest:
    """A Job with more pods to complete than run in parallel; each has a device unless it has other claims."""
    made = queue.lab.written(a_job(pods=pods, claims=claims, **shape), queue)
    return {**made, "spec": {**made["spec"], "completions": completions}}


def held(queue: Queue) -> int:
    """How many devices are reserved in the only flavor of a queue."""
    (amounts,) = queue.figures.reserved.values()
    return int(amounts["whole-gpus"])


def marks_of(lab: Lab, job: Job) -> list[dict[str, str]]:
    """The annotations of each Workload of a Job, the oldest first."""
    return [annotations_of(each) for each in in_chain(lab.workloads(job))]
