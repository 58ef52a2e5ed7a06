"""Finds the Kueue of a cluster: its Deployment, the Configuration that it mounts, its release and its gates."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from kueue_dra_clusters.api_client import APIClient, RequestRejected
from kueue_dra_clusters.errors import ClusterError
from kueue_dra_ref.api import documents
from kueue_dra_ref.api.configuration_documents import configurations
from kueue_dra_ref.api.metadata import labels_of
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.releases import KUEUE, minor_of, release_of
from kueue_dra_ref.features.kube_features import effective
from kueue_dra_ref.features.manager_flags import MANAGER_CONTAINER, gates_of_arguments
from kueue_dra_ref.target import Manifest, Ref

HOME = "kueue-system"
MANAGER_NAME = "kueue-controller-manager"
SETTINGS_NAME = "kueue-manager-config"
MANAGER = Ref(
    api_version="apps/v1", kind="Deployment", namespace=HOME, name=MANAGER_NAME
)
SETTINGS = Ref(api_version="v1", kind="ConfigMap", namespace=HOME, name=SETTINGS_NAME)
IMAGE = "kueue"
NAME_LABEL = "app.kubernetes.io/name"
VERSION_LABEL = "app.kubernetes.io/version"
DEPLOYMENTS = "/apis/apps/v1/deployments"
OPTIONS = "--kueue-namespace, --kueue-deployment and --kueue-configmap"


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallationNames:
    """The names that the user gives of an installation; an empty one is found."""

    namespace: str = ""
    deployment: str = ""
    config_map: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFacts:
    """The version, Configuration and gates of a cluster's Kueue."""

    version: str
    """Such as ``0.19.2``; empty without a manager."""
    configuration: Manifest | None
    """None without its ConfigMap."""
    gates_by_flag: Mapping[str, bool]
    resource_versions: tuple[str, ...]
    manager: Ref = MANAGER
    settings: Ref = SETTINGS

    @classmethod
    def read(
        cls, objects: APIClient, names: InstallationNames | None = None
    ) -> ClusterFacts:
        """Read the manager's Deployment and the Configuration that it mounts.

        Raises:
            ClusterError: there is no Kueue, or more than one, or it may not be read; the message says what to give.

        """
        names = names or InstallationNames()
        manager = _manager_of(objects, names)
        ref = Ref.of(manager) if manager else MANAGER
        settings, configuration = _settings_of(objects, manager, ref.namespace, names)
        group = objects.call("GET", "/apis/resource.k8s.io").body
        served = group.get("versions") or []
        return cls(
            version=_version_of(manager),
            configuration=configuration,
            gates_by_flag=_gates_of(manager),
            resource_versions=tuple(each["groupVersion"] for each in served),
            manager=ref,
            settings=settings,
        )

    @property
    def minor(self) -> str:
        """The minor of the version, such as ``0.19``."""
        return minor_of(self.version)

    def behaviour(self, minor: str) -> Behaviour:
        """Give the behaviour of the version; of a minor if the version cannot be read, or is not known."""
        release = release_of(self.version)
        return release.behaviour() if release else behaviour(f"{KUEUE}{minor}")

    def gates(self, minor: str) -> Mapping[str, bool]:
        """The state of every feature gate, set or by default; ``minor`` counts if the version cannot be read."""
        configuration = self.configuration or {}
        written = configuration.get("featureGates") or {}
        asked = {**written, **self.gates_by_flag}
        state = effective(self.behaviour(minor).gates, asked)
        return state if isinstance(state, Mapping) else asked


def _manager_of(objects: APIClient, names: InstallationNames) -> Manifest:
    """Find Kueue's Deployment; an empty one if there is none."""
    found = [each for each in _deployments(objects, names) if _is_kueue(each, names)]
    if len(found) == 1:
        return found[0]
    if found:
        places = ", ".join(sorted(_place(each) for each in found))
        raise ClusterError(
            f"found {len(found)} Deployments of Kueue: {places}; name one with {OPTIONS}"
        )
    if names.namespace or names.deployment:
        place = f"{names.namespace or '*'}/{names.deployment or '*'}"
        raise ClusterError(f"found no Deployment of Kueue as {place}; check {OPTIONS}")
    return {}


def _deployments(objects: APIClient, names: InstallationNames) -> list[Manifest]:
    inside = f"/apis/apps/v1/namespaces/{names.namespace}/deployments"
    answer = objects.call("GET", inside if names.namespace else DEPLOYMENTS)
    if answer.ok:
        head = {"apiVersion": "apps/v1", "kind": "Deployment"}
        return [{**each, **head} for each in answer.body.get("items") or []]
    if answer.code != HTTPStatus.FORBIDDEN:
        raise RequestRejected(did="list Deployments", answer=answer)
    namespace = names.namespace or HOME
    ref = Ref(
        api_version="apps/v1",
        kind="Deployment",
        namespace=namespace,
        name=names.deployment or MANAGER_NAME,
    )
    try:
        found = objects.read(ref)
    except RequestRejected:
        raise ClusterError(
            f"may neither list Deployments nor get {ref} (403); see examples/rbac/run.yaml for the permissions"
        ) from None
    return [found] if found else []


def _is_kueue(deployment: Manifest, names: InstallationNames) -> bool:
    """Whether a Deployment is the one that the user names, or runs a manager of Kueue."""
    if names.deployment:
        return bool(deployment["metadata"]["name"] == names.deployment)
    labelled = labels_of(deployment).get(NAME_LABEL) == IMAGE
    managers = [
        each
        for each in containers_of(deployment)
        if each["name"] == MANAGER_CONTAINER
        and (labelled or _image_name(each) == IMAGE)
    ]
    return bool(managers)


def _image_name(container: Manifest) -> str:
    """Give the last part of an image's name: ``kueue`` of ``registry:5000/kueue/kueue:v0.19.2``."""
    image, _, _ = str(container.get("image", "")).partition("@")
    return image.rpartition("/")[2].partition(":")[0]


def _place(manifest: Manifest) -> str:
    meta = manifest["metadata"]
    return f"{meta.get('namespace', '')}/{meta['name']}"


def _settings_of(
    objects: APIClient, manager: Manifest, namespace: str, names: InstallationNames
) -> tuple[Ref, Manifest | None]:
    """Read the Configuration from the ConfigMap that the user names, the Deployment mounts, or is usual."""
    wanted = [names.config_map] if names.config_map else list(_mounted(manager))
    refs = [
        Ref(api_version="v1", kind="ConfigMap", namespace=namespace, name=name)
        for name in wanted or [SETTINGS_NAME]
    ]
    for ref in refs:
        try:
            stored = objects.read(ref)
        except RequestRejected as rejected:
            raise ClusterError(
                f"may not get {ref} ({rejected.answer.code}), which holds Kueue's Configuration; "
                "see examples/rbac/run.yaml for the permissions"
            ) from None
        found = _configuration_of(stored, ref)
        if found is not None:
            return ref, found
    return refs[0], None


def _mounted(manager: Manifest) -> Iterator[str]:
    """Name the ConfigMaps that a Deployment mounts."""
    for volume in _pods_of(manager).get("volumes") or ():
        if name := (volume.get("configMap") or {}).get("name"):
            yield name


def _configuration_of(settings: Manifest | None, ref: Ref) -> Manifest | None:
    if settings is None:
        return None
    parsed = documents.parse(json.dumps(settings), str(ref))
    found = configurations(parsed)
    return found[0].manifest if found else None


def _version_of(manager: Manifest) -> str:
    tags = []
    for container in containers_of(manager):
        image, _, _ = container["image"].partition("@")
        tags.append(image.rpartition(":")[2])
    labels = labels_of(manager)
    for each in (*tags, labels.get(VERSION_LABEL, "")):
        version = str(each).removeprefix("v")
        if version[:1].isdigit():
            return version
    return ""


def _gates_of(manager: Manifest) -> dict[str, bool]:
    found: dict[str, bool] = {}
    for container in containers_of(manager):
        found |= gates_of_arguments(container.get("args") or ())
    return found


def containers_of(manager: Manifest) -> Sequence[Manifest]:
    """Give the manager's container of a Deployment; all containers if none has that name."""
    containers = _pods_of(manager).get("containers") or []
    managers = [each for each in containers if each["name"] == MANAGER_CONTAINER]
    return managers or containers


def _pods_of(manager: Manifest) -> Manifest:
    template = manager.get("spec", {}).get("template", {})
    spec: Manifest = template.get("spec", {})
    return spec
