"""The published role is what the code asks for, and what it asks the API server about."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from kueue_dra_clusters.dump_roles import dump_roles
from kueue_dra_clusters.installation import SETTINGS_NAME
from kueue_dra_clusters.kueue_process import ROLE
from kueue_dra_clusters.permissions import RUN, Permission, cluster_role
from kueue_dra_ref.target import Manifest
from tests.commands import ROOT

Right = tuple[str, str, str, tuple[str, ...]]


def rights(role: Manifest) -> Iterator[Right]:
    """Give each verb on each resource."""
    for rule in role["rules"]:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                for verb in rule["verbs"]:
                    yield group, resource, verb, tuple(rule.get("resourceNames") or ())


def test_the_published_role_has_what_a_run_needs_and_no_more() -> None:
    """The file of the examples is written by hand, with comments."""
    published = yaml.safe_load((ROOT / "examples" / "rbac" / "run.yaml").read_text("utf-8"))
    wanted = cluster_role(config_map=SETTINGS_NAME, kueue_role=ROLE.name)

    assert published["metadata"] == wanted["metadata"]
    assert sorted(rights(published)) == sorted(rights(wanted))


def test_a_run_may_not_publish_devices_or_read_secrets() -> None:
    """No slice, no Secret, no pod."""
    resources = {each.resource for each in RUN}

    assert resources.isdisjoint({"resourceslices", "secrets", "pods", "nodes"})


def test_a_missing_permission_is_named_as_kubectl_takes_it() -> None:
    """``kubectl auth can-i`` accepts the words."""
    found = Permission(group="batch", resource="jobs/status", verbs=("update",))

    assert found.named("update") == "update jobs.batch/status"
    assert Permission(group="", resource="namespaces", verbs=()).named("list") == "list namespaces"
    assert found.attributes("update") == {
        "group": "batch",
        "resource": "jobs",
        "subresource": "status",
        "verb": "update",
    }


def test_the_published_roles_of_a_dump_are_those_that_it_is_tested_with() -> None:
    """The file has the same objects, in addition to its comments."""
    published = list(yaml.safe_load_all((ROOT / "examples" / "rbac" / "dump.yaml").read_text("utf-8")))

    assert published == list(dump_roles())


def test_a_dump_may_only_read() -> None:
    """It lists objects, and gets one ConfigMap by name; no Secret."""
    found = {each for role in dump_roles() for each in rights(role)}

    assert {verb for *_, verb, _ in found} == {"list", "get"}
    assert [each for each in found if each[2] == "get"] == [("", "configmaps", "get", (SETTINGS_NAME,))]
    assert "secrets" not in {resource for _, resource, *_ in found}
