"""The minor and the feature gates that the user chooses for the API server, for all processes of a run."""

from __future__ import annotations

import os
from collections.abc import Mapping

MINOR_VARIABLE = "KUEUE_DRA_KUBERNETES"
"""The minor of Kubernetes of the API server, of the reference or of a control plane."""
GATES_VARIABLE = "KUEUE_DRA_KUBERNETES_FEATURE_GATES"
"""Gates in addition to those that each control plane has: ``A=true,B=false``."""


def chosen_gates() -> Mapping[str, bool]:
    """Give the feature gates that the user sets."""
    found = {}
    for part in filter(None, os.environ.get(GATES_VARIABLE, "").split(",")):
        name, _, value = part.partition("=")
        found[name] = value == "true"
    return found


def gate_flags() -> tuple[str, ...]:
    """Give the flag of an API server for these gates; none if no gate is set."""
    gates = os.environ.get(GATES_VARIABLE)
    return (f"--feature-gates={gates}",) if gates else ()
