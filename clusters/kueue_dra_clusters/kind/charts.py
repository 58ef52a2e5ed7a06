"""Renders the charts of Kueue and of drivers with helm."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from kueue_dra_clusters.kind.components import (
    HELM,
    HELM_VARIABLE,
    KUBECTL,
    kueue_chart,
    tool,
)
from kueue_dra_clusters.kind.provider import run
from kueue_dra_clusters.releases import Release
from kueue_dra_ref.target import Manifest

KUEUE_NAMESPACE = "kueue-system"
KUEUE_DEPLOYMENT = "kueue-controller-manager"
PROFILE_ANNOTATION = "kueue-dra.dev/profile"
PROBE = {"initialDelaySeconds": 1, "periodSeconds": 1}
API_VERSIONS = ("resource.k8s.io/v1", "resource.k8s.io/v1/DeviceClass")

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def kueue_manifests(
    release: Release, image: str, configuration: Mapping[str, Any], *, mark: str
) -> list[Manifest]:
    """Render Kueue's own chart for a Configuration; another ``mark`` restarts its pod."""
    repository, _, tag = image.rpartition(":")
    manager = {
        "image": {"repository": repository, "tag": tag, "pullPolicy": "IfNotPresent"},
        "podAnnotations": {PROFILE_ANNOTATION: mark},
    }
    values = {
        "controllerManager": {
            "manager": manager,
            "readinessProbe": PROBE,
            "strategy": {"type": "Recreate"},
        },
        "managerConfig": {
            "controllerManagerConfigYaml": json.dumps(configuration, indent=2)
        },
    }
    return [
        namespace(KUEUE_NAMESPACE),
        *rendered("kueue", kueue_chart(release.component), KUEUE_NAMESPACE, values),
    ]


def a_list(manifests: Iterable[Manifest]) -> str:
    """Give manifests as one document for kubectl."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(manifests)})


def images_of(manifests: Sequence[Manifest]) -> list[str]:
    """Give every image of the containers of manifests."""
    found: dict[str, None] = {}
    for manifest in manifests:
        pod = ((manifest.get("spec") or {}).get("template") or {}).get("spec") or {}
        for container in (
            *(pod.get("initContainers") or ()),
            *(pod.get("containers") or ()),
        ):
            found[container["image"]] = None
    return list(found)


def namespace(name: str) -> Manifest:
    """Give a namespace."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def rendered(
    name: str, chart: Path, namespace: str, values: Mapping[str, Any]
) -> list[Manifest]:
    """Render a chart for the Kubernetes of the nodes."""
    with tempfile.TemporaryDirectory(prefix="kueue-dra-values-") as folder:
        file = Path(folder) / "values.json"
        file.write_text(json.dumps(values), encoding="utf-8")
        arguments = [
            "template",
            f"--kube-version={KUBECTL.version}",
            name,
            str(chart),
            f"--namespace={namespace}",
            "--include-crds",
            *(f"--api-versions={version}" for version in API_VERSIONS),
            f"--values={file}",
        ]
        text = run([str(tool(HELM, HELM_VARIABLE)), *arguments])
    return [document for document in yaml.load_all(text, Loader=_Loader) if document]
