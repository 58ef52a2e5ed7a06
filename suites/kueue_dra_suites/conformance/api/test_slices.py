"""The resource.k8s.io API: slices, their pools, devices, attributes, counters and shares."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, on_kubernetes
from kueue_dra_fixtures.rejections import ACCEPTED, RejectedFields, refused
from kueue_dra_fixtures.resources import a_pool, a_shared_device, a_slice, some_counters, some_devices

DEVICE = "spec.devices[0]"
POLICY = f"{DEVICE}.capacity[memory].requestPolicy"
TAINTS = [{"key": "a", "effect": "NoSchedule"}]
CONSUMED = [{"counterSet": "s", "counters": some_counters("a")}]
SELECTED = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]}


@covers("API-021", "API-026", "API-027")
@pytest.mark.parametrize(
    ("spec", "answer"),
    [
        pytest.param({}, ACCEPTED, id="all-nodes"),
        pytest.param({"allNodes": None, "nodeName": "n"}, ACCEPTED, id="one-node"),
        pytest.param({"allNodes": None, "nodeSelector": SELECTED}, ACCEPTED, id="selected-nodes"),
        pytest.param({"allNodes": None}, refused("spec: Required value"), id="no-nodes"),
        pytest.param({"nodeName": "n"}, refused("spec: Invalid value"), id="all-nodes-and-one"),
        pytest.param(
            {"allNodes": False}, refused("spec.allNodes: Invalid value", "spec: Required value"), id="not-all-nodes"
        ),
        pytest.param({"pool": a_pool("rack-1/n.example.com")}, ACCEPTED, id="pool-with-a-slash"),
        pytest.param({"pool": a_pool("rack_1")}, refused("spec.pool.name: Invalid value"), id="pool-with-a-low-line"),
        pytest.param({"pool": a_pool("rack//1")}, refused("spec.pool.name: Invalid value"), id="pool-with-two-slashes"),
        pytest.param({"pool": a_pool("")}, refused("spec.pool.name: Required value"), id="pool-without-a-name"),
        pytest.param(
            {"pool": a_pool(slices=0)}, refused("spec.pool.resourceSliceCount: Invalid value"), id="pool-of-no-slices"
        ),
    ],
)
def test_a_slice_belongs_to_nodes_and_to_a_pool(lab: Lab, spec: dict[str, Any], answer: RejectedFields) -> None:
    """It says in one way which nodes can use it, and of how many slices its pool is."""
    assert lab.offer(a_slice(lab.name("slice"), some_devices(1), **spec)) == answer


@covers("API-022", "API-023", "API-024", "API-025")
@pytest.mark.parametrize(
    ("devices", "answer"),
    [
        pytest.param(some_devices(128), ACCEPTED, id="as-many-as-may-be"),
        pytest.param(some_devices(129), refused("spec.devices: Too many"), id="one-too-many"),
        pytest.param([*some_devices(63), {"name": "t", "taints": TAINTS}], ACCEPTED, id="64-with-a-taint"),
        pytest.param(
            [*some_devices(64), {"name": "t", "taints": TAINTS}],
            refused("spec.devices: Too many"),
            id="65-with-a-taint",
        ),
        pytest.param(
            [*some_devices(64), {"name": "c", "consumesCounters": CONSUMED}],
            refused("spec.devices: Too many"),
            id="65-with-counters",
        ),
        pytest.param([{"name": "D0"}], refused(f"{DEVICE}.name: Invalid value"), id="name-in-capitals"),
        pytest.param([{"name": "d.0"}], refused(f"{DEVICE}.name: Invalid value"), id="name-with-a-dot"),
        pytest.param([{"name": "d"}, {"name": "d"}], refused("spec.devices[1]: Duplicate value"), id="one-name-twice"),
    ],
)
def test_devices_are_few_and_have_names_of_their_own(lab: Lab, devices: list[Any], answer: RejectedFields) -> None:
    """A slice has at most 128 devices, or 64 of the more demanding kinds."""
    assert lab.offer(a_slice(lab.name("slice"), devices)) == answer


@covers("API-029", "API-030", "API-031")
@pytest.mark.parametrize(
    ("attributes", "answer"),
    [
        pytest.param({"a": {"string": "s" * 64}}, ACCEPTED, id="text-of-64"),
        pytest.param({"a": {"string": "s" * 65}}, refused(f"{DEVICE}.attributes[a].string: Too long"), id="text-of-65"),
        pytest.param({"a": {"version": "1.2.3-rc.1+b"}}, ACCEPTED, id="version"),
        pytest.param(
            {"a": {"version": "1.2"}}, refused(f"{DEVICE}.attributes[a].version: Invalid value"), id="no-version"
        ),
        pytest.param({"a": {}}, refused(f"{DEVICE}.attributes[a]: Invalid value"), id="no-value"),
        pytest.param(
            {"a": {"int": 1, "bool": True}}, refused(f"{DEVICE}.attributes[a]: Invalid value"), id="two-values"
        ),
        pytest.param({f"a{index}": {"int": 1} for index in range(31)}, ACCEPTED, id="32-with-the-capacity"),
        pytest.param(
            {f"a{index}": {"int": 1} for index in range(32)},
            refused(f"{DEVICE}: Invalid value"),
            id="33-with-the-capacity",
        ),
    ],
)
def test_an_attribute_has_one_value_of_some_length(
    lab: Lab, attributes: dict[str, Any], answer: RejectedFields
) -> None:
    """And there are not too many of them, capacities included."""
    device = {"name": "d0", "attributes": attributes, "capacity": {"memory": {"value": "80Gi"}}}

    assert lab.offer(a_slice(lab.name("slice"), [device])) == answer


@covers("API-028")
@pytest.mark.parametrize(
    ("spec", "answer"),
    [
        pytest.param({"pool": a_pool(generation=2, slices=2)}, ACCEPTED, id="generation"),
        pytest.param({"pool": a_pool("other")}, refused("spec.pool.name: Invalid value"), id="pool"),
        pytest.param({"driver": "other.example.com"}, refused("spec.driver: Invalid value"), id="driver"),
        pytest.param({"nodeName": "other"}, refused("spec.nodeName: Invalid value"), id="node"),
    ],
)
def test_a_slice_stays_with_its_driver_pool_and_node(lab: Lab, spec: dict[str, Any], answer: RejectedFields) -> None:
    """A driver that publishes again creates another generation of the same pool."""
    name, node = lab.name("slice"), {"nodeName": "n"}
    lab.apply(a_slice(name, some_devices(1), allNodes=None, **node))

    assert lab.offer(a_slice(name, some_devices(2), allNodes=None, **{**node, **spec})) == answer


@covers("API-032")
@pytest.mark.parametrize(
    ("spec", "answer"),
    [
        pytest.param({"sharedCounters": [{"name": "s", "counters": some_counters("a")}]}, ACCEPTED, id="counters"),
        pytest.param({"devices": some_devices(1, consumesCounters=CONSUMED)}, ACCEPTED, id="devices"),
        pytest.param(
            {"sharedCounters": [{"name": "s", "counters": some_counters("a")}], "devices": some_devices(1)},
            refused("spec: Invalid value"),
            id="counters-and-devices",
        ),
        pytest.param(
            {"sharedCounters": [{"name": f"s{i}", "counters": some_counters("a")} for i in range(9)]},
            refused("spec.sharedCounters: Too many"),
            id="nine-sets",
        ),
        pytest.param(
            {"sharedCounters": [{"name": "s", "counters": {}}]},
            refused("spec.sharedCounters[0].counters: Required value"),
            id="empty-set",
        ),
        pytest.param(
            {
                "devices": some_devices(
                    1, consumesCounters=[{"counterSet": f"s{i}", "counters": some_counters("a")} for i in range(3)]
                )
            },
            refused(f"{DEVICE}.consumesCounters: Too many"),
            id="three-sets-for-a-device",
        ),
    ],
)
def test_counters_are_in_slices_of_their_own(lab: Lab, spec: dict[str, Any], answer: RejectedFields) -> None:
    """A pool publishes its counters next to the slices of devices that consume them."""
    assert lab.offer(a_slice(lab.name("slice"), **spec)) == answer


@covers("API-033")
@pytest.mark.parametrize(
    ("policy", "answer"),
    [
        pytest.param({"default": "1Gi", "validValues": ["1Gi", "8Gi"]}, ACCEPTED, id="values"),
        pytest.param(
            {"default": "1Gi", "validRange": {"min": "1Gi", "max": "5Gi", "step": "2Gi"}}, ACCEPTED, id="range"
        ),
        pytest.param(
            {"default": "1Gi", "validValues": ["1Gi"], "validRange": {"min": "1Gi"}},
            refused(f"{POLICY}: Forbidden"),
            id="values-and-range",
        ),
        pytest.param(
            {"validValues": ["1Gi"]}, refused(f"{POLICY}.default: Required value"), id="values-without-default"
        ),
        pytest.param(
            {"default": "2Gi", "validValues": ["1Gi", "4Gi"]},
            refused(f"{POLICY}.validValues: Invalid value"),
            id="default-among-no-values",
        ),
        pytest.param(
            {"default": "1Gi", "validValues": ["1Gi", "9Gi"]},
            refused(f"{POLICY}.validValues[1]: Invalid value"),
            id="value-beyond-the-capacity",
        ),
        pytest.param(
            {"default": "8Gi", "validValues": ["8Gi", "1Gi"]},
            refused(f"{POLICY}.validValues[1]: Invalid value"),
            id="values-out-of-order",
        ),
        pytest.param(
            {"default": "1Gi", "validValues": ["1Gi", "1Gi"]},
            refused(f"{POLICY}.validValues[1]: Duplicate value"),
            id="values-of-one-size",
        ),
        pytest.param(
            {"default": "1Gi", "validRange": {"min": "2Gi"}},
            refused(f"{POLICY}.validRange.min: Invalid value"),
            id="default-below-the-range",
            marks=on_kubernetes("1.36"),
        ),
        pytest.param(
            {"default": "1Gi", "validRange": {"min": "2Gi"}},
            refused(f"{POLICY}.validRange.default: Invalid value"),
            id="default-below-the-range-in-1.37",
            marks=on_kubernetes("1.37"),
        ),
        pytest.param(
            {"default": "1Gi", "validRange": {"min": "1Gi", "max": "9Gi"}},
            refused(f"{POLICY}.validRange.max: Invalid value"),
            id="range-beyond-the-capacity",
        ),
        pytest.param(
            {"default": "2Gi", "validRange": {"min": "1Gi", "max": "5Gi", "step": "2Gi"}},
            refused(f"{POLICY}.validRange.step: Invalid value"),
            id="default-between-two-steps",
        ),
    ],
)
def test_a_policy_fits_the_capacity_that_it_shares_out(
    lab: Lab, policy: dict[str, Any], answer: RejectedFields
) -> None:
    """Values, range and default are within eight gibibytes and agree with each other."""
    assert lab.offer(a_slice(lab.name("slice"), [a_shared_device("8Gi", policy)])) == answer


@covers("API-033")
def test_a_policy_is_for_a_device_that_can_be_shared(lab: Lab) -> None:
    """Without more than one allocation there is nothing to share out."""
    device = {**a_shared_device("8Gi", {"default": "1Gi"}), "allowMultipleAllocations": False}

    assert lab.offer(a_slice(lab.name("slice"), [device])) == refused(f"{POLICY}: Forbidden")


@covers("API-052")
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(ACCEPTED, id="rounded-up", marks=on_kubernetes("1.36")),
        pytest.param(
            ACCEPTED, id="rounded-up-in-1.37", marks=on_kubernetes("1.37", "DRAFractionalCapacityRange=false")
        ),
        pytest.param(
            refused(f"{POLICY}.validRange.step: Invalid value"),
            id="fractions-in-1.37",
            marks=on_kubernetes("1.37", "DRAFractionalCapacityRange"),
        ),
    ],
)
def test_a_range_is_checked_in_whole_units(lab: Lab, answer: RejectedFields) -> None:
    """From 0.5 on, 1 is a whole number of steps of 1 only if 0.5 is rounded up to 1."""
    assert lab.offer(a_slice(lab.name("slice"), [_from("500m")])) == answer


@covers("API-052")
@on_kubernetes("1.36")
def test_a_range_may_begin_with_a_millionth(lab: Lab) -> None:
    """Rounded up it is a whole unit."""
    assert lab.offer(a_slice(lab.name("slice"), [_from("1u")])) == ACCEPTED


def _from(least: str) -> dict[str, Any]:
    """A device whose memory is shared in steps of one, from the least amount on."""
    policy = {"default": "1", "validRange": {"min": least, "step": "1"}}
    shared = {"memory": {"value": "80", "requestPolicy": policy}}
    return {"name": "d0", "allowMultipleAllocations": True, "capacity": shared}


STEP, DEFAULT = f"{POLICY}.validRange.step: Invalid value", f"{POLICY}.validRange.default: Invalid value"
LEAST, MOST = f"{POLICY}.validRange.min: Invalid value", f"{POLICY}.validRange.max: Invalid value"


@covers("API-052")
@on_kubernetes("1.37", "DRAFractionalCapacityRange")
@pytest.mark.parametrize(
    ("default", "bounds", "faults"),
    [
        pytest.param("1", {"min": "500m", "step": "500m", "max": "7500m"}, (), id="halves"),
        pytest.param("1001m", {"min": "1m", "step": "1m", "max": "8"}, (), id="thousandths"),
        pytest.param("500m", {"min": "500m", "step": "7500m"}, (), id="one-step-to-the-capacity"),
        pytest.param("500m", {"min": "500m", "step": "7501m"}, (STEP,), id="one-step-beyond-the-capacity"),
        pytest.param("1500m", {"min": "1", "step": "1", "max": "8"}, (STEP,), id="default-alone"),
        pytest.param("1", {"min": "1", "step": "1", "max": "7500m"}, (STEP,), id="largest-alone"),
        pytest.param("2", {"min": "1", "step": "400m", "max": "4"}, (STEP, STEP), id="step-alone"),
        pytest.param("1", {"min": "1", "step": "400m", "max": "3"}, (), id="five-steps"),
        pytest.param("1", {"min": "500m", "step": "0"}, (STEP,), id="no-step"),
        pytest.param("1", {"min": "500m", "step": "-500m"}, (STEP,), id="step-back"),
        pytest.param("1", {"min": "1u", "step": "1", "max": "2"}, (LEAST,), id="millionths"),
        pytest.param("1500u", {"min": "100u", "step": "0", "max": "8"}, (DEFAULT, LEAST), id="millionths-twice"),
        pytest.param("1", {"min": "500m", "max": "8"}, (), id="without-steps"),
        pytest.param("1", {"min": "-500m", "step": "500m"}, (), id="below-nothing"),
    ],
)
def test_a_range_can_be_of_thousandths(lab: Lab, default: str, bounds: dict[str, str], faults: tuple[str, ...]) -> None:
    """One fraction in the range or the default is enough; what is finer cannot be calculated with."""
    policy = {"default": default, "validRange": bounds}

    assert lab.offer(a_slice(lab.name("slice"), [a_shared_device("8", policy)])) == refused(*faults)


@covers("API-052")
@on_kubernetes("1.37", "DRAFractionalCapacityRange=false")
@pytest.mark.parametrize(
    ("default", "bounds", "faults"),
    [
        pytest.param("1500m", {"min": "1", "step": "1", "max": "7500m"}, (), id="halves"),
        pytest.param("2", {"min": "1", "step": "2", "max": "8"}, (STEP, STEP), id="between-steps"),
        pytest.param("1", {"min": "1", "step": "0"}, (STEP,), id="no-step"),
        pytest.param("1", {"min": "1", "step": "1m", "max": "8"}, (), id="smallest-step"),
        pytest.param("0", {"min": "0", "step": "9223372036854775807"}, (), id="largest-number"),
        pytest.param("0", {"min": "0", "step": "9223372036854775808"}, (STEP,), id="beyond-the-largest-number"),
        pytest.param("0", {"min": "-1", "step": "1"}, (LEAST,), id="below-nothing"),
        pytest.param("-1", {"min": "-2", "step": "1", "max": "-1"}, (DEFAULT, LEAST, MOST), id="all-below-nothing"),
    ],
)
def test_a_range_is_of_what_whole_numbers_hold(
    lab: Lab, default: str, bounds: dict[str, str], faults: tuple[str, ...]
) -> None:
    """From Kubernetes 1.37 on, before it calculates with them."""
    policy = {"default": default, "validRange": bounds}

    assert lab.offer(a_slice(lab.name("slice"), [a_shared_device("10E", policy)])) == refused(*faults)
