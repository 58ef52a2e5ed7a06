"""Drivers of real vendors: each gets the findings that it rightly gets, and its demos the charges that follow."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.reference.target import ReferenceTarget
from tests.commands import kueue_dra
from tests.vendor_examples import DATA_SETS, NOT_REVIEWED, answered, expected, findings, in_words

FEWEST = 14
"""How many drivers there are at least."""
each_data_set = pytest.mark.parametrize("data_set", DATA_SETS, ids=lambda each: each.name)


def test_there_are_data_sets_of_many_drivers() -> None:
    """Each has a source, and at least one demo that is admitted."""
    assert len(DATA_SETS) >= FEWEST
    for each in DATA_SETS:
        assert "\nSource: " in (each / "README.md").read_text("utf-8")
        assert any(isinstance(found, dict) for found in expected(each).demos.values())


@each_data_set
def test_a_data_set_gets_exactly_its_findings(data_set: Path) -> None:
    """Each with the object and a reviewed reason; none is new, none is gone."""
    known = expected(data_set)

    assert findings(data_set) == known.findings
    assert all(each != NOT_REVIEWED for each in known.reasons)


@each_data_set
def test_devices_are_listed(data_set: Path) -> None:
    """No class of a data set fails on a device of it."""
    done = kueue_dra("devices", data_set, "-o", "json")

    verdicts = {device["verdict"] for each in json.loads(done.stdout) for device in each["devices"]}
    assert done.exit_code == 0
    assert verdicts <= {"matches", "no"}


@each_data_set
def test_the_generated_mapping_charges_the_demos(data_set: Path) -> None:
    """Every object is accepted unchanged, and each demo alone is charged what the file says."""
    found = answered(data_set, ReferenceTarget(behaviour()))

    assert [str(each) for each in found.rejections] == []
    assert {each.demo: in_words(each) for each in found.demos} == expected(data_set).demos


@each_data_set
def test_kueue_starts_with_the_generated_mapping(data_set: Path, tmp_path: Path) -> None:
    """The mapping passes ``config check``, and the checks that read it find no other error."""
    written = next(yaml.safe_load_all(kueue_dra("vendor", "mapping", data_set).stdout))
    mapping = tmp_path / "mapping.yaml"
    mapping.write_text(yaml.safe_dump(written))

    assert kueue_dra("config", "check", mapping).exit_code == 0
    done = kueue_dra("vendor", "check", data_set, "--config", mapping, "-o", "json")
    errors = {each["check"] for each in json.loads(done.stdout)["findings"] if each["level"] == "error"}
    known = expected(data_set)
    assert errors - {check for check, _ in known.findings} == set(known.errors_with_mapping)
