"""OpenShift's Kueue object as the Configuration that its operator writes, as far as quota for devices depends on it.

No counterpart: OpenShift's operator for Kueue writes the Configuration. Its words differ from Kueue's: integrations are
named by kind, and a source and its selector name their type.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kueue_dra_ref.api.schema_config import GROUP
from kueue_dra_ref.api.unstructured import part
from kueue_dra_ref.target import Manifest

OPERATOR_GROUPS = ("kueue.openshift.io", "operator.openshift.io")
_FRAMEWORKS: Mapping[str, str] = {
    "BatchJob": "batch/job",
    "RayJob": "ray.io/rayjob",
    "RayCluster": "ray.io/raycluster",
    "JobSet": "jobset.x-k8s.io/jobset",
    "MPIJob": "kubeflow.org/mpijob",
    "PaddleJob": "kubeflow.org/paddlejob",
    "PyTorchJob": "kubeflow.org/pytorchjob",
    "TFJob": "kubeflow.org/tfjob",
    "XGBoostJob": "kubeflow.org/xgboostjob",
    "TrainJob": "trainer.kubeflow.org/trainjob",
    "AppWrapper": "workload.codeflare.dev/appwrapper",
    "Pod": "pod",
    "Deployment": "deployment",
    "StatefulSet": "statefulset",
    "LeaderWorkerSet": "leaderworkerset.x-k8s.io/leaderworkerset",
}
_STRATEGIES = ("LessThanOrEqualToFinalShare", "LessThanInitialShare")
"""Kueue's default strategies of fair sharing."""
_GATES: Mapping[str, str] = {
    "counter": "KueueDRAIntegrationPartitionableDevices",
    "capacity": "KueueDRAIntegrationConsumableCapacity",
}
"""The gates that the operator turns on for a source of a kind."""


def is_operator(manifest: Manifest) -> bool:
    """Whether a manifest is OpenShift's Kueue object."""
    group, _, _ = str(manifest.get("apiVersion", "")).rpartition("/")
    return manifest.get("kind") == "Kueue" and group in OPERATOR_GROUPS


def configuration_of_operator(manifest: Manifest) -> Manifest:
    """Give the Configuration that the operator writes for its object."""
    config = part(part(manifest, "spec"), "config")
    resources = _resources(part(config, "resources"))
    found: Manifest = {
        "apiVersion": f"{GROUP}/v1beta2",
        "kind": "Configuration",
        "integrations": _integrations(part(config, "integrations")),
    }
    if resources:
        found["resources"] = resources
    if part(config, "workloadManagement").get("labelPolicy") == "None":
        found["manageJobsWithoutQueueName"] = True
    if part(config, "preemption").get("preemptionPolicy") == "FairSharing":
        found["fairSharing"] = {"preemptionStrategies": list(_STRATEGIES)}
    gates = {_GATES[each]: True for each in _source_types(resources)}
    if gates:
        found["featureGates"] = gates
    return found


def _integrations(given: Manifest) -> Manifest:
    frameworks = given.get("frameworks")
    if not isinstance(frameworks, list):
        return {}
    return {"frameworks": [_FRAMEWORKS.get(str(each), each) for each in frameworks]}


def _resources(given: Manifest) -> Manifest:
    mappings = given.get("deviceClassMappings")
    if not isinstance(mappings, list):
        return dict(given)
    return {**given, "deviceClassMappings": [_mapping(each) for each in mappings]}


def _mapping(mapping: Any) -> Any:
    if not isinstance(mapping, dict) or not isinstance(mapping.get("sources"), list):
        return mapping
    return {**mapping, "sources": [_source(each) for each in mapping["sources"]]}


def _source(source: Any) -> Any:
    """Give a source without the types that only OpenShift's words have."""
    if not isinstance(source, dict):
        return source
    kept = {}
    for key, value in source.items():
        if key != "type":
            kept[key] = _without_selector_type(value)
    return kept


def _without_selector_type(value: Any) -> Any:
    if not isinstance(value, dict) or not isinstance(value.get("deviceSelector"), dict):
        return value
    selector = dict(value["deviceSelector"])
    selector.pop("type", None)
    return {**value, "deviceSelector": selector}


def _source_types(resources: Manifest) -> Iterator[str]:
    """Give the kinds of sources that mappings have."""
    for mapping in _objects(resources, "deviceClassMappings"):
        for source in _objects(mapping, "sources"):
            yield from _GATES.keys() & source.keys()


def _objects(holder: Manifest, key: str) -> list[Manifest]:
    items = holder.get(key)
    if not isinstance(items, list):
        return []
    return [each for each in items if isinstance(each, dict)]
