"""Fields of an input that a feature gate of Kubernetes drops: which gate, how many objects, and the first of them.

Kubernetes: pkg/registry/resource/resourceslice/strategy.go (dropDisabledFields)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kueue_dra_ref.api.conversion import converted
from kueue_dra_ref.api.scheme import KINDS
from kueue_dra_ref.api.status_errors import ManifestError
from kueue_dra_ref.apiserver import Kubernetes
from kueue_dra_ref.apiserver.disabled_fields import features, off
from kueue_dra_ref.simulation.inputs import SimulationInputs
from kueue_dra_ref.target import Manifest


@dataclass(slots=True, kw_only=True)
class GatedFields:
    """What one gate that is off drops from the objects of one kind."""

    gate: str
    kind: str
    first: SimulationInputs
    objects: int = 0
    fields: dict[str, None] = field(default_factory=dict)


def gated_fields(
    given: Iterable[SimulationInputs], kubernetes: Kubernetes
) -> list[GatedFields]:
    """Give what the gates of a minor drop from new objects, by gate and kind."""
    found: dict[tuple[str, str], GatedFields] = {}
    for each in given:
        known = KINDS.get(each.ref.kind)
        if each.restored or known is None or known.group != "resource.k8s.io":
            continue
        for gate, fields in _dropped(each.manifest, kubernetes):
            key = (gate, each.ref.kind)
            new = GatedFields(gate=gate, kind=each.ref.kind, first=each)
            entry = found.setdefault(key, new)
            entry.objects += 1
            entry.fields |= dict.fromkeys(fields)
    return list(found.values())


def _dropped(
    manifest: Manifest, kubernetes: Kubernetes
) -> Iterator[tuple[str, list[str]]]:
    """Give the gates that drop something of a manifest; nothing of one that cannot be read."""
    try:
        fields = dropped(converted(manifest), kubernetes)
    except (ManifestError, AttributeError, TypeError, KeyError):
        return
    yield from fields.items()


def dropped(obj: Manifest, kubernetes: Kubernetes) -> dict[str, list[str]]:
    """Give the fields of a new object that each gate drops."""
    found: dict[str, dict[str, None]] = {}
    for gates, uses in features(kubernetes):
        for gate in off(gates, kubernetes)[:1]:
            for _, key in uses(obj):
                found.setdefault(gate, {})[key] = None
    return {gate: list(fields) for gate, fields in found.items()}
