"""The descriptor of ``kueue-dra vendor check``: what a vendor declares, against what is there."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.commands import kueue_dra
from tests.test_vendor import DRIVER, GPU, Change, Files, a_driver, assert_caught, changed, findings, with_shares


def declared_driver() -> Files:
    """Give the sound driver with a descriptor that is true."""
    entry = {"name": GPU, "quota": "count", "devicesPerNode": 2}
    return {**a_driver(), "descriptor": {"driver": DRIVER, "version": "1.0.0", "classes": [entry]}}


def _entry(files: Files) -> dict[str, Any]:
    entry: dict[str, Any] = files["descriptor"]["classes"][0]
    return entry


def _declares(**fields: Any) -> Change:
    return lambda files: _entry(files).update(fields)


def _another_class(files: Files) -> None:
    files["second"] = copy.deepcopy(files["class"])
    files["second"]["metadata"]["name"] = "all.example.com"


def _by_memory_of_one(files: Files) -> None:
    """Declare a capacity that one device lacks, and map the class so."""
    _entry(files).update(quota="capacity", capacity="memory")
    files["slices"][0]["spec"]["devices"][0]["capacity"] = {"other": {"value": "80Gi"}}
    files["mapping"] = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}


def _extended_with_counter(files: Files) -> None:
    spec = files["class"]["spec"]
    spec["extendedResourceName"] = "example.com/gpu"
    files["mapping"] = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}
    _entry(files).update(quota="capacity", capacity="memory", extendedResourceName="example.com/gpu")


TWINS: dict[str, Change] = {
    "VENDOR-401": lambda files: files["descriptor"]["classes"].append({"name": "gpu.exmaple.com", "quota": "count"}),
    "VENDOR-402": _another_class,
    "VENDOR-403": changed("descriptor/driver", "other.example.com"),
    "VENDOR-404": _by_memory_of_one,
    "VENDOR-405": _declares(quota="capacity", capacity="memory"),
    "VENDOR-406": _declares(quota="none"),
    "VENDOR-407": _declares(devicesPerNode=8),
    "VENDOR-408": _declares(extendedResourceName="example.com/gpu"),
    "VENDOR-409": _extended_with_counter,
    "VENDOR-410": with_shares,
}
"""For each check of the descriptor, what makes it untrue."""


def test_nothing_is_found_where_the_descriptor_is_true(tmp_path: Path) -> None:
    """Exit code 0, no finding of any level."""
    assert findings(declared_driver(), tmp_path) == (0, [])


@pytest.mark.parametrize("check", sorted(TWINS))
def test_an_untrue_descriptor_is_caught_by_its_own_check(check: str, tmp_path: Path) -> None:
    """The check finds it; no other check of level error does."""
    files = declared_driver()
    TWINS[check](files)

    assert_caught(check, files, tmp_path)


def test_a_helper_needs_no_mapping(tmp_path: Path) -> None:
    """Neither the missing mapping nor the overlap with the class for quota is reported."""
    files = declared_driver()
    _another_class(files)
    files["descriptor"]["classes"].append({"name": "all.example.com", "quota": "none"})

    assert findings(files, tmp_path) == (0, [])


@pytest.mark.parametrize(
    ("descriptor", "message"),
    [
        ("driver: d\nversion: '1'\nclasess: []\n", ":3: clasess: found an unknown field; expected known: driver"),
        ("driver: d\nversion: '1'\n", "found no classes; expected classes"),
        ("driver: d\nversion: '1'\nclasses:\n- {name: a, quota: bytes}\n", ":4: classes[0].quota: found 'bytes'"),
        ("driver: d\nversion: 1.2\nclasses:\n- {name: a, quota: none}\n", ":2: version: found 1.2; expected string"),
        (
            "driver: d\nversion: '1'\nclasses:\n- {name: a, quota: counter}\n",
            ":4: classes[0]: found no counter; expected counter",
        ),
        (
            "driver: d\nversion: '1'\nclasses:\n- {name: a, quota: count, counter: memory}\n",
            ":4: classes[0].counter: found a counter where quota is count",
        ),
        ("- a\n", "found a list"),
        ("", "found no documents; expected one"),
    ],
)
def test_a_wrong_descriptor_is_refused(descriptor: str, message: str, tmp_path: Path) -> None:
    """One line with file, line and field; exit code 2."""
    (tmp_path / "driver.yaml").write_text(yaml.safe_dump(a_driver()["class"]))
    (tmp_path / "kueue-dra-vendor.yaml").write_text(descriptor)

    done = kueue_dra("vendor", "check", tmp_path)

    assert done.exit_code == 2
    assert message in done.output
    assert len(done.output.splitlines()) == 1


def test_the_descriptor_in_the_folder_is_read(tmp_path: Path) -> None:
    """It is shown as declared; without one the intent is inferred and shown."""
    files = declared_driver()
    (tmp_path / "driver.yaml").write_text(yaml.safe_dump_all([files["class"], *files["slices"]]))
    assert f"inferred: {GPU} is charged by count: 4 devices" in kueue_dra("vendor", "check", tmp_path).output

    (tmp_path / "kueue-dra-vendor.yaml").write_text(yaml.safe_dump(files["descriptor"]))

    assert f"declared: {GPU} is charged by count" in kueue_dra("vendor", "check", tmp_path).output
    shown = json.loads(kueue_dra("vendor", "check", tmp_path, "-o", "json").stdout)["intent"]
    assert shown["from"] == str(tmp_path / "kueue-dra-vendor.yaml")
    assert shown["classes"] == [{"class": GPU, "quota": "count"}]


def test_the_schema_is_printed(tmp_path: Path) -> None:
    """It is a JSON Schema, and accepts the descriptor of the sound driver."""
    schema = json.loads(kueue_dra("vendor", "schema", "descriptor").stdout)

    Draft202012Validator.check_schema(schema)
    assert Draft202012Validator(schema).is_valid(declared_driver()["descriptor"])
    assert not Draft202012Validator(schema).is_valid({})
