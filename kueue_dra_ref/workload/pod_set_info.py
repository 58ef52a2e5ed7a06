"""What Kueue adds to the pods of a pod set when they start: from its flavors, and from admission checks.

Kueue: pkg/podset/podset.go (PodSetInfo, FromAssignment, FromUpdate, Merge)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kueue_dra_ref.api.metadata import annotations_of, labels_of
from kueue_dra_ref.target import Manifest

Labels = Mapping[str, str]
FIELDS = ("annotations", "labels", "nodeSelector")
"""The fields whose keys may not have two values, in the order in which Kueue compares them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSetInfo:
    """Annotations, labels and a node selector by field, tolerations and scheduling gates."""

    values: Mapping[str, Labels] = field(default_factory=dict)
    tolerations: tuple[Any, ...] = ()
    gates: tuple[str, ...] = ()
    """The names of scheduling gates."""

    def and_also(self, other: PodSetInfo) -> PodSetInfo:
        """Give the values of both; a toleration that both have is there once."""
        values = {
            name: {**self.values.get(name, {}), **other.values.get(name, {})}
            for name in FIELDS
        }
        more = [each for each in other.tolerations if each not in self.tolerations]
        return PodSetInfo(
            values=values,
            tolerations=(*self.tolerations, *more),
            gates=(*self.gates, *other.gates),
        )

    def add_to(self, template: Manifest) -> None:
        """Add the values to a pod, or to a template, in place."""
        self._add_to_spec(template["spec"])
        for name in ("annotations", "labels"):
            if added := self.values.get(name):
                meta = dict(template.get("metadata") or {})
                meta[name] = {**(meta.get(name) or {}), **added}
                template["metadata"] = meta

    def _add_to_spec(self, spec: Manifest) -> None:
        selector = self.values.get("nodeSelector")
        if selector:
            spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), **selector}
        gates = [{"name": name} for name in self.gates]
        added = {"tolerations": self.tolerations, "schedulingGates": gates}
        for name, values in added.items():
            if values:
                spec[name] = [*(spec.get(name) or ()), *values]


def of_flavors(flavors: Iterable[Manifest]) -> PodSetInfo:
    """Give the node labels and tolerations of flavors."""
    selector: dict[str, str] = {}
    tolerations: list[Any] = []
    for flavor in flavors:
        selector |= flavor.get("nodeLabels") or {}
        tolerations += flavor.get("tolerations") or ()
    return PodSetInfo(values={"nodeSelector": selector}, tolerations=tuple(tolerations))


def of_update(update: Manifest) -> PodSetInfo:
    """Give what an admission check adds to a pod set."""
    return PodSetInfo(
        values={name: update.get(name) or {} for name in FIELDS},
        tolerations=tuple(update.get("tolerations") or ()),
    )


def of_pod(template: Manifest) -> PodSetInfo:
    """Give what a pod, or a template, has itself."""
    spec = template.get("spec") or {}
    return PodSetInfo(
        values={
            "annotations": annotations_of(template),
            "labels": labels_of(template),
            "nodeSelector": spec.get("nodeSelector") or {},
        }
    )
