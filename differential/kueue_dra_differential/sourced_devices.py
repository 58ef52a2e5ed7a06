"""Themes whose devices are charged by the counters that they consume, or by shares of their capacity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kueue_dra_differential.config_profiles import ConfigProfile, goes
from kueue_dra_fixtures.builders import a_request, a_template
from kueue_dra_fixtures.manifests import Quota
from kueue_dra_fixtures.resources import a_class, a_pool, a_slice
from kueue_dra_fixtures.sources import (
    ADDED_COUNTERS,
    ADDED_SHARES,
    NICS,
    PARTITIONS,
    SHARES,
    SOURCED,
    TWO_COUNTERS,
    a_partition,
    a_range,
    a_share,
    a_shared_gpu,
    some_values,
)
from kueue_dra_ref.target import Manifest

_CLASSES = tuple(
    map(a_class, (PARTITIONS, TWO_COUNTERS, ADDED_COUNTERS, SHARES, ADDED_SHARES, NICS))
)
_PROFILE = f"device.attributes['{PARTITIONS}'].profile"
_HALF = f"has({_PROFILE}) && {_PROFILE} == 'half'"
"""With ``has``: a class without selectors matches any device, and Kueue evaluates them in random order."""
_PARTITIONS = "KueueDRAIntegrationPartitionableDevices"
_CAPACITY = "KueueDRAIntegrationConsumableCapacity"


def _parts(half: str, full: str, *, generation: int = 1, of: int = 1) -> Manifest:
    """Give a slice of two partitions; of an incomplete pool if it is one ``of`` several."""
    devices = [
        a_partition("half", "half", memory=half, slices="1"),
        a_partition("full", memory=full, slices="2"),
    ]
    pool = a_pool("parts", generation=generation, slices=of)
    return a_slice("parts", devices, driver=PARTITIONS, pool=pool)


def _more_parts(*memory: str, generation: int) -> Manifest:
    """Give the other slice of a pool of two, with a partition for each amount of memory."""
    devices = [
        a_partition(f"part-{each.lower()}", memory=each, slices="1") for each in memory
    ]
    return a_slice(
        "more-parts",
        devices,
        driver=PARTITIONS,
        pool=a_pool("parts", generation=generation, slices=2),
    )


def _shared(policy: Mapping[str, Any] | None, memory: str) -> Manifest:
    """Give a slice of one device that allocates shares."""
    device = a_shared_gpu("shared", policy, memory=memory, disk="100Gi")
    return a_slice("shares", [device], driver=SHARES, pool=a_pool("shares"))


_COUNTED = {
    "part": a_template(a_request(PARTITIONS)),
    "two-parts": a_template(a_request(PARTITIONS, count=2)),
    "half": a_template(a_request(PARTITIONS, selectors=[_HALF])),
    "three-parts": a_template(a_request(PARTITIONS, count=3)),
    "two-counters": a_template(a_request(TWO_COUNTERS)),
    "added-counters": a_template(a_request(ADDED_COUNTERS)),
    "nic": a_template(a_request(NICS)),
    "part-and-nic": a_template(a_request(PARTITIONS), a_request(NICS)),
}
_SHARED = {
    "some": a_template(a_share(memory="6Gi")),
    "more": a_template(a_share(memory="20Gi")),
    "default": a_template(a_share()),
    "too-much": a_template(a_share(memory="90Gi")),
    "two-shares": a_template(a_share(memory="8Gi", count=2)),
    "added": a_template(a_share(ADDED_SHARES, memory="4Gi", disk="10Gi")),
    "nic": a_template(a_request(NICS)),
}
_OTHERS: Mapping[str, Quota] = {
    "nics": 2,
    "two-memory": "60Gi",
    "two-slices": 4,
    "added-counters": "90Gi",
}

COUNTERS = ConfigProfile(
    options=SOURCED,
    inventory=(*_CLASSES, _parts("10Gi", "20Gi"), _shared(None, "80Gi")),
    templates=_COUNTED,
    asked=(*("part", "half") * 3, *_COUNTED),
    contested="gpu-memory",
    unit="0Gi",
    others={**_OTHERS, "vgpu-memory": "30Gi", "added-shares": "60Gi"},
    changes=(
        {"apply": [_parts("5Gi", "30Gi", generation=2)]},
        {"apply": [_parts("10Gi", "20Gi", generation=3, of=2)]},
        {
            "apply": [
                _parts("10Gi", "20Gi", generation=4, of=2),
                _more_parts("30Gi", "5Gi", generation=4),
            ]
        },
        {"apply": [_more_parts("40Gi", generation=5)]},
        goes("ResourceSlice", "more-parts"),
        goes("ResourceSlice", "parts"),
        {"apply": [_parts("10Gi", "20Gi")]},
        goes("DeviceClass", PARTITIONS),
        {"apply": [a_class(PARTITIONS, _HALF)]},
        {"apply": [a_class(PARTITIONS)]},
    ),
    needs=(_PARTITIONS,),
)
CAPACITIES = replace(
    COUNTERS,
    templates=_SHARED,
    asked=(*("some", "more") * 3, *_SHARED),
    contested="vgpu-memory",
    others={**_OTHERS, "gpu-memory": "30Gi", "added-shares": "60Gi"},
    changes=(
        {"apply": [_shared(a_range("4Gi", "40Gi", "4Gi"), "80Gi")]},
        {"apply": [_shared(some_values("8Gi", "16Gi", "32Gi"), "80Gi")]},
        {"apply": [_shared(None, "20Gi")]},
        goes("ResourceSlice", "shares"),
        {"apply": [_shared(None, "80Gi")]},
        goes("DeviceClass", SHARES),
        {"apply": [a_class(SHARES)]},
    ),
    needs=(_CAPACITY,),
)
