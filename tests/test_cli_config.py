"""``kueue-dra config check``: what Kueue would say to a Configuration, with the line of each field."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import EXAMPLE, KEP, LEFT_OUT, kueue_dra

INVALID = KEP / "invalid-mapping.yaml"


def test_a_valid_mapping_is_printed() -> None:
    """Which class is charged to which resource."""
    result = kueue_dra("config", "check", KEP / "shared-gpus.yaml")

    assert result.exit_code == 0
    assert [line.split() for line in result.stdout.splitlines()[-3:]] == [
        ["whole-gpus", "gpu.example.com"],
        ["shared-gpus", "ts-shard-gpus.example.com"],
        ["shared-gpus", "sp-shared-gpus.example.com"],
    ]


@pytest.mark.parametrize("behaviour", ["kueue-0.19.2", "kep-2025-09"])
def test_the_invalid_mapping_of_the_text_is_refused(behaviour: str) -> None:
    """Exit code 1, and the second place of the class is named."""
    result = kueue_dra("config", "check", INVALID, "--behaviour", behaviour)

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"{INVALID}:18: resources.deviceClassMappings[1].deviceClassNames[0]: ")


def test_a_refusal_is_read_by_programs() -> None:
    """Each fault has its file, line, field, type, value and detail."""
    result = kueue_dra("config", "check", INVALID, "-o", "json")

    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert (found["valid"], found["mappings"]) == (False, [])
    assert found["errors"] == [
        {
            "file": str(INVALID),
            "line": 18,
            "field": "resources.deviceClassMappings[1].deviceClassNames[0]",
            "type": "Invalid value",
            "value": '"gpus.example.com"',
            "detail": "device class already mapped to resource whole-gpus",
        }
    ]


def test_several_faults_are_told_together_each_with_its_line(tmp_path: Path) -> None:
    """All of one file, not the first."""
    file = tmp_path / "config.yaml"
    file.write_text("resources:\n  deviceClassMappings:\n  - name: a\n    one: 1\n  two: 2\nthree: 3\n", "utf-8")

    result = kueue_dra("config", "check", file)

    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        f"{file}:4: resources.deviceClassMappings[0].one: Unknown field",
        f"{file}:5: resources.two: Unknown field",
        f"{file}:6: three: Unknown field",
    ]


def test_a_wrong_type_is_told_with_its_exact_line(tmp_path: Path) -> None:
    """The field is named without indexes, as Kueue's decoder does; the line and the detail say which."""
    file = tmp_path / "config.yaml"
    file.write_text("resources:\n  deviceClassMappings:\n  - name: a\n  - name: 5\n", "utf-8")

    result = kueue_dra("config", "check", file)

    assert result.stderr == (
        f"{file}:4: resources.deviceClassMappings.name: Wrong type: "
        "found a number, expected a string at resources.deviceClassMappings[1].name\n"
    )


@pytest.mark.parametrize(
    ("gates", "code", "expected"),
    [
        pytest.param("KueueDRAIntegration=true", 0, "device integration (gate KueueDRAIntegration) is on", id="on"),
        pytest.param("KueueDRAIntegration=false", 1, "--feature-gates: featureGates: Invalid value", id="needed"),
        pytest.param("Unheard=true", 1, "unrecognized feature gate: Unheard", id="unknown"),
    ],
)
def test_gates_of_the_command_line_count(gates: str, code: int, expected: str) -> None:
    """They stand on top of the file's own."""
    result = kueue_dra("config", "check", EXAMPLE, "--feature-gates", gates)

    assert result.exit_code == code
    assert expected in result.output


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        pytest.param(LEFT_OUT, "found no Configuration; expected one, alone or in a ConfigMap", id="none"),
        pytest.param(KEP, "found a second Configuration", id="several"),
        pytest.param("nowhere.yaml", "nowhere.yaml: found no such file or directory", id="no-file"),
    ],
)
def test_a_file_without_one_configuration_is_no_question(file: object, expected: str) -> None:
    """Exit code 2: no Configuration was checked."""
    result = kueue_dra("config", "check", file)

    assert result.exit_code == 2
    assert expected in result.stderr
