"""Names of work as kubectl shows them."""

from __future__ import annotations

from kueue_dra_ref.simulation.explanation import Explanation


def kubectl_name(found: Explanation) -> str:
    """Give the name that kubectl and explain accept: that of the owner, or of the Workload without one."""
    if found.job:
        return f"{found.kind.lower()}/{found.job}"
    return f"workload/{found.workload}"
