"""Mapping: no name twice, no device class in two resources (Device Class Mapping Uniqueness)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.config_documents import a_document, a_mapping
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.rejections import ACCEPTED, refused

pytestmark = owns_kueue


@covers("MAP-004")
@pytest.mark.parametrize(
    ("names", "verdict"),
    [
        pytest.param(["gpus", "nics"], ACCEPTED, id="different"),
        pytest.param(["gpus", "gpus-1"], ACCEPTED, id="beginning-alike"),
        pytest.param(["gpus", "gpus"], refused("resources.deviceClassMappings[1].name: Duplicate value"), id="twice"),
        pytest.param(
            ["gpus", "nics", "gpus", "gpus"],
            refused(
                "resources.deviceClassMappings[2].name: Duplicate value",
                "resources.deviceClassMappings[3].name: Duplicate value",
            ),
            id="three-times",
        ),
    ],
)
def test_a_resource_is_mapped_once(lab: Lab, names: list[str], verdict: object) -> None:
    """Two mappings do not have the same name; Kueue reports each repetition."""
    document = a_document(*[a_mapping(name, f"class-{i}.example.com") for i, name in enumerate(names)])

    assert lab.check(document) == verdict


@covers("MAP-009")
@pytest.mark.parametrize(
    ("classes", "verdict"),
    [
        pytest.param(["a.example.com", "b.example.com"], ACCEPTED, id="different"),
        pytest.param(
            ["a.example.com", "a.example.com"],
            refused("resources.deviceClassMappings[0].deviceClassNames[1]: Duplicate value"),
            id="twice",
        ),
        pytest.param(
            ["a.example.com", "b.example.com", "a.example.com", "a.example.com"],
            refused(
                "resources.deviceClassMappings[0].deviceClassNames[2]: Duplicate value",
                "resources.deviceClassMappings[0].deviceClassNames[3]: Duplicate value",
            ),
            id="three-times",
        ),
    ],
)
def test_a_mapping_names_a_class_once(lab: Lab, classes: list[str], verdict: object) -> None:
    """A mapping does not name the same device class twice."""
    assert lab.check(a_document(a_mapping("gpus", *classes))) == verdict


@covers("MAP-010", "CFG-007")
@pytest.mark.parametrize(
    ("mappings", "verdict"),
    [
        pytest.param(
            [a_mapping("whole-gpus", "gpu.example.com"), a_mapping("fast-gpus", "gpu.example.com")],
            refused("resources.deviceClassMappings[1].deviceClassNames[0]: Invalid value"),
            id="two-mappings",
        ),
        pytest.param(
            [a_mapping("r0", "a", "b"), a_mapping("r1", "c"), a_mapping("r2", "d", "b")],
            refused("resources.deviceClassMappings[2].deviceClassNames[1]: Invalid value"),
            id="among-others",
        ),
        pytest.param(
            [a_mapping("r0", "a"), a_mapping("r1", "a"), a_mapping("r2", "a")],
            refused(
                "resources.deviceClassMappings[1].deviceClassNames[0]: Invalid value",
                "resources.deviceClassMappings[2].deviceClassNames[0]: Invalid value",
            ),
            id="three-mappings",
        ),
    ],
)
def test_a_class_is_charged_to_one_resource(lab: Lab, mappings: list[dict[str, Any]], verdict: object) -> None:
    """A device class in mappings of different names would be charged to both, so it is refused where it comes again."""
    assert lab.check(a_document(*mappings)) == verdict


@covers("MAP-016")
def test_the_refusal_of_a_shared_class_names_its_resource(lab: Lab) -> None:
    """A class that is mapped again causes an error at the second place, which names the resource of the first."""
    document = a_document(a_mapping("whole-gpus", "gpu.example.com"), a_mapping("fast-gpus", "gpu.example.com"))

    assert lab.refusal_text(document) == (
        'resources.deviceClassMappings[1].deviceClassNames[0]: Invalid value: "gpu.example.com": '
        "device class already mapped to resource whole-gpus"
    )


@covers("MAP-017")
def test_mappings_of_one_name_may_not_be_told_of_their_classes(lab: Lab) -> None:
    """If two mappings share their name and a class, Kueue reports only the repeated name."""
    document = a_document(a_mapping("gpus", "gpu.example.com"), a_mapping("gpus", "gpu.example.com", "b.example.com"))

    assert lab.check(document) == refused("resources.deviceClassMappings[1].name: Duplicate value")


@covers("MAP-014")
def test_mappings_that_share_nothing_are_accepted_together(lab: Lab) -> None:
    """Mappings of different names and different classes do not disturb each other."""
    document = a_document(
        a_mapping("whole-gpus", "gpu.example.com"),
        a_mapping("shared-gpus", "ts-shard-gpus.example.com", "sp-shared-gpus.example.com"),
        a_mapping("example.com/nics", "nic.example.com"),
    )

    assert lab.check(document) == ACCEPTED
