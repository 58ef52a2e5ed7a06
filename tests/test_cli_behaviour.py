"""``kueue-dra behaviour``: what a release decides, printed for a reader and for programs."""

from __future__ import annotations

import json
import re

import pytest

from kueue_dra_ref.behaviours import NAMES
from tests.commands import kueue_dra


def words(*arguments: str) -> str:
    """Give what the command prints, white space aside."""
    result = kueue_dra("behaviour", *arguments)
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def test_without_a_name_the_behaviours_are_listed() -> None:
    """The default first."""
    lines = kueue_dra("behaviour").output.splitlines()

    assert [line.split()[0] for line in lines[2:]] == list(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_each_behaviour_is_printed(name: str) -> None:
    """Every phase is there, and lines are at most 120 wide unless a word is longer."""
    output = kueue_dra("behaviour", name).output

    assert re.findall(r"^([A-Z-]+) \(behaviour", output, re.MULTILINE)[:3] == [
        "FEATURE-GATES",
        "CONFIGURATION",
        "OBJECTS",
    ]
    assert all(len(line) <= 120 for line in output.splitlines())


@pytest.mark.parametrize(
    "text",
    [
        "(0.17.1)",
        "reads resource.k8s.io v1",
        "DynamicResourceAllocation: off by default (alpha)",
        "may read deviceclasses, resourceclaims, resourceclaimtemplates",
        "selectors_are_refused",
        "matching.eligible: Does a published device match? no rule: selectors are not evaluated on devices",
        "sourcing.counter: Which amounts of a counter does a device consume? no rule: Kueue reads no counters",
        "while DRAExtendedResources is on and DynamicResourceAllocation is on",
        "mapped_device_class_wins",
        "Kueue 0.17: pkg/dra/claims.go (countDevicesPerClass)",
        "request: Is a device request of a form that is not supported? (the first rule that answers decides)",
    ],
)
def test_0_17_is_read_without_a_source_file(text: str) -> None:
    """Selectors, counters and extended resources of 0.17."""
    assert text in words("kueue-0.17.1")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("subject", ["selectors", "counter", "capacit", "extended resource", "gate"])
def test_the_summary_of_each_behaviour_answers_what_users_ask_first(name: str, subject: str) -> None:
    """Before the facts, in sentences."""
    summary, _, _ = words(name).partition(f" name {name} ")

    assert subject in summary


def test_one_phase_is_printed_alone() -> None:
    """Without what is known about the release as a whole."""
    output = kueue_dra("behaviour", "kueue-0.19.2", "--phase", "fair-sharing").output

    assert output.startswith("FAIR-SHARING (behaviour.fair_sharing): ")
    assert "CONFIGURATION" not in output


@pytest.mark.parametrize(("state", "there"), [("true", True), ("false", False)])
def test_with_gates_only_what_is_in_force_is_printed(state: str, there: bool) -> None:
    """Gates that are not named have their defaults: extended resources are on in 0.19."""
    gate = f"UnadmittedWorkloadsObservability={state}"
    output = words("kueue-0.19.2", "--gate", gate, "--phase", "status")

    assert ("reason_stopped" in output) is there
    assert "used_by_workload" in words("kueue-0.19.2", "--gate", gate, "--phase", "extended-resources")
    assert "extended_resources_are_detected" in words("kueue-0.19.2", "--gate", gate, "--phase", "extended-resources")


def test_a_gate_that_is_off_by_default_stays_off() -> None:
    """In 0.17 extended resources need two gates."""
    one = words("kueue-0.17.1", "--gate", "DynamicResourceAllocation=true", "--phase", "extended-resources")
    both = "DynamicResourceAllocation=true,DRAExtendedResources=true"

    assert "used_by_workload: Which names make it a workload with devices? no rule" in one
    assert "extended_resources_are_detected" in words("kueue-0.17.1", "--gate", both, "--phase", "extended-resources")


def test_json_has_everything() -> None:
    """For programs."""
    (found,) = [json.loads(kueue_dra("behaviour", "kueue-0.17.1", "-o", "json").output)]
    slots = {f"{phase['name']}.{slot['name']}": slot for phase in found["phases"] for slot in phase["slots"]}

    assert (found["name"], found["pinned"], found["provisional"]) == ("kueue-0.17.1", "0.17.1", None)
    assert found["gates"][0] == {
        "name": "DynamicResourceAllocation",
        "default": False,
        "stage": "alpha",
        "locked": False,
        "needs": [],
    }
    assert found["role"][0] == {
        "apiGroups": ["resource.k8s.io"],
        "resources": ["deviceclasses"],
        "verbs": ["get", "list", "watch"],
    }
    assert slots["preprocessing.sourcing.counter"]["rules"] == []
    assert slots["preprocessing.sourcing.counter"]["withoutRules"] == "Kueue reads no counters"
    selectors = next(
        each for each in slots["preprocessing.request"]["rules"] if each["name"] == "selectors_are_refused"
    )
    assert selectors["requirements"] == ["CEL-017"]
    assert selectors["counterpart"] == "Kueue 0.17: pkg/dra/claims.go (countDevicesPerClass)"
    assert slots["extended-resources.used_by_workload"]["rules"][0]["gates"] == {
        "DRAExtendedResources": True,
        "DynamicResourceAllocation": True,
    }


def test_the_list_as_json() -> None:
    """Without the phases of each."""
    found = json.loads(kueue_dra("behaviour", "-o", "json").output)

    assert [each["name"] for each in found] == list(NAMES)
    assert not any(each["phases"] for each in found)


def test_a_table_has_a_row_for_each_rule() -> None:
    """And one for each slot without rules."""
    output = kueue_dra("behaviour", "kueue-0.17.1", "--phase", "extended-resources", "-o", "table").output

    assert len(output.splitlines()) == 2 + 13


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(("kueue-0.17.x",), "did you mean kueue-0.17.1?", id="behaviour"),
        pytest.param(("kueue-0.17.1", "--phase", "preprocesing"), "did you mean preprocessing?", id="phase"),
        pytest.param(
            ("kueue-0.19.2", "--gate", "UnadmitedWorkloadsObservability=true"),
            "unrecognized feature gate: UnadmitedWorkloadsObservability\ndid you mean UnadmittedWorkloadsObservability",
            id="gate",
        ),
        pytest.param(("kueue-0.19.2", "--gate", "KueueDRAIntegration"), "expected NAME=true or NAME=false", id="state"),
        pytest.param(("kueue-0.19.2", "--gate", "HierarchicalCohorts=false"), "feature is locked to true", id="locked"),
    ],
)
def test_what_is_unknown_is_answered_with_the_nearest(arguments: tuple[str, ...], message: str) -> None:
    """Exit code 2, as for all invalid input."""
    result = kueue_dra("behaviour", *arguments)

    assert result.exit_code == 2
    assert message in result.output
