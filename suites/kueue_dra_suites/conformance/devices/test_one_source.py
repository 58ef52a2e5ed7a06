"""Sources of a mapping while there is one of them, and a counter (Kueue 0.18, validation of the Configuration)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.profiles import a_configuration
from kueue_dra_fixtures.rejections import ACCEPTED, RejectedFields, refused
from kueue_dra_fixtures.sources import a_configuration_of, a_counter, a_mapping, device_gates

ROOT = "resources.deviceClassMappings"
SOURCES = f"{ROOT}[0].sources"
NEITHER: dict[str, Any] = {}
D253 = f"{'d' * 245}.example"


@pytest.mark.parametrize(
    ("mappings", "message"),
    [
        pytest.param(
            [a_mapping("r", "a", a_counter(), a_counter("slices"))],
            f"{SOURCES}: Too many: 2: must have at most 1 item",
            id="two-sources",
            marks=covers("SOURCE-011"),
        ),
        pytest.param(
            [a_mapping("r", "a", NEITHER)],
            f"{SOURCES}[0].counter: Required value: exactly one source type must be set",
            id="no-counter",
            marks=covers("SOURCE-015"),
        ),
        pytest.param(
            [a_mapping("r0", "a", a_counter()), a_mapping("r1", "a", a_counter("slices"))],
            f'{ROOT}[1].deviceClassNames[0]: Invalid value: "a": device class already mapped to resource r0',
            id="two-mappings-of-a-class",
            marks=covers("SOURCE-016"),
        ),
    ],
)
def test_a_mapping_charges_one_counter(lab: Lab, mappings: list[dict[str, Any]], message: str) -> None:
    """A mapping has one source, and its classes are in no other mapping."""
    document = a_configuration(lab.behaviour, resources={"deviceClassMappings": mappings}, gates=device_gates)

    assert lab.refusal_text(document) == message


@covers("SOURCE-012")
def test_sources_need_the_gate_of_counters(lab: Lab) -> None:
    """While the gate is off, Kueue reports no other error in the sources."""
    mappings = [a_mapping("r", "a", a_counter("", ""), NEITHER)]
    document = a_configuration(lab.behaviour, resources={"deviceClassMappings": mappings}, gates={})

    assert lab.refusal_text(document) == (
        f"{SOURCES}: Invalid value: 2: sources require KueueDRAIntegrationPartitionableDevices to be enabled"
    )


@pytest.mark.parametrize(
    ("source", "verdict"),
    [
        pytest.param(a_counter("M" * 63), ACCEPTED, id="name-of-63", marks=covers("SOURCE-013")),
        pytest.param(
            a_counter("m" * 64),
            refused(f"{SOURCES}[0].counter.name: Invalid value"),
            id="name-of-64",
            marks=covers("SOURCE-013"),
        ),
        pytest.param(
            a_counter(""),
            refused(f"{SOURCES}[0].counter.name: Required value"),
            id="no-name",
            marks=covers("SOURCE-013"),
        ),
        pytest.param(a_counter(driver=D253.upper()), ACCEPTED, id="driver-of-253", marks=covers("SOURCE-014")),
        pytest.param(
            a_counter(driver=f"d{D253}"),
            refused(f"{SOURCES}[0].counter.driver: Invalid value"),
            id="driver-of-254",
            marks=covers("SOURCE-014"),
        ),
        pytest.param(
            a_counter(driver=""),
            refused(f"{SOURCES}[0].counter.driver: Required value"),
            id="no-driver",
            marks=covers("SOURCE-014"),
        ),
    ],
)
def test_names_and_drivers_are_short(lab: Lab, source: dict[str, Any], verdict: RejectedFields) -> None:
    """Kueue checks the length of a counter or driver name, not its characters."""
    assert lab.check(a_configuration_of(lab.behaviour, source)) == verdict
