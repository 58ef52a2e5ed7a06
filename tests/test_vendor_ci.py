"""A vendor's CI: known findings, output for programs, and the pytest suite over a vendor's files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from kueue_dra_vendor.catalogue import ALL
from tests.commands import kueue_dra
from tests.test_vendor import Files, a_driver

INCOMPLETE = "VENDOR-101"
"""What is found in the driver of these tests: an error, for one pool."""
POOL = "pool gpu.example.com/node-1"


@pytest.fixture
def driver(tmp_path: Path) -> Path:
    """Write a driver with one pool that is not complete."""
    files = a_driver()
    files["slices"][0]["spec"]["pool"]["resourceSliceCount"] = 2
    _write(files, tmp_path)
    return tmp_path


def _write(files: Files, folder: Path) -> None:
    given = [files["class"], *files["slices"], files["template"], files["job"]]
    (folder / "driver.yaml").write_text(yaml.safe_dump_all(given))


def _known(folder: Path, *entries: dict[str, Any]) -> None:
    (folder / "kueue-dra-known.yaml").write_text(yaml.safe_dump({"known": list(entries)}))


def _entry(check: str = INCOMPLETE, **more: str) -> dict[str, Any]:
    return {"check": check, "reason": "the other slice is published later", **more}


def _suite(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs", "kueue_dra_vendor.suite"]
    words = [*command, *map(str, arguments)]
    folder = Path(str(arguments[1])) if len(arguments) > 1 and Path(str(arguments[1])).is_dir() else Path.cwd()
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


def test_a_known_finding_is_no_error(driver: Path) -> None:
    """It is shown with its reason; the summary counts it."""
    assert kueue_dra("vendor", "check", driver).exit_code == 1
    _known(driver, _entry(object=POOL))

    done = kueue_dra("vendor", "check", driver)

    assert done.exit_code == 0
    assert "(known: the other slice is published later)" in done.output
    assert done.output.splitlines()[-1] == "gpu.example.com: fit for quota on Kubernetes 1.36: 1 known"


@pytest.mark.parametrize("entry", [_entry(object="pool gpu.example.com/node-9"), _entry("VENDOR-201")])
def test_a_known_finding_that_is_gone_is_red(entry: dict[str, Any], driver: Path) -> None:
    """With the line of the entry; the finding that it covers is not another one."""
    _known(driver, _entry(object="pool *"), entry)

    done = kueue_dra("vendor", "check", driver)

    assert done.exit_code == 1
    assert "is known, and is not found any more" in done.output
    assert done.output.splitlines()[-1].endswith("not fit for quota on Kubernetes 1.36: 1 known, 1 gone")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (_entry("VENDOR-999"), "found no check VENDOR-999"),
        ({"check": INCOMPLETE}, "found no reason; expected reason"),
        (_entry(reason=" "), "known[0].reason: found"),
        (_entry(because="x"), "known[0].because: found an unknown field"),
    ],
)
def test_a_wrong_entry_is_refused(entry: dict[str, Any], message: str, driver: Path) -> None:
    """One line with file, line and field; exit code 2. The suite says the same."""
    _known(driver, entry)

    done = kueue_dra("vendor", "check", driver)

    assert done.exit_code == 2
    assert message in done.output
    assert len(done.output.splitlines()) == 1


def test_junit_has_a_case_for_each_check(driver: Path) -> None:
    """The error fails its case; the numbers are those of the cases."""
    done = kueue_dra("vendor", "check", driver, "-o", "junit")

    assert done.exit_code == 1
    (suite,) = ElementTree.fromstring(done.output)
    cases = suite.findall("testcase")
    assert [each.get("name", "").split()[0] for each in cases[:-1]] == [each.id for each in ALL]
    failed = [each.get("name", "") for each in cases if each.find("failure") is not None]
    assert [each.split()[0] for each in failed] == [INCOMPLETE]
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == (str(len(ALL) + 1), "1", "0")


def test_junit_skips_what_cannot_be_decided(tmp_path: Path) -> None:
    """With the command that decides it."""
    (tmp_path / "class.yaml").write_text(yaml.safe_dump(a_driver()["class"]))

    done = kueue_dra("vendor", "check", tmp_path, "-o", "junit")

    assert done.exit_code == 0
    skipped = ElementTree.fromstring(done.output).findall("testsuite/testcase/skipped")
    assert ["kubectl get resourceslices" in each.get("message", "") for each in skipped] == [True]


def test_markdown_has_a_row_for_each_finding(driver: Path) -> None:
    """Below the summary; a bar in a text does not end its cell."""
    files = a_driver()
    files["slices"][0]["spec"]["pool"]["resourceSliceCount"] = 2
    files["class"]["spec"]["selectors"] = [{"cel": {"expression": "false || device.driver == 'x'"}}]
    _write(files, driver)

    lines = kueue_dra("vendor", "check", driver, "-o", "md").output.splitlines()

    assert lines[0].startswith("## gpu.example.com: not fit for quota on Kubernetes 1.36: 1 error")
    rows = [each for each in lines if each.startswith("| error")]
    assert len(rows) == 1
    assert all(each.replace("\\|", "").count("|") == 6 for each in lines if each.startswith("| "))


def test_the_summary_is_in_json(driver: Path) -> None:
    """So is what is known and what is gone."""
    _known(driver, _entry(), _entry("VENDOR-201"))

    shown = json.loads(kueue_dra("vendor", "check", driver, "-o", "json").stdout)

    assert shown["fits"] is False
    assert shown["findings"] == []
    assert [each["reason"] for each in shown["known"]] == ["the other slice is published later"]
    assert [each["check"] for each in shown["gone"]] == ["VENDOR-201"]


def test_the_suite_passes_on_a_sound_driver(tmp_path: Path) -> None:
    """A test for each check, and one for the known findings."""
    _write(a_driver(), tmp_path)

    ran = _suite("--vendor-dir", tmp_path)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"{len(ALL) + 1} passed" in ran.stdout
    assert "gpu.example.com: fit for quota on Kubernetes 1.36: nothing found" in ran.stdout


def test_the_suite_fails_on_an_error(driver: Path) -> None:
    """The test of its check alone, in JUnit too."""
    ran = _suite("--vendor-dir", driver, f"--junitxml={driver}/junit.xml")

    assert ran.returncode == 1
    assert f"1 failed, {len(ALL)} passed" in ran.stdout
    failed = ElementTree.parse(driver / "junit.xml").findall("testsuite/testcase[failure]")
    assert [each.get("name") for each in failed] == [f"test_driver[{INCOMPLETE}]"]


def test_the_suite_expects_what_is_known(driver: Path) -> None:
    """And fails when an entry is gone."""
    _known(driver, _entry())
    assert f"{len(ALL)} passed, 1 xfailed" in _suite("--vendor-dir", driver).stdout

    _known(driver, _entry(), _entry("VENDOR-201"))
    ran = _suite("--vendor-dir", driver)
    assert ran.returncode == 1
    assert "test_known_findings_are_still_found" in ran.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "found no --vendor-dir"),
        (("--vendor-dir", "nosuch"), "nosuch: found no such file"),
        (("--vendor-dir", "examples/driver", "--vendor-kubernetes", "1.99"), "--vendor-kubernetes: found 1.99"),
    ],
)
def test_the_suite_refuses_wrong_input(arguments: tuple[str, ...], message: str) -> None:
    """No test runs; exit code 4, as pytest has it for wrong usage."""
    ran = _suite(*arguments)

    assert ran.returncode == 4
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr
