"""Mapping: Kueue reports each error of a file, in order, with its field (Story 3; Kueue 0.19, config validation)."""

from __future__ import annotations

from kueue_dra_fixtures.config_documents import a_document, a_mapping
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.rejections import refused

pytestmark = owns_kueue

OFF = {
    "KueueDRAIntegration": False,
    "KueueDRAIntegrationExtendedResource": False,
    "KueueDRAIntegrationPartitionableDevices": False,
}


@covers("CFG-006", "CFG-007")
def test_faults_of_several_mappings_are_told_together(lab: Lab) -> None:
    """Mapping by mapping: its name, its list of classes, then each class."""
    document = a_document(
        a_mapping("whole gpus", "gpu.example.com", "gpu.example.com"),
        a_mapping("nics"),
        a_mapping("nics", "nic.example.com"),
        a_mapping("fast-gpus", "fast.example.com", "gpu.example.com"),
    )

    assert lab.check(document) == refused(
        "resources.deviceClassMappings[0].name: Invalid value",
        "resources.deviceClassMappings[0].deviceClassNames[1]: Duplicate value",
        "resources.deviceClassMappings[1].deviceClassNames: Required value",
        "resources.deviceClassMappings[2].name: Duplicate value",
        "resources.deviceClassMappings[3].deviceClassNames[1]: Invalid value",
    )


@covers("CFG-006", "MAP-001", "MAP-006", "MAP-007")
def test_limits_are_told_beside_other_faults(lab: Lab) -> None:
    """Too many mappings come first; a list that is too long does not hide what is wrong inside it."""
    document = a_document(
        *[a_mapping(f"r{i}", f"c{i}") for i in range(16)],
        a_mapping("last", *[f"d{i}" for i in range(7)], "d e", "c0"),
    )

    assert lab.check(document) == refused(
        "resources.deviceClassMappings: Too many",
        "resources.deviceClassMappings[16].deviceClassNames: Too many",
        "resources.deviceClassMappings[16].deviceClassNames[7]: Invalid value",
        "resources.deviceClassMappings[16].deviceClassNames[8]: Invalid value",
    )


@covers("CFG-003", "CFG-006", "MAP-007")
def test_what_cannot_be_read_is_told_before_what_is_wrong(lab: Lab) -> None:
    """Kueue reports an unknown key and checks nothing else in the file."""
    document = a_document(a_mapping("whole gpus", "a b", unknown=1))

    assert lab.check(document) == refused("resources.deviceClassMappings[0].unknown: Unknown field")


@covers("CFG-008")
def test_mappings_are_validated_while_the_gate_is_off(lab: Lab) -> None:
    """A wrong mapping is refused even when nothing would use it."""
    document = a_document(a_mapping("whole gpus", "gpu.example.com"), a_mapping("nics"), gates=OFF)

    assert lab.check(document) == refused(
        "resources.deviceClassMappings[0].name: Invalid value",
        "resources.deviceClassMappings[1].deviceClassNames: Required value",
    )
