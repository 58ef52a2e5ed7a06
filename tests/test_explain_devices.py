"""``kueue-dra explain`` of device sources: pools that do not count, devices that match, and how a share was rounded."""

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
from kueue_dra_ref.target import Manifest
from tests.commands import kueue_dra
from tests.test_cli_simulate import QUEUES, a_job

WHERE = "pod set main, claim g, request r0, "


def steps(request: dict[str, Any], published: Sequence[Manifest]) -> list[str]:
    """Explain the Job that asks for devices of the class that its driver is named after, without numbers."""
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
            "an incomplete pool does not count   [DEVICE-006]",
            id="incomplete",
        ),
        pytest.param(
            [*a_pool_of("p", 1), *a_pool_of("q", 2)],
            "pool q of gpu.example.com, generation 1, 2 of 1 slice, does not count: "
            "an incomplete pool does not count   [DEVICE-006]",
            id="more-than-it-says",
        ),
        pytest.param(
            [*a_pool_of("p", 2, slices=2), *a_pool_of("p", 1, generation=2)],
            "pool p of gpu.example.com, generation 1, 2 of 2 slices, does not count beside generation 2: "
            "the newest generation of a pool counts   [DEVICE-005]",
            id="hidden-by-a-newer-one",
        ),
        pytest.param(
            [a_slice("s", [a_partition("d0", memory="10Gi")], driver="other.example.com")],
            "driver gpu.example.com publishes none of 1 ResourceSlice: slices are those of the driver   [DEVICE-004]",
            id="other-driver",
        ),
    ],
)
def test_a_pool_that_does_not_count_is_explained(published: list[Manifest], step: str) -> None:
    """By pool, generation, and how many of its slices are there."""
    assert step in steps(a_request(PARTITIONS), published)


def test_a_complete_pool_is_not_mentioned() -> None:
    """Only what was left out is told."""
    assert not [step for step in steps(a_request(PARTITIONS), a_pool_of("p", 2, slices=2)) if step.startswith("pool ")]


def test_devices_that_match_and_that_do_not_are_named() -> None:
    """With the selector that left each of the others out."""
    request = a_request(PARTITIONS, selectors=['device.attributes["gpu.example.com"].profile != "half"'])
    devices = [a_partition("d0", memory="1Gi"), a_partition("d1", "spare"), a_partition("d2", "half")]

    found = steps(request, [a_slice("s", [*devices, a_partition("d3")], driver=PARTITIONS)])

    assert found[3:9] == [
        f"{WHERE}counter memory: 2 of 4 devices of gpu.example.com match: lab-pool/d0, lab-pool/d3   "
        "[DEVICE-007, DEVICE-008, DEVICE-009]",
        f"{WHERE}counter memory: not so of lab-pool/d1: the selector of the source holds   [DEVICE-007]",
        f"{WHERE}counter memory: not so of lab-pool/d2: the selectors of a sourced request hold   [DEVICE-009]",
        f"{WHERE}counter memory: lab-pool/d0: 1Gi (what a device consumes is charged)   [COUNTER-001]",
        f"{WHERE}counter memory: lab-pool/d3: has none, passed over   [COUNTER-005]",
        f"{WHERE[:-2]}: counter memory of gpu.example.com is 1Gi at most on 2 matching devices: "
        "1Gi \N{MULTIPLICATION SIGN} 1 device = 1Gi gpu-memory   [COUNTER-001, COUNTER-002]",
    ]


def test_a_long_list_is_cut_off() -> None:
    """Ten devices are named, and ten ways to be charged."""
    devices = [a_partition(f"d{index}", memory=str(index + 1)) for index in range(12)]

    found = steps(a_request(PARTITIONS), [a_slice("s", devices, driver=PARTITIONS)])

    assert "12 of 12 devices of gpu.example.com match: lab-pool/d0, " in found[3]
    assert "lab-pool/d9 and 2 more   [" in found[3]
    assert f"{WHERE}counter memory: 2 devices more, each in another way" in found


ASKED, DEFAULT, ALL = (
    "the share that is asked for",
    "the share is the default otherwise",
    "without default it is the whole",
)


@pytest.mark.parametrize(
    ("policy", "asked", "step"),
    [
        pytest.param(
            some_values("8Gi", "16Gi"),
            {"memory": "9Gi"},
            f"80Gi in shares of 8Gi or 16Gi: 9Gi ({ASKED}) → 16Gi (a share is one of the values)   "
            "[CAPACITY-001, CAPACITY-005]",
            id="value",
        ),
        pytest.param(
            some_values("8Gi", "16Gi"),
            {"memory": "17Gi"},
            f"80Gi in shares of 8Gi or 16Gi: 17Gi ({ASKED}) → cannot be given (a share is one of the values)   "
            "[CAPACITY-001, CAPACITY-005, CAPACITY-011]",
            id="no-value",
        ),
        pytest.param(
            a_range("4Gi", "40Gi", "4Gi"),
            {"memory": "9Gi"},
            f"80Gi in shares from 4Gi to 40Gi in steps of 4Gi: 9Gi ({ASKED}) → 12Gi (a share is a number of steps)   "
            "[CAPACITY-001, CAPACITY-007]",
            id="step",
        ),
        pytest.param(
            a_range("4Gi"),
            {"memory": "1Gi"},
            f"80Gi in shares from 4Gi: 1Gi ({ASKED}) → 4Gi (a share is no less than the least)   "
            "[CAPACITY-001, CAPACITY-006]",
            id="least",
        ),
        pytest.param(
            a_range("4Gi", "40Gi", "6Gi"),
            {"memory": "41Gi"},
            f"80Gi in shares from 4Gi to 40Gi in steps of 6Gi: 41Gi ({ASKED}) → 46Gi (a share is a number of steps) → "
            "cannot be given (a share is no more than the most)   "
            "[CAPACITY-001, CAPACITY-007, CAPACITY-012, CAPACITY-011]",
            id="beyond-the-most",
        ),
        pytest.param(
            some_values("8Gi", "16Gi", default="16Gi"),
            {},
            f"80Gi in shares of 8Gi or 16Gi: 16Gi ({DEFAULT})   [CAPACITY-003]",
            id="default",
        ),
        pytest.param(None, {}, f"80Gi: 80Gi ({ALL})   [CAPACITY-004]", id="whole"),
    ],
)
def test_every_turn_of_a_share_is_explained(policy: dict[str, Any] | None, asked: dict[str, str], step: str) -> None:
    """From what is asked for to what is charged, with the rule of the device's policy."""
    device = a_shared_gpu("d0", policy, memory="80Gi")

    found = steps(shares(SHARES, asked), [a_slice("s", [device], driver=SHARES)])

    assert f"{WHERE}capacity memory: lab-pool/d0 with {step}" in found


@pytest.mark.parametrize(
    ("amount", "count", "step"),
    [
        pytest.param("1500m", 1, "1500m is rounded up to whole units: 2   [COUNTER-003]", id="fraction"),
        pytest.param("-5Gi", 1, "-5Gi is charged as 0: less than nothing is nothing   [COUNTER-006]", id="negative"),
        pytest.param("8Ei", 2, "the product is cut off at the largest 64-bit integer   [COUNTER-003]", id="too-large"),
    ],
)
def test_what_becomes_of_the_largest_amount_is_explained(amount: str, count: int, step: str) -> None:
    """Rounding up to whole units, and the bounds of an amount."""
    devices = [a_partition(f"d{index}", memory=amount) for index in range(count)]

    found = steps(a_request(PARTITIONS, count=count), [a_slice("s", devices, driver=PARTITIONS)])

    assert f"{WHERE}counter memory: {step}" in found


def test_a_plain_amount_is_not_adjusted() -> None:
    """Nothing is said where nothing was changed."""
    found = steps(a_share(memory="9Gi"), [a_slice("s", [a_shared_gpu("d0", memory="80Gi")], driver=SHARES)])

    assert [step for step in found if step.startswith(f"{WHERE}capacity")] == [
        f"{WHERE}capacity memory: 1 of 1 device of vgpu.example.com match: lab-pool/d0   "
        "[DEVICE-007, DEVICE-008, DEVICE-009]",
        f"{WHERE}capacity memory: lab-pool/d0 with 80Gi: 9Gi ({ASKED})   [CAPACITY-001]",
    ]
