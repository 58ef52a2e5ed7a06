"""The wheel in a fresh environment, used from a repository that has folders of the same names as ours."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest

from tests.wheels import ROOT, run

OURS = tuple(path.parent.parent.name for path in sorted(ROOT.glob("*/kueue_dra_*/__init__.py")))
"""The top-level folders that hold our packages."""
CONFTEST = """
    import {folders}

    pytest_plugins = ["fixtures.names"]
    """
FIXTURE = """
    import pytest

    @pytest.fixture
    def cluster_name():
        return "downstream"
    """
TEST = """
    from pathlib import Path

    import pytest

    HERE = Path(__file__).parents[1]

    def test_a_fixture_is_ours(cluster_name):
        assert cluster_name == "downstream"

    @pytest.mark.parametrize("folder", {folders})
    def test_a_folder_is_ours(folder):
        assert Path(__import__(folder).__file__).is_relative_to(HERE)
    """


@pytest.fixture
def downstream(tmp_path: Path) -> Path:
    """Make a downstream repository with a package for each of our top-level folders."""
    for folder in OURS:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").write_text("", "utf-8")
    (tmp_path / "fixtures" / "names.py").write_text(textwrap.dedent(FIXTURE), "utf-8")
    (tmp_path / "conftest.py").write_text(textwrap.dedent(CONFTEST.format(folders=", ".join(OURS))), "utf-8")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_ours.py").write_text(textwrap.dedent(TEST.format(folders=list(OURS))), "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\ntestpaths = tests\n", "utf-8")
    return tmp_path


def test_the_wheel_holds_our_packages_and_nothing_else(installed: Path) -> None:
    """Every name that it adds to an environment begins with `kueue_dra`."""
    packages = next(installed.parent.glob("lib/python*/site-packages"))
    record = next(packages.glob("kueue_dra_conformance-*.dist-info/RECORD")).read_text("utf-8")
    top = {line.partition("/")[0] for line in record.splitlines()}

    assert {name for name in top if not name.startswith("kueue_dra_")} == {".."}  # the program in bin
    where = run([str(installed / "python"), "-c", "import kueue_dra_ref as r; print(r.__file__)"], installed.parent)
    assert Path(where.strip()).is_relative_to(packages)


@pytest.mark.parametrize("mode", ["prepend", "importlib"])
def test_the_other_repository_runs_its_own_tests(mode: str, installed: Path, downstream: Path) -> None:
    """Its packages are found first, with its own conftest."""
    ran = run([str(installed / "python"), "-m", "pytest", "-q", f"--import-mode={mode}"], downstream)

    assert f"{1 + len(OURS)} passed" in ran


def test_the_command_runs_in_the_other_repository(installed: Path, downstream: Path) -> None:
    """The suite is that of the wheel, also where Python finds the repository's packages first."""
    ran = run([str(installed / "kueue-dra"), "run", "quota"], downstream, PYTHONPATH=str(downstream))

    assert " passed" in ran
    assert (downstream / "out" / "report.json").is_file()


def test_the_command_starts_itself_in_the_other_repository(installed: Path, downstream: Path) -> None:
    """`matrix` runs `kueue-dra run` in a process of its own."""
    command = ["matrix", "0.19", "--target", "reference", "--suite", "mapping"]
    run([str(installed / "kueue-dra"), *command], downstream, PYTHONPATH=str(downstream))

    assert (downstream / "out" / "matrix" / "matrix.md").is_file()


def test_a_vendor_runs_the_suite_of_the_wheel(installed: Path, downstream: Path) -> None:
    """Over the vendor's files, with schemas from the wheel."""
    command = [str(installed / "python"), "-m", "pytest", "-q", "--pyargs", "kueue_dra_vendor.suite"]
    ran = run([*command, "--vendor-dir", str(ROOT / "examples" / "driver")], downstream)

    assert "gpu.vendor.example: fit for quota" in ran
    assert '"title": "kueue-dra-known.yaml"' in run(
        [str(installed / "kueue-dra"), "vendor", "schema", "known"], downstream
    )


def test_every_command_loads_without_development_packages() -> None:
    """A wheel brings neither hypothesis nor pytest-kind; `differential` asks for the first only when it draws."""
    blocked = "import sys; sys.modules.update(hypothesis=None, pytest_kind=None)"
    loaded = "from kueue_dra_cli import COMMANDS, main; [main.get_command(None, name) for name in COMMANDS]"
    run([sys.executable, "-c", f"{blocked}; {loaded}"], ROOT)
