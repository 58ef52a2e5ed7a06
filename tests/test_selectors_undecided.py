"""Expressions that the engine answers otherwise than Kubernetes, as generated ones showed: they are undecided."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.alternatives import a_list, an_alternative
from kueue_dra_fixtures.builders import a_job, a_request, a_template
from kueue_dra_fixtures.resources import a_class
from kueue_dra_ref.cel.model import Device, Undecided
from kueue_dra_ref.cel.selector import Selector, compiled
from tests.labs import a_lab

UNWRAPPED = "optional.unwrap([optional.of(1)]) == [1]"
SELECTED: dict[str, Any] = {"selectors": [{"cel": {"expression": UNWRAPPED}}]}
DEVICE = Device(name="d", driver="gpu.example.com")


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param('device.attributes["gpu.example.com"].index.orValue(false)', id="no-optional"),
        pytest.param('timestamp("2020-01-01T00:00:00Z").includes("a")', id="includes-of-a-time"),
        pytest.param('{"a": 3}[?"b"].includes("c")', id="includes-of-an-optional"),
        pytest.param('device.attributes["gpu.example.com"][?"a"].orValue(semver("1.0.0")) == "b"', id="stand-in"),
        pytest.param('dyn(device.attributes["gpu.example.com"]) == 1.0', id="hidden-map"),
        pytest.param('{ip("10.0.0.1"): 0}.exists(key, true)', id="address-as-key"),
        pytest.param("-(optional.none().value()) == 1", id="value-of-nothing"),
        pytest.param('sign(quantity("1").sub(-9223372036854775808)) == 1', id="least-integer"),
        pytest.param('url("file://a%20b").getScheme() == "file"', id="escaped-host"),
        pytest.param('device.attributes["gpu.example.com"].index.validate("a").hasValue()', id="validate-of-anything"),
        pytest.param("dyn([1]).flatten() == [1]", id="flatten-of-anything"),
        pytest.param(UNWRAPPED, id="unwrap"),
        pytest.param("[optional.of(1)].unwrapOpt() == [1]", id="unwrap-of-a-list"),
        pytest.param("(device.attributes) == {}", id="domains-as-a-value"),
        pytest.param('[optional.of("a"), optional.none(), optional.of(1)].size() == 3', id="nothing-among-others"),
    ],
)
def test_what_the_engine_answers_otherwise_is_undecided(expression: str) -> None:
    """Neither guessed nor a reason to fail."""
    selector = compiled(expression)

    answer = selector.matches(DEVICE) if isinstance(selector, Selector) else selector

    assert isinstance(answer, Undecided), answer


@pytest.mark.parametrize(
    ("expression", "named"),
    [
        pytest.param('int(device.attributes["gpu.example.com"].shared) == 1', "shared", id="attribute"),
        pytest.param('device.attributes["gpu.example.com"] == device.attributes["other"]', "an attribute", id="any"),
    ],
)
def test_the_reason_names_the_attribute(expression: str, named: str) -> None:
    """It tells from which part of a selector the doubt is."""
    selector = compiled(expression)
    assert isinstance(selector, Selector)
    device = Device(
        name="d", driver="gpu.example.com", attributes={"shared": {"bool": True}, "v": {"version": "1.0.0"}}
    )

    answer = selector.matches(device)

    assert answer == Undecided(reason=f"a use of {named} that the engine answers differently")


@pytest.mark.parametrize(
    ("release", "request_"),
    [
        pytest.param("kueue-0.19.2", a_request(selectors=[UNWRAPPED]), id="request"),
        pytest.param("kueue-0.20.0", a_list(an_alternative(**SELECTED)), id="alternative"),
    ],
)
def test_work_with_such_a_selector_is_undecided(release: str, request_: dict[str, Any]) -> None:
    """Its condition has a status that no Kueue writes."""
    lab = a_lab(release, suffix="undecided")
    lab.start(gates={"KueueDRAIntegrationPrioritizedList": True} if release == "kueue-0.20.0" else {})
    job = lab.queue({"whole-gpus": 1}).submit(a_job(claims=[a_template(request_)]))

    assert lab.condition(job, "QuotaReserved") == ("Unknown", "Undecided")


def test_work_whose_selector_a_device_leaves_open_is_undecided() -> None:
    """It compiles, so only its evaluation shows that the engine cannot tell."""
    lab = a_lab("kueue-0.19.2", suffix="device")
    expression = 'sign(quantity("1").sub(-9223372036854775808)) == 1'
    lab.apply(a_class("gpu.example.com"))
    lab.publish({"name": "d"})
    job = lab.queue({"whole-gpus": 1}).submit(a_job(claims=[a_template(a_request(selectors=[expression]))]))

    assert lab.condition(job, "QuotaReserved") == ("Unknown", "Undecided")
