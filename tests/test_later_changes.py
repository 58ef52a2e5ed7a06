"""What releases that could not be run decide otherwise than the reference: named, and only where it matters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from kueue_dra_ref.simulation.later_changes import ALL
from tests.clusters_live.manifests import a_job, a_world
from tests.commands import ROOT, kueue_dra

KUEUE = "kueue.x-k8s.io/v1beta2"
CONFIGURATION: dict[str, Any] = {
    "apiVersion": "config.kueue.x-k8s.io/v1beta2",
    "kind": "Configuration",
    "resources": {"deviceClassMappings": [{"name": "whole-gpus", "deviceClassNames": ["gpu.example.com"]}]},
}
LEAST = "kueue.x-k8s.io/job-min-parallelism"
PAGE = (ROOT / "docs/how-to/run-on-a-real-kueue.md").read_text("utf-8")
NOTED = "Not decided: "


def an_object(kind: str, name: str, spec: dict[str, Any], version: str = KUEUE, **meta: Any) -> dict[str, Any]:
    """An object as a user writes it."""
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, **meta}, "spec": spec}


def a_larger_job(**changes: Any) -> dict[str, Any]:
    """The Job of the small cluster, with other fields in its spec."""
    job = a_job("one")
    job["spec"] |= changes
    return job


def a_stored_queue() -> dict[str, Any]:
    """A ClusterQueue as a cluster has it, with quota that Kueue computed."""
    meta = {"uid": "1", "creationTimestamp": "2026-01-01T00:00:00Z"}
    found = an_object("ClusterQueue", "computed", {"namespaceSelector": {}}, **meta)
    return {**found, "status": {"effectiveQuotas": {}}}


LIMITS = an_object(
    "LimitRange", "limits", {"limits": [{"type": "Container", "default": {"cpu": "2"}}]}, "v1", namespace="default"
)
CIRCLE = [an_object("Cohort", name, {"parentName": above}) for name, above in (("a", "b"), ("b", "a"))]
TRANSFORMED = {
    "excludeResourcePrefixes": ["spare"],
    "transformations": [{"input": "spare.example.com/x", "outputs": {"cpu": "1"}}],
}


@pytest.mark.parametrize(
    ("objects", "before", "since", "subject"),
    [
        pytest.param([LIMITS], "0.19.2", "0.19.3", "limits alone", id="limit-range"),
        pytest.param(
            [a_larger_job(parallelism=4, completions=2)], "0.19.3", "0.19.6", "parallelism above", id="parallelism"
        ),
        pytest.param(CIRCLE, "0.19.6", "0.19.7", "CohortCycleDetected", id="circle"),
        pytest.param([a_stored_queue()], "0.19.7", "0.20.0", "DynamicQuotaOrchestration", id="effective-quotas"),
        pytest.param(
            [{**CONFIGURATION, "resources": TRANSFORMED}], "0.19.3", "0.19.6", "excluded prefix", id="transformation"
        ),
    ],
)
def test_a_change_is_named_from_its_release_on(
    tmp_path: Path, objects: list[dict[str, Any]], before: str, since: str, subject: str
) -> None:
    """With the place of the object; the release before decides as the reference does."""
    file = tmp_path / "input.yaml"
    configuration = [] if objects[0]["kind"] == "Configuration" else [CONFIGURATION]
    file.write_text(yaml.safe_dump_all([*a_world(), *configuration, *objects]), "utf-8")

    notes = _notes(file, since)

    assert any(subject in note and str(file) in note for note in notes), notes
    assert not any(subject in note for note in _notes(file, before))


def test_no_pods_are_named_where_they_are_rejected_too(tmp_path: Path) -> None:
    """The reference rejects the annotation, as 0.19.2 does."""
    job = a_job("one")
    job["metadata"]["annotations"] = {LEAST: "0"}
    file = tmp_path / "input.yaml"
    file.write_text(yaml.safe_dump_all([*a_world(), CONFIGURATION, job]), "utf-8")

    assert any("#14720" in note for note in _notes(file, "0.20.0"))
    assert _notes(file, "0.19.7") == []


def test_an_object_that_no_release_here_knows_is_an_error(tmp_path: Path) -> None:
    """Not a word is lost of it."""
    file = tmp_path / "input.yaml"
    file.write_text(yaml.safe_dump(an_object("PreemptionConfig", "p", {}, "kueue.x-k8s.io/v1alpha1")), "utf-8")

    result = kueue_dra("simulate", "-f", str(file), "--behaviour", "kueue-0.20")

    assert result.exit_code == 2
    assert "unknown kind" in result.stderr


def test_a_queue_that_moves_is_named(tmp_path: Path) -> None:
    """In a change of the cluster, where the Workloads that wait move with it."""
    file, change = tmp_path / "input.yaml", tmp_path / "change.yaml"
    world = a_world()
    queue = next(each for each in world if each["kind"] == "LocalQueue")
    file.write_text(yaml.safe_dump_all([*world, CONFIGURATION, a_job("one")]), "utf-8")
    change.write_text(yaml.safe_dump({**queue, "spec": {"clusterQueue": "another"}}), "utf-8")

    notes = {
        version: kueue_dra("what-if", str(file), "-f", str(change), "--behaviour", f"kueue-{version}").stderr
        for version in ("0.19.2", "0.19.3")
    }

    assert "#13885" in notes["0.19.3"], notes
    assert "#13885" not in notes["0.19.2"]


@pytest.mark.parametrize("change", ALL, ids=lambda change: f"{change.kind}-{change.pull_request}")
def test_the_page_lists_each_change(change: Any) -> None:
    """The one list of what is not decided."""
    assert f"(#{change.pull_request}" in PAGE


def _notes(file: Path, version: str) -> list[str]:
    result = kueue_dra("simulate", "-f", str(file), "--behaviour", f"kueue-{version}")
    return [line for line in result.stderr.splitlines() if NOTED in line]
