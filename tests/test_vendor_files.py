"""Which files ``kueue-dra vendor check`` reads: the Configuration among them, and no other controller's."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commands import kueue_dra
from tests.test_vendor import GPU, a_driver

WRONG = "gpu.exmaple.com"
"""A class that a mapping names and no file has."""


def _configuration(*classes: str) -> dict[str, Any]:
    mappings = [{"name": "gpus", "deviceClassNames": list(classes)}]
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "resources": {"deviceClassMappings": mappings},
    }


def _config_map(name: str, key: str, text: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {key: text}}


@pytest.fixture
def driver(tmp_path: Path) -> Path:
    """Write the sound driver without a mapping."""
    files = a_driver()
    manifests = [files["class"], *files["slices"], files["template"], files["job"]]
    (tmp_path / "driver.yaml").write_text(yaml.safe_dump_all(manifests))
    return tmp_path


def _write(driver: Path, *manifests: dict[str, Any]) -> None:
    (driver / "mapping.yaml").write_text(yaml.safe_dump_all(manifests, sort_keys=False))


def test_the_configuration_among_the_files_is_checked(driver: Path) -> None:
    """With the line of the misspelt class, and the class that was meant."""
    _write(driver, _configuration(GPU, WRONG))

    done = kueue_dra("vendor", "check", driver)

    assert done.exit_code == 1
    place = f"{driver}/mapping.yaml:8: error VENDOR-209"
    assert f"{place}: mapping gpus: names DeviceClass {WRONG}" in done.output
    assert f"did you mean {GPU}?" in done.output


def test_one_inside_a_config_map_is_checked(driver: Path) -> None:
    """As Kueue's chart renders it; the key does not matter."""
    head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kueue}\ndata:\n  kueue.yaml: |\n"
    inside = yaml.safe_dump(_configuration(GPU, WRONG), sort_keys=False)
    (driver / "mapping.yaml").write_text(head + textwrap.indent(inside, "    "))

    done = kueue_dra("vendor", "check", driver, "-o", "json")

    (found,) = json.loads(done.stdout)["findings"]
    assert found["check"] == "VENDOR-209"
    line = (driver / "mapping.yaml").read_text().splitlines()[int(found["place"].rpartition(":")[2]) - 1]
    assert WRONG in line


@pytest.mark.parametrize(
    "text", ["foo: [config.kueue.x-k8s.io/", "kind: Configuration\napiVersion: other.example.com/v1\n", "just text"]
)
def test_other_config_maps_are_left_alone(text: str, driver: Path) -> None:
    """What is in them is no business of Kueue's, whatever their key is."""
    _write(driver, _config_map("other", "config.yaml", text))

    done = kueue_dra("vendor", "check", driver, "-o", "json")

    assert (done.exit_code, json.loads(done.stdout)["findings"]) == (0, [])


def test_config_wins(driver: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Two among the files are no error then."""
    _write(driver, _configuration(GPU, WRONG), _configuration(WRONG))
    right = tmp_path_factory.mktemp("right") / "mapping.yaml"
    right.write_text(yaml.safe_dump(_configuration(GPU)))

    assert kueue_dra("vendor", "check", driver, "--config", right).exit_code == 0
    refused = kueue_dra("vendor", "check", driver)
    assert refused.exit_code == 2
    assert "found a second Configuration" in refused.output
    assert "--config" in refused.output
