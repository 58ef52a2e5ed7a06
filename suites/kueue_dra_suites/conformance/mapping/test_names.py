"""Mapping: which names a resource and a device class may have, as Kueue 0.19 decides (config validation)."""

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
SUBDOMAIN_253 = f"{LABEL_63}.{LABEL_63}.{LABEL_63}.{LABEL_61}"
SUBDOMAIN_254 = f"{LABEL_63}.{LABEL_63}.{LABEL_63}.{LABEL_62}"

KEYS = [
    pytest.param("gpus", id="word"),
    pytest.param("a", id="one-letter"),
    pytest.param("0", id="one-digit"),
    pytest.param("GPUs", id="upper-case"),
    pytest.param("gpus_1", id="underscore"),
    pytest.param("gpus.a100", id="dot"),
    pytest.param("gpus--a100", id="two-dashes-inside"),
    pytest.param(LABEL_63, id="63-in-name-part"),
    pytest.param(f"example.com/{LABEL_63}", id="63-after-a-prefix"),
    pytest.param("example.com/GPUs_1.x", id="odd-name-after-a-prefix"),
]
NO_KEYS = [
    pytest.param("", id="empty"),
    pytest.param(" ", id="blank"),
    pytest.param("whole gpus", id="space-inside"),
    pytest.param(" gpus", id="leading-space"),
    pytest.param("gpus ", id="trailing-space"),
    pytest.param("-gpus", id="leading-dash"),
    pytest.param("gpus-", id="trailing-dash"),
    pytest.param("_gpus", id="leading-underscore"),
    pytest.param("gpus.", id="trailing-dot"),
    pytest.param("gpus:1", id="colon"),
    pytest.param("gpüs", id="umlaut"),
    pytest.param(LABEL_64, id="64-in-name-part"),
    pytest.param(f"example.com/{LABEL_64}", id="64-after-a-prefix"),
    pytest.param("/gpus", id="empty-prefix"),
    pytest.param("example.com/", id="empty-name-part"),
    pytest.param("Example.com/gpus", id="upper-case-prefix"),
    pytest.param("example_com/gpus", id="underscore-in-prefix"),
    pytest.param("example..com/gpus", id="two-dots-in-prefix"),
    pytest.param("example.com/gpus/a100", id="two-slashes"),
]


@covers("MAP-002")
@pytest.mark.parametrize("name", KEYS)
def test_a_resource_is_named_by_a_label_key(lab: Lab, name: str) -> None:
    """Every label key is accepted as the name of a mapping."""
    assert lab.check(a_document(a_mapping(name, "gpu.example.com"))) == ACCEPTED


@covers("MAP-002", "CFG-007")
@pytest.mark.parametrize("name", NO_KEYS)
def test_a_resource_is_not_named_otherwise(lab: Lab, name: str) -> None:
    """A string that is not a label key is rejected as the name of a mapping."""
    document = a_document(a_mapping(name, "gpu.example.com"))

    assert lab.check(document) == refused("resources.deviceClassMappings[0].name: Invalid value")


@covers("MAP-007")
@pytest.mark.parametrize("name", KEYS)
def test_a_class_is_named_by_a_label_key(lab: Lab, name: str) -> None:
    """Every label key is accepted as a device class name."""
    assert lab.check(a_document(a_mapping("gpus", name))) == ACCEPTED


@covers("MAP-007", "CFG-007")
@pytest.mark.parametrize("name", NO_KEYS)
def test_a_class_is_not_named_otherwise(lab: Lab, name: str) -> None:
    """A string that is not a label key is rejected as a device class name, with its place in the list."""
    document = a_document(a_mapping("gpus", "gpu.example.com", name))

    assert lab.check(document) == refused("resources.deviceClassMappings[0].deviceClassNames[1]: Invalid value")


@covers("MAP-002", "MAP-003")
@pytest.mark.parametrize(
    ("prefix", "verdict"),
    [
        pytest.param(SUBDOMAIN_189, ACCEPTED, id="253-in-all"),
        pytest.param(SUBDOMAIN_190, refused("resources.deviceClassMappings[0].name: Invalid value"), id="254-in-all"),
        pytest.param(
            SUBDOMAIN_253,
            refused("resources.deviceClassMappings[0].name: Invalid value"),
            id="253-in-prefix-317-in-all",
        ),
        pytest.param(
            SUBDOMAIN_254,
            refused(
                "resources.deviceClassMappings[0].name: Invalid value",
                "resources.deviceClassMappings[0].name: Invalid value",
            ),
            id="254-in-prefix-318-in-all",
        ),
    ],
)
def test_the_name_of_a_resource_has_at_most_253_characters(lab: Lab, prefix: str, verdict: object) -> None:
    """A label key may have 317 characters, the name of a mapping 253; Kueue reports both limits."""
    assert lab.check(a_document(a_mapping(f"{prefix}/{LABEL_63}", "gpu.example.com"))) == verdict


@covers("MAP-007", "MAP-008")
@pytest.mark.parametrize(
    ("prefix", "verdict"),
    [
        pytest.param(SUBDOMAIN_189, ACCEPTED, id="253-in-all"),
        pytest.param(
            SUBDOMAIN_190,
            refused("resources.deviceClassMappings[0].deviceClassNames[0]: Invalid value"),
            id="254-in-all",
        ),
        pytest.param(
            SUBDOMAIN_254,
            refused(
                "resources.deviceClassMappings[0].deviceClassNames[0]: Invalid value",
                "resources.deviceClassMappings[0].deviceClassNames[0]: Invalid value",
            ),
            id="254-in-prefix-318-in-all",
        ),
    ],
)
def test_the_name_of_a_class_has_at_most_253_characters(lab: Lab, prefix: str, verdict: object) -> None:
    """A label key may have 317 characters, a device class name 253; Kueue reports both limits."""
    assert lab.check(a_document(a_mapping("gpus", f"{prefix}/{LABEL_63}"))) == verdict


@pytest.mark.parametrize(
    ("name", "words"),
    [
        pytest.param("a/b/c", "a valid label key must consist of", id="key", marks=covers("MAP-019")),
        pytest.param(LABEL_64, "name part must be no more than 63 bytes", id="bytes", marks=covers("MAP-019")),
        pytest.param("a/b/c", "a qualified name must consist of", id="qualified-name", marks=covers("MAP-020")),
        pytest.param(
            LABEL_64, "name part must be no more than 63 characters", id="characters", marks=covers("MAP-020")
        ),
    ],
)
def test_what_a_name_should_be_is_told(lab: Lab, name: str, words: str) -> None:
    """Errors in the names of mappings and of classes have the same text."""
    text = lab.refusal_text(a_document(a_mapping(name, name)))

    assert text.count(f'Invalid value: "{name}": {words}') == 2


@covers("MAP-018")
@pytest.mark.parametrize("name", ["cpu", "memory", "nvidia.com/gpu"])
def test_a_resource_may_be_called_like_an_ordinary_one(lab: Lab, name: str) -> None:
    """Nothing keeps a mapping from the name of a resource that containers request."""
    assert lab.check(a_document(a_mapping(name, "gpu.example.com"))) == ACCEPTED
