"""Negative controls can fail themselves: a target without a fault, a row too many, a missing row."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kueue_dra_controls.controls import CONTROLS, Control
from kueue_dra_controls.run import ControlTarget, run_control
from kueue_dra_fixtures.fault_injection import FAULTS, FaultInjector
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.controlplane.rbac import ROLE
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.target import Ref
from kueue_dra_reports.document import ControlEntry
from kueue_dra_reports.validate import faults
from tests.clusters_live.manifests import CONFIGURATION

ROOT = Path(__file__).resolve().parents[1]
ROWS = ("quota/test_fits.py::test_devices_are_admitted_up_to_the_quota",)
TEST = "quota/test_fits::test_devices_are_admitted_up_to_the_quota"
ROLE_REF = Ref(api_version="rbac.authorization.k8s.io/v1", kind="ClusterRole", name=ROLE)


def _judged(sabotage: str, *red: str) -> ControlEntry:
    control = Control(fault=sabotage, red=red, rows=ROWS)
    return run_control(control, ControlTarget(kind="reference", behaviour=behaviour("kueue-0.19.2")))


def test_a_sabotage_that_does_nothing_is_reported_as_green() -> None:
    """A control that nothing notices fails, and names the row that should have."""
    found = _judged("nothing", f"{TEST}[one-too-many]")

    assert found["verdict"] == "missed"
    assert found["faults"] == [f"{TEST}[one-too-many]: stayed green, expected red"]


def test_a_row_that_goes_red_unnamed_is_reported() -> None:
    """Only the named rows may go red."""
    found = _judged("quota-doubled")

    assert (found["verdict"], found["red"], found["green"]) == ("missed", 1, 2)
    (fault,) = found["faults"]
    assert fault.startswith(f"{TEST}[one-too-many]: failed, expected green; expected status: 'False' message: ")


def test_a_named_row_that_is_not_there_is_reported() -> None:
    """A control does not keep on being caught after its row was renamed."""
    found = _judged("quota-doubled", f"{TEST}[one-too-many]", f"{TEST}[renamed]")

    assert found["faults"] == [f"{TEST}[renamed]: is named, but there is no such row"]


def test_every_sabotage_has_a_control() -> None:
    """But for the one that does nothing."""
    assert [*FAULTS] == [*(control.fault for control in CONTROLS), "nothing"]


def test_the_command_writes_the_verdicts_into_the_report(tmp_path: Path) -> None:
    """All controls are caught on the reference, and a sound report says so."""
    options = ["-q", "-p", "no:cacheprovider", f"--report-dir={tmp_path}"]
    suite = [sys.executable, "-m", "pytest", *options, "suites/kueue_dra_suites/conformance/quota/test_fits.py"]
    subprocess.run(suite, cwd=ROOT, capture_output=True, check=True)
    command = [sys.executable, "-m", "kueue_dra_cli", "controls", f"--report-dir={tmp_path}"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))

    assert run.returncode == 0, run.stdout + run.stderr
    assert [(each["name"], each["verdict"]) for each in report["controls"]] == [
        ("class-mapped-wrong", "caught"),
        ("quota-doubled", "caught"),
        ("gate-off", "caught"),
        ("templates-forbidden", "caught"),
        ("webhooks-absent", "caught"),
    ]
    assert faults(tmp_path / "report.json") == faults(tmp_path / "report.yaml") == []


def test_an_unknown_control_is_named() -> None:
    """The known ones are listed."""
    command = [sys.executable, "-m", "kueue_dra_cli", "controls", "no-such"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert run.returncode == 2
    assert "unknown control no-such; known: class-mapped-wrong, quota-doubled" in run.stderr


@pytest.mark.parametrize("option", ["--intent=certify", "--context=mine"])
def test_a_sabotaged_judge_certifies_nothing_and_is_never_yours(option: str) -> None:
    """No such run can be mistaken for a claim, nor touch a cluster of the user's."""
    options = ["-q", "--sabotage=quota-doubled", "--target=kueue", "--behaviour=kueue-0.19.2", option]
    command = [sys.executable, "-m", "pytest", *options, "suites/kueue_dra_suites/conformance/quota/test_fits.py"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert run.returncode == 4
    assert "--sabotage:" in run.stderr


def test_a_sabotaged_run_says_so_first_and_in_its_target(tmp_path: Path) -> None:
    """The report's target block names the sabotage."""
    options = ["-q", "-p", "no:cacheprovider", "--sabotage=quota-doubled", f"--report-dir={tmp_path}"]
    command = [sys.executable, "-m", "pytest", *options, "suites/kueue_dra_suites/conformance/quota/test_fits.py"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))

    assert run.stdout.startswith("SABOTAGED (quota-doubled): each ClusterQueue has twice the quota")
    assert report["target"]["about"]["sabotage"] == "quota-doubled"


def test_what_was_taken_from_the_role_is_given_back() -> None:
    """A target that serves several controls ends as it began."""
    target = ReferenceTarget(behaviour("kueue-0.19.2"))
    before = target.read(ROLE_REF)
    saboteur = FaultInjector(name="templates-forbidden", behaviour=target.behaviour, in_a_cluster=False)
    saboteur.on(target).start(CONFIGURATION)
    taken = target.read(ROLE_REF)
    saboteur.restore(target)
    after = target.read(ROLE_REF)

    assert "resourceclaimtemplates" in str(before)
    assert "resourceclaimtemplates" not in str((taken or {})["rules"])
    assert (after or {})["rules"] == (before or {})["rules"]
