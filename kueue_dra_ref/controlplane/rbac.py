"""RBAC Requirements: the resources of resource.k8s.io that Kueue's ClusterRole lets it read.

No counterpart: the ClusterRole of Kueue's manifests (config/components/rbac/role.yaml).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kueue_dra_ref.controlplane.store import Store

ROLE = "kueue-manager-role"
"""The ClusterRole of a Kueue release."""

_READING = frozenset({"get", "list", "watch"})


def may_read(store: Store, resource: str) -> bool:
    """Whether the stored role grants all three reading verbs: an informer needs them to list and to watch."""
    role = store.find("ClusterRole", ROLE) or {}
    rules: Iterable[Mapping[str, Any]] = role.get("rules") or ()
    granted: set[str] = set()
    for rule in rules:
        if _applies_to(rule, resource):
            granted.update(rule.get("verbs") or ())
    return "*" in granted or granted >= _READING


def _applies_to(rule: Mapping[str, Any], resource: str) -> bool:
    groups = set(rule.get("apiGroups") or ())
    if groups.isdisjoint({"*", "resource.k8s.io"}):
        return False
    resources = set(rule.get("resources") or ())
    return not resources.isdisjoint({"*", resource})
