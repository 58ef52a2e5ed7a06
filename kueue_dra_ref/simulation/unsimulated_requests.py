"""What work that is not simulated would request of its queue, as far as its pod templates say it.

Kueue: pkg/workload/workload.go (totalRequestsFromPodSets)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from kueue_dra_ref.api.documents import ManifestDocument
from kueue_dra_ref.api.metadata import owners_of
from kueue_dra_ref.api.pods import printed
from kueue_dra_ref.api.scheme import KUEUE
from kueue_dra_ref.api.status_errors import ManifestError
from kueue_dra_ref.api.types import Workload
from kueue_dra_ref.api.unstructured import part
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.dra.preprocess import preprocess_dra_resources
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.simulation.inputs import DEFAULT_NAMESPACE
from kueue_dra_ref.simulation.other_kinds import group_and_kind
from kueue_dra_ref.simulation.other_work import (
    OF_OTHER_WORK,
    PodTemplate,
    pod_templates,
    queue_label,
)
from kueue_dra_ref.target import Manifest
from kueue_dra_ref.workload.total_requests import total_requests

_NOT_READABLE = "this object alone does not say what its pods request"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsimulatedWork:
    """Work that names a queue and that the simulation does not admit."""

    document: ManifestDocument
    kind: str
    namespace: str
    name: str
    queue: str
    cluster_queue: str
    """The ClusterQueue of its LocalQueue; empty if there is no such LocalQueue."""
    templates: Sequence[PodTemplate] = ()
    """Its pod templates; none where the object alone does not say them."""

    @property
    def pods(self) -> int:
        """The number of pods of its templates."""
        return sum(each.count for each in self.templates)

    @property
    def shown(self) -> str:
        """Kind, namespace and name."""
        return f"{self.kind} {self.namespace}/{self.name}"


def unsimulated_work(
    target: ReferenceTarget, documents: Sequence[ManifestDocument]
) -> list[UnsimulatedWork]:
    """Give the documents of work whose Workloads are not in the simulation."""
    owners = _owners_of_workloads(target)
    found = []
    for document in documents:
        if not _has_workloads(document.manifest, owners):
            found.append(_work(target, document))
    return found


def _owners_of_workloads(target: ReferenceTarget) -> set[str]:
    """Give the UIDs of the objects that Workloads belong to."""
    owners = set()
    for workload in target.store.every("Workload"):
        for owner in owners_of(workload):
            owners.add(str(owner.get("uid")))
    return owners


def _has_workloads(manifest: Manifest, owners: Collection[str]) -> bool:
    """Whether the Workloads of an object of a running cluster are there: its own, or those of its pods or Jobs."""
    uid = part(manifest, "metadata").get("uid")
    if not uid:
        return False
    return uid in owners or group_and_kind(manifest) in OF_OTHER_WORK


def _work(target: ReferenceTarget, document: ManifestDocument) -> UnsimulatedWork:
    manifest = document.manifest
    kind = group_and_kind(manifest)
    meta = part(manifest, "metadata")
    namespace = str(meta.get("namespace") or DEFAULT_NAMESPACE)
    name = str(meta.get("name") or meta.get("generateName") or "")
    queue = queue_label(manifest)
    found = target.store.find("LocalQueue", queue, namespace) or {}
    return UnsimulatedWork(
        document=document,
        kind=kind[1],
        namespace=namespace,
        name=name,
        queue=queue,
        cluster_queue=str(part(found, "spec").get("clusterQueue", "")),
        templates=pod_templates(kind, manifest),
    )


def requested(
    target: ReferenceTarget, work: UnsimulatedWork
) -> tuple[Mapping[str, str], str]:
    """Give what the pod templates of work request in total, by resource; or why that is not known."""
    templates = work.templates
    manager = target.manager
    if not templates or manager is None:
        return {}, _NOT_READABLE
    kueue = manager.kueue
    warnings = list(target.api_server.warnings)
    manifest = _as_workload(work)
    try:
        stored = target.api_server.storable(manifest, target.store)
        workload = kueue.adjusted(stored)
        return _total(kueue, workload)
    except ManifestError as fault:
        return {}, f"its pods are invalid: {fault.error}"
    finally:
        target.api_server.warnings[:] = warnings


def _as_workload(work: UnsimulatedWork) -> Manifest:
    pod_sets = []
    for number, each in enumerate(work.templates, 1):
        spec = {"restartPolicy": "Never", **part(each.template, "spec")}
        name = "main" if len(work.templates) == 1 else f"set-{number}"
        pod_sets.append({"name": name, "count": each.count, "template": {"spec": spec}})
    return {
        "apiVersion": f"{KUEUE}/v1beta2",
        "kind": "Workload",
        "metadata": {"name": "unsimulated", "namespace": work.namespace},
        "spec": {"queueName": work.queue, "podSets": pod_sets},
    }


def _total(kueue: Kueue, workload: Workload) -> tuple[Mapping[str, str], str]:
    devices = preprocess_dra_resources(kueue.behaviour, kueue.lister, workload)
    if devices.refused:
        return {}, f"Kueue would not queue it: {devices.refused.message}"
    requests = total_requests(
        kueue.behaviour, kueue.configuration, workload, devices, {}
    )
    total: dict[str, int] = {}
    for pod_set in requests:
        for resource, amount in pod_set.amounts.items():
            total[resource] = total.get(resource, 0) + amount
    shown = {name: printed(name, total[name], kueue.in_bytes) for name in sorted(total)}
    return shown, ""
