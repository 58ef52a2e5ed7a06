"""A three-level tree of cohorts full of work: what each Workload costs among 1,000 and among 10,000 of them."""

from __future__ import annotations

import time
from collections.abc import Iterator

from kueue_dra_fixtures.manifests import KUEUE
from kueue_dra_fixtures.profiles import a_configuration
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.target import Manifest

SIZES = (1_000, 3_000, 10_000)
"""Numbers of Jobs; about half of them find quota."""
BRANCHES, QUEUES_EACH = 5, 6


def rows() -> Iterator[list[str]]:
    """Give, for each size, the seconds of the processor, those of each Workload, and the ratio to the smallest size."""
    smallest = 0.0
    for size in SIZES:
        found = _seconds(size)
        smallest = smallest or found / size
        yield [f"{size:,}", f"{found:.1f} s", f"{1000 * found / size:.2f} ms", f"{found / size / smallest:.2f}x"]


def _seconds(jobs: int) -> float:
    found = behaviour()
    target = ReferenceTarget(found)
    target.start(a_configuration(found))
    began = time.process_time()
    if refused := target.apply([*_tree(jobs), *(_a_job(index) for index in range(jobs))]):
        raise ValueError(f"the benchmark's own objects are refused: {refused[0]}")
    target.settle()
    return time.process_time() - began


def _tree(jobs: int) -> Iterator[Manifest]:
    yield _an_object("v1", "Namespace", "team")
    yield _an_object(KUEUE, "ResourceFlavor", "devices", spec={})
    yield _an_object(KUEUE, "Cohort", "root", spec={})
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com", "count": 1}}
    claim = {"spec": {"devices": {"requests": [request]}}}
    yield _an_object("resource.k8s.io/v1", "ResourceClaimTemplate", "one-gpu", "team", spec=claim)
    for branch in range(BRANCHES):
        yield _an_object(KUEUE, "Cohort", f"branch-{branch}", spec={"parentName": "root"})
        for number in range(QUEUES_EACH):
            name = f"queue-{branch}-{number}"
            yield _an_object(KUEUE, "ClusterQueue", name, spec=_a_queue(f"branch-{branch}", jobs))
            yield _an_object(KUEUE, "LocalQueue", name, "team", spec={"clusterQueue": name})


def _a_queue(cohort: str, jobs: int) -> Manifest:
    quota = {"whole-gpus": jobs // (BRANCHES * QUEUES_EACH), "cpu": 10 * jobs}
    flavor = {"name": "devices", "resources": [{"name": each, "nominalQuota": had} for each, had in quota.items()]}
    group = {"coveredResources": list(quota), "flavors": [flavor]}
    return {"cohortName": cohort, "namespaceSelector": {}, "resourceGroups": [group]}


def _a_job(index: int) -> Manifest:
    pods = 1 + index % 3
    container = {
        "name": "main",
        "image": "none.invalid/none",
        "resources": {"requests": {"cpu": "1"}, "claims": [{"name": "gpu"}]},
    }
    claims = [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}]
    pod = {"restartPolicy": "Never", "containers": [container], "resourceClaims": claims}
    spec = {"parallelism": pods, "completions": pods, "suspend": True, "template": {"spec": pod}}
    job = _an_object("batch/v1", "Job", f"job-{index}", "team", spec=spec)
    queue = f"queue-{index % BRANCHES}-{index // BRANCHES % QUEUES_EACH}"
    job["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": queue}
    return job


def _an_object(api_version: str, kind: str, name: str, namespace: str = "", **body: Manifest) -> Manifest:
    place = {"namespace": namespace} if namespace else {}
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, **place}, **body}
