"""The roles of an existing cluster: inferred from its Configuration, or given in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from kueue_dra_fixtures.roles import SOURCED_ROLES, USUAL_ROLES, MappedClasses, Roles, inferred
from kueue_dra_fixtures.roles_file import overridden
from kueue_dra_ref.api.files import DocumentError
from kueue_dra_ref.target import Manifest

SOURCE = {
    "name": "memory",
    "driver": "gpu.nvidia.com",
    "deviceSelector": {"cel": {"expression": "device.driver == 'gpu.nvidia.com'"}},
}
COUNTER = [{"counter": SOURCE}]
CAPACITY = [{"capacity": SOURCE}]


def a_row(name: str, *classes: str, **more: Any) -> Manifest:
    """Give one mapping."""
    return {"name": name, "deviceClassNames": list(classes), **more}


def mapped(*rows: Manifest) -> Manifest:
    """Give a Configuration with mappings."""
    version = "config.kueue.x-k8s.io/v1beta2"
    return {"apiVersion": version, "kind": "Configuration", "resources": {"deviceClassMappings": list(rows)}}


NVIDIA = mapped(
    a_row("gpu.nvidia.com/devices", "gpu.nvidia.com"),
    a_row("mig.nvidia.com/memory", "mig.nvidia.com", sources=COUNTER),
)
FULL = mapped(
    a_row("both", "a.corp", "b.corp", "c.corp"),
    a_row("gpus", "gpu.corp"),
    a_row("corp/nics", "nic.corp"),
    a_row("shares", "share.corp", sources=CAPACITY),
)


@pytest.mark.parametrize(
    ("configuration", "filled"),
    [
        pytest.param(
            NVIDIA,
            {
                "single": ("gpu.nvidia.com/devices", "gpu.nvidia.com"),
                "counter": ("mig.nvidia.com/memory", "mig.nvidia.com"),
            },
        ),
        pytest.param(
            FULL,
            {
                "single": ("gpus", "gpu.corp"),
                "pair": ("both", "a.corp", "b.corp"),
                "second": ("corp/nics", "nic.corp"),
                "capacity": ("shares", "share.corp"),
            },
        ),
        pytest.param(
            mapped(a_row("both", "a.corp", "b.corp")),
            {"single": ("both", "a.corp"), "pair": ("both", "a.corp", "b.corp")},
            id="a resource serves two roles, for cases that need one of them",
        ),
        pytest.param(
            mapped(
                a_row("two", "a.corp", sources=[*COUNTER, *COUNTER]),
                a_row("memory", "b.corp", sources=COUNTER),
                a_row("slices", "b.corp", sources=COUNTER),
            ),
            {},
            id="only a class with one source fills the role of a counter",
        ),
        pytest.param(mapped(), {}, id="nothing"),
        pytest.param({}, {}, id="no mapping"),
    ],
)
def test_roles_are_inferred(configuration: Manifest, filled: dict[str, tuple[str, ...]]) -> None:
    """A class alone, a pair, another class, a counter, a capacity."""
    found = inferred(configuration)

    assert {name: (fill.resource, *fill.classes) for name, fill in found.filled.items()} == filled


def test_words_go_both_ways_or_are_missing() -> None:
    """What is not filled has the need that the report names."""
    found = inferred(NVIDIA)

    usual = found.words(USUAL_ROLES)
    missing = found.missing(USUAL_ROLES)
    assert usual == {"whole-gpus": "gpu.nvidia.com/devices", "gpu.example.com": "gpu.nvidia.com"}
    assert missing["ts-shard-gpus.example.com"] == "two classes mapped to one resource"
    assert missing["example.com/nics"] == "a second resource that counts devices"
    assert [row[0] for row in found.table()] == ["single", "pair", "second", "counter", "capacity", "unmapped"]


def test_cases_of_sources_have_words_of_their_own() -> None:
    """The class that is counted is another word there."""
    found = inferred(NVIDIA)

    assert found.words(SOURCED_ROLES) == {
        "nics": "gpu.nvidia.com/devices",
        "nic.example.com": "gpu.nvidia.com",
        "gpu-memory": "mig.nvidia.com/memory",
        "gpu.example.com": "mig.nvidia.com",
    }
    assert found.missing(SOURCED_ROLES)["vgpu.example.com"] == "a class that charges one capacity"


def with_file(folder: Path, text: str, configuration: Manifest = FULL) -> Roles:
    """Override the inferred roles by a file."""
    file = folder / "roles.yaml"
    file.write_text(text, "utf-8")
    return overridden(inferred(configuration), file, configuration)


def test_a_file_overrides_what_is_inferred(tmp_path: Path) -> None:
    """Only the roles that it names."""
    text = yaml.safe_dump(
        {
            "single": {"resource": "both", "class": "c.corp"},
            "pair": {"resource": "both", "classes": ["b.corp", "a.corp"]},
            "second": None,
            "unmapped": {"class": "other.corp"},
        }
    )
    found = with_file(tmp_path, text)

    assert found.filled == {
        "single": MappedClasses(resource="both", classes=("c.corp",)),
        "pair": MappedClasses(resource="both", classes=("b.corp", "a.corp")),
        "capacity": MappedClasses(resource="shares", classes=("share.corp",)),
    }
    assert found.unmapped == "other.corp"
    assert with_file(tmp_path, "unmapped: {class: other.corp}").filled == inferred(FULL).filled


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("", "found no documents; expected one object with any of single, pair, second, counter, capacity, unmapped"),
        (
            "- a",
            "1: found a list of 1; expected one object with any of single, pair, second, counter, capacity, unmapped",
        ),
        ("singel: {}", "1: singel: found field 'singel'; expected a role; known: single, "),
        ("memory: {}", "1: memory: found field 'memory'; expected a role; "),
        (
            "counter: {resource: shares, class: share.corp}",
            "found share.corp; expected a class that the cluster's Configuration maps once, to one counter",
        ),
        ("single: gpus", "1: single: found 'gpus'; expected an object with resource and class, or null"),
        ("single: {resource: gpus}", "1: single: found no class; expected the field class"),
        (
            "single:\n  resource: gpus\n  clas: x",
            "3: single.clas: found field 'clas'; expected a known field; known: resource, class",
        ),
        ("single: {resource: gpus, class: 3}", "1: single.class: found 3; expected text"),
        ("pair: {resource: both, classes: [a.corp]}", "1: pair.classes: found a list of 1; expected a list of 2"),
        (
            "single: {resource: gpus, class: share.corp}",
            "found share.corp; expected a class that the cluster's Configuration maps to a number of devices",
        ),
        (
            "single: {resource: gpus, class: nic.corp}",
            "found nic.corp, which the cluster's Configuration maps to corp/nics; expected a class of gpus",
        ),
        (
            "unmapped: {class: share.corp}",
            "unmapped.class: found share.corp; expected a class that the cluster's Configuration does not map",
        ),
    ],
)
def test_a_wrong_file_is_answered_at_its_field(tmp_path: Path, text: str, answer: str) -> None:
    """With the line, what was found, and what was expected."""
    with pytest.raises(DocumentError) as raised:
        with_file(tmp_path, text)

    assert answer in raised.value.worded
