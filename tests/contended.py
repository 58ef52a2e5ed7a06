"""Scenarios in which workloads contend for one resource, and their explanation with Jobs instead of Workloads."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from tests.commands import kueue_dra

FINAL, INITIAL = "LessThanOrEqualToFinalShare", "LessThanInitialShare"
CLASS = "gpu.example.com"


def a_world(*parts: Sequence[Mapping[str, Any]], fair: Sequence[str] = ()) -> str:
    """Objects in the order in which they come, with a Configuration that maps one class to gpus."""
    sharing = {"fairSharing": {"preemptionStrategies": list(fair)}} if fair else {}
    mapped = {"deviceClassMappings": [{"name": "gpus", "deviceClassNames": [CLASS]}]}
    flavors = [_kueue("ResourceFlavor", name, {}) for name in ("a", "b", "c")]
    classes = [_priority(number) for number in range(1, 10)]
    configuration = {"kind": "Configuration", "resources": mapped, **sharing}
    objects = [configuration, *flavors, *classes, *(each for part in parts for each in part)]
    return yaml.safe_dump_all(objects)


def a_queue(name: str, *flavors: Mapping[str, Any], cohort: str = "", **spec: Any) -> list[dict[str, Any]]:
    """A ClusterQueue with quota of gpus in some flavors (``nominalQuota``, limits), and its LocalQueue."""
    listed = [
        {"name": flavor, "resources": [{"name": "gpus", **quota}]}
        for flavor, quota in zip(("a", "b", "c"), flavors, strict=False)
    ]
    groups = [{"coveredResources": ["gpus"], "flavors": listed}]
    shared = {"cohortName": cohort} if cohort else {}
    queue = {"namespaceSelector": {}, "resourceGroups": groups, **shared, **spec}
    return [_kueue("ClusterQueue", name, queue), _kueue("LocalQueue", name, {"clusterQueue": name})]


def a_cohort(name: str, parent: str = "", **quota: Any) -> list[dict[str, Any]]:
    """A cohort below another one, with quota of its own if there is any."""
    resources = [{"name": "gpus", **quota}]
    groups = [{"coveredResources": ["gpus"], "flavors": [{"name": "a", "resources": resources}]}]
    spec = {**({"parentName": parent} if parent else {}), **({"resourceGroups": groups} if quota else {})}
    return [_kueue("Cohort", name, spec)]


def of(nominal: int, borrowing: int | None = None, lending: int | None = None) -> dict[str, int]:
    """So much quota, with limits."""
    limits = {"nominalQuota": nominal, "borrowingLimit": borrowing, "lendingLimit": lending}
    return {name: limit for name, limit in limits.items() if limit is not None}


def a_job(name: str, queue: str, count: int = 1, *, priority: int = 0) -> list[dict[str, Any]]:
    """A Job that asks for so many devices, and its template."""
    labels = {"kueue.x-k8s.io/queue-name": queue}
    labels |= {"kueue.x-k8s.io/priority-class": f"p{priority}"} if priority else {}
    request = {"name": "gpu", "exactly": {"deviceClassName": CLASS, "count": count}}
    claim = {"name": "g", "resourceClaimTemplateName": name}
    pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "none"}], "resourceClaims": [claim]}
    return [
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": name},
            "spec": {"spec": {"devices": {"requests": [request]}}},
        },
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name, "labels": labels},
            "spec": {"template": {"spec": pod}},
        },
    ]


def steps(world: str, job: str) -> list[str]:
    """The steps after the charge, without numbers; a Workload is called by its Job."""
    result = kueue_dra("explain", "-f", "-", job, stdin=world)
    assert result.exit_code == 0, result.stderr
    text = re.sub(r"default/job-(\w+)-[0-9a-f]{5}", r"\1", result.stdout)
    return [line.partition(". ")[2] for line in text.splitlines()[4:]]


def _kueue(kind: str, name: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": name}, "spec": dict(spec)}


def _priority(number: int) -> dict[str, Any]:
    kind = "WorkloadPriorityClass"
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": f"p{number}"}, "value": number}
