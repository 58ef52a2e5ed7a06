"""The demos among a vendor's files, as they are submitted: a Job as it is, of other work a Workload of its pods."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kueue_dra_ref.api.documents import ManifestDocument
from kueue_dra_ref.api.jobs import QUEUE_LABEL
from kueue_dra_ref.api.unstructured import part
from kueue_dra_ref.simulation.other_work import queue_label
from kueue_dra_ref.target import Manifest
from kueue_dra_vendor.files import VendorFiles, entries, pod_specs
from kueue_dra_vendor.mapping import KUEUE, QUEUE, an_object


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """What is submitted."""

    title: str
    manifest: Manifest


def demos_of(files: VendorFiles) -> list[ManifestDocument]:
    """Give the work that asks for devices or names a queue; the rest, such as the driver itself, is no demo."""
    return [each for each in files.work if _is_demo(each.manifest)]


def as_workloads(files: VendorFiles) -> list[str]:
    """Name the demos that are no Jobs: one pod of each of their templates is charged."""
    manifests = [each.manifest for each in demos_of(files)]
    return [_title(each) for each in manifests if each.get("kind") != "Job"]


def _is_demo(manifest: Manifest) -> bool:
    if queue_label(manifest):
        return True
    return any(_asks_for_devices(pod) for _, pod in pod_specs(manifest))


def _asks_for_devices(pod: Manifest) -> bool:
    """Whether a pod has claims, or an extended resource."""
    if pod.get("resourceClaims"):
        return True
    for container in entries(pod["containers"]):
        resources = part(container, "resources")
        names = [*part(resources, "requests"), *part(resources, "limits")]
        if any("/" in name for name in names):
            return True
    return False


def submitted(files: VendorFiles) -> Iterator[Demo]:
    for index, document in enumerate(demos_of(files)):
        manifest = document.manifest
        metadata = {"namespace": "default", **part(manifest, "metadata")}
        if not metadata.get("name"):
            metadata["name"] = str(metadata.pop("generateName", f"demo-{index}"))
            metadata["name"] = f"{metadata['name']}{index}"
        title = f"{metadata['namespace']}/{metadata['name']}"
        if manifest.get("kind") == "Job":
            labels = {QUEUE_LABEL: QUEUE, **part(metadata, "labels")}
            job = {**manifest, "metadata": {**metadata, "labels": labels}}
            yield Demo(title=title, manifest=job)
        else:
            title = f"{manifest.get('kind')} {title}"
            yield Demo(title=title, manifest=_workload_of(manifest, metadata, index))


def _workload_of(manifest: Manifest, metadata: Manifest, index: int) -> Manifest:
    """Give a Workload with one pod of each pod template of an object."""
    name = f"demo-{index}"
    queue = queue_label(manifest) or QUEUE
    pod_sets = []
    for number, (_, pod) in enumerate(pod_specs(manifest)):
        template = {"spec": {**_defaulted(pod), "restartPolicy": "Never"}}
        pod_sets.append({"name": f"set-{number}", "count": 1, "template": template})
    spec = {"queueName": queue, "podSets": pod_sets}
    return {**an_object(KUEUE, "Workload", name, metadata["namespace"]), "spec": spec}


def _defaulted(pod: Manifest) -> Manifest:
    """Copy limits to requests, as an API server does in the Pods that a controller makes."""
    found = {**pod}
    for key in ("initContainers", "containers"):
        if key in pod:
            found[key] = [_requesting(each) for each in entries(pod[key])]
    return found


def _requesting(container: Manifest) -> Manifest:
    resources = part(container, "resources")
    limits = part(resources, "limits")
    if not limits:
        return container
    requests = {**limits, **part(resources, "requests")}
    return {**container, "resources": {**resources, "requests": requests}}


def _title(manifest: Manifest) -> str:
    metadata = manifest.get("metadata") or {}
    return f"{manifest.get('kind')} {metadata.get('name', '')}"
