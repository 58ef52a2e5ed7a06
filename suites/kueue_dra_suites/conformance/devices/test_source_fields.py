"""Sources of a mapping: names, drivers and selectors (Kueue 0.19, validation of the Configuration)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.rejections import ACCEPTED, RejectedFields, refused
from kueue_dra_fixtures.sources import a_capacity, a_configuration_of, a_counter

SOURCE = "resources.deviceClassMappings[0].sources[0]"
SELECTOR = f"{SOURCE}.counter.deviceSelector.cel.expression"
D63 = f"{'d' * 55}.example"
D64 = f"{'d' * 56}.example"


@pytest.mark.parametrize(
    ("source", "verdict"),
    [
        pytest.param(a_counter("m" * 63), ACCEPTED, id="63-characters", marks=covers("SOURCE-006")),
        pytest.param(
            a_counter("m" * 64),
            refused(f"{SOURCE}.counter.name: Invalid value"),
            id="64-characters",
            marks=covers("SOURCE-006"),
        ),
        pytest.param(
            a_counter(""), refused(f"{SOURCE}.counter.name: Required value"), id="no-name", marks=covers("SOURCE-006")
        ),
        pytest.param(
            a_counter("Memory"),
            refused(f"{SOURCE}.counter.name: Invalid value"),
            id="capitals",
            marks=covers("SOURCE-006"),
        ),
        pytest.param(
            a_counter("a.b"), refused(f"{SOURCE}.counter.name: Invalid value"), id="dot", marks=covers("SOURCE-006")
        ),
        pytest.param(a_capacity("m" * 32), ACCEPTED, id="32-characters", marks=covers("SOURCE-007")),
        pytest.param(
            a_capacity("m" * 33),
            refused(f"{SOURCE}.capacity.name: Too long"),
            id="33-characters",
            marks=covers("SOURCE-007"),
        ),
        pytest.param(
            a_capacity(""),
            refused(f"{SOURCE}.capacity.name: Invalid value"),
            id="no-capacity-name",
            marks=covers("SOURCE-007"),
        ),
        pytest.param(
            a_capacity("a-b"),
            refused(f"{SOURCE}.capacity.name: Invalid value"),
            id="hyphen",
            marks=covers("SOURCE-007"),
        ),
        pytest.param(a_capacity(f"{D63}/memory"), ACCEPTED, id="domain-of-63", marks=covers("SOURCE-007")),
        pytest.param(
            a_capacity(f"{D64}/memory"),
            refused(f"{SOURCE}.capacity.name: Too long"),
            id="domain-of-64",
            marks=covers("SOURCE-007"),
        ),
        pytest.param(a_capacity("Example.COM/memory"), ACCEPTED, id="domain-in-capitals", marks=covers("SOURCE-007")),
        pytest.param(
            a_capacity("/"),
            refused(f"{SOURCE}.capacity.name: Invalid value", f"{SOURCE}.capacity.name: Invalid value"),
            id="slash-alone",
            marks=covers("SOURCE-007"),
        ),
        pytest.param(a_capacity("a/b/-"), ACCEPTED, id="two-slashes-go-unnoticed", marks=covers("SOURCE-018")),
    ],
)
def test_names_of_counters_and_capacities(lab: Lab, source: dict[str, Any], verdict: RejectedFields) -> None:
    """A counter is named by a label, a capacity by an identifier with or without a domain."""
    assert lab.check(a_configuration_of(lab.behaviour, source)) == verdict


@covers("SOURCE-008")
@pytest.mark.parametrize(
    ("driver", "verdict"),
    [
        pytest.param(D63, ACCEPTED, id="63-characters"),
        pytest.param(D64, refused(f"{SOURCE}.counter.driver: Invalid value"), id="64-characters"),
        pytest.param("", refused(f"{SOURCE}.counter.driver: Required value"), id="none"),
        pytest.param("GPU.example.com", refused(f"{SOURCE}.counter.driver: Invalid value"), id="capitals"),
    ],
)
def test_drivers(lab: Lab, driver: str, verdict: RejectedFields) -> None:
    """A driver is a subdomain of at most 63 characters."""
    assert lab.check(a_configuration_of(lab.behaviour, a_counter(driver=driver))) == verdict


@covers("SOURCE-009")
@pytest.mark.parametrize(
    ("selector", "verdict"),
    [
        pytest.param('device.driver == "gpu.example.com"', ACCEPTED, id="compiles"),
        pytest.param("", refused(f"{SELECTOR}: Required value"), id="none"),
        pytest.param("device.driver ==", refused(f"{SELECTOR}: Invalid value"), id="syntax"),
        pytest.param("device.driver", refused(f"{SELECTOR}: Invalid value"), id="type"),
    ],
)
def test_selectors_of_sources(lab: Lab, selector: str, verdict: RejectedFields) -> None:
    """The expression must be there and compile."""
    assert lab.check(a_configuration_of(lab.behaviour, a_counter(selector=selector))) == verdict


@covers("SOURCE-007", "SOURCE-009")
def test_selectors_of_capacities(lab: Lab) -> None:
    """A capacity selects its devices like a counter."""
    document = a_configuration_of(lab.behaviour, a_capacity(selector="device.driver"))

    assert lab.check(document) == refused(f"{SOURCE}.capacity.deviceSelector.cel.expression: Invalid value")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        pytest.param(
            a_counter("m" * 64),
            f'{SOURCE}.counter.name: Invalid value: "{"m" * 64}": must be no more than 63 characters',
            id="long-counter",
            marks=covers("SOURCE-006"),
        ),
        pytest.param(
            a_counter("a.b"),
            f'{SOURCE}.counter.name: Invalid value: "a.b": must not contain dots',
            id="counter",
            marks=covers("SOURCE-006"),
        ),
        pytest.param(
            a_capacity("m" * 33),
            f"{SOURCE}.capacity.name: Too long: may not be more than 32 bytes",
            id="capacity",
            marks=covers("SOURCE-007"),
        ),
        pytest.param(
            a_counter(driver=D64),
            f'{SOURCE}.counter.driver: Invalid value: "{D64}": must not exceed 63 characters',
            id="driver",
            marks=covers("SOURCE-008"),
        ),
        pytest.param(
            a_counter(selector="device.driver"),
            f'{SOURCE}.counter.deviceSelector.cel.expression: Invalid value: "device.driver": '
            "CEL compilation failed: must evaluate to bool or the unknown type, not string",
            id="selector",
            marks=covers("SOURCE-009"),
        ),
    ],
)
def test_the_fault_is_told(lab: Lab, source: dict[str, Any], message: str) -> None:
    """The field, what stands there, and what is wrong with it."""
    assert lab.refusal_text(a_configuration_of(lab.behaviour, source)) == message
