"""Checks whether a cluster's own Kueue serves the cases: its version, mappings and gates."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_ref.api import documents
from kueue_dra_ref.api.configuration_documents import configurations
from kueue_dra_ref.api.jobs import FRAMEWORK
from kueue_dra_ref.api.labels import NAME_LABEL, selects
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.behaviours.releases import minor_of
from kueue_dra_ref.features.kube_features import effective
from kueue_dra_ref.features.manager_flags import MANAGER_CONTAINER, gates_of_arguments
from kueue_dra_ref.target import Manifest, Ref

HOME = "kueue-system"
MANAGER = Ref(
    api_version="apps/v1",
    kind="Deployment",
    namespace=HOME,
    name="kueue-controller-manager",
)
SETTINGS = Ref(
    api_version="v1", kind="ConfigMap", namespace=HOME, name="kueue-manager-config"
)
NEEDED_API = "resource.k8s.io/v1"
VERSION_LABEL = "app.kubernetes.io/version"
RUN_LABEL = "kueue-dra.dev/run"
"""The label of every object that a run creates on an existing cluster, with the run as its value."""
OURS = {RUN_LABEL: "some", NAME_LABEL: "kueue-dra"}
ORDINARY = ("cpu", "memory")
"""The resources that cases request in addition to devices."""
COMPARED_APART = frozenset({"apiVersion", "kind", "resources", "featureGates"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFacts:
    """The version, Configuration and gates of a cluster's Kueue."""

    version: str
    """Such as ``0.19.2``; empty without a manager."""
    configuration: Manifest | None
    """None without its ConfigMap."""
    gates_by_flag: Mapping[str, bool]
    resource_versions: tuple[str, ...]

    @classmethod
    def read(cls, objects: APIClient) -> ClusterFacts:
        """Read the manager's Deployment and its Configuration, as a release installs them."""
        manager = objects.read(MANAGER) or {}
        group = objects.call("GET", "/apis/resource.k8s.io").body
        served = group.get("versions") or []
        return cls(
            version=_version_of(manager),
            configuration=_configuration_of(objects.read(SETTINGS)),
            gates_by_flag=_gates_of(manager),
            resource_versions=tuple(each["groupVersion"] for each in served),
        )

    def gates(self, minor: str) -> Mapping[str, bool]:
        """The state of every feature gate of a Kueue of a minor, set or by default."""
        configuration = self.configuration or {}
        written = configuration.get("featureGates") or {}
        asked = {**written, **self.gates_by_flag}
        state = effective(behaviour(f"kueue-{minor}").gates, asked)
        return state if isinstance(state, Mapping) else asked


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
        yield f"Kueue: its version must be readable from {MANAGER} (found: nothing)"
    elif minor_of(found.version) != minor:
        yield f"Kueue: must be {minor} (found: {found.version})"
    if NEEDED_API not in found.resource_versions:
        served = _listed(found.resource_versions)
        yield f"Kubernetes: must serve {NEEDED_API} (found: {served})"
    if found.configuration is None:
        yield f"Configuration: must be readable from {SETTINGS} (found: nothing)"


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
    integrations = own.get("integrations") or {}
    frameworks = integrations.get("frameworks")
    if frameworks is not None and FRAMEWORK not in frameworks:
        yield f"integrations: frameworks must have {FRAMEWORK} (found: {_listed(frameworks)})"
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


def _differing_fields(
    prefix: str, keys: Iterable[str], wanted: Manifest, there: Manifest
) -> Iterator[str]:
    for key in sorted(keys):
        value, found = wanted[key], there.get(key)
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


def _version_of(manager: Manifest) -> str:
    tags = []
    for container in _containers(manager):
        image, _, _ = container["image"].partition("@")
        tags.append(image.rpartition(":")[2])
    labels = manager.get("metadata", {}).get("labels") or {}
    for each in (*tags, labels.get(VERSION_LABEL, "")):
        version = str(each).removeprefix("v")
        if version[:1].isdigit():
            return version
    return ""


def _gates_of(manager: Manifest) -> dict[str, bool]:
    found: dict[str, bool] = {}
    for container in _containers(manager):
        found |= gates_of_arguments(container.get("args") or ())
    return found


def _containers(manager: Manifest) -> list[Manifest]:
    template = manager.get("spec", {}).get("template", {})
    containers = template.get("spec", {}).get("containers") or []
    managers = [each for each in containers if each["name"] == MANAGER_CONTAINER]
    return managers or containers


def _configuration_of(settings: Manifest | None) -> Manifest | None:
    if settings is None:
        return None
    text = json.dumps(settings)
    parsed = documents.parse(text, str(SETTINGS))
    found = configurations(parsed)
    return found[0].manifest if found else None
