"""The rules for device class mappings; a real Kueue 0.19.2 reported each expected line for the same mappings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kueue_dra_ref.api.configuration import Configuration, DeviceClassMapping
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.rules.config.device_class_mappings import MappingRules, validate

GROUPS = ("all_mappings", "name", "class_list", "device_class")
"""The slots whose rules look at a mapping without sources."""


def rules_of(name: str) -> MappingRules:
    """Give the rules of a behaviour about names, class lists and classes."""
    every = behaviour(name).mapping
    return MappingRules(**{group: getattr(every, group) for group in GROUPS})


KEP_2025_09 = rules_of("kep-2025-09")
KUEUE_0_19 = rules_of("kueue-0.19.2")
NEEDS_SOURCES = "shared_class_charges_different_counters"

ROOT = "resources.deviceClassMappings"
KEY = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
SUBDOMAIN = (
    "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and "
    "must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
SLASHES = (
    "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' "
    "(e.g. 'example.com/MyName')"
)
P189 = ".".join(["a" * 63, "a" * 63, "a" * 61])
P190 = P189 + "a"
N63, N64 = "a" * 63, "a" * 64


def a_mapping(name: str, *classes: str, **rest: Any) -> DeviceClassMapping:
    """Build one mapping."""
    return DeviceClassMapping(name=name, device_classes=classes, **rest)


def messages(rules: MappingRules, *mappings: DeviceClassMapping) -> list[str]:
    """Print what the rules find."""
    return [str(fault) for fault in validate(Configuration(mappings=mappings), rules)]


@pytest.mark.parametrize(
    ("mappings", "lines"),
    [
        pytest.param([a_mapping(f"r{i}", f"c{i}") for i in range(16)], [], id="16-mappings"),
        pytest.param(
            [a_mapping(f"r{i}", f"c{i}") for i in range(17)],
            [f"{ROOT}: Too many: 17: must have at most 16 items"],
            id="17-mappings",
        ),
        pytest.param([a_mapping("r", *(f"c{i}" for i in range(8)))], [], id="8-classes"),
        pytest.param(
            [a_mapping("r", *(f"c{i}" for i in range(9)))],
            [f"{ROOT}[0].deviceClassNames: Too many: 9: must have at most 8 items"],
            id="9-classes",
        ),
        pytest.param([a_mapping(f"{P189}/{N63}", f"{P189}/{N63}")], [], id="253-characters"),
        pytest.param(
            [a_mapping(f"{P190}/{N63}", f"{P190}/{N63}")],
            [
                f'{ROOT}[0].name: Invalid value: "{P190}/{N63}": must not exceed 253 characters',
                f'{ROOT}[0].deviceClassNames[0]: Invalid value: "{P190}/{N63}": must not exceed 253 characters',
            ],
            id="254-characters",
        ),
        pytest.param(
            [a_mapping(N64, N63)],
            [f'{ROOT}[0].name: Invalid value: "{N64}": name part must be no more than 63 bytes'],
            id="64-in-name-part",
        ),
        pytest.param(
            [a_mapping("", "", "a b", "/a", "A/a", "a/b/c", "<x>")],
            [
                f'{ROOT}[0].name: Invalid value: "": name part must be non-empty; {KEY}',
                f'{ROOT}[0].deviceClassNames[0]: Invalid value: "": name part must be non-empty; {KEY}',
                f'{ROOT}[0].deviceClassNames[1]: Invalid value: "a b": {KEY}',
                f'{ROOT}[0].deviceClassNames[2]: Invalid value: "/a": prefix part must be non-empty',
                f'{ROOT}[0].deviceClassNames[3]: Invalid value: "A/a": {SUBDOMAIN}',
                f'{ROOT}[0].deviceClassNames[4]: Invalid value: "a/b/c": {SLASHES}',
                f'{ROOT}[0].deviceClassNames[5]: Invalid value: "\\u003cx\\u003e": {KEY}',
            ],
            id="grammar",
        ),
        pytest.param(
            [a_mapping("r", "a"), a_mapping("r", "a", "b")],
            [f'{ROOT}[1].name: Duplicate value: "r"'],
            id="name-twice-sharing-a-class",
        ),
        pytest.param(
            [a_mapping("r")],
            [f"{ROOT}[0].deviceClassNames: Required value: at least one device class name is required"],
            id="no-class",
        ),
        pytest.param(
            [a_mapping("r", "a", "a")],
            [f'{ROOT}[0].deviceClassNames[1]: Duplicate value: "a"'],
            id="class-twice-in-a-mapping",
        ),
        pytest.param(
            [a_mapping("r", "a"), a_mapping("s", "a"), a_mapping("t", "a")],
            [
                f'{ROOT}[1].deviceClassNames[0]: Invalid value: "a": device class already mapped to resource r',
                f'{ROOT}[2].deviceClassNames[0]: Invalid value: "a": device class already mapped to resource r',
            ],
            id="class-in-three-mappings",
        ),
        pytest.param([a_mapping("cpu", "A_b.c"), a_mapping("x.com/Gpu", "x.com/a")], [], id="odd-but-accepted"),
    ],
)
def test_kueue_0_19_tells_every_fault_in_order(mappings: list[DeviceClassMapping], lines: list[str]) -> None:
    """The list comes first, then mapping by mapping its name, its class list and each class."""
    assert messages(KUEUE_0_19, *mappings) == lines


def counting(name: str) -> tuple[dict[str, Any], ...]:
    """Build a source that charges a counter."""
    return ({"counter": {"name": name}},)


def test_two_mappings_that_charge_counters_may_share_a_class() -> None:
    """A class is shared only while both mappings charge a counter."""
    assert messages(
        KUEUE_0_19,
        a_mapping("r", "a", sources=counting("x")),
        a_mapping("s", "a", sources=counting("y")),
        a_mapping("t", "a"),
    ) == [f'{ROOT}[2].deviceClassNames[0]: Invalid value: "a": device class already mapped to resource r']


@pytest.mark.parametrize(
    ("name", "accepted"),
    [
        pytest.param("whole-gpus", True, id="label"),
        pytest.param("example.com/gpus", True, id="prefixed"),
        pytest.param(f"{P189}/{N63}", True, id="253-characters"),
        pytest.param(f"{P190}/{N63}", False, id="254-characters"),
        pytest.param("gpus.example", False, id="period-without-slash"),
        pytest.param("GPUs", False, id="upper-case"),
        pytest.param("gpus_1", False, id="underscore"),
        pytest.param("-gpus", False, id="leading-hyphen"),
        pytest.param("", False, id="empty"),
        pytest.param("/gpus", False, id="empty-prefix"),
        pytest.param("a/b/c", False, id="two-slashes"),
    ],
)
def test_the_text_asks_for_a_dns_label_with_an_optional_subdomain(name: str, accepted: bool) -> None:
    """The text's grammar of names is narrower than Kueue's."""
    assert (messages(KEP_2025_09, a_mapping(name, "gpu.example.com")) == []) is accepted


def test_the_text_has_no_limits_on_counts() -> None:
    """Nothing in the text limits mappings to 16 or classes to 8."""
    assert messages(KEP_2025_09, *(a_mapping(f"r{i}", *(f"c{i}-{j}" for j in range(9))) for i in range(17))) == []


def test_the_text_refuses_its_own_bad_example() -> None:
    """One class may not map to two resources."""
    assert messages(
        KEP_2025_09, a_mapping("whole-gpus", "gpus.example.com"), a_mapping("fast-gpus", "gpus.example.com")
    ) == [
        f'{ROOT}[1].deviceClassNames[0]: Invalid value: "gpus.example.com": '
        "device class already mapped to resource whole-gpus"
    ]


EVERY_FAULT = [
    *(a_mapping(f"r{i}", f"c{i}") for i in range(16)),
    a_mapping("a b", *(f"d{i}" for i in range(9))),
    a_mapping(f"{P190}/{N63}", f"{P190}/{N63}", "a b", "e", "e", "c0"),
    a_mapping("r0"),
]


@pytest.mark.parametrize(
    ("group", "name"),
    [
        pytest.param(group, rule.name, id=rule.name)
        for group in GROUPS
        for rule in getattr(KUEUE_0_19, group).rules
        if rule.name != NEEDS_SOURCES
    ],
)
def test_each_rule_can_be_left_out_and_is_then_missed(group: str, name: str) -> None:
    """Taking out one rule takes out its faults and no other."""
    rest = getattr(KUEUE_0_19, group).keep(lambda rule: rule.name != name)
    lines = messages(replace(KUEUE_0_19, **{group: rest}), *EVERY_FAULT)
    every = messages(KUEUE_0_19, *EVERY_FAULT)

    assert lines != every
    assert set(lines) < set(every)
