"""Mapping: how strictly Kueue reads a Configuration before it checks the mappings (Kueue 0.19, config loading)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.config_documents import V1BETA1, V1BETA2, a_document, a_mapping
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.rejections import ACCEPTED, refused

pytestmark = owns_kueue

COUNTER = [{"counter": {"name": "memory", "driver": "gpu.example.com"}}]


@covers("CFG-001", "CFG-004")
def test_the_first_version_has_names_and_classes(lab: Lab) -> None:
    """A Configuration of v1beta1 maps device classes to resources."""
    document = a_document(a_mapping("whole-gpus", "gpu.example.com"), version=V1BETA1)

    assert lab.check(document) == ACCEPTED


@covers("CFG-005")
def test_the_second_version_has_the_same(lab: Lab) -> None:
    """A Configuration of v1beta2 reads the mappings of v1beta1 unchanged."""
    document = a_document(a_mapping("whole-gpus", "gpu.example.com"), version=V1BETA2)

    assert lab.check(document) == ACCEPTED


@covers("CFG-013")
def test_there_is_no_second_version(lab: Lab) -> None:
    """A Configuration of v1beta2 is not read, whatever it maps."""
    document = a_document(a_mapping("whole-gpus", "gpu.example.com"), version=V1BETA2)

    assert lab.check(document) != ACCEPTED


@covers("CFG-003", "CFG-004")
@pytest.mark.parametrize(
    ("keys", "fault"),
    [
        pytest.param({"sources": COUNTER}, "resources.deviceClassMappings[0].sources: Unknown field", id="sources"),
        pytest.param(
            {"deviceClasses": []}, "resources.deviceClassMappings[0].deviceClasses: Unknown field", id="misspelled"
        ),
        pytest.param({"Name": "gpus"}, "resources.deviceClassMappings[0].Name: Unknown field", id="other-case"),
        pytest.param({"type": "Counter"}, "resources.deviceClassMappings[0].type: Unknown field", id="unheard-of"),
    ],
)
def test_the_first_version_has_no_other_key(lab: Lab, keys: dict[str, Any], fault: str) -> None:
    """A mapping of v1beta1 has a name and device classes; anything else is refused when the file is read."""
    document = a_document(a_mapping("gpus", "gpu.example.com", **keys), version=V1BETA1)

    assert lab.check(document) == refused(fault)


@covers("CFG-003", "CFG-005")
@pytest.mark.parametrize(
    ("keys", "fault"),
    [
        pytest.param(
            {"deviceClasses": []}, "resources.deviceClassMappings[0].deviceClasses: Unknown field", id="misspelled"
        ),
        pytest.param({"type": "Counter"}, "resources.deviceClassMappings[0].type: Unknown field", id="unheard-of"),
        pytest.param(
            {"sources": [{"counter": {"name": "memory", "class": "a"}}]},
            "resources.deviceClassMappings[0].sources[0].counter.class: Unknown field",
            id="inside-a-source",
            marks=covers("SOURCE-009"),
        ),
    ],
)
def test_the_second_version_is_as_strict(lab: Lab, keys: dict[str, Any], fault: str) -> None:
    """A key that v1beta2 does not know is refused when the file is read."""
    document = a_document(a_mapping("gpus", "gpu.example.com", **keys), version=V1BETA2)

    assert lab.check(document) == refused(fault)


@covers("CFG-003", "CFG-007")
@pytest.mark.parametrize(
    ("sections", "verdict"),
    [
        pytest.param({"resorces": {}}, refused("resorces: Unknown field"), id="at-the-top"),
        pytest.param(
            {"resources": {"deviceClasses": []}}, refused("resources.deviceClasses: Unknown field"), id="in-a-section"
        ),
        pytest.param(
            {"resorces": {}, "metadata": {}},
            refused("metadata: Unknown field", "resorces: Unknown field"),
            id="several-together",
        ),
    ],
)
def test_unknown_sections_are_refused(lab: Lab, sections: dict[str, Any], verdict: object) -> None:
    """Kueue rejects every unknown key, wherever it is, and reports all of them."""
    assert lab.check(a_document(**sections)) == verdict


@covers("CFG-012", "CFG-007")
@pytest.mark.parametrize(
    ("resources", "fault"),
    [
        pytest.param([], "resources: Wrong type", id="list-for-section"),
        pytest.param(
            {"deviceClassMappings": {"name": "gpus"}}, "resources.deviceClassMappings: Wrong type", id="object-for-list"
        ),
        pytest.param(
            {"deviceClassMappings": [{"name": "gpus", "deviceClassNames": "gpu.example.com"}]},
            "resources.deviceClassMappings.deviceClassNames: Wrong type",
            id="text-for-list",
        ),
        pytest.param(
            {"deviceClassMappings": [{"name": 7, "deviceClassNames": ["gpu.example.com"]}]},
            "resources.deviceClassMappings.name: Wrong type",
            id="number-for-text",
        ),
        pytest.param(
            {"deviceClassMappings": [{"name": "gpus", "deviceClassNames": [{"name": "gpu.example.com"}]}]},
            "resources.deviceClassMappings.deviceClassNames: Wrong type",
            id="object-for-text",
        ),
        pytest.param({"deviceClassMappings": ["gpus"]}, "resources.deviceClassMappings: Wrong type", id="text-for-one"),
    ],
)
def test_values_of_the_wrong_type_are_refused(lab: Lab, resources: object, fault: str) -> None:
    """A value of another type is refused when the file is read, with the field that holds it."""
    assert lab.check(a_document(resources=resources)) == refused(fault)
