"""The manifests of a driver in a profile: its chart rendered, or its own manifests, with the image of the cluster."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import yaml

from kueue_dra_clusters.kind.charts import kueue_manifests, namespace, rendered
from kueue_dra_clusters.kind.driver_description import (
    EXAMPLE_DRIVER,
    DriverDescription,
)
from kueue_dra_clusters.kind.driver_source import (
    DriverFileError,
    chart_of,
    manifests_of,
)
from kueue_dra_clusters.kind.image_source import Images
from kueue_dra_clusters.kind.profiles import NOWHERE, Profile
from kueue_dra_clusters.releases import Release
from kueue_dra_ref.target import Manifest

RELEASE = "driver"
OF_THE_CLUSTER = frozenset(
    {
        "APIService",
        "CSIDriver",
        "ClusterRole",
        "ClusterRoleBinding",
        "CustomResourceDefinition",
        "DeviceClass",
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "MutatingWebhookConfiguration",
        "Namespace",
        "PriorityClass",
        "ResourceSlice",
        "RuntimeClass",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
    }
)
"""Kinds without a namespace that drivers install."""
SYSTEM = ("default", "kube-")
"""The names, or their beginnings, of namespaces that every cluster has."""


def driver_manifests(
    driver: DriverDescription, profile: Profile, image: str
) -> list[Manifest]:
    """Give what installs a driver in a profile, with its image under the name that the nodes know.

    The nodes do not pull an image that was loaded into them.

    Raises:
        DriverFileError: the description does not fit the chart or the manifests.

    """
    found = [_placed(each, driver.namespace) for each in _documents(driver, profile)]
    names = {
        each["metadata"]["name"] for each in found if each["kind"] == "DeviceClass"
    }
    if driver.device_class not in names:
        listed = ", ".join(sorted(names)) or "none"
        raise DriverFileError(
            driver, "deviceClass", f"found {driver.device_class}, installed: {listed}"
        )
    _set_image(driver, found, image)
    if profile.absent:
        for each in daemon_sets(found):
            each["spec"]["template"]["spec"].setdefault("nodeSelector", {}).update(
                NOWHERE
            )
    if driver.namespace.startswith(SYSTEM):
        return found
    return [namespace(driver.namespace), *found]


def profile_manifests(
    release: Release,
    images: Images,
    profile: Profile,
    driver: DriverDescription = EXAMPLE_DRIVER,
) -> list[Manifest]:
    """Give what installs Kueue and a driver in a profile."""
    configuration = profile.configuration(driver)
    kueue = kueue_manifests(release, images.kueue, configuration, mark="none")
    return [*kueue, *driver_manifests(driver, profile, images.driver)]


def daemon_sets(manifests: Iterable[Manifest]) -> list[Manifest]:
    """Give the DaemonSets of some manifests."""
    return [each for each in manifests if each["kind"] == "DaemonSet"]


def _documents(driver: DriverDescription, profile: Profile) -> Iterator[Manifest]:
    if driver.chart:
        values = profile.values(driver)
        name = _release_name(driver)
        yield from rendered(name, chart_of(driver), driver.namespace, values)
        return
    for file in manifests_of(driver):
        for each in yaml.safe_load_all(file.read_text(encoding="utf-8")):
            yield from _taken_apart(each)


def _release_name(driver: DriverDescription) -> str:
    """Give the last part of the chart's path, as the name of the release in helm."""
    return driver.chart.rstrip("/").rpartition("/")[2].removesuffix(".tgz") or RELEASE


def _taken_apart(document: Any) -> Iterator[Manifest]:
    if isinstance(document, Mapping) and document.get("kind"):
        is_list = str(document["kind"]).endswith("List") and "items" in document
        yield from document["items"] if is_list else [dict(document)]


def _placed(manifest: Manifest, name: str) -> Manifest:
    """Give an object its namespace, as helm install does."""
    found = copy.deepcopy(manifest)
    if found["kind"] not in OF_THE_CLUSTER:
        found["metadata"].setdefault("namespace", name)
    return found


def _set_image(
    driver: DriverDescription, manifests: list[Manifest], image: str
) -> None:
    """Put the image of the nodes in the place of the described one."""
    containers = list(_containers(manifests))
    ours = [each for each in containers if each["image"] == driver.image]
    if not ours:
        listed = ", ".join(sorted({each["image"] for each in containers})) or "none"
        problem = f"found {driver.image}, containers that are installed have: {listed}"
        raise DriverFileError(driver, "image.reference", problem)
    for each in ours:
        each["image"] = image
        if each.get("imagePullPolicy") == "Always":
            each["imagePullPolicy"] = "IfNotPresent"


def _containers(manifests: Iterable[Manifest]) -> Iterator[dict[str, Any]]:
    for manifest in manifests:
        pod = ((manifest.get("spec") or {}).get("template") or {}).get("spec") or {}
        yield from pod.get("initContainers") or ()
        yield from pod.get("containers") or ()
