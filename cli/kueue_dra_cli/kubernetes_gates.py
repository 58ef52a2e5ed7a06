"""Whether an API server would start with the feature gates of a command line."""

from __future__ import annotations

from collections.abc import Mapping

from kueue_dra_ref.api.suggest import nearest
from kueue_dra_ref.apiserver import Kubernetes


def unusable(kubernetes: Kubernetes, gates: Mapping[str, bool]) -> str | None:
    """Say why it would not: a gate is unknown, or locked; None if it would."""
    for gate, on in gates.items():
        if gate not in kubernetes.gates:
            known = nearest(gate, kubernetes.gates)
            return f"{gate}: Kubernetes {kubernetes.name} has no such gate for devices; {known}"
        if gate in kubernetes.locked and on is not kubernetes.gates[gate]:
            return f"{gate}: found false; Kubernetes {kubernetes.name} locks this gate to true"
    return None
