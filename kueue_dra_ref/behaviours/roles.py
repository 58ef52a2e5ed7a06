"""The permissions on resource.k8s.io that releases give Kueue (Kueue: config/components/rbac/role.yaml)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Role = tuple[Mapping[str, Sequence[str]], ...]
"""ClusterRole rules."""


def reads(*resources: str) -> Role:
    """Give the rules that let Kueue get, list and watch resources of resource.k8s.io."""
    verbs = ("get", "list", "watch")
    return tuple(
        {"apiGroups": ("resource.k8s.io",), "resources": (name,), "verbs": verbs}
        for name in resources
    )
