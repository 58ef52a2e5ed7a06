"""Kueue's kustomize input becomes objects of a control plane, with the names that the release gives them."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from kueue_dra_clusters.manager_config import merged
from kueue_dra_clusters.manifests import (
    Manifest,
    Webhook,
    collections,
    definitions,
    permissions,
    webhooks,
    without_permission,
)

HOOK = Webhook(port=9443, authority=b"PEM")
CLIENT = {
    "service": {"namespace": "kueue-system", "name": "kueue-webhook-service", "port": 9443, "path": "/convert"},
    "caBundle": "UEVN",
}


def a_definition(plural: str) -> Manifest:
    """Write a CRD that is served in one of its two versions."""
    versions = [{"name": "v1", "served": True}, {"name": "v0", "served": False}]
    spec = {"group": "kueue.x-k8s.io", "names": {"plural": plural}, "versions": versions}
    name = f"{plural}.kueue.x-k8s.io"
    return {"kind": "CustomResourceDefinition", "metadata": {"name": name}, "spec": spec}


def an_object(kind: str, name: str, **rest: object) -> Manifest:
    """Write an object of the kustomize input."""
    return {"kind": kind, "metadata": {"name": name}, **rest}


def bound_to(account: str, role: str) -> Manifest:
    """Write what binds a role to a service account."""
    return {
        "roleRef": {"kind": "ClusterRole", "name": role, "apiGroup": "rbac.authorization.k8s.io"},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": "system"}],
    }


@pytest.fixture
def module(tmp_path: Path) -> Path:
    """Lay out a release with two CRDs (one converted), one webhook, and roles for Kueue and for others."""
    webhook_path = {"conversionReviewVersions": ["v1"], "clientConfig": {"service": {"path": "/convert"}}}
    patch = a_definition("queues") | {"spec": {"conversion": {"strategy": "Webhook", "webhook": webhook_path}}}
    rules = [
        {
            "apiGroups": ["admissionregistration.k8s.io"],
            "resources": ["x"],
            "resourceNames": ["mutating-webhook-configuration"],
        },
        {"apiGroups": ["apiextensions.k8s.io"], "resources": ["y"], "resourceNames": ["queues.kueue.x-k8s.io"]},
    ]
    hook = {"name": "q.kb.io", "clientConfig": {"service": {"path": "/mutate"}}}
    files = {
        "crd/kustomization.yaml": {
            "resources": ["bases/queues.yaml", "bases/flavors.yaml"],
            "patches": [{"path": "patches/queues.yaml"}],
        },
        "crd/bases/queues.yaml": a_definition("queues"),
        "crd/bases/flavors.yaml": a_definition("flavors"),
        "crd/patches/queues.yaml": patch,
        "webhook/manifests.yaml": an_object(
            "MutatingWebhookConfiguration", "mutating-webhook-configuration", webhooks=[hook]
        ),
        "rbac/kustomization.yaml": {"resources": []},
        "rbac/account.yaml": {
            "kind": "ServiceAccount",
            "metadata": {"name": "controller-manager", "namespace": "system"},
        },
        "rbac/role.yaml": an_object("ClusterRole", "manager-role", rules=rules),
        "rbac/bound.yaml": an_object("ClusterRoleBinding", "manager", **bound_to("controller-manager", "manager-role")),
        "rbac/editor.yaml": an_object("ClusterRole", "editor-role", rules=[]),
        "rbac/other.yaml": an_object("ClusterRoleBinding", "other", **bound_to("prometheus", "editor-role")),
    }
    for name, content in files.items():
        path = tmp_path / "config" / "components" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(content))
    return tmp_path


def test_the_release_decides_what_is_converted(module: Path) -> None:
    """A CRD that the release patches is converted by our Kueue, others are as they are."""
    queues, flavors = definitions(module, HOOK)

    assert queues["spec"]["conversion"]["webhook"] == {"conversionReviewVersions": ["v1"], "clientConfig": CLIENT}
    assert "conversion" not in flavors["spec"]


def test_a_release_may_convert_nothing(module: Path) -> None:
    """Kueue 0.14 writes the key of the patches, with nothing below it."""
    file = module / "config" / "components" / "crd" / "kustomization.yaml"
    file.write_text("resources: [bases/queues.yaml]\npatches:\n#- path: patches/queues.yaml\n")
    (queues,) = definitions(module, HOOK)

    assert "conversion" not in queues["spec"]


def test_only_served_versions_are_waited_for(module: Path) -> None:
    """Each CRD counts once for each version that it serves."""
    found = list(collections(definitions(module, HOOK)))

    assert found == ["/apis/kueue.x-k8s.io/v1/queues", "/apis/kueue.x-k8s.io/v1/flavors"]


def test_webhooks_lead_to_our_kueue(module: Path) -> None:
    """Configurations carry the release's prefix, and their webhooks the port and authority of our process."""
    (configuration,) = webhooks(module, HOOK)

    assert configuration["metadata"]["name"] == "kueue-mutating-webhook-configuration"
    assert configuration["webhooks"][0]["clientConfig"] == CLIENT | {"service": CLIENT["service"] | {"path": "/mutate"}}  # type: ignore[operator]


def test_only_what_is_bound_to_kueue_is_installed(module: Path) -> None:
    """Kueue gets its own roles; those for people and for other programs are left out."""
    found = {(each["kind"], each["metadata"]["name"]) for each in permissions(module)}

    assert found == {
        ("ServiceAccount", "kueue-controller-manager"),
        ("ClusterRole", "kueue-manager-role"),
        ("ClusterRoleBinding", "kueue-manager"),
    }


def test_a_role_names_objects_as_they_are_called_after_prefixing(module: Path) -> None:
    """Webhook configurations are prefixed, CRDs are not."""
    (role,) = [each for each in permissions(module) if each["kind"] == "ClusterRole"]

    assert [rule["resourceNames"] for rule in role["rules"]] == [
        ["kueue-mutating-webhook-configuration"],
        ["queues.kueue.x-k8s.io"],
    ]


def test_a_permission_is_taken_from_every_rule() -> None:
    """A rule about nothing else vanishes, because an empty list of resources is not allowed."""
    rules = [{"resources": ["a", "b"], "verbs": ["get"]}, {"resources": ["b"], "verbs": ["list"]}]

    assert without_permission(rules, "b") == [{"resources": ["a"], "verbs": ["get"]}]


def test_a_configuration_is_laid_over_another() -> None:
    """Mappings are merged; anything else is taken from above, also where the shapes differ."""
    under = {"gates": {"a": True, "b": True}, "list": [1, 2], "shape": {"x": 1}}
    over = {"gates": {"b": False}, "list": [3], "shape": "wrong", "new": 1}

    assert merged(under, over) == {"gates": {"a": True, "b": False}, "list": [3], "shape": "wrong", "new": 1}
