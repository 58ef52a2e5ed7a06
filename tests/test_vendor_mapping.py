"""``kueue-dra vendor mapping``: by which counter or capacity it charges, and what it says about devices that differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commands import kueue_dra
from tests.test_vendor import Files, a_driver


def test_a_capacity_with_a_policy_is_charged_before_one_without(tmp_path: Path) -> None:
    """The default of partitions is 1; memory has no policy, so each request would be charged all of it."""
    files = a_driver()
    policy = {"default": "1", "validRange": {"min": "1"}}
    for each in _devices(files):
        each["allowMultipleAllocations"] = True
        each["capacity"]["partitions"] = {"value": "8", "requestPolicy": policy}

    configuration, _ = _mapping(files, tmp_path)

    (mapping,) = configuration["resources"]["deviceClassMappings"]
    assert mapping["name"] == "gpu.example.com/partitions"
    assert mapping["sources"][0]["capacity"]["name"] == "partitions"


def test_devices_of_different_size_are_not_called_alike(tmp_path: Path) -> None:
    """They count one each, and the reason says in what they differ."""
    files = a_driver()
    _devices(files)[0]["capacity"]["memory"]["value"] = "40Gi"

    _, reasons = _mapping(files, tmp_path)

    assert "4 devices of different memory: each counts one" in reasons


@pytest.mark.parametrize(("demo", "resource"), [(True, "devices"), (False, "memory")])
def test_a_class_that_demos_request_by_name_is_charged_by_count(demo: bool, resource: str, tmp_path: Path) -> None:
    """Kueue refuses the extended resource name of a class with sources; without such a demo the reason says so."""
    files = a_driver()
    files["class"]["spec"]["extendedResourceName"] = "example.com/gpu"
    for each in _devices(files):
        each["allowMultipleAllocations"] = True
        each["capacity"]["memory"]["requestPolicy"] = {"default": "1Gi", "validRange": {"min": "1Gi"}}
    amounts = {"resources": {"requests": {"example.com/gpu": "1"}}} if demo else {}
    files["job"]["spec"]["template"]["spec"]["containers"][0] |= amounts

    configuration, reasons = _mapping(files, tmp_path)

    (mapping,) = configuration["resources"]["deviceClassMappings"]
    assert mapping["name"] == f"gpu.example.com/{resource}"
    assert ("the demos request example.com/gpu" in reasons) is demo
    assert ("requests of example.com/gpu are refused" in reasons) is not demo


def _devices(files: Files) -> list[Any]:
    return [device for each in files["slices"] for device in each["spec"]["devices"]]


def _mapping(files: Files, folder: Path) -> tuple[Any, str]:
    driver = folder / "driver.yaml"
    driver.write_text(yaml.safe_dump_all([files["class"], *files["slices"], files["job"]]))
    done = kueue_dra("vendor", "mapping", driver)
    return next(yaml.safe_load_all(done.stdout)), done.stderr
