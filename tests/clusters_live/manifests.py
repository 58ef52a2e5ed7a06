"""The small scenarios of these tests, as plain manifests."""

from __future__ import annotations

from typing import Any

from kueue_dra_ref.target import Manifest

KUEUE = "kueue.x-k8s.io/v1beta2"
RESOURCE = "resource.k8s.io/v1"
GPU = "gpu.example.com"
CONFIGURATION: Manifest = {
    "resources": {"deviceClassMappings": [{"name": "whole-gpus", "deviceClassNames": [GPU]}]},
}


def a_world(namespace: str = "team", *, gpus: int = 2, strategy: str = "BestEffortFIFO") -> list[Manifest]:
    """Give a namespace with one queue over one flavor of GPUs, and claim templates for one to three of them."""
    flavor = {
        "name": f"{namespace}-flavor",
        "resources": [{"name": "cpu", "nominalQuota": 100}, {"name": "whole-gpus", "nominalQuota": gpus}],
    }
    return [
        an_object("v1", "Namespace", namespace),
        an_object(KUEUE, "ResourceFlavor", f"{namespace}-flavor", spec={}),
        an_object(
            KUEUE,
            "ClusterQueue",
            namespace,
            spec={
                "namespaceSelector": {},
                "queueingStrategy": strategy,
                "resourceGroups": [{"coveredResources": ["cpu", "whole-gpus"], "flavors": [flavor]}],
            },
        ),
        an_object(KUEUE, "LocalQueue", "main", namespace, spec={"clusterQueue": namespace}),
        *(a_template(f"gpus-{count}", namespace, count=count) for count in (1, 2, 3)),
    ]


def a_template(name: str, namespace: str = "team", *, count: int = 1, device_class: str = GPU) -> Manifest:
    """Give a claim template for some devices of a class."""
    request = {"name": "devices", "exactly": {"deviceClassName": device_class, "count": count}}
    return an_object(
        RESOURCE, "ResourceClaimTemplate", name, namespace, spec={"spec": {"devices": {"requests": [request]}}}
    )


def a_job(name: str, template: str = "gpus-1", namespace: str = "team", *, queue: str = "main") -> Manifest:
    """Give a suspended Job of one pod that claims what a template describes."""
    container = {
        "name": "main",
        "image": "none.invalid/none",
        "resources": {"requests": {"cpu": "1"}, "claims": [{"name": "devices"}]},
    }
    pod = {
        "restartPolicy": "Never",
        "containers": [container],
        "resourceClaims": [{"name": "devices", "resourceClaimTemplateName": template}],
    }
    job = an_object("batch/v1", "Job", name, namespace, spec={"suspend": True, "template": {"spec": pod}})
    job["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": queue}
    return job


def a_workload(name: str = "w", *, owner: str = "", version: int = 1, **conditions: str) -> Manifest:
    """Give a stored Workload with conditions by type, such as ``QuotaReserved="True"``."""
    workload = an_object(KUEUE, "Workload", name, "team", spec={"queueName": "main"})
    workload["metadata"]["resourceVersion"] = str(version)
    if owner:
        workload["metadata"]["ownerReferences"] = [{"uid": owner}]
    found = [{"type": kind, "status": status} for kind, status in conditions.items()]
    workload["status"] = {"conditions": found, "admission": {"clusterQueue": "team"}}
    return workload


def a_stored_job(name: str = "j", *, suspend: bool = True, version: int = 1, **conditions: str) -> Manifest:
    """Give a stored Job whose UID is its name."""
    job = a_job(name)
    job["metadata"] |= {"uid": name, "resourceVersion": str(version)}
    job["spec"]["suspend"] = suspend
    job["status"] = {"conditions": [{"type": kind, "status": status} for kind, status in conditions.items()]}
    return job


def an_object(api_version: str, kind: str, name: str, namespace: str = "", **body: Any) -> Manifest:
    """Give any object."""
    place = {"namespace": namespace} if namespace else {}
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, **place}, **body}
