"""What is written next to a report and made from it: digests, Allure results, and the command that repeats a case."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.commands import ROOT, kueue_dra
from tests.wheels import clean

CASE = "quota/test_pod_sets::test_devices_are_charged_for_each_pod[one-to-spare]"
KNOWN = "- {id: COUNT-004, reason: a bug, until: 2999-12-31, link: 'https://example.com/12'}\n"
Ran = subprocess.CompletedProcess[str]


def _run(folder: Path, *arguments: str, **environment: str) -> Ran:
    command = [sys.executable, "-m", "kueue_dra_cli", *arguments]
    variables = clean({"PYTHONPATH": str(ROOT), **environment})
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def red(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run cases on a reference that does not multiply by pods, with a known failure, and give the folder."""
    folder = tmp_path_factory.mktemp("red")
    (folder / "known.yaml").write_text(KNOWN, "utf-8")
    wrong = "--knock-out=multiply_by_pod_count"
    ran = _run(folder, "run", "quota", "--expected-failures=known.yaml", "-n", "2", PYTEST_ADDOPTS=wrong)
    assert ran.returncode == 1, ran.stderr
    return folder


@pytest.fixture
def bundle(red: Path, tmp_path: Path) -> Path:
    """Copy what the run wrote."""
    return shutil.copytree(red / "out", tmp_path / "out")


def _report(folder: Path) -> Any:
    return json.loads((folder / "report.json").read_text("utf-8"))


def test_a_run_writes_the_digests_of_its_files(bundle: Path) -> None:
    """In the form of sha256sum, which checks them too."""
    assert kueue_dra("report", "validate", bundle).exit_code == 0
    assert {path.name for path in bundle.iterdir()} == {"report.yaml", "report.json", "junit.xml", "SHA256SUMS"}
    checked = subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=bundle, capture_output=True, text=True, check=True)
    assert checked.stdout.count(": OK") == 3


@pytest.mark.parametrize("name", ["report.yaml", "report.json", "junit.xml"])
def test_a_changed_file_is_found(name: str, bundle: Path) -> None:
    """Also where the report is still a valid one."""
    file = bundle / name
    file.write_text(file.read_text("utf-8").replace("kueue-dra-conformance", "other").replace("testcase", "testCase"))

    done = kueue_dra("report", "validate", bundle)

    assert done.exit_code == 1
    assert f"{file}: found the digest " in done.output
    assert kueue_dra("report", "validate", file).exit_code == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "junit.xml").unlink(), "junit.xml: No such file or directory"),
        (lambda folder: (folder / "SHA256SUMS").unlink(), "found no SHA256SUMS"),
        (lambda folder: (folder / "SHA256SUMS").write_text(""), "found no digest"),
        (lambda folder: (folder / "SHA256SUMS").write_text("a  ../b\n"), "SHA256SUMS:1: found 'a  ../b'"),
    ],
)
def test_digests_that_do_not_fit_are_found(change: Any, message: str, bundle: Path) -> None:
    """A missing file, and a list that says nothing."""
    change(bundle)

    done = kueue_dra("report", "validate", bundle)

    assert (done.exit_code, message in done.output) == (1, True), done.output


def test_controls_keep_the_digests_right(tmp_path: Path) -> None:
    """They add to the report of the suite."""
    assert _run(tmp_path, "run", "quota/test_fits").returncode == 0
    assert _run(tmp_path, "controls", "quota-doubled").returncode == 0

    assert kueue_dra("report", "validate", tmp_path / "out").exit_code == 0
    assert "controls.json" in (tmp_path / "out" / "SHA256SUMS").read_text("utf-8")


def test_the_command_that_repeats_a_run_runs_there(red: Path) -> None:
    """With the options that decide what ran; `python -m kueue_dra_cli` is `kueue-dra` here."""
    command = shlex.split(_report(red / "out")["target"]["reproduce"]["command"])
    assert command[:3] == ["kueue-dra", "run", "quota"]
    assert {"--target=reference", "--behaviour=kueue-0.19.2", "--intent=ci", "-n2"} < set(command)

    again = _run(red, *command[1:], "--report-dir=again", PYTEST_ADDOPTS="--knock-out=multiply_by_pod_count")

    assert again.returncode == 1
    assert "equal" in kueue_dra("report", "diff", red / "out/report.json", red / "again/report.json").output


def test_each_failure_has_a_command_that_repeats_it(red: Path, installed: Path, tmp_path: Path) -> None:
    """On the terminal, in Markdown and in HTML; it runs from the wheel in an empty folder, where this case passes."""
    line = f"kueue-dra run '{CASE}' --target=reference --behaviour=kueue-0.19.2"
    assert f"  repeat: {line}\n" in kueue_dra("report", "render", red / "out/report.json").output
    assert "To repeat it: `kueue-dra run " in kueue_dra("report", "render", red / "out/report.json", "-o", "md").output
    assert "To repeat it: <code>" in kueue_dra("report", "render", red / "out/report.json", "-o", "html").output

    words = [str(installed / "kueue-dra"), *shlex.split(line)[1:]]
    ran = subprocess.run(words, cwd=tmp_path, env=clean({}), capture_output=True, text=True, check=False)

    assert ran.returncode == 0, ran.stderr
    assert [one["id"] for one in _report(tmp_path / "out")["checks"]] == [CASE]


def test_failed_cases_are_named_in_the_command_that_runs_them_again(red: Path) -> None:
    """The report that named them may be replaced by then."""
    report = _report(red / "out")
    failed = [one["id"] for one in report["checks"] if one["outcome"] == "failed"]
    ran = _run(red, "run", "--rerun-failed=out/report.json", "--report-dir=rerun")

    assert ran.returncode == 0  # without the wrong rule
    words = shlex.split(_report(red / "rerun")["target"]["reproduce"]["command"])
    assert words[2 : 2 + len(failed)] == failed
    assert not any(word.startswith("--rerun-failed") for word in words)


def test_allure_has_each_case_with_requirements_and_level(red: Path, tmp_path: Path) -> None:
    """Severity from the strongest level, links to the source, both sides, and known failures."""
    report = _report(red / "out")
    done = kueue_dra("report", "render", red / "out/report.json", "-o", "allure", "--to", tmp_path / "results")

    assert done.output == f"{tmp_path / 'results'}: {len(list((tmp_path / 'results').iterdir()))} results\n"
    results = {one["fullName"]: one for one in _results(tmp_path / "results")}
    rows = [one["id"] for key in ("checks", "notApplicable", "leftOut") for one in report[key]]
    assert set(results) == set(rows)
    statuses = Counter(one["status"] for one in results.values())
    assert statuses["failed"] == report["statistics"]["failed"]
    assert statuses["skipped"] == len(report["notApplicable"]) + len(report["leftOut"])
    one = results[CASE]
    labels = {(label["name"], label["value"]) for label in one["labels"]}
    assert {("tag", "COUNT-006"), ("requirement", "COUNT-006"), ("parentSuite", "quota")} <= labels
    levels = {each["id"]: each["level"] for each in report["requirements"]}
    assert ("level", levels["COUNT-006"]) in labels
    must = next(each for each in report["checks"] if "MUST" in map(levels.get, each["requirements"]))
    assert {"name": "severity", "value": "critical"} in results[must["id"]]["labels"]
    assert "https://github.com/kubernetes-sigs/kueue/issues/2941" in {url for _, url in _links(results[must["id"]])}
    assert "+++ observed" in one["statusDetails"]["trace"]
    assert one["parameters"][0]["value"].startswith(f"kueue-dra run '{CASE}'")
    known = [each for each in results.values() if each.get("statusDetails", {}).get("known")]
    assert known
    assert all(("COUNT-004", "https://example.com/12") in _links(each) for each in known)


def test_allure_knows_a_case_again(red: Path, tmp_path: Path) -> None:
    """The history of a case is the same in another run, and its result is another one."""
    report = _report(red / "out")
    (tmp_path / "later.json").write_text(json.dumps({**report, "date": "2099-01-31T00:00:00Z"}), "utf-8")
    kueue_dra("report", "render", red / "out/report.json", "-o", "allure", "--to", tmp_path / "a")
    kueue_dra("report", "render", tmp_path / "later.json", "-o", "allure", "--to", tmp_path / "b")

    first, second = _results(tmp_path / "a"), _results(tmp_path / "b")
    assert {one["historyId"] for one in first} == {one["historyId"] for one in second}
    assert not {one["uuid"] for one in first} & {one["uuid"] for one in second}
    assert len({one["historyId"] for one in first}) == len(first)


def _results(folder: Path) -> list[Any]:
    return [json.loads(path.read_text("utf-8")) for path in folder.glob("*-result.json")]


def _links(result: Any) -> set[tuple[str, str]]:
    return {(link["name"], link["url"]) for link in result.get("links", ())}
