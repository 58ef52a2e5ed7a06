"""What a run on an existing cluster has to be allowed, and the question to the API server whether it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kueue_dra_clusters.api_client import APIClient, body_of
from kueue_dra_ref.target import Manifest

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
REVIEW = {
    "apiVersion": "authorization.k8s.io/v1",
    "kind": "SelfSubjectAccessReview",
}
MADE = ("create", "delete", "get", "list", "update")
"""The verbs on objects that a run creates and deletes."""
WATCHED = (*MADE, "patch", "watch")
"""The verbs on those whose changes it waits for."""
STATUS = ("update",)
QUEUEING, DEVICES = "kueue.x-k8s.io", "resource.k8s.io"


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """Verbs on one resource, which may be a subresource (``jobs/status``)."""

    group: str
    resource: str
    verbs: tuple[str, ...]

    def attributes(self, verb: str) -> Manifest:
        """Give the question about one verb."""
        resource, _, subresource = self.resource.partition("/")
        found = {
            "group": self.group,
            "resource": resource,
            "verb": verb,
            "subresource": subresource,
        }
        return {key: value for key, value in found.items() if value}

    def named(self, verb: str) -> str:
        """Name one verb on the resource, as ``kubectl auth can-i`` takes it."""
        group = f".{self.group}" if self.group else ""
        resource, slash, subresource = self.resource.partition("/")
        return f"{verb} {resource}{group}{slash}{subresource}"


RUN = (
    Permission(group="", resource="namespaces", verbs=MADE),
    Permission(group="", resource="limitranges", verbs=MADE),
    Permission(group="batch", resource="jobs", verbs=WATCHED),
    Permission(group="batch", resource="jobs/status", verbs=STATUS),
    Permission(group=QUEUEING, resource="workloads", verbs=WATCHED),
    Permission(group=QUEUEING, resource="workloads/status", verbs=STATUS),
    Permission(group=QUEUEING, resource="clusterqueues", verbs=WATCHED),
    Permission(group=QUEUEING, resource="localqueues", verbs=WATCHED),
    Permission(group=QUEUEING, resource="resourceflavors", verbs=WATCHED),
    Permission(group=QUEUEING, resource="cohorts", verbs=MADE),
    Permission(group=QUEUEING, resource="workloadpriorityclasses", verbs=MADE),
    Permission(group=QUEUEING, resource="admissionchecks", verbs=MADE),
    Permission(group=QUEUEING, resource="admissionchecks/status", verbs=STATUS),
    Permission(group=DEVICES, resource="resourceclaimtemplates", verbs=WATCHED),
    Permission(group=DEVICES, resource="resourceclaims", verbs=MADE),
    Permission(group=DEVICES, resource="resourceclaims/status", verbs=STATUS),
    Permission(group=DEVICES, resource="deviceclasses", verbs=MADE),
    Permission(group="node.k8s.io", resource="runtimeclasses", verbs=MADE),
    Permission(group="scheduling.k8s.io", resource="priorityclasses", verbs=MADE),
)
"""What a run does to its own objects."""
READ = (
    Permission(group="apps", resource="deployments", verbs=("get", "list")),
    Permission(group="", resource="configmaps", verbs=("get",)),
    Permission(
        group="rbac.authorization.k8s.io", resource="clusterroles", verbs=("get",)
    ),
)
"""What it reads of Kueue's installation; of ConfigMaps and ClusterRoles only Kueue's own."""


ROLE_NAME = "kueue-dra-run"


def cluster_role(*, config_map: str, kueue_role: str) -> Manifest:
    """Give the ClusterRole that is enough for a run, with the names of Kueue's ConfigMap and ClusterRole."""
    names = {"configmaps": [config_map], "clusterroles": [kueue_role]}
    rules = []
    for permission in (*READ, *RUN):
        rule: Manifest = {
            "apiGroups": [permission.group],
            "resources": [permission.resource],
            "verbs": list(permission.verbs),
        }
        if permission.resource in names:
            rule["resourceNames"] = names[permission.resource]
        rules.append(rule)
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": ROLE_NAME},
        "rules": rules,
    }


def denied(objects: APIClient, permissions: Sequence[Permission] = RUN) -> list[str]:
    """Name each permission that the user of the client does not have."""
    return list(_denied(objects, permissions))


def _denied(objects: APIClient, permissions: Sequence[Permission]) -> Iterator[str]:
    for permission in permissions:
        for verb in permission.verbs:
            spec = {"resourceAttributes": permission.attributes(verb)}
            answer = objects.call("POST", REVIEWS, {**REVIEW, "spec": spec})
            review = body_of(answer, "ask which permissions the user has")
            if not (review.get("status") or {}).get("allowed"):
                yield permission.named(verb)
