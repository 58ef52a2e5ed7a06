"""RBAC Requirements: the resources of resource.k8s.io that Kueue's ClusterRole lets it read.

No counterpart: the ClusterRole of Kueue's manifests (config/components/rbac/role.yaml).
"""

from __future__ import annotations

from kueue_dra_ref.apiserver.request_handler import GROUP
from kueue_dra_ref.controlplane.store import Store
from kueue_dra_ref.target import Manifest

ROLE = "kueue-manager-role"
"""The ClusterRole of a Kueue release."""

_ALL = frozenset("*")
_READING = (_ALL, frozenset({"get", "list", "watch"}))
"""The verbs that let Kueue read, once for each way to grant them."""


def may_read(store: Store, resource: str) -> bool:
    """Whether the stored role grants all three reading verbs: an informer needs them to list and to watch."""
    role = store.find("ClusterRole", ROLE) or {}
    granted: set[str] = set()
    for rule in role.get("rules") or ():
        if _applies_to(rule, resource):
            verbs = rule.get("verbs") or ()
            granted.update(verbs)
    return any(map(granted.issuperset, _READING))


def _applies_to(rule: Manifest, resource: str) -> bool:
    return _names(rule, "apiGroups", GROUP) and _names(rule, "resources", resource)


def _names(rule: Manifest, field: str, wanted: str) -> bool:
    """Whether a rule is about something, or about all."""
    named = rule.get(field) or ()
    return not _ALL.union((wanted,)).isdisjoint(named)
