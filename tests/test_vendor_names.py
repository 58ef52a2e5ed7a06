"""Which names of drivers ``vendor check`` takes for misspelt ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.commands import kueue_dra
from tests.test_vendor import a_driver


@pytest.mark.parametrize(
    ("named", "check", "code"),
    [
        ("gpu.exmaple.com", "VENDOR-004", 1),
        ("vfio-gpu.example.com", "VENDOR-015", 0),
        ("gpu.example.com.cn", "VENDOR-015", 0),
    ],
)
def test_a_driver_with_a_longer_name_is_another_driver(named: str, check: str, code: int, tmp_path: Path) -> None:
    """A misspelt name is an error; one with words before or after it is a driver whose slices were not given."""
    files = a_driver()
    selectors = [{"cel": {"expression": f"device.driver == '{named}'"}}]
    meta = {"name": "second.example.com"}
    second = {**files["class"], "metadata": meta, "spec": {"selectors": selectors}}
    driver = tmp_path / "driver.yaml"
    driver.write_text(yaml.safe_dump_all([files["class"], second, *files["slices"]]))

    done = kueue_dra("vendor", "check", driver, "-o", "json")

    assert [each["check"] for each in json.loads(done.stdout)["findings"]] == [check]
    assert done.exit_code == code
