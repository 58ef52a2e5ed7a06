"""Mapping: how many mappings and how many device classes (Configuration API Extension for DRA)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.config_documents import a_document, a_mapping
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.rejections import ACCEPTED, RejectedFields, refused

pytestmark = owns_kueue


@covers("MAP-001")
@pytest.mark.parametrize(
    ("mappings", "verdict"),
    [
        pytest.param(15, ACCEPTED, id="one-to-spare"),
        pytest.param(16, ACCEPTED, id="as-many-as-allowed"),
        pytest.param(17, refused("resources.deviceClassMappings: Too many"), id="one-too-many"),
    ],
)
def test_at_most_16_mappings_are_accepted(lab: Lab, mappings: int, verdict: RejectedFields) -> None:
    """A Configuration has at most 16 device class mappings."""
    document = a_document(*[a_mapping(f"resource-{i}", f"class-{i}.example.com") for i in range(mappings)])

    assert lab.check(document) == verdict


@covers("MAP-006")
@pytest.mark.parametrize(
    ("classes", "verdict"),
    [
        pytest.param(7, ACCEPTED, id="one-to-spare"),
        pytest.param(8, ACCEPTED, id="as-many-as-allowed"),
        pytest.param(9, refused("resources.deviceClassMappings[0].deviceClassNames: Too many"), id="one-too-many"),
    ],
)
def test_a_mapping_names_at_most_8_classes(lab: Lab, classes: int, verdict: RejectedFields) -> None:
    """A mapping has at most 8 device class names."""
    document = a_document(a_mapping("gpus", *[f"class-{i}.example.com" for i in range(classes)]))

    assert lab.check(document) == verdict


@covers("MAP-005")
@pytest.mark.parametrize(
    "classes",
    [
        pytest.param({"deviceClassNames": []}, id="empty-list"),
        pytest.param({"deviceClassNames": None}, id="null"),
    ],
)
def test_a_mapping_names_at_least_one_class(lab: Lab, classes: dict[str, Any]) -> None:
    """A mapping without device classes would charge nothing, so it is refused."""
    document = a_document(a_mapping("gpus", **classes))

    assert lab.check(document) == refused("resources.deviceClassMappings[0].deviceClassNames: Required value")


@covers("MAP-005", "MAP-013")
@pytest.mark.parametrize("classes", [pytest.param(1, id="one"), pytest.param(2, id="two")])
def test_one_class_is_enough_and_several_may_share_a_resource(lab: Lab, classes: int) -> None:
    """A mapping names one device class or several."""
    document = a_document(a_mapping("gpus", *[f"class-{i}.example.com" for i in range(classes)]))

    assert lab.check(document) == ACCEPTED


@covers("MAP-001", "MAP-006", "MAP-014")
def test_the_largest_mapping_is_accepted(lab: Lab) -> None:
    """16 mappings of 8 device classes each are accepted together."""
    document = a_document(*[a_mapping(f"r{i}", *[f"c{i}-{j}" for j in range(8)]) for i in range(16)])

    assert lab.check(document) == ACCEPTED


@covers("CFG-002")
@pytest.mark.parametrize(
    "sections",
    [
        pytest.param({}, id="no-resources"),
        pytest.param({"resources": {}}, id="empty-resources"),
        pytest.param({"resources": {"deviceClassMappings": []}}, id="empty-list"),
        pytest.param({"resources": {"deviceClassMappings": None}}, id="null"),
    ],
)
def test_mappings_are_optional(lab: Lab, sections: dict[str, Any]) -> None:
    """Kueue starts without any device class mapping."""
    assert lab.check(a_document(**sections)) == ACCEPTED
