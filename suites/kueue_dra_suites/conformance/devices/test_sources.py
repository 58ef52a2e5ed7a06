"""Sources of a mapping: types, gates, and which may go together (Kueue 0.19, validation of the Configuration)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.profiles import a_configuration
from kueue_dra_fixtures.rejections import ACCEPTED
from kueue_dra_fixtures.sources import a_capacity, a_counter, a_mapping, device_gates

ROOT = "resources.deviceClassMappings"
SOURCES = f"{ROOT}[0].sources"
BOTH = a_counter() | a_capacity()
NEITHER: dict[str, Any] = {}
ONE_TYPE = "exactly one source type must be set per entry"
COUNTERS_OFF = {"KueueDRAIntegrationPartitionableDevices": False}


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        pytest.param(
            [NEITHER], [f"{SOURCES}[0]: Required value: {ONE_TYPE}"], id="neither", marks=covers("SOURCE-001")
        ),
        pytest.param(
            [BOTH],
            [f'{SOURCES}[0]: Invalid value: "counter+capacity": {ONE_TYPE}'],
            id="both",
            marks=covers("SOURCE-002"),
        ),
        pytest.param(
            [a_counter(), a_capacity()],
            [f"{SOURCES}: Invalid value: 2: cannot mix counter and capacity sources in the same mapping"],
            id="mixed",
            marks=covers("SOURCE-003"),
        ),
        pytest.param(
            [a_counter(), NEITHER, BOTH],
            [
                f"{SOURCES}[1]: Required value: {ONE_TYPE}",
                f'{SOURCES}[2]: Invalid value: "counter+capacity": {ONE_TYPE}',
            ],
            id="those-of-no-type-do-not-mix",
            marks=covers("SOURCE-001", "SOURCE-002", "SOURCE-003"),
        ),
    ],
)
def test_sources_are_of_one_type(lab: Lab, sources: list[dict[str, Any]], message: list[str]) -> None:
    """Every source charges a counter or a capacity, and all of a mapping charge the same."""
    document = a_configuration(
        lab.behaviour,
        resources={"deviceClassMappings": [a_mapping("r", "a", *sources)]},
        gates=device_gates,
    )

    assert lab.refusal_text(document).split("\n") == message


@pytest.mark.parametrize(
    ("source", "gates", "message"),
    [
        pytest.param(
            a_counter("No Name"),
            COUNTERS_OFF,
            f"{SOURCES}[0].counter: Invalid value: true: "
            "counter sources require KueueDRAIntegrationPartitionableDevices to be enabled",
            id="counter",
            marks=covers("SOURCE-004"),
        ),
        pytest.param(
            a_capacity("No Name"),
            {},
            f"{SOURCES}[0].capacity: Invalid value: true: "
            "capacity sources require KueueDRAIntegrationConsumableCapacity to be enabled",
            id="capacity",
            marks=covers("SOURCE-005"),
        ),
    ],
)
def test_sources_need_their_gates(lab: Lab, source: dict[str, Any], gates: dict[str, bool], message: str) -> None:
    """While its gate is off, Kueue reports no other error in a source."""
    document = a_configuration(
        lab.behaviour, resources={"deviceClassMappings": [a_mapping("r", "a", source)]}, gates=gates
    )

    assert lab.refusal_text(document) == message


@covers("SOURCE-010")
@pytest.mark.parametrize(
    ("counters", "message"),
    [
        pytest.param(["memory", "slices", "cores"], "", id="different"),
        pytest.param(
            ["memory", "memory"],
            f'{ROOT}[1].deviceClassNames[0]: Invalid value: "a": '
            'device class already has a counter source for counter "memory"',
            id="the-first",
        ),
        pytest.param(
            ["memory", "slices", "slices"],
            f'{ROOT}[2].deviceClassNames[0]: Invalid value: "a": '
            'device class already has a counter source for counter "slices"',
            id="a-later-one",
        ),
    ],
)
def test_mappings_of_one_class_charge_different_counters(lab: Lab, counters: list[str], message: str) -> None:
    """A class may be in several mappings that charge counters, but each counter once."""
    mappings = [a_mapping(f"r{index}", "a", a_counter(name)) for index, name in enumerate(counters)]
    document = a_configuration(lab.behaviour, resources={"deviceClassMappings": mappings})

    assert lab.refusal_text(document) == message


@covers("SOURCE-010")
@pytest.mark.parametrize(
    "second",
    [
        pytest.param(a_mapping("r1", "a"), id="without-sources"),
        pytest.param(a_mapping("r1", "a", a_capacity("slices")), id="capacity"),
        pytest.param(a_mapping("r1", "a", NEITHER, a_counter("slices")), id="counter-that-is-not-the-first"),
    ],
)
def test_a_class_is_shared_by_counters_only(lab: Lab, second: dict[str, Any]) -> None:
    """Unless both mappings begin with a counter, the class belongs to the first."""
    document = a_configuration(
        lab.behaviour,
        resources={"deviceClassMappings": [a_mapping("r0", "a", a_counter()), second]},
        gates=device_gates,
    )

    assert lab.refusal_text(document).split("\n")[0] == (
        f'{ROOT}[1].deviceClassNames[0]: Invalid value: "a": device class already mapped to resource r0'
    )


@covers("SOURCE-010")
def test_a_class_that_a_mapping_names_twice_charges_its_counter_twice(lab: Lab) -> None:
    """The class belongs to another mapping; its second name is reported as a duplicate, too."""
    twice = {**a_mapping("r1", "a", a_counter("slices")), "deviceClassNames": ["a", "a"]}
    document = a_configuration(
        lab.behaviour, resources={"deviceClassMappings": [a_mapping("r0", "a", a_counter()), twice]}
    )
    where = f"{ROOT}[1].deviceClassNames[1]"

    assert lab.refusal_text(document).split("\n") == [
        f'{where}: Duplicate value: "a"',
        f'{where}: Invalid value: "a": device class already has a counter source for counter "slices"',
    ]


@covers("SOURCE-010")
def test_any_number_of_counters_in_one_mapping_is_accepted(lab: Lab) -> None:
    """Only the first counter of each mapping is compared, and those of one mapping are not."""
    mappings = [a_mapping("r0", "a", *[a_counter()] * 5), a_mapping("r1", "a", a_counter("slices"), a_counter())]
    document = a_configuration(lab.behaviour, resources={"deviceClassMappings": mappings})

    assert lab.check(document) == ACCEPTED
