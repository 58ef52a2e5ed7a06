"""Sources of a mapping: what may not go together (Kueue 0.19, validation of the Configuration)."""

from __future__ import annotations

from typing import Any

import pytest

from fixtures.lab import Lab
from fixtures.marks import covers
from fixtures.profiles import a_configuration

_SELECTOR = {"cel": {"expression": "true"}}
_COUNTER = {"name": "memory", "driver": "gpu.example.com", "deviceSelector": _SELECTOR}
_CAPACITY = {"name": "memory", "driver": "gpu.example.com", "deviceSelector": _SELECTOR}
_ON = {"KueueDRAIntegrationConsumableCapacity": True}
_ROOT = "resources.deviceClassMappings[0].sources"


@pytest.mark.parametrize(
    ("sources", "told"),
    [
        pytest.param(
            [{}],
            f"{_ROOT}[0]: Required value: exactly one source type must be set per entry",
            id="neither",
            marks=covers("SOURCE-001"),
        ),
        pytest.param(
            [{"counter": _COUNTER, "capacity": _CAPACITY}],
            f'{_ROOT}[0]: Invalid value: "counter+capacity": exactly one source type must be set per entry',
            id="both",
            marks=covers("SOURCE-002"),
        ),
        pytest.param(
            [{"counter": _COUNTER}, {"capacity": _CAPACITY}],
            f"{_ROOT}: Invalid value: 2: cannot mix counter and capacity sources in the same mapping",
            id="mixed",
            marks=covers("SOURCE-003"),
        ),
    ],
)
def test_sources_are_of_one_type(lab: Lab, sources: list[dict[str, Any]], told: str) -> None:
    """Every source charges a counter or a capacity, and all of a mapping charge the same."""
    mapping = {"name": "gpu-memory", "deviceClassNames": ["gpu.example.com"], "sources": sources}
    configuration = a_configuration(lab.behaviour, resources={"deviceClassMappings": [mapping]}, gates=_ON)

    assert told in lab.refusal_text(configuration).split("\n")
