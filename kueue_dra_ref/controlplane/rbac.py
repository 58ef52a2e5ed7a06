"""RBAC Requirements: the resources of resource.k8s.io that Kueue's ClusterRole lets it read.

No counterpart: the ClusterRole of Kueue's manifests (config/components/rbac/role.yaml).
"""

from __future__ import annotations

from kueue_dra_ref.controlplane.store import Store
from kueue_dra_ref.target import Manifest

ROLE = "kueue-manager-role"
"""The ClusterRole of a Kueue release."""

_READING = frozenset({"get", "list", "watch"})


def may_read(store: Store, resource: str) -> bool:
    """Whether the stored role grants all three reading verbs: an informer needs them to list and to watch."""
    role = store.find("ClusterRole", ROLE) or {}
    granted: set[str] = set()
    for rule in role.get("rules") or ():
        if _applies_to(rule, resource):
            verbs = rule.get("verbs") or ()
            granted.update(verbs)
    if "*" in granted:
        return True
    return granted >= _READING


def _applies_to(rule: Manifest, resource: str) -> bool:
    groups = rule.get("apiGroups") or ()
    if "*" not in groups and "resource.k8s.io" not in groups:
        return False
    resources = rule.get("resources") or ()
    if "*" in resources:
        return True
    return resource in resources
