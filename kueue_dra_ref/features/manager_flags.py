"""The feature gates in the arguments of a running Kueue's manager.

Kueue: cmd/kueue/main.go (main)
"""

from __future__ import annotations

MANAGER_CONTAINER = "manager"
"""The container of Kueue's Deployment that runs Kueue."""
FEATURE_GATES = "--feature-gates"


def gates_in(value: str) -> dict[str, bool]:
    """Read the value of ``--feature-gates``, such as ``A=true,B=false``."""
    gates = {}
    for pair in value.split(","):
        name, _, switch = pair.partition("=")
        if name.strip():
            gates[name.strip()] = switch.strip().lower() == "true"
    return gates
