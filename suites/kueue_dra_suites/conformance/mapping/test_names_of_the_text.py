"""Mapping: which names a resource may have, as the September text says (Configuration API Extension for DRA)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.config_documents import a_document, a_mapping
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.rejections import ACCEPTED, refused

pytestmark = owns_kueue

LABEL_61, LABEL_62, LABEL_63, LABEL_64 = "a" * 61, "a" * 62, "a" * 63, "a" * 64
SUBDOMAIN_189 = f"{LABEL_63}.{LABEL_63}.{LABEL_61}"
SUBDOMAIN_190 = f"{LABEL_63}.{LABEL_63}.{LABEL_62}"


@covers("MAP-011")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("whole-gpus", id="label"),
        pytest.param("8-gpus", id="digit-first"),
        pytest.param(LABEL_63, id="63-in-label"),
        pytest.param(f"example.com/{LABEL_63}", id="63-after-a-prefix"),
        pytest.param("example.com/whole-gpus", id="prefixed"),
    ],
)
def test_a_resource_is_named_by_a_dns_label(lab: Lab, name: str) -> None:
    """The name of a mapping is a DNS label, with a DNS subdomain and a slash before it if wanted."""
    assert lab.check(a_document(a_mapping(name, "gpu.example.com"))) == ACCEPTED


@covers("MAP-011")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("", id="empty"),
        pytest.param("whole gpus", id="space-inside"),
        pytest.param("Whole-gpus", id="upper-case"),
        pytest.param("whole_gpus", id="underscore"),
        pytest.param("whole.gpus", id="dot-without-slash"),
        pytest.param("-gpus", id="leading-dash"),
        pytest.param("gpus-", id="trailing-dash"),
        pytest.param(LABEL_64, id="64-in-label"),
        pytest.param(f"example.com/{LABEL_64}", id="64-after-a-prefix"),
        pytest.param("/gpus", id="empty-prefix"),
        pytest.param("example.com/", id="empty-label"),
        pytest.param("Example.com/gpus", id="upper-case-prefix"),
        pytest.param("example.com/gpus/a100", id="two-slashes"),
    ],
)
def test_a_resource_is_not_named_otherwise_in_the_text(lab: Lab, name: str) -> None:
    """Only letters in lower case, digits and hyphens, with a letter or digit at both ends."""
    document = a_document(a_mapping(name, "gpu.example.com"))

    assert lab.check(document) == refused("resources.deviceClassMappings[0].name: Invalid value")


@covers("MAP-003", "MAP-015")
@pytest.mark.parametrize(
    ("prefix", "verdict"),
    [
        pytest.param("example.com", ACCEPTED, id="prefixed"),
        pytest.param(SUBDOMAIN_189, ACCEPTED, id="253-characters"),
        pytest.param(
            SUBDOMAIN_190, refused("resources.deviceClassMappings[0].name: Invalid value"), id="254-characters"
        ),
    ],
)
def test_a_prefixed_name_has_at_most_253_characters(lab: Lab, prefix: str, verdict: object) -> None:
    """The name of a mapping may carry a prefix; with it, it has at most 253 characters."""
    assert lab.check(a_document(a_mapping(f"{prefix}/{LABEL_63}", "gpu.example.com"))) == verdict


@covers("MAP-008")
@pytest.mark.parametrize(
    ("prefix", "verdict"),
    [
        pytest.param(SUBDOMAIN_189, ACCEPTED, id="253-characters"),
        pytest.param(
            SUBDOMAIN_190,
            refused("resources.deviceClassMappings[0].deviceClassNames[0]: Invalid value"),
            id="254-characters",
        ),
    ],
)
def test_a_class_name_has_at_most_253_characters(lab: Lab, prefix: str, verdict: object) -> None:
    """A device class name has at most 253 characters."""
    assert lab.check(a_document(a_mapping("gpus", f"{prefix}/{LABEL_63}"))) == verdict
