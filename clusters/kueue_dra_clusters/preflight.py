"""Checks whether a cluster's own Kueue serves the cases: its version, mappings and gates."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kueue_dra_clusters.fence_objects import ASKED
from kueue_dra_clusters.installation import ClusterFacts
from kueue_dra_ref.api.jobs import FRAMEWORK
from kueue_dra_ref.api.labels import NAME_LABEL, selects
from kueue_dra_ref.target import Manifest

NEEDED_API = "resource.k8s.io/v1"
RUN_LABEL = "kueue-dra.dev/run"
"""The label of every object that a run creates on an existing cluster, with the run as its value."""
OURS = {RUN_LABEL: "some", NAME_LABEL: "kueue-dra"}
ORDINARY = ("cpu", "memory")
"""The resources that cases request in addition to devices."""
COMPARED_APART = frozenset({"apiVersion", "kind", "resources", "featureGates"})


def lacks(found: ClusterFacts, configuration: Manifest, minor: str) -> list[str]:
    """Name everything that a cluster lacks for cases written for a Configuration and a minor of Kueue."""
    return [
        *_version_lacks(found, minor),
        *_mapping_lacks(found, configuration),
        *_gate_lacks(found.gates(minor), configuration),
        *_other_lacks(found, configuration),
    ]


def _version_lacks(found: ClusterFacts, minor: str) -> Iterator[str]:
    if not found.version:
        yield f"Kueue: its version must be readable from {found.manager} (found: nothing)"
    elif found.minor != minor:
        yield f"Kueue: must be {minor} (found: {found.version})"
    yield from _api_lacks(found)


def _api_lacks(found: ClusterFacts) -> Iterator[str]:
    if NEEDED_API not in found.resource_versions:
        served = _listed(found.resource_versions)
        yield f"Kubernetes: must serve {NEEDED_API} (found: {served})"
    if found.configuration is None:
        yield f"Configuration: must be readable from {found.settings} (found: nothing)"


def _mapping_lacks(found: ClusterFacts, configuration: Manifest) -> Iterator[str]:
    rows = mappings(found.configuration or {})
    own = {row["name"]: row for row in rows}
    for mapping in mappings(configuration):
        name = mapping["name"]
        there = own.get(name, {})
        classes = there.get("deviceClassNames") or []
        for each in mapping.get("deviceClassNames") or []:
            if each not in classes:
                yield f"deviceClassMappings: {name} must map {each} (found: {_listed(classes)})"
        wanted, sources = mapping.get("sources"), there.get("sources")
        if wanted != sources:
            yield f"deviceClassMappings: {name} must have the sources {_short(wanted)} (found: {_short(sources)})"


def _gate_lacks(state: Mapping[str, bool], configuration: Manifest) -> Iterator[str]:
    gates = configuration.get("featureGates") or {}
    for name, wanted in gates.items():
        found = state.get(name)
        if found is not wanted:
            yield f"featureGates: {name} must be {_short(wanted)} (found: {_short(found)})"


def _other_lacks(found: ClusterFacts, configuration: Manifest) -> Iterator[str]:
    own = found.configuration or {}
    yield from _frameworks_lacks(own)
    yield from _selection_lacks(own, configuration)
    keys = configuration.keys() - COMPARED_APART - {"integrations"}
    yield from _differing_fields("", keys, configuration, own)
    wanted = configuration.get("resources") or {}
    there = own.get("resources") or {}
    keys = wanted.keys() - {"deviceClassMappings"}
    yield from _differing_fields("resources.", keys, wanted, there)
    if "transformations" not in wanted:
        mapped = {mapping["name"] for mapping in mappings(configuration)}
        yield from _charge_lacks(there, mapped.union(ORDINARY))


def _frameworks_lacks(own: Manifest) -> Iterator[str]:
    integrations = own.get("integrations") or {}
    frameworks = integrations.get("frameworks")
    if frameworks is not None and FRAMEWORK not in frameworks:
        listed = _listed(frameworks)
        yield f"integrations: frameworks must have {FRAMEWORK} (found: {listed})"


def _differing_fields(
    prefix: str, keys: Iterable[str], wanted: Manifest, there: Manifest
) -> Iterator[str]:
    for key in sorted(keys):
        value = wanted[key]
        found = there.get(key)
        if value != found:
            yield f"{prefix}{key}: must be {_short(value)} (found: {_short(found)})"


def _charge_lacks(resources: Manifest, counted: set[str]) -> Iterator[str]:
    """Transformations of resources that cases, or the fence, request."""
    for each in resources.get("transformations") or []:
        if each.get("input") in counted:
            yield f"resources.transformations: must leave {each['input']} as it is (found: {_short(each)})"


def _selection_lacks(own: Manifest, configuration: Manifest) -> Iterator[str]:
    """Settings with which Kueue would not manage exactly the Jobs that name a queue, in every namespace."""
    selector = own.get("managedJobsNamespaceSelector")
    if (
        selector
        and "managedJobsNamespaceSelector" not in configuration
        and not selects(selector, OURS)
    ):
        yield f"managedJobsNamespaceSelector: must select namespaces labelled {RUN_LABEL} (found: {_short(selector)})"
    if (
        own.get("manageJobsWithoutQueueName")
        and "manageJobsWithoutQueueName" not in configuration
    ):
        yield "manageJobsWithoutQueueName: must be false (found: true)"


def mappings(configuration: Manifest) -> list[Manifest]:
    """The device class mappings of a Configuration."""
    return (configuration.get("resources") or {}).get("deviceClassMappings") or []


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "nothing"


def _short(value: Any) -> str:
    return "nothing" if value is None else json.dumps(value)


def unfit(found: ClusterFacts, minor: str) -> list[str]:
    """Name what keeps every case from a cluster, whatever the case asks for; ``minor`` is the Kueue that decides."""
    own = found.configuration or {}
    return [
        *_api_lacks(found),
        *_integration_lacks(found, minor),
        *_frameworks_lacks(own),
        *_namespace_lacks(own),
        *_fence_lacks(own),
    ]


def _integration_lacks(found: ClusterFacts, minor: str) -> Iterator[str]:
    gate = found.behaviour(minor).integration_gate
    state = found.gates(minor)
    if not state.get(gate):
        yield f"featureGates: {gate} must be true (found: false)"


def _namespace_lacks(own: Manifest) -> Iterator[str]:
    selector = own.get("managedJobsNamespaceSelector")
    if selector and not selects(selector, namespace_labels(own) | OURS):
        yield f"managedJobsNamespaceSelector: must select some namespace by its labels (found: {_short(selector)})"


def namespace_labels(own: Manifest) -> dict[str, str]:
    """Give labels that make the Configuration's selector choose a namespace, if labels can."""
    selector = own.get("managedJobsNamespaceSelector") or {}
    labels = dict(selector.get("matchLabels") or {})
    for each in selector.get("matchExpressions") or []:
        key, operator = each["key"], each["operator"]
        if operator == "In":
            value, *_ = each["values"]
            labels.setdefault(key, value)
        elif operator == "Exists":
            labels.setdefault(key, "true")
    return labels


def _fence_lacks(own: Manifest) -> Iterator[str]:
    """Settings under which Kueue decides about a workload only after another one's pods run, or skips the fence's."""
    waiting = own.get("waitForPodsReady") or {}
    if waiting.get("blockAdmission"):
        yield "waitForPodsReady: blockAdmission must be false, because the Jobs of a run have no pods (found: true)"
    resources = own.get("resources") or {}
    yield from _charge_lacks(resources, {ASKED})
    prefixes = resources.get("excludeResourcePrefixes") or []
    for prefix in prefixes:
        if ASKED.startswith(prefix):
            yield f"resources.excludeResourcePrefixes: must leave {ASKED} in (found: {prefix})"
