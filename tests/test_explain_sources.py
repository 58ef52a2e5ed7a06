"""``kueue-dra explain`` of workloads that are charged counters and shares of capacity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import yaml

from kueue_dra_fixtures.builders import a_request, a_template
from kueue_dra_fixtures.profiles import a_configuration
from kueue_dra_fixtures.resources import a_class, a_slice
from kueue_dra_fixtures.sources import PARTITIONS, SOURCED, a_partition, a_share, a_shared_gpu, some_values
from kueue_dra_ref.behaviours import behaviour
from tests.commands import kueue_dra
from tests.test_cli_simulate import QUEUES, a_job


def explained(resource: str, request: dict[str, Any], devices: Sequence[dict[str, Any]]) -> str:
    """Explain the Job that asks for devices of the driver that its class is named after."""
    name = request["exactly"]["deviceClassName"]
    queues = QUEUES.replace("whole-gpus", resource).replace("nominalQuota: 2", "nominalQuota: 100Gi")
    *rest, _, _ = yaml.safe_load_all(queues)
    configuration = a_configuration(behaviour(), **SOURCED)
    template = a_template(request).manifest("two", "default")
    published = [a_class(name), a_slice("slice", devices, driver=name)]
    world = [*rest, configuration, template, *published, yaml.safe_load(a_job())]
    return kueue_dra("explain", "-f", "-", stdin=yaml.safe_dump_all(world)).stdout


@pytest.mark.parametrize(
    ("resource", "request_", "devices", "step"),
    [
        pytest.param(
            "gpu-memory",
            a_request(PARTITIONS, count=2),
            [a_partition("d0", memory="10Gi"), a_partition("d1", memory="20Gi")],
            "counter memory of gpu.example.com is at most 20Gi on 2 matching devices: "
            "20Gi \N{MULTIPLICATION SIGN} 2 devices = 40Gi gpu-memory   [COUNTER-001, COUNTER-002]",
            id="counter",
        ),
        pytest.param(
            "vgpu-memory",
            a_share(memory="9Gi"),
            [a_shared_gpu("d0", some_values("16Gi"), memory="80Gi")],
            "capacity memory of vgpu.example.com is at most 16Gi on 1 matching device: "
            "16Gi \N{MULTIPLICATION SIGN} 1 device = 16Gi vgpu-memory   [CAPACITY-001, CAPACITY-008]",
            id="share",
        ),
        pytest.param(
            "vgpu-memory",
            a_share(),
            [a_shared_gpu("d0", some_values("16Gi"), memory="80Gi"), a_shared_gpu("d1", memory="8Gi")],
            "[CAPACITY-003, CAPACITY-004, CAPACITY-008]",
            id="default-and-whole",
        ),
        pytest.param(
            "vgpu-memory",
            a_share(memory="17Gi"),
            [a_shared_gpu("d0", some_values("16Gi"), memory="80Gi")],
            'cannot be satisfied by any matched device\'s RequestPolicy for dimension "memory"   [CAPACITY-011]',
            id="refused",
        ),
        pytest.param(
            "gpu-memory",
            a_request(PARTITIONS),
            [a_partition("d0", memory="10Gi")],
            "10Gi per pod \N{MULTIPLICATION SIGN} 1 pod = 10Gi gpu-memory   [COUNT-006]",
            id="pods",
        ),
    ],
)
def test_what_sources_charge_is_explained(
    resource: str, request_: dict[str, Any], devices: list[dict[str, Any]], step: str
) -> None:
    """The largest amount of one device, why, and the total for all of them."""
    assert step in explained(resource, request_, devices)
