"""The part of a generated Configuration that says which kinds of work Kueue queues."""

from __future__ import annotations

from collections.abc import Collection

from kueue_dra_ref.api.job_kinds import JOB, JOB_KINDS
from kueue_dra_ref.api.pod_owners import POD_OWNERS
from kueue_dra_ref.target import Manifest


def with_frameworks(configuration: Manifest, kinds: Collection[str]) -> Manifest:
    """A Configuration with which Kueue queues these kinds; Jobs alone need nothing."""
    if set(kinds) == {JOB.name}:
        return configuration
    found = dict(configuration)
    found["integrations"] = {"frameworks": _frameworks(kinds)}
    gates = _gates(kinds)
    if gates:
        before = configuration.get("featureGates") or {}
        found["featureGates"] = {**before, **gates}
    return found


def _frameworks(kinds: Collection[str]) -> list[str]:
    names = []
    for kind in JOB_KINDS.values():
        if kind.name in kinds:
            names.append(kind.framework)
    for owner in POD_OWNERS.values():
        if owner.name in kinds:
            names.append(owner.framework)
    return names


def _gates(kinds: Collection[str]) -> dict[str, bool]:
    """Switch on the gates that kinds need."""
    gates = {}
    for kind in JOB_KINDS.values():
        if kind.name in kinds and kind.gate:
            gates[kind.gate] = True
    return gates
