"""``kueue-dra vendor diff``: what an upgrade of a driver changes for quota."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commands import kueue_dra
from tests.test_vendor import DRIVER, GPU, Change, Files, a_driver, changed, with_counters


def _old() -> Files:
    """Give the sound driver with a template that selects by an attribute."""
    files = a_driver()
    selector = {"cel": {"expression": f"device.attributes['{DRIVER}'].numa == 1"}}
    files["template"]["spec"]["spec"]["devices"]["requests"][0]["exactly"]["selectors"] = [selector]
    return files


def _by_memory(files: Files) -> None:
    """Charge the class by the memory of its devices."""
    selector = {"cel": {"expression": f"device.driver == '{DRIVER}'"}}
    source = {"capacity": {"name": "memory", "driver": DRIVER, "deviceSelector": selector}}
    files["mapping"]["resources"]["deviceClassMappings"][0]["sources"] = [source]
    files["mapping"]["featureGates"] = {"KueueDRAIntegrationConsumableCapacity": True}


def _compared(old: Files, new: Files, folder: Path, *options: str) -> Any:
    for name, files in (("old", old), ("new", new)):
        (folder / name).mkdir()
        given = [files["class"], *files["slices"], files["template"]]
        (folder / name / "driver.yaml").write_text(yaml.safe_dump_all(given))
    (folder / "mapping.yaml").write_text(yaml.safe_dump(old["mapping"]))
    config = ("--config", folder / "mapping.yaml")
    return kueue_dra("vendor", "diff", folder / "old", folder / "new", *config, *options)


def test_nothing_changes(tmp_path: Path) -> None:
    """Exit code 0."""
    done = _compared(_old(), _old(), tmp_path)

    assert (done.exit_code, done.output) == (0, "nothing changes for quota\n")


def _without_numa(files: Files) -> None:
    for each in files["slices"]:
        for device in each["spec"]["devices"]:
            del device["attributes"]["numa"]


def _with_index(files: Files) -> None:
    files["slices"][0]["spec"]["devices"][0]["attributes"]["index"] = {"int": 0}


@pytest.mark.parametrize(
    ("change", "effect", "object_", "text"),
    [
        (changed("class/metadata/name", "new.example.com"), "breaks", f"DeviceClass {GPU}", "is gone"),
        (changed("class/spec/extendedResourceName", "example.com/gpu"), "adds", f"DeviceClass {GPU}", "was none and"),
        (
            changed("class/spec/selectors/0/cel/expression", "device.driver == 'other'"),
            "breaks",
            f"DeviceClass {GPU}",
            "matched 4 devices and matches 0",
        ),
        (_without_numa, "breaks", f"attribute {DRIVER}/numa", "was int and is gone; selectors read it"),
        (_without_numa, "breaks", "ResourceClaimTemplate one-gpu", "request gpu matched 2 devices and matches 0"),
        (_with_index, "adds", f"attribute {DRIVER}/index", "is new: int"),
        (lambda files: files["slices"].pop(), "changes", f"driver {DRIVER}", "2 devices are gone"),
        (
            changed("slices/0/spec/devices/0/name", "card-0"),
            "adds",
            f"driver {DRIVER}",
            f"1 devices are new: {DRIVER}/node-1/card-0",
        ),
    ],
)
def test_a_change_is_found(change: Change, effect: str, object_: str, text: str, tmp_path: Path) -> None:
    """With what it does to users of quota; exit code 1 where something breaks."""
    new = _old()
    change(new)

    done = _compared(_old(), new, tmp_path, "-o", "json")

    found = json.loads(done.stdout)["changes"]
    assert [each for each in found if (each["effect"], each["object"]) == (effect, object_) and text in each["text"]]
    assert done.exit_code == (1 if any(each["effect"] == "breaks" for each in found) else 0)


def test_another_charge_breaks(tmp_path: Path) -> None:
    """Under the mapping that stays, with the amounts before and after."""
    old, new = a_driver(), a_driver()
    _by_memory(old)
    for each in new["slices"]:
        for device in each["spec"]["devices"]:
            device["capacity"]["memory"]["value"] = "96Gi"

    done = _compared(old, new, tmp_path)

    assert done.exit_code == 1
    assert f"breaks: DeviceClass {GPU}: one pod was charged 80Gi gpus; now 96Gi gpus" in done.output.splitlines()
    assert "breaks: ResourceClaimTemplate demo/one-gpu: one pod was charged 80Gi gpus; now 96Gi gpus" in done.output


def test_a_counter_that_is_gone_breaks(tmp_path: Path) -> None:
    """And one that is new is added."""
    old = a_driver()
    with_counters(old)
    assert "breaks: counter gpu.example.com/slices: no device" in _compared(old, a_driver(), tmp_path).output

    other = tmp_path / "other"
    other.mkdir()
    assert "adds: counter gpu.example.com/slices: devices" in _compared(a_driver(), old, other).output


def test_a_missing_file_is_answered(tmp_path: Path) -> None:
    """One line, exit code 2."""
    done = kueue_dra("vendor", "diff", tmp_path / "old", tmp_path / "new")

    assert done.exit_code == 2
    assert len(done.output.splitlines()) == 1
