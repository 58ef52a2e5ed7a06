"""Evidence for CNCF's AI conformance: the files that the programme takes, and nothing that was not shown."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from kueue_dra_ref.requirements.catalogue import catalogue
from kueue_dra_reports.ai_conformance import TOPICS
from tests.commands import ROOT, kueue_dra

PRODUCT = {
    "metadata": {"kubernetesVersion": "v1.37", "platformName": "[Platform Name]"},
    "spec": {
        "accelerators": [
            {"id": "gpu_sharing", "description": "Share: yes.", "level": "SHOULD", "status": "", "evidence": []}
        ],
        "networking": [{"id": "ai_inference", "description": "x", "level": "MUST", "status": "", "evidence": []}],
        "schedulingOrchestration": [
            {
                "id": "gang_scheduling",
                "level": "MUST",
                "status": "Implemented",
                "evidence": ["docs.md"],
                "notes": "ours",
            }
        ],
        "operator": [{"id": "robust_controller", "level": "MUST", "status": "", "evidence": [], "notes": ""}],
    },
}


def _run(folder: Path, options: str = "") -> Path:
    """Run cases on the reference, and give the report as one of a real Kueue would be."""
    command = [sys.executable, "-m", "kueue_dra_cli", "run", "quota", "devices"]
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": options}
    subprocess.run(command, cwd=folder, env=variables, capture_output=True, check=False)
    file = folder / "out" / "report.json"
    report = json.loads(file.read_text("utf-8"))
    report["target"]["name"] = "kueue"
    report["target"]["about"]["kubernetes"] = "v1.37.1"
    own = folder / "report.json"
    own.write_text(json.dumps(report), "utf-8")
    return own


@pytest.fixture(scope="module")
def green(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the report of a run that passed."""
    return _run(tmp_path_factory.mktemp("green"))


@pytest.fixture(scope="module")
def written(green: Path) -> Path:
    """Give the folder of its evidence."""
    folder = green.parent / "evidence"
    done = kueue_dra("evidence", green, "--to", folder)
    assert done.exit_code == 0, done.output
    assert "not proven: That the pods of an admitted workload start together" in done.output
    return folder


def test_the_folder_has_what_the_programme_takes(written: Path) -> None:
    """Every file that an entry names is there, and the digests are right."""
    product = yaml.safe_load((written / "PRODUCT.yaml").read_text("utf-8"))
    entries = [one for each in product["spec"].values() for one in each]

    assert {one["id"] for one in entries} == {"gang_scheduling", "gpu_sharing", "robust_controller"}
    for one in entries:
        assert one["status"] == ""
        assert "Not proven: " in one["notes"]
        assert {"e2e.log", "junit.xml", "results.json", f"{one['id']}.md"} == set(one["evidence"])
        assert all((written / name).is_file() for name in one["evidence"])
    assert kueue_dra("report", "validate", written).exit_code == 0


def test_log_events_and_junit_have_every_case(written: Path) -> None:
    """With one result each, and the results of the report."""
    report = json.loads((written / "report.json").read_text("utf-8"))
    events = [json.loads(line) for line in (written / "results.json").read_text("utf-8").splitlines()]
    ends: Counter[Any] = Counter(
        (one["Test"], one["Action"]) for one in events if "Test" in one and one["Action"] in ("pass", "fail", "skip")
    )

    assert set(ends.values()) == {1}
    passed = {one["id"] for one in report["checks"] if one["outcome"] == "passed"}
    assert {name for name, action in ends if action == "pass"} == passed
    assert (events[-1]["Action"], "Test" in events[-1]) == ("pass", False)
    log = (written / "e2e.log").read_text("utf-8")
    assert log.count("--- PASS: ") == len(passed)
    cases = list(ElementTree.parse(written / "junit.xml").getroot().iter("testcase"))
    assert len(cases) == len(report["checks"]) + 1


def test_a_page_says_what_is_not_proven(written: Path) -> None:
    """And lists our requirements with their results."""
    for topic in TOPICS:
        text = (written / f"{topic.id}.md").read_text("utf-8")
        assert f"**Not proven by this:** {topic.unproven}" in text
        assert "| proven |" in text
    assert "no entry" in (written / "dra_support.md").read_text("utf-8")


def test_a_violated_requirement_is_said_and_red(tmp_path: Path) -> None:
    """In the notes of the entry, on its page, and by the exit code."""
    file = _run(tmp_path, "--knock-out=multiply_by_pod_count")
    done = kueue_dra("evidence", file, "--to", tmp_path / "evidence")

    assert done.exit_code == 1
    product = yaml.safe_load((tmp_path / "evidence" / "PRODUCT.yaml").read_text("utf-8"))
    (gang,) = product["spec"]["schedulingOrchestration"]
    assert "not: COUNT-006" in gang["notes"]
    assert "--- FAIL: quota/test_pod_sets::" in (tmp_path / "evidence" / "e2e.log").read_text("utf-8")


def test_a_product_file_is_filled_in_and_otherwise_kept(green: Path, tmp_path: Path) -> None:
    """Evidence is added; a status, notes and descriptions that are there remain."""
    file = tmp_path / "product.yaml"
    file.write_text(yaml.safe_dump(PRODUCT), "utf-8")
    assert kueue_dra("evidence", green, "--to", tmp_path / "to", "--product", file).exit_code == 0

    spec = yaml.safe_load((tmp_path / "to" / "PRODUCT.yaml").read_text("utf-8"))["spec"]
    (gang,), (sharing,) = spec["schedulingOrchestration"], spec["accelerators"]
    assert (gang["status"], gang["notes"], gang["evidence"][0]) == ("Implemented", "ours", "docs.md")
    assert "gang_scheduling.md" in gang["evidence"]
    assert (sharing["description"], sharing["status"]) == ("Share: yes.", "")
    assert spec["networking"] == PRODUCT["spec"]["networking"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a\n", "expected an object with metadata and spec"),
        ("spec: {operator: []}\n", "found no entry spec."),
        ("spec: [\n", ":2:"),
    ],
)
def test_a_wrong_product_file_is_one_line(text: str, message: str, green: Path, tmp_path: Path) -> None:
    """Nothing is written."""
    file = tmp_path / "product.yaml"
    file.write_text(text, "utf-8")
    done = kueue_dra("evidence", green, "--to", tmp_path / "to", "--product", file)

    assert (done.exit_code, len(done.output.splitlines())) == (2, 1)
    assert message in done.output
    assert not (tmp_path / "to").exists()


def test_a_run_on_the_reference_is_no_evidence(green: Path) -> None:
    """It says nothing about a platform."""
    done = kueue_dra("evidence", green.parent / "out" / "report.json")

    assert done.exit_code == 2
    assert "found a run on the reference; expected a real Kueue" in done.output


def test_topics_name_what_the_catalogue_has() -> None:
    """An ID or a heading that is gone would silently leave something out."""
    ids = set(catalogue())
    known = ids | {one.rpartition("-")[0] for one in ids}
    assert {name for topic in TOPICS for name in topic.ours} <= known
