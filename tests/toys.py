"""A toy suite with a toy catalogue, run whole by the plugin that writes reports."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kueue_dra_reports.validate import faults

CONFTEST = """
import pytest
from kueue_dra_ref.requirements.catalogue import Level, Requirement
from kueue_dra_reports.plugin import record_target

def one(id, level="MUST", holds=("kueue-0.19.2",), **more):
    return Requirement(id=id, text=f"The text of {id}.", source="toy", level=Level(level), holds=holds, **more)

CATALOGUE = {r.id: r for r in [
    one("TOY-001"), one("TOY-002"), one("TOY-003", "SHOULD"), one("TOY-004", "INFERRED"),
    one("TOY-005", holds=("kep-2025-09",)), one("TOY-006", excluded="nobody can see it"),
]}

def pytest_kueue_dra_catalogue(config):
    return CATALOGUE

def pytest_addoption(parser):
    parser.addoption("--behaviour", default="kueue-0.19.2")
    parser.addoption("--target", default="reference")
    parser.addoption("--context")

@pytest.fixture(scope="session", autouse=True)
def target(pytestconfig):
    name = pytestconfig.getoption("target")
    record_target(pytestconfig, {"kind": name, "version": "v0.19.2"}, {"featureGates": {"X": True}})
"""
HEAD = "import pytest\nfrom kueue_dra_fixtures.marks import covers, owns_kueue\n"
GOOD = """
@covers("TOY-001", "TOY-002")
@pytest.mark.parametrize("number", [pytest.param(1, id="one"), pytest.param(2, id="two")])
def test_counts(number):
    '''Numbers are small.'''
    assert number < 3

@covers("TOY-003")
def test_order():
    assert [1] == [1]

@covers("TOY-001", "TOY-005")
def test_elsewhere():
    raise AssertionError("never runs")
"""
SKIPS = """
@covers("TOY-001")
def test_inside():
    pytest.skip("no driver here")

@covers("TOY-001")
@pytest.mark.skip(reason="not today")
def test_marked():
    pass

@pytest.fixture
def device():
    pytest.skip("no device")

@covers("TOY-002")
def test_fixture(device):
    pass

@covers("TOY-002")
def test_imperative():
    pytest.xfail("known")
"""


class Toy:
    """A toy suite and its runs."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        pytester.makeini("[pytest]\nstrict = true\naddopts = --import-mode=importlib\n")
        # `-p` would come too late for options; a root conftest may name plugins
        pytester.makeconftest('pytest_plugins = ["kueue_dra_reports.plugin"]\n' + CONFTEST)
        (pytester.path / "suites/kueue_dra_suites/conformance/quota").mkdir(parents=True)

    def run(self, cases: str, *args: str, file: str = "quota/test_toy.py") -> pytest.RunResult:
        """Write cases into the toy suite and run it."""
        (self.pytester.path / "suites/kueue_dra_suites/conformance" / file).write_text(HEAD + cases)
        return self.pytester.runpytest("suites/kueue_dra_suites/conformance", "-p", "no:hypothesispytest", *args)

    def report(self, folder: str = "out") -> dict[str, Any]:
        """Read the report of the last run, which must be sound."""
        paths = [self.pytester.path / folder / name for name in ("report.yaml", "report.json")]
        assert [fault for path in paths for fault in faults(path)] == []
        loaded: dict[str, Any] = json.loads(paths[1].read_text("utf-8"))
        return loaded


def outcomes(report: dict[str, Any]) -> dict[str, str]:
    """Give how each check ended, by the last part of its id."""
    return {one["id"].partition("::")[2]: one["outcome"] for one in report["checks"]}


def verdicts(report: dict[str, Any]) -> dict[str, str]:
    """Give what the report says of each requirement."""
    return {one["id"]: one["verdict"] for one in report["requirements"]}
