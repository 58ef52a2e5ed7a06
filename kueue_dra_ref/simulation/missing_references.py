"""References to objects that do not exist: queues, flavors, admission checks, claim templates, priority classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.admission_checks import ADMISSION_CHECK
from kueue_dra_ref.api.job_kind import template_of
from kueue_dra_ref.api.job_kinds import JOB_KINDS, pod_set_places
from kueue_dra_ref.api.jobs import PRIORITY_LABEL, QUEUE_LABEL
from kueue_dra_ref.api.metadata import labels_of
from kueue_dra_ref.api.provisioning import CONFIG, is_provisioning
from kueue_dra_ref.api.train_jobs import TRAIN_JOB
from kueue_dra_ref.controllers.workloadpriorityclass import BUILT_IN
from kueue_dra_ref.controlplane.store import Store
from kueue_dra_ref.target import FieldError, Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingReference:
    """The name of another object in a field; ``namespace`` is empty for cluster scope."""

    field: str
    kind: str
    name: str
    namespace: str = ""

    @property
    def place(self) -> str:
        """The namespace, if there is one, and the name."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    @property
    def error(self) -> FieldError:
        """The error of the field, if there is no such object."""
        return FieldError(
            field=self.field,
            type="Not found",
            value=f'"{self.name}"',
            detail=f"expected a {self.kind} {self.place}, and there is none",
        )


def missing(manifest: Manifest, store: Store) -> Iterator[MissingReference]:
    """Give the references of a stored object to objects that do not exist."""
    for reference in references(manifest):
        kind, name, namespace = reference.kind, reference.name, reference.namespace
        if name and store.find(kind, name, namespace) is None:
            yield reference


def references(manifest: Manifest) -> Iterator[MissingReference]:
    """Give the references of a stored object."""
    spec = manifest.get("spec") or {}
    meta = manifest["metadata"]
    namespace = meta.get("namespace", "")
    match manifest["kind"]:
        case "LocalQueue":
            name = spec.get("clusterQueue", "")
            yield MissingReference(
                field="spec.clusterQueue",
                kind="ClusterQueue",
                name=name,
            )
        case "ClusterQueue":
            yield from _flavors(spec)
            yield from _checks(spec)
        case "AdmissionCheck" if is_provisioning(manifest):
            yield from _configuration(spec)
        case "Workload":
            yield from _of_workload(spec, namespace)
        case kind if kind in JOB_KINDS:
            yield from _labels(labels_of(manifest), namespace)
            yield from _runtime(manifest, namespace)
            for place in pod_set_places(manifest):
                template = template_of(manifest, place)
                yield from _of_pods(template, place.pod_path, namespace)


def _runtime(job: Manifest, namespace: str) -> Iterator[MissingReference]:
    """Give the runtime that a TrainJob names."""
    reference = (job.get("spec") or {}).get("runtimeRef")
    if job["kind"] != TRAIN_JOB.name or not reference:
        return
    kind = reference.get("kind", "ClusterTrainingRuntime")
    yield MissingReference(
        field="spec.runtimeRef",
        kind=kind,
        name=reference.get("name", ""),
        namespace=namespace if kind == "TrainingRuntime" else "",
    )


def _of_workload(spec: dict[str, Any], namespace: str) -> Iterator[MissingReference]:
    yield MissingReference(
        field="spec.queueName",
        kind="LocalQueue",
        name=spec.get("queueName", ""),
        namespace=namespace,
    )
    for index, pod_set in enumerate(spec.get("podSets") or ()):
        template = pod_set.get("template") or {}
        path = f"spec.podSets[{index}].template.spec"
        yield from _of_pods(template, path, namespace)


def _flavors(spec: dict[str, Any]) -> Iterator[MissingReference]:
    for i, group in enumerate(spec.get("resourceGroups") or ()):
        for j, flavor in enumerate(group.get("flavors") or ()):
            field = f"spec.resourceGroups[{i}].flavors[{j}].name"
            yield MissingReference(
                field=field,
                kind="ResourceFlavor",
                name=flavor.get("name", ""),
            )


def _checks(spec: dict[str, Any]) -> Iterator[MissingReference]:
    strategy = spec.get("admissionChecksStrategy") or {}
    for index, check in enumerate(strategy.get("admissionChecks") or ()):
        yield MissingReference(
            field=f"spec.admissionChecksStrategy.admissionChecks[{index}].name",
            kind=ADMISSION_CHECK,
            name=check.get("name", ""),
        )


def _configuration(spec: dict[str, Any]) -> Iterator[MissingReference]:
    """Give the configuration that a check of provisioning names."""
    parameters = spec.get("parameters") or {}
    if parameters.get("kind") == CONFIG:
        yield MissingReference(
            field="spec.parameters.name",
            kind=CONFIG,
            name=parameters.get("name", ""),
        )


def _labels(labels: dict[str, str], namespace: str) -> Iterator[MissingReference]:
    queue, priority = labels.get(QUEUE_LABEL, ""), labels.get(PRIORITY_LABEL, "")
    yield MissingReference(
        field=f"metadata.labels[{QUEUE_LABEL}]",
        kind="LocalQueue",
        name=queue,
        namespace=namespace,
    )
    yield MissingReference(
        field=f"metadata.labels[{PRIORITY_LABEL}]",
        kind="WorkloadPriorityClass",
        name=priority,
    )


def _of_pods(
    template: dict[str, Any],
    path: str,
    namespace: str,
) -> Iterator[MissingReference]:
    spec = template.get("spec") or {}
    if (priority := spec.get("priorityClassName", "")) not in BUILT_IN:
        yield MissingReference(
            field=f"{path}.priorityClassName",
            kind="PriorityClass",
            name=priority,
        )
    for index, claim in enumerate(spec.get("resourceClaims") or ()):
        field = f"{path}.resourceClaims[{index}].resourceClaimTemplateName"
        name = claim.get("resourceClaimTemplateName", "")
        yield MissingReference(
            field=field,
            kind="ResourceClaimTemplate",
            name=name,
            namespace=namespace,
        )
