"""What differs between the feature gates of two releases of Kueue, which a Configuration may set.

Kueue: pkg/features/kube_features.go (defaultVersionedFeatureGates)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from kueue_dra_ref.features.kube_features import Gate, Gates


@dataclass(frozen=True, slots=True, kw_only=True)
class GateChanges:
    """Kueue's own gates that differ, each kind of change by name in alphabetical order."""

    new_on: tuple[str, ...]
    """New gates that are on by default."""
    new_off: tuple[str, ...]
    """New gates that are off by default."""
    now_on: tuple[str, ...]
    """Gates that were off by default, and are on."""
    now_off: tuple[str, ...]
    """Gates that were on by default, and are off."""
    locked: tuple[str, ...]
    """Gates that can no longer be set to anything but their default."""
    gone: tuple[str, ...]
    """Gates that no longer exist, so that a Configuration with them is refused."""


def gate_changes(earlier: Gates, later: Gates) -> GateChanges:
    """Compare the gates of two releases; those of Kubernetes' libraries, whose registry Kueue shares, are left out."""
    before = _own(earlier)
    after = _own(later)
    new = after.keys() - before.keys()
    on = set()
    turned = set()
    locked = set()
    for name, gate in after.items():
        if gate.default:
            on.add(name)
        if name in new:
            continue
        old = before[name]
        if old.default is not gate.default:
            turned.add(name)
        if gate.locked and not old.locked:
            locked.add(name)
    return GateChanges(
        new_on=_sorted(new & on),
        new_off=_sorted(new - on),
        now_on=_sorted(turned & on),
        now_off=_sorted(turned - on),
        locked=_sorted(locked),
        gone=_sorted(before.keys() - after.keys()),
    )


def _sorted(names: Collection[str]) -> tuple[str, ...]:
    return tuple(sorted(names))


def _own(gates: Gates) -> Mapping[str, Gate]:
    return {name: gate for name, gate in gates.table.items() if gate.of_kueue}
