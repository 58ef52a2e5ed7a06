"""``kueue-dra explain`` of sources: pools that do not count, devices that match, and how amounts are rounded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import yaml

from kueue_dra_fixtures.builders import a_request, a_template
from kueue_dra_fixtures.profiles import a_configuration
from kueue_dra_fixtures.resources import a_class, a_pool, a_slice
from kueue_dra_fixtures.sources import (
    PARTITIONS,
    SHARES,
    SOURCED,
    a_partition,
    a_range,
    a_share,
    a_shared_gpu,
    shares,
    some_values,
)
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.rules.dra import (
    consumable_capacity,
    partitionable_devices,
    pool_selection,
    sourced_requests,
)
from kueue_dra_ref.target import Manifest
from tests.commands import kueue_dra
from tests.test_cli_simulate import QUEUES, a_job

WHERE = "pod set main, claim g, request r0, "


def steps(request: dict[str, Any], published: Sequence[Manifest]) -> list[str]:
    """Explain the Job that requests devices of the class with the name of its driver, without step numbers."""
    name = request["exactly"]["deviceClassName"]
    resource = {PARTITIONS: "gpu-memory", SHARES: "vgpu-memory"}[name]
    queues = QUEUES.replace("whole-gpus", resource).replace("nominalQuota: 2", "nominalQuota: 100Gi")
    *rest, _, _ = yaml.safe_load_all(queues)
    template = a_template(request).manifest("two", "default")
    configuration = a_configuration(behaviour(), **SOURCED)
    world = [*rest, configuration, template, a_class(name), *published, yaml.safe_load(a_job())]
    result = kueue_dra("explain", "-f", "-", stdin=yaml.safe_dump_all(world))
    return [line.partition(". ")[2] for line in result.stdout.splitlines()]


def a_pool_of(name: str, count: int, *, generation: int = 1, slices: int = 1) -> list[Manifest]:
    """So many slices of a pool, each of one device named after it."""
    pool = a_pool(name, generation=generation, slices=slices)
    names = [f"{name}{generation}-{index}" for index in range(count)]
    return [a_slice(each, [a_partition(each, memory="10Gi")], driver=PARTITIONS, pool=pool) for each in names]


@pytest.mark.parametrize(
    ("published", "step"),
    [
        pytest.param(
            [*a_pool_of("p", 1), *a_pool_of("q", 2, slices=3)],
            "pool q of gpu.example.com, generation 1, 2 of 3 slices, does not count: "
            f"{pool_selection.skip_incomplete_pool.sentence}   [DEVICE-006]",
            id="incomplete",
        ),
        pytest.param(
            [*a_pool_of("p", 1), *a_pool_of("q", 2)],
            "pool q of gpu.example.com, generation 1, 2 of 1 slice, does not count: "
            f"{pool_selection.skip_incomplete_pool.sentence}   [DEVICE-006]",
            id="more-than-it-says",
        ),
        pytest.param(
            [*a_pool_of("p", 2, slices=2), *a_pool_of("p", 1, generation=2)],
            "pool p of gpu.example.com, generation 1, 2 of 2 slices, "
            "does not count because generation 2 does: "
            f"{pool_selection.newest_pool_generation.sentence}   [DEVICE-005]",
            id="hidden-by-a-newer-one",
        ),
        pytest.param(
            [a_slice("s", [a_partition("d0", memory="10Gi")], driver="other.example.com")],
            "driver gpu.example.com publishes none of 1 ResourceSlice: "
            f"{pool_selection.slices_of_driver.sentence}   [DEVICE-004]",
            id="other-driver",
        ),
    ],
)
def test_a_pool_that_does_not_count_is_explained(published: list[Manifest], step: str) -> None:
    """By pool, generation, and how many of its slices are there."""
    told = [each for each in steps(a_request(PARTITIONS), published) if each.startswith(("pool ", "driver "))]

    assert told == [step]


def test_a_complete_pool_is_not_mentioned() -> None:
    """Only pools that do not count are."""
    assert not [step for step in steps(a_request(PARTITIONS), a_pool_of("p", 2, slices=2)) if step.startswith("pool ")]


def test_devices_that_match_and_that_do_not_are_named() -> None:
    """With the rule that excludes each of the others."""
    request = a_request(PARTITIONS, selectors=['device.attributes["gpu.example.com"].profile != "half"'])
    devices = [a_partition("d0", memory="1Gi"), a_partition("d1", "spare"), a_partition("d2", "half")]

    found = steps(request, [a_slice("s", [*devices, a_partition("d3")], driver=PARTITIONS)])
    of_source = sourced_requests.source_selector_matches
    of_request = sourced_requests.sourced_request_selectors_match
    consumed = partitionable_devices.all_counter_sets_are_charged

    assert found[3:9] == [
        f"{WHERE}counter memory: 2 of 4 devices of gpu.example.com match: lab-pool/d0, lab-pool/d3   "
        "[DEVICE-007, DEVICE-008, DEVICE-009]",
        f"{WHERE}counter memory: no match: lab-pool/d1 ({of_source.sentence})   [DEVICE-007]",
        f"{WHERE}counter memory: no match: lab-pool/d2 ({of_request.sentence})   [DEVICE-009]",
        f"{WHERE}counter memory: lab-pool/d0: 1Gi ({consumed.sentence})   [COUNTER-001]",
        f"{WHERE}counter memory: lab-pool/d3: has none, skipped   [COUNTER-005]",
        f"{WHERE[:-2]}: counter memory of gpu.example.com is at most 1Gi on 2 matching devices: "
        "1Gi \N{MULTIPLICATION SIGN} 1 device = 1Gi gpu-memory   [COUNTER-001, COUNTER-002]",
    ]


def test_a_long_list_is_cut_off() -> None:
    """It names ten devices, and ten different charges."""
    devices = [a_partition(f"d{index}", memory=str(index + 1)) for index in range(12)]

    found = steps(a_request(PARTITIONS), [a_slice("s", devices, driver=PARTITIONS)])

    assert "12 of 12 devices of gpu.example.com match: lab-pool/d0, " in found[3]
    assert "lab-pool/d9 and 2 more   [" in found[3]
    assert f"{WHERE}counter memory: 2 more devices, each charged differently" in found


REQUESTED = consumable_capacity.requested_capacity.sentence
DEFAULT = consumable_capacity.policy_default.sentence
FULL = consumable_capacity.full_capacity.sentence
VALUES = consumable_capacity.round_to_valid_values.sentence
MIN = consumable_capacity.round_up_to_range_min.sentence
STEP = consumable_capacity.round_up_to_range_step.sentence
MAX = consumable_capacity.reject_above_range_max.sentence


@pytest.mark.parametrize(
    ("policy", "asked", "step"),
    [
        pytest.param(
            some_values("8Gi", "16Gi"),
            {"memory": "9Gi"},
            f"80Gi, valid values 8Gi or 16Gi: 9Gi ({REQUESTED}) → 16Gi ({VALUES})   [CAPACITY-001, CAPACITY-005]",
            id="value",
        ),
        pytest.param(
            some_values("8Gi", "16Gi"),
            {"memory": "17Gi"},
            f"80Gi, valid values 8Gi or 16Gi: 17Gi ({REQUESTED}) → not allowed ({VALUES})   "
            "[CAPACITY-001, CAPACITY-005, CAPACITY-011]",
            id="no-value",
        ),
        pytest.param(
            a_range("4Gi", "40Gi", "4Gi"),
            {"memory": "9Gi"},
            f"80Gi, valid range from 4Gi to 40Gi in steps of 4Gi: 9Gi ({REQUESTED}) → 12Gi ({STEP})   "
            "[CAPACITY-001, CAPACITY-007]",
            id="step",
        ),
        pytest.param(
            a_range("4Gi"),
            {"memory": "1Gi"},
            f"80Gi, valid range from 4Gi: 1Gi ({REQUESTED}) → 4Gi ({MIN})   [CAPACITY-001, CAPACITY-006]",
            id="least",
        ),
        pytest.param(
            a_range("4Gi", "40Gi", "6Gi"),
            {"memory": "41Gi"},
            f"80Gi, valid range from 4Gi to 40Gi in steps of 6Gi: 41Gi ({REQUESTED}) → 46Gi ({STEP}) → "
            f"not allowed ({MAX})   "
            "[CAPACITY-001, CAPACITY-007, CAPACITY-012, CAPACITY-011]",
            id="beyond-the-most",
        ),
        pytest.param(
            some_values("8Gi", "16Gi", default="16Gi"),
            {},
            f"80Gi, valid values 8Gi or 16Gi: 16Gi ({DEFAULT})   [CAPACITY-003]",
            id="default",
        ),
        pytest.param(None, {}, f"80Gi: 80Gi ({FULL})   [CAPACITY-004]", id="whole"),
    ],
)
def test_every_rounding_of_a_capacity_is_explained(
    policy: dict[str, Any] | None, asked: dict[str, str], step: str
) -> None:
    """From the requested amount to the charge, with the rules of the device's requestPolicy."""
    device = a_shared_gpu("d0", policy, memory="80Gi")

    found = steps(shares(SHARES, asked), [a_slice("s", [device], driver=SHARES)])

    assert f"{WHERE}capacity memory: lab-pool/d0 with {step}" in found


@pytest.mark.parametrize(
    ("amount", "count", "step"),
    [
        pytest.param("1500m", 1, "1500m is rounded up to whole units: 2   [COUNTER-003]", id="fraction"),
        pytest.param(
            "-5Gi",
            1,
            f"-5Gi is charged as 0: {sourced_requests.clamp_negative_to_zero.sentence}   [COUNTER-006]",
            id="negative",
        ),
        pytest.param("8Ei", 2, "the product saturates at the largest 64-bit integer   [COUNTER-003]", id="too-large"),
    ],
)
def test_what_becomes_of_the_largest_amount_is_explained(amount: str, count: int, step: str) -> None:
    """Rounding up to whole units, and the bounds of an amount."""
    devices = [a_partition(f"d{index}", memory=amount) for index in range(count)]

    found = steps(a_request(PARTITIONS, count=count), [a_slice("s", devices, driver=PARTITIONS)])

    assert f"{WHERE}counter memory: {step}" in found


def test_a_plain_amount_is_not_adjusted() -> None:
    """An amount that does not change has no step."""
    found = steps(a_share(memory="9Gi"), [a_slice("s", [a_shared_gpu("d0", memory="80Gi")], driver=SHARES)])

    assert [step for step in found if step.startswith(f"{WHERE}capacity")] == [
        f"{WHERE}capacity memory: 1 of 1 device of vgpu.example.com match: lab-pool/d0   "
        "[DEVICE-007, DEVICE-008, DEVICE-009]",
        f"{WHERE}capacity memory: lab-pool/d0 with 80Gi: 9Gi ({REQUESTED})   [CAPACITY-001]",
    ]
