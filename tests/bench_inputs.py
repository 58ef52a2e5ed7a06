"""Manifests of a cluster full of work with devices: 30 ClusterQueues below 5 cohorts, and any number of Jobs."""

from __future__ import annotations

import random
from collections.abc import Iterator

from kueue_dra_fixtures.manifests import KUEUE
from kueue_dra_ref.target import Manifest

COHORTS, QUEUES_EACH = 5, 6
QUEUES = COHORTS * QUEUES_EACH
NAMESPACES = ("team-a", "team-b", "team-c")
GPU, SHARE, TPU = "gpu.example.com", "share.example.com", "tpu.example.com"
NODES, DEVICES_EACH = 10, 8
_RESOURCE = "resource.k8s.io/v1"
_QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
_PRIORITY_LABEL = "kueue.x-k8s.io/priority-class"


def configuration() -> Manifest:
    """Give a Configuration that counts two classes, and charges a counter of the third."""
    counter = {
        "name": "memory",
        "driver": "share.example.com",
        "deviceSelector": {"cel": {"expression": "device.driver == 'share.example.com'"}},
    }
    mappings: list[Manifest] = [
        {"name": "gpus", "deviceClassNames": [GPU]},
        {"name": "tpus", "deviceClassNames": [TPU]},
        {"name": "gpu-memory", "deviceClassNames": [SHARE], "sources": [{"counter": counter}]},
    ]
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "resources": {"deviceClassMappings": mappings},
        "featureGates": {"KueueDRAIntegration": True, "KueueDRAIntegrationPartitionableDevices": True},
    }


def cluster(jobs: int, seed: int = 0) -> Iterator[Manifest]:
    """Give everything but the work; quota for about a third of the Jobs, whatever their number."""
    for name in NAMESPACES:
        yield _object("v1", "Namespace", name)
        yield from _templates(name)
    for flavor in ("reserved", "spot"):
        yield _object(KUEUE, "ResourceFlavor", flavor, spec={})
    for name, value in (("high", 100), ("low", -100)):
        yield _object(KUEUE, "WorkloadPriorityClass", name, value=value)
    for number, name in enumerate((GPU, SHARE, TPU)):
        expression = f"device.driver == '{name}'"
        spec = {"selectors": [{"cel": {"expression": expression}}]}
        yield _object(_RESOURCE, "DeviceClass", name, spec=spec)
        yield from (_slice(name, f"node-{node}-{number}") for node in range(NODES))
    yield from (_counters(f"node-{node}-1") for node in range(NODES))
    yield from _queues(jobs, random.Random(seed))


def work(jobs: int, seed: int = 0) -> Iterator[Manifest]:
    """Give suspended Jobs with claims: several classes, counts, priorities and numbers of pods."""
    chance = random.Random(seed)
    for index in range(jobs):
        yield _job(index, chance)


def _templates(namespace: str) -> Iterator[Manifest]:
    for name, device_class, count in _TEMPLATES:
        request = {"name": "devices", "exactly": {"deviceClassName": device_class, "count": count}}
        spec = {"spec": {"devices": {"requests": [request]}}}
        yield _object(_RESOURCE, "ResourceClaimTemplate", name, namespace, spec=spec)


_TEMPLATES = (
    ("one-gpu", GPU, 1),
    ("two-gpus", GPU, 2),
    ("eight-gpus", GPU, 8),
    ("one-tpu", TPU, 1),
    ("four-tpus", TPU, 4),
    ("a-share", SHARE, 1),
    ("two-shares", SHARE, 2),
)


def _slice(driver: str, pool: str) -> Manifest:
    devices = [_device(driver, index) for index in range(DEVICES_EACH)]
    own = {"name": pool, "generation": 1, "resourceSliceCount": 2 if driver == SHARE else 1}
    spec = {"driver": driver, "nodeName": pool, "pool": own, "devices": devices}
    return _object(_RESOURCE, "ResourceSlice", f"{pool}-devices", spec=spec)


def _device(driver: str, index: int) -> Manifest:
    device: Manifest = {"name": f"device-{index}", "attributes": {"model": {"string": "a100"}, "index": {"int": index}}}
    if driver == SHARE:
        used = {"counterSet": "gpu-0", "counters": {"memory": {"value": "10Gi"}}}
        device["consumesCounters"] = [used]
    return device


def _counters(pool: str) -> Manifest:
    own = {"name": pool, "generation": 1, "resourceSliceCount": 2}
    counters = [{"name": "gpu-0", "counters": {"memory": {"value": "80Gi"}}}]
    spec = {"driver": SHARE, "nodeName": pool, "pool": own, "sharedCounters": counters}
    return _object(_RESOURCE, "ResourceSlice", f"{pool}-counters", spec=spec)


def _queues(jobs: int, chance: random.Random) -> Iterator[Manifest]:
    yield _object(KUEUE, "Cohort", "root", spec={})
    for cohort in range(COHORTS):
        yield _object(KUEUE, "Cohort", f"cohort-{cohort}", spec={"parentName": "root"})
    for number in range(QUEUES):
        name = f"queue-{number:02}"
        yield _object(KUEUE, "ClusterQueue", name, spec=_cluster_queue(number, jobs, chance))
        for namespace in NAMESPACES:
            yield _object(KUEUE, "LocalQueue", name, namespace, spec={"clusterQueue": name})


def _cluster_queue(number: int, jobs: int, chance: random.Random) -> Manifest:
    """Give a ClusterQueue of two flavors; one in three preempts in itself, one in five is StrictFIFO."""
    each = jobs / QUEUES * chance.uniform(0.8, 1.2)
    quota = {"cpu": 1 + int(2 * each), "gpus": 1 + int(each), "tpus": 1 + int(each / 2)}
    flavors = []
    for flavor, share in (("reserved", 0.25), ("spot", 0.1)):
        limits = [{"name": name, "nominalQuota": 1 + int(share * amount)} for name, amount in quota.items()]
        memory = f"{10 * (1 + int(share * each))}Gi"
        limits += [{"name": name, "nominalQuota": memory} for name in ("memory", "gpu-memory")]
        flavors.append({"name": flavor, "resources": limits})
    preempts = "LowerPriority" if number % 3 == 0 else "Never"
    return {
        "cohortName": f"cohort-{number % COHORTS}",
        "namespaceSelector": {},
        "queueingStrategy": "StrictFIFO" if number % 5 == 4 else "BestEffortFIFO",
        "resourceGroups": [{"coveredResources": [*quota, "memory", "gpu-memory"], "flavors": flavors}],
        "preemption": {"withinClusterQueue": preempts},
    }


def _job(index: int, chance: random.Random) -> Manifest:
    namespace = chance.choice(NAMESPACES)
    pods = chance.choice((1, 1, 1, 2, 4))
    template, _, _ = chance.choice(_TEMPLATES)
    requests = {"cpu": chance.choice(("500m", "1", "2")), "memory": "1Gi"}
    container = {
        "name": "main",
        "image": "registry.example.com/train:1",
        "command": ["python", "-m", "train", f"--run={index}"],
        "resources": {"requests": requests, "claims": [{"name": "devices"}]},
    }
    claims = [{"name": "devices", "resourceClaimTemplateName": template}]
    pod = {"restartPolicy": "Never", "containers": [container], "resourceClaims": claims}
    spec = {"parallelism": pods, "completions": pods, "suspend": True, "template": {"spec": pod}}
    job = _object("batch/v1", "Job", f"job-{index:06}", namespace, spec=spec)
    labels = {_QUEUE_LABEL: f"queue-{chance.randrange(QUEUES):02}"}
    if priority := chance.choice(("", "", "high", "low")):
        labels[_PRIORITY_LABEL] = priority
    job["metadata"]["labels"] = labels
    return job


def _object(api_version: str, kind: str, name: str, namespace: str = "", **body: object) -> Manifest:
    place = {"namespace": namespace} if namespace else {}
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, **place}, **body}
