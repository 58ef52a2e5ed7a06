"""The examples of the texts of April and July 2025 run as written, and ``kueue-dra diff-texts`` compares the texts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import yaml

from tests.commands import ROOT, kueue_dra

GATES = {
    "kep-2025-04": "KueueDynamicResourceAllocation=true",
    "kep-2025-07": "DynamicResourceAllocation=true",
}


def played(text: str, *files: str) -> Sequence[Mapping[str, Any]]:
    """Simulate examples of a text with its gate on, and give every object that is printed."""
    return [document for document in yaml.safe_load_all(printed("simulate", text, *files)) if document]


def printed(command: str, text: str, *files: str) -> str:
    """Run a command on examples of a text with its gate on, and give what it prints."""
    paths = [ROOT / "examples" / text / file for file in files]
    arguments = [argument for path in paths for argument in ("-f", path)]
    result = kueue_dra(command, "--behaviour", text, "--feature-gates", GATES[text], *arguments)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def usages(objects: Sequence[Mapping[str, Any]]) -> Mapping[str, Mapping[str, str] | None]:
    """Give the usage of each Workload, by the name of its Job; None while it is not admitted."""
    found = {}
    for workload in (each for each in objects if each["kind"] == "Workload"):
        admission = workload["status"].get("admission")
        job = workload["metadata"]["ownerReferences"][0]["name"]
        found[job] = admission["podSetAssignments"][0]["resourceUsage"] if admission else None
    return found


@pytest.mark.parametrize(
    ("text", "files"),
    [
        pytest.param("kep-2025-04", ["example.yaml", "corrected-claim-name.yaml"], id="april"),
        pytest.param("kep-2025-07", ["example.yaml"], id="july"),
    ],
)
def test_the_complete_example_is_admitted(text: str, files: list[str]) -> None:
    """Its admission is the one in the list."""
    objects = played(text, *files, "what-the-text-leaves-out.yaml")
    (workload,) = (each for each in objects if each["kind"] == "Workload")
    expected = yaml.safe_load((ROOT / "examples" / text / "expected-admission.yaml").read_text("utf-8"))

    assert workload["status"]["admission"] == expected


@pytest.mark.parametrize(
    ("text", "files", "usage"),
    [
        pytest.param("kep-2025-04", ["example.yaml"], {"cpu": "1", "memory": "200Mi"}, id="april-claim-as-written"),
        pytest.param(
            "kep-2025-04",
            ["cluster-queue.yaml", "workload-example.yaml"],
            {"cpu": "1", "memory": "200Mi", "single-gpu": "1"},
            id="april-two-names",
        ),
        pytest.param(
            "kep-2025-07",
            ["config.yaml", "workload-example.yaml"],
            {"cpu": "1", "memory": "200Mi", "whole-gpus": "1"},
            id="july-two-resources",
        ),
    ],
)
def test_the_other_examples_run_as_written(text: str, files: list[str], usage: dict[str, str]) -> None:
    """With what the text leaves out, its queues admit its Job."""
    assert usages(played(text, *files, "what-the-text-leaves-out.yaml")) == {"job0": usage}


def test_the_ambiguous_example_is_resolved_as_the_text_says() -> None:
    """First the one flavor, then the other, then the workload waits."""
    assert usages(played("kep-2025-07", "ambiguity.yaml", "ambiguity-jobs.yaml")) == {
        "first": {"whole-gpus": "2"},
        "second": {"fast-gpus": "2"},
        "third": None,
    }


def test_flavors_after_the_first_that_fits_are_not_explained() -> None:
    """A class of two resources is not asked about the second once it fits the first."""
    first, second, _ = printed("explain", "kep-2025-07", "ambiguity.yaml", "ambiguity-jobs.yaml").split("\n\n")

    assert "flavor zone-a-flavor: whole-gpus 2 of 2 available: fits" in first
    assert "zone-b-flavor" not in first
    assert "flavor zone-b-flavor: fast-gpus 2 of 3 available: fits" in second


def test_queues_that_name_a_class_differently_do_not_lend_it() -> None:
    """Two names are two resources, also in a cohort."""
    assert usages(played("kep-2025-04", "two-names.yaml")) == {"training": None}


def test_an_allocated_claim_of_a_file_is_known_to_be_allocated(tmp_path: Any) -> None:
    """The status of a ResourceClaim is read, so that what is in use already is not charged again."""
    claim = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {namespace: gpu-test1, name: shared}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com, count: 2}}]}}
status: {allocation: {devices: {}}}
"""
    job = """
---
apiVersion: batch/v1
kind: Job
metadata: {namespace: gpu-test1, name: NAME, labels: {kueue.x-k8s.io/queue-name: user-queue}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: registry.example.com/none, resources: {claims: [{name: gpu}]}}]
      resourceClaims: [{name: gpu, resourceClaimName: shared}]
"""
    file = tmp_path / "jobs.yaml"
    file.write_text(claim + job.replace("NAME", "first") + job.replace("NAME", "second"), "utf-8")
    folder = ROOT / "examples" / "kep-2025-07"
    given = ["-f", folder / "config.yaml", "-f", folder / "what-the-text-leaves-out.yaml", "-f", file]
    result = kueue_dra("simulate", "--behaviour", "kep-2025-07", "--feature-gates", GATES["kep-2025-07"], *given)

    assert result.exit_code == 0, result.stderr
    objects = [document for document in yaml.safe_load_all(result.stdout) if document]
    assert usages(objects) == {"first": {"whole-gpus": "2"}, "second": {}}


def test_a_release_has_no_config_object() -> None:
    """The kind belongs to the text of July 2025 only."""
    folder = ROOT / "examples" / "kep-2025-07"
    result = kueue_dra("simulate", "-f", folder / "config.yaml", "-f", folder / "what-the-text-leaves-out.yaml")

    assert result.exit_code == 2
    assert 'Not found: "DynamicResourceAllocationConfig": Kueue 0.19.2 has no such kind' in result.stderr


def test_texts_are_compared_for_people() -> None:
    """A sentence of one text is next to the one of the other text that it replaces, with both headings."""
    result = kueue_dra("diff-texts", "kep-2025-04", "kep-2025-07")

    assert result.exit_code == 0
    assert result.stdout.startswith("## From kep-2025-04 to kep-2025-07\n")
    assert "- was KIND-001 MUST (KEP-2941 2025-04, Resource Quota API): " in result.stdout
    assert "  now CRD-001 MUST (KEP-2941 2025-07, DynamicResourceAllocationConfig API): " in result.stdout


def test_texts_are_compared_for_programs() -> None:
    """The same as one JSON document."""
    found = json.loads(kueue_dra("diff-texts", "kep-2025-07", "kep-2025-09", "-o", "json").stdout)

    assert (found["earlier"], found["later"]) == ("kep-2025-07", "kep-2025-09")
    assert {"REUSE-001", "CRD-002"} <= {one["id"] for one in found["dropped"]}
    assert ["CLAIM-001"] in [[one["id"] for one in change["after"]] for change in found["changed"]]


def test_an_unknown_text_is_a_wrong_question() -> None:
    """Only known texts and releases can be compared."""
    result = kueue_dra("diff-texts", "kep-2025-04", "kep-2024-01")

    assert result.exit_code == 2
    assert "'kep-2024-01' is not known" in result.stderr
