"""Themes whose devices count one each, requested by claims or as extended resources, or with the integration off."""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_differential.config_profiles import DIRECT, ConfigProfile, goes
from kueue_dra_differential.pod_shapes import with_extended
from kueue_dra_fixtures.builders import (
    a_device,
    a_request,
    a_template,
    first_available,
    gpu,
)
from kueue_dra_fixtures.resources import a_class, a_pool, a_slice

LATE = "late.example.com"
"""A mapped class that does not exist at first."""
MISSING = "missing"
"""A template that no scenario creates."""
CARD = "vendor.example.com/card"
OTHER_CARD = "vendor.example.com/other-card"
MAPPINGS = {"gpus": ["gpu.example.com"], "nics": ["nic.example.com"], "lates": [LATE]}
OTHER_MAPPINGS = {
    "gpus": ["gpu.example.com", LATE],
    "nics": ["nic.example.com"],
    "lates": ["unmapped.example.com"],
}
_OBSERVABILITY = "UnadmittedWorkloadsObservability"
_INTEGRATION = "KueueDRAIntegration"
_EXTENDED = "KueueDRAIntegrationExtendedResource"
_USUAL = ("one", "two", "three", "nics")
_TEMPLATES = {
    "one": a_template(gpu(1)),
    "two": a_template(gpu(2)),
    "three": a_template(gpu(3)),
    "two-and-one": a_template(gpu(2), gpu(1)),
    "nics": a_template(a_request("nic.example.com", count=2)),
    "gpu-and-nic": a_template(gpu(1), a_request("nic.example.com")),
    "selected": a_template(
        a_request(selectors=["device.attributes['gpu.example.com'].model == 'H100'"])
    ),
    "late": a_template(a_request(LATE)),
    "unmapped": a_template(a_request("unmapped.example.com")),
    "all": a_template(a_request(mode="All", count=None)),
    "either": a_template(first_available("gpu.example.com", "nic.example.com")),
    "not-cel": a_template(a_request(selectors=["device.driver =="])),
}
_CLASSES = tuple(
    a_class(driver, f"device.driver == '{driver}'")
    for driver in ("gpu.example.com", "nic.example.com", "unmapped.example.com")
)
_DEVICES = [a_device(f"gpu-{i}", model=("A100", "H100")[i % 2]) for i in range(4)]

WHOLE = ConfigProfile(
    options={},
    inventory=(
        *_CLASSES,
        a_slice("gpus", _DEVICES, driver="gpu.example.com", pool=a_pool("node")),
    ),
    templates=_TEMPLATES,
    asked=(*_USUAL * 4, *_TEMPLATES, MISSING, DIRECT),
    others={"nics": 2, "lates": 2},
    changes=(
        {"apply": [a_class(LATE)]},
        goes("DeviceClass", LATE),
        {"apply": [a_class("gpu.example.com", "true")]},
        goes("DeviceClass", "nic.example.com"),
        {"apply": [a_class("nic.example.com")]},
        goes("ResourceSlice", "gpus"),
    ),
)
OBSERVED = replace(
    WHOLE,
    options={"gates": {_OBSERVABILITY: True}},
    needs=(_OBSERVABILITY, _INTEGRATION),
)
OFF = replace(WHOLE, options={"integration": False}, asked=(*_USUAL, MISSING, DIRECT))
EXTENDED = replace(
    WHOLE,
    inventory=(
        *_CLASSES[1:],
        a_class("gpu.example.com", extendedResourceName=CARD),
        a_class("unmapped.example.com", extendedResourceName=OTHER_CARD),
    ),
    asked=(
        "one",
        "two",
        "nics",
        *("card", "two-cards") * 3,
        "other-card",
        "both-cards",
        "late",
        MISSING,
    ),
    extended={
        "card": {CARD: "1"},
        "two-cards": {CARD: "2"},
        "other-card": {OTHER_CARD: "1"},
        "both-cards": {CARD: "1", OTHER_CARD: "1"},
    },
    shapes=with_extended(CARD),
    others={"nics": 2, "lates": 2, CARD: 2},
    changes=(
        {"apply": [a_class(LATE, extendedResourceName=CARD)]},
        goes("DeviceClass", LATE),
        goes("DeviceClass", "gpu.example.com"),
        {"apply": [a_class("gpu.example.com", extendedResourceName=CARD)]},
        {"apply": [a_class("gpu.example.com", extendedResourceName=OTHER_CARD)]},
        {"apply": [a_class("nic.example.com", extendedResourceName=OTHER_CARD)]},
        goes("DeviceClass", "unmapped.example.com"),
    ),
    needs=(_EXTENDED,),
)
