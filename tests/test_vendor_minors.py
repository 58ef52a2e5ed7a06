"""``kueue-dra vendor minors``: from when on a driver works with quota, by class and Kubernetes minor."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commands import kueue_dra
from tests.test_vendor import GPU, Change, Files, a_driver, changed


def _shared(files: Files) -> None:
    for each in files["slices"]:
        for device in each["spec"]["devices"]:
            device["allowMultipleAllocations"] = True
            device["capacity"]["memory"]["requestPolicy"] = {"default": "80Gi", "validValues": ["80Gi"]}


def _partitioned(files: Files) -> None:
    """Let each device consume another amount of a set of its pool."""
    for each in files["slices"]:
        pool = {**each["spec"]["pool"], "resourceSliceCount": 2}
        each["spec"]["pool"] = pool
        for amount, device in zip(("2", "1"), each["spec"]["devices"], strict=True):
            device["consumesCounters"] = [{"counterSet": "set", "counters": {"slices": {"value": amount}}}]
    files["sets"] = [_sets_of(each) for each in files["slices"]]


def _sets_of(published: Any) -> Any:
    spec = {key: value for key, value in published["spec"].items() if key != "devices"}
    sets = [{"name": "set", "counters": {"slices": {"value": "2"}}}]
    name = published["metadata"]["name"] + "-sets"
    return {**published, "metadata": {"name": name}, "spec": {**spec, "sharedCounters": sets}}


def _asked(files: Files, folder: Path, *options: str) -> Any:
    given = [files["class"], *files["slices"], *files.get("sets", ())]
    (folder / "driver.yaml").write_text(yaml.safe_dump_all(given))
    return kueue_dra("vendor", "minors", folder, *options)


@pytest.mark.parametrize(
    ("change", "kubernetes", "kueue"),
    [
        (lambda files: None, "1.34", "0.15"),
        (changed("class/spec/extendedResourceName", "example.com/gpu"), "1.36", "0.17"),
        (_partitioned, "1.36", "0.18"),
        (_shared, "1.36", "0.19"),
    ],
)
def test_each_kind_of_quota_has_its_first_releases(change: Change, kubernetes: str, kueue: str, tmp_path: Path) -> None:
    """A minor counts with its gates by default: 1.34 serves v1, 1.36 has counters, shares and extended names on."""
    files = a_driver()
    change(files)

    done = _asked(files, tmp_path)

    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[-1] == f"works with quota from Kubernetes {kubernetes} and Kueue {kueue} on"


def test_the_gate_that_is_missing_is_named(tmp_path: Path) -> None:
    """By class and minor, for programs."""
    files = a_driver()
    _partitioned(files)

    shown = json.loads(_asked(files, tmp_path, "-o", "json").stdout)

    by_minor = {each["kubernetes"]: each for each in shown["answers"]}
    assert {each["class"] for each in shown["answers"]} == {GPU}
    assert by_minor["1.35"]["missing"] == ["DRAPartitionableDevices is off by default"]
    assert by_minor["1.33"]["missing"] == ["resource.k8s.io/v1 is not served by default"]
    assert (by_minor["1.36"]["missing"], by_minor["1.36"]["kueue"]) == ([], "0.18")


def test_a_version_that_no_minor_serves_by_default(tmp_path: Path) -> None:
    """Exit code 1."""
    files = a_driver()
    files["class"]["apiVersion"] = "resource.k8s.io/v1beta1"

    done = _asked(files, tmp_path)

    assert done.exit_code == 1
    assert "no Kubernetes minor works by default" in done.output


def test_an_error_of_a_check_is_named(tmp_path: Path) -> None:
    """Then no release makes the driver fit."""
    files = a_driver()
    files["slices"][0]["spec"]["pool"]["resourceSliceCount"] = 2

    done = _asked(files, tmp_path)

    assert done.exit_code == 1
    assert "not fit for quota: see vendor check for VENDOR-101" in done.output
