"""RBAC Requirements: the resources of resource.k8s.io that Kueue's ClusterRole lets it read.

No counterpart: the ClusterRole of Kueue's manifests (config/components/rbac/role.yaml).
"""

from __future__ import annotations

from kueue_dra_ref.apiserver.request_handler import GROUP
from kueue_dra_ref.controlplane.store import Store
from kueue_dra_ref.target import Manifest

ROLE = "kueue-manager-role"
"""The ClusterRole of a Kueue release."""

_GROUPS = frozenset({"*", GROUP})
_READING = (
    frozenset({"*"}),
    frozenset({"get", "list", "watch"}),
)
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
    groups = rule.get("apiGroups") or ()
    of_group = not _GROUPS.isdisjoint(groups)
    resources = rule.get("resources") or ()
    either = frozenset({"*", resource})
    of_resource = not either.isdisjoint(resources)
    return of_group and of_resource
