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
    containers = entries(pod["containers"])
    return any(map(_asks_by_name, containers))


def _asks_by_name(container: Manifest) -> bool:
    """Whether a container asks for an extended resource."""
    resources = part(container, "resources")
    requests = part(resources, "requests")
    limits = part(resources, "limits")
    names = {*requests, *limits}
    return any("/" in name for name in names)


def submitted(files: VendorFiles) -> Iterator[Demo]:
    """Give each demo as it is submitted."""
    for index, document in enumerate(demos_of(files)):
        yield _submitted(document.manifest, index)


def _submitted(manifest: Manifest, index: int) -> Demo:
    kind = str(manifest.get("kind"))
    metadata = _metadata(manifest, index)
    namespace = str(metadata["namespace"])
    place = f"{namespace}/{metadata['name']}"
    if kind == "Job":
        job = _queued(manifest, metadata)
        return Demo(title=place, manifest=job)
    name = f"demo-{index}"
    workload = an_object(KUEUE, "Workload", name, namespace)
    workload["spec"] = _workload_spec(manifest)
    return Demo(title=f"{kind} {place}", manifest=workload)


def _metadata(manifest: Manifest, index: int) -> Manifest:
    """Give the metadata of work, with a namespace and a name."""
    metadata = {"namespace": "default"}
    metadata |= part(manifest, "metadata")
    if not metadata.get("name"):
        prefix = metadata.pop("generateName", "demo-")
        metadata["name"] = f"{prefix}{index}"
    return metadata


def _queued(job: Manifest, metadata: Manifest) -> Manifest:
    """Give a Job that names a queue."""
    labels = {QUEUE_LABEL: QUEUE}
    labels |= part(metadata, "labels")
    metadata = {**metadata, "labels": labels}
    return {**job, "metadata": metadata}


def _workload_spec(manifest: Manifest) -> Manifest:
    """Give a Workload's spec with one pod of each pod template of an object."""
    pod_sets: list[Manifest] = []
    for _, pod in pod_specs(manifest):
        spec = _defaulted(pod)
        spec["restartPolicy"] = "Never"
        number = len(pod_sets)
        pod_set = {"name": f"set-{number}", "count": 1, "template": {"spec": spec}}
        pod_sets.append(pod_set)
    queue = queue_label(manifest) or QUEUE
    return {"queueName": queue, "podSets": pod_sets}


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
