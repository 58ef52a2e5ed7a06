"""Cases as scenarios with what was shown after each step: changes of what Kueue created, its names, and the details."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.reference.replay import answers
from kueue_dra_ref.scenarios.changes import change_of
from kueue_dra_ref.scenarios.files import scenarios
from kueue_dra_ref.scenarios.scenario import Scenario
from tests.clusters_live.manifests import CONFIGURATION, a_job, a_world
from tests.commands import kueue_dra

WORKLOAD = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload"}
HASHED = re.compile(r"\b(job-work-[a-z0-9-]+)-[0-9a-f]{5}\b")


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scenario of a case in which a check answers."""
    folder = tmp_path_factory.mktemp("cases")
    words = ["--citing=CHECK-006", "-k", "tries_again", f"--report-dir={folder}", f"--scenario-dir={folder / 'cases'}"]
    assert kueue_dra("run", *words).exit_code == 0
    (file,) = (folder / "cases").glob("*.yaml")
    return file


def test_what_a_case_changes_is_a_step(case: Path) -> None:
    """The case sets the state of the check in a Workload that Kueue created."""
    (scenario,) = scenarios(case)
    (change,) = [each for step in scenario.steps for each in step.get("change") or ()]

    assert change["kind"] == "Workload"
    assert "spec" not in change
    assert change["status"]["admissionChecks"][0]["state"] == "Retry"
    assert kueue_dra("replay", "--check", case).exit_code == 0


def test_names_of_another_run_are_those_of_the_same_work(case: Path, tmp_path: Path) -> None:
    """A hash in the name of a Workload depends on the UID of its Job."""
    text = case.read_text()
    assert HASHED.search(text)
    other = tmp_path / "other.yaml"
    other.write_text(HASHED.sub(r"\1-00000", text))

    assert kueue_dra("replay", "--check", other).exit_code == 0


@pytest.mark.parametrize(
    ("path", "value"),
    [
        pytest.param(("ClusterQueue/", "share"), 7, id="queue"),
        pytest.param(("Job/", "suspended"), "?", id="work"),
        pytest.param(("workloads", "podSets"), [], id="workload"),
    ],
)
def test_details_are_compared(case: Path, tmp_path: Path, path: tuple[str, str], value: Any) -> None:
    """They are the last part of an observation."""
    document = yaml.safe_load(case.read_text())
    details = document["status"]["observations"][-1]["details"]
    (shown,) = [each for key, each in details.items() if key.startswith(path[0])]
    if path[0] == "workloads":
        (shown,) = shown.values()
    assert shown[path[1]] != value
    shown[path[1]] = value
    file = tmp_path / "changed.yaml"
    file.write_text(yaml.safe_dump(document))

    result = kueue_dra("replay", "--check", file)

    assert result.exit_code == 1
    assert f"details.{path[0]}" in result.output
    assert path[1] in result.output


def test_what_is_gone_cannot_be_changed() -> None:
    """The step does nothing."""
    change = {**WORKLOAD, "metadata": {"name": "gone", "namespace": "team"}, "spec": {"active": False}}
    (shown,) = _shown({"apply": a_world(), "change": [change]})

    assert shown["workloads"] == {}
    assert "rejected" not in shown


def test_a_change_keeps_the_rest() -> None:
    """A Workload that is deactivated has the pod sets that Kueue gave it."""
    world, job = a_world(), a_job("train")
    change = {**WORKLOAD, "metadata": {"name": "job-train-00000", "namespace": "team"}, "spec": {"active": False}}
    *_, shown = _shown({"apply": world}, {"apply": [job]}, {"change": [change]})

    assert shown["workloads"]["train"]["Evicted"]["reason"] == "Deactivated"


def _shown(*steps: Any) -> list[Any]:
    scenario = Scenario(name="s", configuration=CONFIGURATION, inventory=(), steps=steps)
    return list(answers(scenario, behaviour("kueue-0.19.2")))


def test_a_change_is_what_differs() -> None:
    """Of the spec, of labels and annotations, and the whole status."""
    stored = {**WORKLOAD, "metadata": {"name": "w", "labels": {"a": "b"}, "uid": "u"}, "spec": {"active": True, "q": 1}}
    applied = {**stored, "metadata": {"name": "w", "labels": {"a": "c"}}, "spec": {"active": False, "q": 1}}

    assert change_of(stored, {**applied, "status": {"x": 1}}) == {
        **WORKLOAD,
        "metadata": {"name": "w", "labels": {"a": "c"}},
        "spec": {"active": False},
        "status": {"x": 1},
    }
    assert change_of(stored, stored) == {**WORKLOAD, "metadata": {"name": "w"}}


def test_a_change_without_a_kind_is_an_error(tmp_path: Path) -> None:
    """With its place in the file."""
    file = tmp_path / "s.yaml"
    file.write_text("kind: Scenario\nspec: {steps: [{change: [{apiVersion: v1, metadata: {name: x}}]}]}\n")

    result = kueue_dra("replay", file)

    assert result.exit_code == 2
    assert "steps[0].change[0].kind: found null; expected a string" in result.stderr
