"""Cases of another repository: the sample in examples/, from the wheel, in a folder of its own."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kueue_dra_ref.requirements.catalogue import CatalogueError, with_own
from tests.wheels import ROOT, clean

Ran = subprocess.CompletedProcess[str]
SAMPLE = ROOT / "examples" / "own-cases"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Copy the sample."""
    return shutil.copytree(SAMPLE, tmp_path / "repository")


def _pytest(installed: Path, folder: Path, *arguments: str) -> Ran:
    command = [str(installed / "python"), "-m", "pytest", "-q", *arguments]
    return subprocess.run(command, cwd=folder, env=clean({}), capture_output=True, text=True, check=False)


def _kueue_dra(installed: Path, folder: Path, *arguments: str) -> Ran:
    command = [str(installed / "kueue-dra"), *arguments]
    return subprocess.run(command, cwd=folder, env=clean({}), capture_output=True, text=True, check=False)


def _report(folder: Path) -> Any:
    return json.loads((folder / "out" / "report.json").read_text("utf-8"))


def _change(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one-process", "two-processes"])
def test_the_sample_gates_with_its_own_requirements(
    workers: tuple[str, ...], installed: Path, repository: Path
) -> None:
    """Its known failure is accepted, and the report is one of ours."""
    ran = _pytest(installed, repository, *workers)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "gate: passed" in ran.stdout
    report = _report(repository)
    verdicts = {one["id"]: one["verdict"] for one in report["requirements"] if one["profile"] == "OWN"}
    assert verdicts == {"ACME-001": "proven", "ACME-002": "proven", "ACME-003": "failed"}
    assert "acme/test_teams::test_every_worker_is_charged" in [one["id"] for one in report["checks"]]
    assert _kueue_dra(installed, repository, "report", "validate", "out/report.json").returncode == 0


def test_a_case_that_fails_is_red(installed: Path, repository: Path) -> None:
    """With both sides, as in the suite."""
    _change(repository / "acme/test_teams.py", 'admitted({"whole-gpus": 8})', 'admitted({"whole-gpus": 2})')

    ran = _pytest(installed, repository)

    assert ran.returncode == 1
    assert "gate: failed" in ran.stdout
    (failed,) = [one for one in _report(repository)["checks"] if one["id"].endswith("every_worker_is_charged")]
    assert "whole-gpus: '2'" in failed["expected"]
    assert "whole-gpus: '8'" in failed["observed"]


def test_an_expired_known_failure_is_red(installed: Path, repository: Path) -> None:
    """The line names the entry and its last day."""
    _change(repository / "known-failures.yaml", "2099-12-31", "2026-01-31")

    ran = _pytest(installed, repository)

    assert ran.returncode == 1
    assert "ACME-003: the entry was valid until 2026-01-31" in ran.stdout


def test_own_cases_run_with_the_suite(installed: Path, repository: Path) -> None:
    """As one more suite of `run`, in one report and under one gate."""
    options = ("--cases", "acme", "--catalogue", "acme/requirements.toml")
    known = ("--expected-failures", "known-failures.yaml")

    ran = _kueue_dra(installed, repository, "run", "mapping", "acme", *options, *known)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert {one["id"].partition("/")[0] for one in _report(repository)["checks"]} == {"acme", "mapping"}
    case = "acme/test_teams::test_a_message_names_the_holder"
    assert _kueue_dra(installed, repository, "run", case, *options).returncode == 1
    assert [one["id"] for one in _report(repository)["checks"]] == [case]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[ACME-001]", "[acme-1]", "[acme-1]: expected an ID such as ACME-001"),
        ("[ACME-001]", "[COUNT-006]", "[COUNT-006]: the ID is taken in counting.toml"),
        ('level = "SHOULD"', 'level = "OUGHT"', "[ACME-003]: level 'OUGHT'; expected one of MUST"),
        ('level = "SHOULD"', "", "[ACME-003]: level is missing"),
        ('level = "SHOULD"', "level = 3", "[ACME-003]: level: found 3; expected text"),
        ('level = "SHOULD"', "level = ", "requirements.toml: not TOML"),
        ('level = "SHOULD"', 'level = "SHOULD"\nholds = ["kueue-9.9"]', "[ACME-003]: "),
        ("[ACME-001]", "ACME-009 = 1\n[ACME-001]", "[ACME-009]: found 1; expected a table"),
    ],
)
def test_a_wrong_catalogue_is_refused(old: str, new: str, message: str, repository: Path) -> None:
    """With file and entry."""
    file = repository / "acme/requirements.toml"
    file.write_text(file.read_text("utf-8").replace(old, new, 1), "utf-8")

    with pytest.raises(CatalogueError, match=re.escape(message)) as refused:
        with_own([file])

    assert str(refused.value).startswith(str(file))


def test_a_wrong_catalogue_is_one_line(installed: Path, repository: Path) -> None:
    """No case runs."""
    _change(repository / "acme/requirements.toml", 'level = "SHOULD"', 'level = "OUGHT"')

    ran = _pytest(installed, repository)

    assert ran.returncode == 4
    assert "requirements.toml: [ACME-003]: level 'OUGHT'; expected one of MUST" in ran.stderr
    assert len(ran.stderr.split("ERROR: ")) == 2
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--kueue-dra-cases", "nosuch"), "found no folder"),
        (("--kueue-dra-cases", "."), ""),
        (("-o", "kueue_dra_cases="), "found no kueue_dra_cases; expected a folder of cases"),
    ],
)
def test_a_wrong_folder_is_one_line(
    arguments: tuple[str, ...], message: str, installed: Path, repository: Path
) -> None:
    """A folder without cases, or a catalogue without a folder."""
    (repository / "pytest.ini").write_text(
        "[pytest]\nkueue_dra_cases = acme\nkueue_dra_catalogue = acme/requirements.toml\n", "utf-8"
    )
    ran = _pytest(installed, repository, *arguments)

    assert ran.returncode == (4 if message else 1)  # the known failure is not accepted here
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_suite_has_one_name(installed: Path, repository: Path) -> None:
    """A folder with the name of one of our suites would give two cases one ID."""
    (repository / "acme").rename(repository / "quota")

    ran = _kueue_dra(installed, repository, "run", "--cases", "quota")

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == "quota: found a suite with the name quota; expected another\n"


def test_a_catalogue_needs_cases(installed: Path, repository: Path) -> None:
    """Alone it would change nothing."""
    ran = _kueue_dra(installed, repository, "run", "--catalogue", "acme/requirements.toml")

    assert ran.returncode == 2
    assert "--catalogue: found no --cases" in ran.stderr


def test_the_plugin_is_inert_until_it_is_asked(installed: Path, tmp_path: Path) -> None:
    """A repository has options, fixtures and markers of the same names, and nothing of ours is imported."""
    (tmp_path / "conftest.py").write_text(
        "import pytest\n"
        "def pytest_addoption(parser):\n"
        "    parser.addoption('--target', default='staging')\n"
        "    parser.addoption('--gate')\n"
        "@pytest.fixture\n"
        "def lab(pytestconfig): return pytestconfig.getoption('target')\n"
    )
    (tmp_path / "test_theirs.py").write_text(
        "import sys\n"
        "def test_theirs(lab):\n"
        "    assert lab == 'staging'\n"
        "    assert 'kueue_dra_reports' not in sys.modules\n"
        "    assert 'kueue_dra_ref' not in sys.modules\n"
    )
    ran = _pytest(installed, tmp_path)

    assert ran.returncode == 0, ran.stdout
    assert not (tmp_path / "out").exists()
