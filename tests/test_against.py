"""What a build does otherwise than a release: rows that changed color, by requirement, with a scenario for each."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from kueue_dra_cli import against, child
from kueue_dra_clusters.binaries import RELEASE_VARIABLE
from kueue_dra_fixtures.case_scenario import ScenarioTarget, file_name
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.scenarios.files import scenarios
from kueue_dra_reports.against import difference, shown
from kueue_dra_reports.document import Report
from tests.commands import kueue_dra

TEXTS = {"COUNT-006": "A request counts for each pod.", "QUOTA-001": "A workload needs quota."}


def a_report(**outcomes: str) -> Report:
    """A report with one row for each name."""
    checks = []
    for name, outcome in outcomes.items():
        check: dict[str, Any] = {"id": name, "requirements": ["COUNT-006", "QUOTA-001"], "outcome": outcome}
        if outcome == "failed":
            check |= {"expected": "2", "observed": "4\nof 4"}
        checks.append(check)
    requirements = [{"id": name, "text": text} for name, text in TEXTS.items()]
    about = {"kueue": "v0.19.2"}
    return cast(Report, {"checks": checks, "requirements": requirements, "target": {"about": about}})


def test_rows_that_changed_color_are_grouped_by_requirement() -> None:
    """Both directions count, and a row that is red on both is no difference."""
    build = a_report(same="passed", doubled="failed", fixed="passed", broken="failed", new="failed")
    release = a_report(same="passed", doubled="passed", fixed="error", broken="failed", old="passed")
    found = difference(build, release)

    lines = list(shown(found, "Kueue v0.19.2", {"doubled": "doubled.yaml"}))

    assert lines[0] == (
        "against Kueue v0.19.2: 4 rows compared, 1 red only on this build, 1 red only on the release, 1 red on both, "
        "2 not compared, because one run lacks them"
    )
    assert lines[1:6] == [
        "COUNT-006: A request counts for each pod.",
        "  red, was green: doubled",
        "    expected 2, observed 4",
        "    scenario: doubled.yaml",
        "  green, was red: fixed",
    ]
    assert lines[6] == "QUOTA-001: A workload needs quota."


def test_a_row_that_did_not_run_is_not_compared() -> None:
    """An interrupted run says nothing about it."""
    found = difference(a_report(one="notRun", two="passed"), a_report(one="passed", two="passed"))

    assert (found.compared, found.not_compared, found.rows) == (1, 1, ())


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Both runs are of the reference, with the behaviour of a release each; give that of the build by its key."""
    run, behaviours = child.run_child, {"build": "kueue-0.19.2"}

    def run_the_reference(words: Sequence[str]) -> int:
        is_release = RELEASE_VARIABLE in os.environ
        chosen = "kueue-0.19.2" if is_release else behaviours["build"]
        kept = [word for word in words if not word.startswith(("--target", "--behaviour"))]
        return run([*kept, "--target=reference", f"--behaviour={chosen}"])

    monkeypatch.setattr(against, "run_child", run_the_reference)
    return behaviours


@pytest.mark.usefixtures("runs")
def test_equal_runs_have_no_difference(tmp_path: Path) -> None:
    """Exit code 0, a file with the result, and no scenario is left."""
    words = ["--against=kueue-0.19.2", "--citing=COUNT-006", f"--report-dir={tmp_path}"]
    result = kueue_dra("run", "--target=kueue", *words)

    assert result.exit_code == 0, result.output
    assert "0 red only on this build" in result.output
    assert json.loads((tmp_path / "against.json").read_text("utf-8"))["changed"] == []
    assert not (tmp_path / "changed").exists()
    assert not (tmp_path / "scenarios").exists()


def test_a_run_that_cannot_start_ends_the_comparison(runs: dict[str, str], tmp_path: Path) -> None:
    """Exit code 2, and the run is named."""
    runs["build"] = "kueue-9"
    words = ["--against=kueue-0.19.2", "--citing=COUNT-006", f"--report-dir={tmp_path}"]
    result = kueue_dra("run", "--target=kueue", *words)

    assert result.exit_code == 2
    assert "the run on the build ended with exit code 2, see above" in result.stderr


def test_the_scenario_of_a_changed_row_is_kept(tmp_path: Path) -> None:
    """Those of all other rows are removed, and the folders with them."""
    name = file_name("doubled")
    for folder in (tmp_path / "scenarios", tmp_path / "release" / "scenarios"):
        folder.mkdir(parents=True)
        for file in (name, "other.yaml"):
            (folder / file).write_text(str(folder))
    found = difference(a_report(doubled="failed"), a_report(doubled="passed"))

    files = against._keep_changed(found, tmp_path, tmp_path / "release")

    assert files == {"doubled": str(tmp_path / "changed" / name)}
    assert [path.name for path in tmp_path.rglob("*.yaml")] == [name]


def test_a_case_is_recorded_as_a_scenario_that_replays(tmp_path: Path) -> None:
    """Its steps end where the case lets the target settle."""
    words = ["--citing=COHORT-025", f"--report-dir={tmp_path}", f"--scenario-dir={tmp_path / 'cases'}"]
    assert kueue_dra("run", *words).exit_code == 0

    files = sorted((tmp_path / "cases").glob("*.yaml"))
    (found,) = scenarios(files[0])

    assert len(files) == 2
    assert files[0].name == file_name(found.name)
    assert len(found.steps) >= 5
    assert kueue_dra("replay", str(files[0])).exit_code == 0


def test_a_second_change_of_an_object_begins_a_step() -> None:
    """A step does each thing once, and in the order of a scenario: restart, apply, delete, touch."""
    target = ScenarioTarget(ReferenceTarget(behaviour("kueue-0.19.2")))
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
    target.start({})
    target.apply([namespace])
    target.apply([{**namespace, "metadata": {"name": "team", "labels": {"a": "b"}}}])
    target.start({"featureGates": {"LendingLimit": True}})
    target.settle()

    steps = target.scenario("one").steps

    assert [sorted(step) for step in steps] == [["apply"], ["apply"], ["restart"]]


def test_a_long_name_of_a_case_stays_unique() -> None:
    """File systems limit the length of a name."""
    one, other = file_name("a" * 300 + "1"), file_name("a" * 300 + "2")

    assert one != other
    assert len(one) < 160
    assert file_name("quota/test_x::test_y[a b]") == "quota-test-x-test-y-a-b.yaml"
