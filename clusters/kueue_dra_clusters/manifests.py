"""Kueue's own manifests of a release, adapted to a control plane on which Kueue is a local process.

The release has them as kustomize input (``config/components``).  This module applies the part of its default overlay
that this environment needs: the name prefix, the namespace, the conversion webhooks, and Kueue's service account with
exactly the roles that are bound to it.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from kueue_dra_clusters.errors import MissingTool

Manifest = dict[str, Any]

PREFIX = "kueue-"
NAMESPACE = "kueue-system"
SERVICE_ACCOUNT = f"{PREFIX}controller-manager"
WEBHOOK_SERVICE = f"{PREFIX}webhook-service"
WEBHOOK_HOST = f"{WEBHOOK_SERVICE}.{NAMESPACE}.svc"
WEBHOOK_SECRET = f"{PREFIX}webhook-server-cert"
MANAGER_ROLE = f"{PREFIX}manager-role"
MADE_BY_NAME = "controller-manager"
"""The service account's name before the prefix."""

# The C loader, if there is one: the workloads CRD alone is 1.4 MB.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """The port of Kueue's webhooks, and the authority of their certificates."""

    port: int
    authority: bytes

    def client(self, path: str) -> Manifest:
        """Give a webhook's ``clientConfig``."""
        service = {
            "namespace": NAMESPACE,
            "name": WEBHOOK_SERVICE,
            "port": self.port,
            "path": path,
        }
        return {
            "service": service,
            "caBundle": base64.b64encode(self.authority).decode(),
        }


def documents(file: Path) -> list[Manifest]:
    """Read the YAML documents of a file."""
    with file.open(encoding="utf-8") as stream:
        return [
            document for document in yaml.load_all(stream, Loader=_Loader) if document
        ]


MANIFEST_FOLDERS = tuple(
    f"config/components/{part}" for part in ("crd", "rbac", "webhook")
)
"""The folders of a module that hold what Kueue needs in a cluster."""


def components(module: Path) -> Path:
    """Give the folder with Kueue's components in a module's directory; the error names what is missing."""
    folder = module / "config" / "components"
    needed = [
        folder / "crd" / "bases",
        folder / "crd" / "kustomization.yaml",
        folder / "rbac",
        _webhooks(folder),
    ]
    if missing := [str(path) for path in needed if not path.exists()]:
        raise MissingTool(
            f"Kueue's manifests are incomplete, missing: {', '.join(missing)}"
        )
    return folder


def definitions(module: Path, webhook: Webhook) -> Iterator[Manifest]:
    """Read Kueue's CRDs, with the conversion webhooks of the release."""
    folder = components(module) / "crd"
    listed = documents(folder / "kustomization.yaml")[0]
    patches = [
        documents(folder / patch["path"])[0] for patch in listed.get("patches") or []
    ]
    converted = {
        patch["metadata"]["name"]: patch["spec"]["conversion"] for patch in patches
    }
    for resource in listed["resources"]:
        (definition,) = documents(folder / resource)
        if conversion := converted.get(definition["metadata"]["name"]):
            path = conversion["webhook"]["clientConfig"]["service"]["path"]
            conversion["webhook"]["clientConfig"] = webhook.client(path)
            definition["spec"]["conversion"] = conversion
        yield definition


def collections(definitions: Iterable[Manifest]) -> Iterator[str]:
    """List the path of each served version of each CRD."""
    for definition in definitions:
        spec = definition["spec"]
        for version in spec["versions"]:
            if version["served"]:
                yield f"/apis/{spec['group']}/{version['name']}/{spec['names']['plural']}"


def webhooks(module: Path, webhook: Webhook) -> Iterator[Manifest]:
    """Read Kueue's webhook configurations."""
    for configuration in documents(_webhooks(components(module))):
        for hook in configuration["webhooks"]:
            hook["clientConfig"] = webhook.client(
                hook["clientConfig"]["service"]["path"]
            )
        yield _renamed(configuration)


def permissions(module: Path) -> Iterator[Manifest]:
    """Read Kueue's service account, and the roles that are bound to it with their bindings."""
    found = _roles_and_bindings(components(module) / "rbac")
    bindings = [binding for binding in found if _is_bound_to_kueue(binding)]
    roles = [binding["roleRef"] for binding in bindings]
    bound = {(role["kind"], role["name"]) for role in roles}
    for document in found:
        kind, name = document["kind"], document["metadata"]["name"]
        if kind == "ServiceAccount" or (kind, name) in bound:
            yield _renamed(document)
    for binding in bindings:
        yield _renamed_binding(binding)


def _roles_and_bindings(folder: Path) -> list[Manifest]:
    found: list[Manifest] = []
    for file in sorted(folder.glob("*.yaml")):
        if file.name != "kustomization.yaml":
            found += documents(file)
    return found


def surroundings(certificates: Mapping[str, bytes]) -> Iterator[Manifest]:
    """Give what replaces the release's Deployment: its namespace, its Secret, and a Service for localhost."""
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    yield {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": WEBHOOK_SECRET, "namespace": NAMESPACE},
        "data": {
            name: base64.b64encode(content).decode()
            for name, content in certificates.items()
        },
    }
    yield {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": WEBHOOK_SERVICE, "namespace": NAMESPACE},
        "spec": {"type": "ExternalName", "externalName": "localhost"},
    }


def without_permission(rules: Iterable[Manifest], resource: str) -> list[Manifest]:
    """Remove one resource from role rules."""
    kept = []
    for rule in rules:
        names = [name for name in rule.get("resources") or () if name != resource]
        if names:
            kept.append({**rule, "resources": names})
    return kept


def _webhooks(folder: Path) -> Path:
    return folder / "webhook" / "manifests.yaml"


def _is_bound_to_kueue(document: Manifest) -> bool:
    """Whether a document binds a role to Kueue's service account."""
    return document["kind"].endswith("Binding") and any(
        subject["kind"] == "ServiceAccount" and subject["name"] == MADE_BY_NAME
        for subject in document["subjects"]
    )


def _renamed(document: Manifest) -> Manifest:
    """Add the release's prefix and namespace to an object, and the prefix to the names in its rules."""
    metadata = {"name": PREFIX + document["metadata"]["name"]}
    if document["metadata"].get("namespace"):
        metadata["namespace"] = NAMESPACE
    changed = document | {"metadata": metadata}
    if "rules" in document:
        changed["rules"] = [_renamed_rule(rule) for rule in document["rules"]]
    return changed


def _renamed_rule(rule: Manifest) -> Manifest:
    """Prefix the webhook configurations that a role rule names; CRDs carry no prefix."""
    names = rule.get("resourceNames")
    if not names or "admissionregistration.k8s.io" not in rule["apiGroups"]:
        return rule
    return rule | {"resourceNames": [PREFIX + name for name in names]}


def _renamed_binding(binding: Manifest) -> Manifest:
    """Prefix both ends of a binding."""
    subject = {
        "kind": "ServiceAccount",
        "name": SERVICE_ACCOUNT,
        "namespace": NAMESPACE,
    }
    role = binding["roleRef"] | {"name": PREFIX + binding["roleRef"]["name"]}
    return _renamed(binding) | {"roleRef": role, "subjects": [subject]}
