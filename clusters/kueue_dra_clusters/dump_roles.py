"""The roles that ``kueue-dra dump`` needs, which only read; the examples publish them as a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kueue_dra_clusters.installation import SETTINGS
from kueue_dra_ref.target import Manifest

RBAC = "rbac.authorization.k8s.io"
ROLE_NAME = "kueue-dra-dump"
_EVERY = ("*",)
_LISTED: Mapping[tuple[str, ...], Sequence[str]] = {
    ("kueue.x-k8s.io", "resource.k8s.io"): _EVERY,
    ("",): ("namespaces", "nodes", "limitranges", "pods"),
    ("node.k8s.io",): ("runtimeclasses",),
    ("scheduling.k8s.io",): ("priorityclasses",),
    ("batch",): ("jobs", "cronjobs"),
    ("apps",): ("deployments", "statefulsets"),
    (
        "jobset.x-k8s.io",
        "leaderworkerset.x-k8s.io",
        "ray.io",
        "kubeflow.org",
        "trainer.kubeflow.org",
        "workload.codeflare.dev",
        "sparkoperator.k8s.io",
    ): _EVERY,
}
"""The resources that a dump lists, by their groups."""


def dump_roles() -> tuple[Manifest, Manifest]:
    """Give the ClusterRole, and the Role for the ConfigMap with Kueue's Configuration."""
    listed = [
        {"apiGroups": list(groups), "resources": list(resources), "verbs": ["list"]}
        for groups, resources in _LISTED.items()
    ]
    read = {
        "apiGroups": [""],
        "resources": ["configmaps"],
        "resourceNames": [SETTINGS.name],
        "verbs": ["get"],
    }
    cluster_role = _role("ClusterRole", {"name": ROLE_NAME}, listed)
    role = _role("Role", {"name": ROLE_NAME, "namespace": SETTINGS.namespace}, [read])
    return cluster_role, role


def _role(kind: str, metadata: Manifest, rules: list[Manifest]) -> Manifest:
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": kind,
        "metadata": metadata,
        "rules": rules,
    }
