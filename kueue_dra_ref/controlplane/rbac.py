"""RBAC Requirements: which resources of resource.k8s.io Kueue's ClusterRole lets it read.

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
    """Whether the stored role grants all three reading verbs: a cache needs them to fill and to follow."""
    rules: Iterable[Mapping[str, Any]] = (store.find("ClusterRole", ROLE) or {}).get(
        "rules"
    ) or ()
    granted = {
        verb
        for rule in rules
        if _concerns(rule, resource)
        for verb in rule.get("verbs") or ()
    }
    return "*" in granted or granted >= _READING


def _concerns(rule: Mapping[str, Any], resource: str) -> bool:
    groups, resources = (
        set(rule.get("apiGroups") or ()),
        set(rule.get("resources") or ()),
    )
    return bool(groups & {"*", "resource.k8s.io"} and resources & {"*", resource})
