"""The namespaces of an input without any Namespace: they are taken to exist, unless their labels decide.

No counterpart: a real cluster has the namespaces of its objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kueue_dra_ref.api.unstructured import part
from kueue_dra_ref.simulation.inputs import SimulationInputs
from kueue_dra_ref.simulation.run import unknown_namespaces
from kueue_dra_ref.target import Manifest

_NAME = "kubernetes.io/metadata.name"
"""The label that each Namespace has, with its own name."""


def assumed_namespaces(
    given: Sequence[SimulationInputs], configuration: Manifest
) -> list[str]:
    """Name the namespaces that are taken to exist, because nothing in the input depends on their labels."""
    if any(each.ref.kind == "Namespace" for each in given):
        return []
    if selecting_by_labels(given, configuration):
        return []
    return unknown_namespaces(given)


def selecting_by_labels(
    given: Sequence[SimulationInputs], configuration: Manifest
) -> str:
    """Name what selects namespaces by labels that only their manifests say; empty if nothing does."""
    for each in given:
        if each.ref.kind != "ClusterQueue":
            continue
        spec = part(each.manifest, "spec")
        if _depends_on_labels(part(spec, "namespaceSelector")):
            return f"the namespaceSelector of ClusterQueue {each.ref.name}"
    if _depends_on_labels(part(configuration, "managedJobsNamespaceSelector")):
        return "managedJobsNamespaceSelector of the Configuration"
    return ""


def _depends_on_labels(selector: Manifest) -> bool:
    return any(label != _NAME for label in _labels(selector))


def _labels(selector: Manifest) -> Iterator[Any]:
    yield from part(selector, "matchLabels")
    expressions = selector.get("matchExpressions")
    for each in expressions if isinstance(expressions, list) else ():
        if isinstance(each, dict):
            yield each.get("key")
