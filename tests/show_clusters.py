"""Clusters for tests of pictures: queues in cohorts that borrow and lend, and Jobs of which many wait."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kueue_dra_ref.target import Manifest
from tests.clusters_live.manifests import GPU, KUEUE, a_job, a_template, an_object

CONFIGURATION: Manifest = {
    "apiVersion": "config.kueue.x-k8s.io/v1beta2",
    "kind": "Configuration",
    "resources": {"deviceClassMappings": [{"name": "whole-gpus", "deviceClassNames": [GPU]}]},
}
BRANCH = 8
"""The number of ClusterQueues in a Cohort."""


def a_cluster(queues: int, jobs: int) -> list[Manifest]:
    """Give a cluster with a root Cohort, Cohorts of eight ClusterQueues, and Jobs of one to four GPUs."""
    return [
        CONFIGURATION,
        an_object("v1", "Namespace", "team"),
        an_object(KUEUE, "ResourceFlavor", "a100", spec={}),
        *(a_template(f"gpus-{count}", count=count) for count in (1, 2, 4)),
        a_template("unmapped", device_class="other.example.com"),
        an_object(KUEUE, "Cohort", "org", spec={}),
        *_queues(queues),
        *_jobs(queues, jobs),
    ]


def _queues(queues: int) -> Iterator[Manifest]:
    for branch in range((queues + BRANCH - 1) // BRANCH):
        yield an_object(KUEUE, "Cohort", f"division-{branch}", spec={"parentName": "org"})
    for number in range(queues):
        name = f"queue-{number:03}"
        yield a_queue(name, number % 4, cohort=f"division-{number // BRANCH}")
        yield an_object(KUEUE, "LocalQueue", name, "team", spec={"clusterQueue": name})


def a_queue(name: str, gpus: int, *, cohort: str = "", **limits: int) -> Manifest:
    """Give a ClusterQueue with some GPUs and much cpu; ``limits`` are those of the GPUs."""
    resources = [
        {"name": "whole-gpus", "nominalQuota": gpus, **limits},
        {"name": "cpu", "nominalQuota": 100},
    ]
    group = {"coveredResources": ["whole-gpus", "cpu"], "flavors": [{"name": "a100", "resources": resources}]}
    spec: Manifest = {"namespaceSelector": {}, "resourceGroups": [group]}
    if cohort:
        spec["cohortName"] = cohort
    return an_object(KUEUE, "ClusterQueue", name, spec=spec)


def _jobs(queues: int, jobs: int) -> Iterator[Manifest]:
    templates: Sequence[str] = ("gpus-1", "gpus-2", "gpus-1", "gpus-4", "unmapped")
    for number in range(jobs):
        queue = number * 7 % queues
        yield a_job(f"train-{number}", templates[number % len(templates)], queue=f"queue-{queue:03}")
