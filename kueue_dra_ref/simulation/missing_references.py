"""What objects name and nobody gave: queues, flavors, templates, priority classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.jobs import POD_PATH, PRIORITY_LABEL, QUEUE_LABEL
from kueue_dra_ref.controllers.workloadpriorityclass import BUILT_IN
from kueue_dra_ref.controlplane.store import Store
from kueue_dra_ref.target import FieldError, Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingReference:
    """One name in an object, and what it should lead to; ``namespace`` is empty for cluster scope."""

    field: str
    kind: str
    name: str
    namespace: str = ""


def missing(manifest: Manifest, store: Store) -> Iterator[FieldError]:
    """Each reference of a stored object that leads nowhere."""
    for reference in references(manifest):
        if (
            reference.name
            and store.find(reference.kind, reference.name, reference.namespace) is None
        ):
            wanted = (
                f"{reference.namespace}/{reference.name}"
                if reference.namespace
                else reference.name
            )
            yield FieldError(
                field=reference.field,
                type="Not found",
                value=f'"{reference.name}"',
                detail=f"expected a {reference.kind} {wanted}, and there is none",
            )


def references(manifest: Manifest) -> Iterator[MissingReference]:
    """What a stored object names."""
    spec, meta = manifest.get("spec") or {}, manifest["metadata"]
    namespace = meta.get("namespace", "")
    match manifest["kind"]:
        case "LocalQueue":
            yield MissingReference(
                field="spec.clusterQueue",
                kind="ClusterQueue",
                name=spec.get("clusterQueue", ""),
            )
        case "ClusterQueue":
            yield from _flavors(spec)
        case "Job":
            yield from _labels(meta.get("labels") or {}, namespace)
            yield from _of_pods(spec.get("template") or {}, POD_PATH, namespace)
        case "Workload":
            yield MissingReference(
                field="spec.queueName",
                kind="LocalQueue",
                name=spec.get("queueName", ""),
                namespace=namespace,
            )
            for index, pod_set in enumerate(spec.get("podSets") or ()):
                yield from _of_pods(
                    pod_set.get("template") or {},
                    f"spec.podSets[{index}].template.spec",
                    namespace,
                )


def _flavors(spec: dict[str, Any]) -> Iterator[MissingReference]:
    for i, group in enumerate(spec.get("resourceGroups") or ()):
        for j, flavor in enumerate(group.get("flavors") or ()):
            field = f"spec.resourceGroups[{i}].flavors[{j}].name"
            yield MissingReference(
                field=field, kind="ResourceFlavor", name=flavor.get("name", "")
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
    template: dict[str, Any], path: str, namespace: str
) -> Iterator[MissingReference]:
    spec = template.get("spec") or {}
    if (priority := spec.get("priorityClassName", "")) not in BUILT_IN:
        yield MissingReference(
            field=f"{path}.priorityClassName", kind="PriorityClass", name=priority
        )
    for index, claim in enumerate(spec.get("resourceClaims") or ()):
        field = f"{path}.resourceClaims[{index}].resourceClaimTemplateName"
        name = claim.get("resourceClaimTemplateName", "")
        yield MissingReference(
            field=field, kind="ResourceClaimTemplate", name=name, namespace=namespace
        )
