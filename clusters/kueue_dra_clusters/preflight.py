"""Whether a cluster's own Kueue serves what cases were written for: its version, mappings and gates."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_ref.api import documents
from kueue_dra_ref.api.jobs import FRAMEWORK
from kueue_dra_ref.api.labels import NAME_LABEL, selects
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.features.kube_features import effective
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
"""Whatever a run makes on a cluster that it does not own has this label, with the run for its value."""
OURS = {RUN_LABEL: "some", NAME_LABEL: "kueue-dra"}
ORDINARY = ("cpu", "memory")
"""What cases ask for beside devices."""
COMPARED_APART = frozenset({"apiVersion", "kind", "resources", "featureGates"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFacts:
    """What a cluster says about its Kueue."""

    version: str
    """Such as ``0.19.2``; empty when no manager was found."""
    configuration: Manifest | None
    """None when there is no ConfigMap to read it from."""
    gates_by_flag: Mapping[str, bool]
    resource_versions: tuple[str, ...]

    @classmethod
    def read(cls, objects: APIClient) -> ClusterFacts:
        """Read the manager's Deployment and its Configuration, as a release installs them."""
        manager = objects.read(MANAGER) or {}
        served = objects.call("GET", "/apis/resource.k8s.io").body.get("versions") or []
        return cls(
            version=_version_of(manager),
            configuration=_configuration_of(objects.read(SETTINGS)),
            gates_by_flag=_gates_of(manager),
            resource_versions=tuple(each["groupVersion"] for each in served),
        )

    def gates(self, minor: str) -> Mapping[str, bool]:
        """Every feature gate that is on or off in a Kueue of a minor, asked for or by default."""
        asked = {
            **((self.configuration or {}).get("featureGates") or {}),
            **self.gates_by_flag,
        }
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
    elif ".".join(found.version.split(".")[:2]) != minor:
        yield f"Kueue: must be {minor} (found: {found.version})"
    if NEEDED_API not in found.resource_versions:
        yield f"Kubernetes: must serve {NEEDED_API} (found: {', '.join(found.resource_versions) or 'nothing'})"
    if found.configuration is None:
        yield f"Configuration: must be readable from {SETTINGS} (found: nothing)"


def _mapping_lacks(found: ClusterFacts, configuration: Manifest) -> Iterator[str]:
    own = {each["name"]: each for each in mappings(found.configuration or {})}
    for mapping in mappings(configuration):
        name = mapping["name"]
        there = own.get(name, {})
        classes = there.get("deviceClassNames") or []
        for each in mapping.get("deviceClassNames") or []:
            if each not in classes:
                yield f"deviceClassMappings: {name} must map {each} (found: {', '.join(classes) or 'nothing'})"
        wanted, sources = mapping.get("sources"), there.get("sources")
        if wanted != sources:
            yield f"deviceClassMappings: {name} must have the sources {_short(wanted)} (found: {_short(sources)})"


def _gate_lacks(state: Mapping[str, bool], configuration: Manifest) -> Iterator[str]:
    for name, wanted in (configuration.get("featureGates") or {}).items():
        if state.get(name) is not wanted:
            yield f"featureGates: {name} must be {_short(wanted)} (found: {_short(state.get(name))})"


def _other_lacks(found: ClusterFacts, configuration: Manifest) -> Iterator[str]:
    own = found.configuration or {}
    frameworks = (own.get("integrations") or {}).get("frameworks")
    if frameworks is not None and FRAMEWORK not in frameworks:
        yield f"integrations: frameworks must have {FRAMEWORK} (found: {', '.join(frameworks) or 'nothing'})"
    yield from _selection_lacks(own, configuration)
    for key in sorted(configuration.keys() - COMPARED_APART - {"integrations"}):
        if configuration[key] != own.get(key):
            yield f"{key}: must be {_short(configuration[key])} (found: {_short(own.get(key))})"
    wanted, there = configuration.get("resources") or {}, own.get("resources") or {}
    for key in sorted(wanted.keys() - {"deviceClassMappings"}):
        if wanted[key] != there.get(key):
            yield f"resources.{key}: must be {_short(wanted[key])} (found: {_short(there.get(key))})"
    if "transformations" not in wanted:
        yield from _charge_lacks(
            there,
            {*ORDINARY, *(mapping["name"] for mapping in mappings(configuration))},
        )


def _charge_lacks(resources: Manifest, counted: set[str]) -> Iterator[str]:
    """What would have Kueue charge something else for what cases, and the fence, ask for."""
    for each in resources.get("transformations") or []:
        if each.get("input") in counted:
            yield f"resources.transformations: must leave {each['input']} as it is (found: {_short(each)})"


def _selection_lacks(own: Manifest, configuration: Manifest) -> Iterator[str]:
    """What would have Kueue manage other Jobs than those that name a queue, wherever they are."""
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


def _short(value: Any) -> str:
    return "nothing" if value is None else json.dumps(value)


def _version_of(manager: Manifest) -> str:
    tags = [
        container["image"].partition("@")[0].rpartition(":")[2]
        for container in _containers(manager)
    ]
    label = (manager.get("metadata", {}).get("labels") or {}).get(VERSION_LABEL, "")
    versions = [
        each.removeprefix("v")
        for each in (*tags, label)
        if each.removeprefix("v")[:1].isdigit()
    ]
    return versions[0] if versions else ""


def _gates_of(manager: Manifest) -> dict[str, bool]:
    args = [
        arg for container in _containers(manager) for arg in container.get("args") or []
    ]
    written = ",".join(
        arg.partition("=")[2] for arg in args if arg.startswith("--feature-gates=")
    )
    return {
        name: on.lower() == "true"
        for name, _, on in (each.partition("=") for each in written.split(",") if each)
    }


def _containers(manager: Manifest) -> list[Manifest]:
    containers = (
        manager.get("spec", {}).get("template", {}).get("spec", {}).get("containers")
        or []
    )
    return [each for each in containers if each["name"] == "manager"] or containers


def _configuration_of(settings: Manifest | None) -> Manifest | None:
    if settings is None:
        return None
    found = documents.configurations(
        documents.parse(json.dumps(settings), str(SETTINGS))
    )
    return found[0].manifest if found else None
