"""The ledger and the report of whole runs, over toy cases with a toy catalogue."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reports.check import faults
from reports.compare import differences

pytest_plugins = ["pytester"]

CONFTEST = """
import pytest
from kueue_dra_ref.requirements.catalogue import Level, Requirement
from reports.plugin import record_target

def one(id, level="MUST", holds=("kueue-0.19",), **more):
    return Requirement(id=id, text=f"The text of {id}.", source="toy", level=Level(level), holds=holds, **more)

CATALOGUE = {r.id: r for r in [
    one("TOY-001"), one("TOY-002"), one("TOY-003", "SHOULD"), one("TOY-004", "INFERRED"),
    one("TOY-005", holds=("kep-2025-09",)), one("TOY-006", excluded="nobody can see it"),
]}

def pytest_kueue_dra_catalogue(config):
    return CATALOGUE

def pytest_addoption(parser):
    parser.addoption("--behaviour", default="kueue-0.19")
    parser.addoption("--target", default="reference")
    parser.addoption("--context")

@pytest.fixture(scope="session", autouse=True)
def target(pytestconfig):
    name = pytestconfig.getoption("target")
    record_target(pytestconfig, {"kind": name, "version": "v0.19.2"}, {"featureGates": {"X": True}})
"""
HEAD = "import pytest\nfrom fixtures.marks import covers, owns_kueue\n"
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


class Toy:
    """A toy suite and its runs."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        pytester.makeini("[pytest]\nstrict = true\naddopts = --import-mode=importlib\n")
        # `-p` would come too late for options; a root conftest may name plugins
        pytester.makeconftest('pytest_plugins = ["reports.plugin"]\n' + CONFTEST)
        (pytester.path / "suites/conformance/quota").mkdir(parents=True)

    def run(self, cases: str, *args: str, file: str = "quota/test_toy.py") -> pytest.RunResult:
        """Write cases into the toy suite and run it."""
        (self.pytester.path / "suites/conformance" / file).write_text(HEAD + cases)
        return self.pytester.runpytest("suites/conformance", "-p", "no:hypothesispytest", *args)

    def report(self, folder: str = "out") -> dict[str, Any]:
        """Read the report of the last run, which must be sound."""
        paths = [self.pytester.path / folder / name for name in ("report.yaml", "report.json")]
        assert [fault for path in paths for fault in faults(path)] == []
        loaded: dict[str, Any] = json.loads(paths[1].read_text("utf-8"))
        return loaded


@pytest.fixture
def toy(pytester: pytest.Pytester) -> Toy:
    """Give an empty toy suite."""
    return Toy(pytester)


def outcomes(report: dict[str, Any]) -> dict[str, str]:
    """Give how each check ended, by the last part of its id."""
    return {one["id"].partition("::")[2]: one["outcome"] for one in report["checks"]}


def verdicts(report: dict[str, Any]) -> dict[str, str]:
    """Give what the report says of each requirement."""
    return {one["id"]: one["verdict"] for one in report["requirements"]}


def test_a_green_run_is_written_down_whole(toy: Toy) -> None:
    """The report names every case, requirement and number, and the summary shows them."""
    result = toy.run(GOOD)

    assert result.ret == 0
    report = toy.report()
    assert [one["id"] for one in report["checks"]] == [
        "quota/test_toy::test_counts[one]",
        "quota/test_toy::test_counts[two]",
        "quota/test_toy::test_order",
    ]
    assert verdicts(report) == {
        "TOY-001": "proven",
        "TOY-002": "proven",
        "TOY-003": "proven",
        "TOY-004": "untested",
        "TOY-005": "notApplicable",
        "TOY-006": "excluded",
    }
    assert report["verdict"] == {"result": "success", "claimsConformance": False, "because": []}
    assert report["target"]["about"] == {"kind": "reference", "version": "v0.19.2"}
    assert report["target"]["kueue"]["configurations"][0]["featureGates"] == {"X": True}
    result.stdout.fnmatch_lines(
        [
            "DRA-CLAIM *MUST * success",
            "target: reference (version v0.19.2), judged as kueue-0.19, intent ci",
            "integrity: planned 3 = collected 3 = executed 3 = reported 3",
            "verdict: success*only a run with --intent certify*",
            "not applicable: 1 case, TOY-005 does not hold in kueue-0.19",
            "files: out/report.yaml, out/report.json, out/junit.xml",
        ]
    )
    assert 'name="case" value="quota/test_toy::test_order"' in (toy.pytester.path / "out/junit.xml").read_text()


def test_a_run_of_the_kep_text_takes_its_own_cases(toy: Toy) -> None:
    """Which cases run follows from where their requirements hold."""
    toy.run("@covers('TOY-005')\ndef test_text(): pass\n" + GOOD, "--behaviour", "kep-2025-09")

    report = toy.report()
    assert outcomes(report) == {"test_text": "passed"}
    assert len(report["notApplicable"]) == 4


def test_an_unknown_behaviour_is_refused(toy: Toy) -> None:
    """A behaviour in which nothing holds would make an empty run."""
    result = toy.run(GOOD, "--behaviour", "kueue-9")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--behaviour kueue-9: no requirement holds there; known: kep-2025-09, kueue-0.19"])


@pytest.mark.parametrize(
    ("case", "words"),
    [
        pytest.param("@covers('NOPE-001')", "cites 'NOPE-001', which is not in the catalogue", id="unknown"),
        pytest.param("", "cites no requirement; write @covers", id="no-mark"),
        pytest.param("@covers()", "cites no requirement; write @covers", id="no-id"),
        pytest.param("@covers('TOY-006')", "cites TOY-006, which the catalogue excludes", id="excluded"),
        pytest.param("@covers('TOY-001')\n@pytest.mark.xfail", "is marked xfail", id="xfail"),
    ],
)
def test_a_case_without_a_known_requirement_does_not_collect(toy: Toy, case: str, words: str) -> None:
    """The message names the file and the test."""
    result = toy.run(GOOD + f"\n{case}\ndef test_wrong(): pass\n")

    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines([f"*suites/conformance/quota/test_toy.py: test_wrong {words}*"])
    assert toy.report()["verdict"]["result"] == "failure"


def test_a_file_that_skips_itself_does_not_collect(toy: Toy) -> None:
    """Rows that vanish with their file are noticed."""
    result = toy.run("pytest.skip('no driver', allow_module_level=True)\n" + GOOD)

    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*test_toy.py: skips itself*no driver*"])


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


def test_a_skip_counts_as_a_failure(toy: Toy) -> None:
    """A missing prerequisite fails, wherever the case gives up."""
    result = toy.run(SKIPS)

    assert result.ret == 1
    report = toy.report()
    assert set(outcomes(report).values()) == {"notTestable"}
    assert report["verdict"]["result"] == "failure"
    result.stdout.fnmatch_lines(["*a missing prerequisite fails a conformance case: no driver here*"])


def test_a_failure_carries_both_sides_and_what_the_fixtures_attached(toy: Toy) -> None:
    """Expected, observed, explanation and evidence reach the report."""
    toy.run(
        """
@covers("TOY-001")
def test_x(request):
    request.node.user_properties += [("explanation", "class gpu -> whole-gpus\\n2 x 1 = 2"), ("evidence", [{"a": 1}])]
    assert "Pending" == "Admitted"

@covers("TOY-001")
def test_broken():
    {}["absent"]
"""
    )

    broken, check = toy.report()["checks"]
    assert broken["outcome"] == "error"
    assert check["outcome"] == "failed"
    assert (check["expected"], check["observed"]) == ("'Admitted'", "'Pending'")
    assert check["explanation"] == ["class gpu -> whole-gpus", "2 x 1 = 2"]
    assert check["evidence"] == ['{"a": 1}']
    assert "'Pending' == 'Admitted'" in check["message"]


def test_a_failing_inferred_case_is_a_question(toy: Toy) -> None:
    """Where the text is silent the profile is partial, though pytest itself fails."""
    result = toy.run(GOOD + "\n@covers('TOY-004')\ndef test_silent():\n    assert 1 == 2\n")

    assert result.ret == 1
    report = toy.report()
    (profile,) = report["profiles"]
    assert verdicts(report)["TOY-004"] == "questioned"
    assert (profile["result"], profile["core"]["result"]) == ("partial", "success")
    assert profile["questions"]["notPassed"] == ["quota/test_toy::test_silent"]


def test_less_executed_than_planned_fails_and_names_the_case(toy: Toy) -> None:
    """A plugin that drops a row without saying so turns a green run red."""
    toy.pytester.makepyfile(
        dropper="import pytest\n\n@pytest.hookimpl(tryfirst=True)\n"
        "def pytest_runtestloop(session):\n    del session.items[-1]\n"
    )
    toy.pytester.syspathinsert()
    result = toy.run(GOOD, "-p", "dropper")

    assert result.ret == 1
    assert toy.report()["integrity"]["planned"] == 3
    result.stdout.fnmatch_lines(
        [
            "integrity: planned 3 ≠ collected 3 ≠ executed 2 ≠ reported 2",
            "*planned 3, executed 2; planned but not executed: quota/test_toy::test_order",
        ]
    )


def test_less_collected_than_planned_fails(toy: Toy) -> None:
    """The same when the row is dropped while collecting."""
    toy.pytester.makepyfile(dropper="def pytest_collection_modifyitems(items):\n    del items[0]\n")
    toy.pytester.syspathinsert()
    result = toy.run(GOOD, "-p", "dropper")

    assert result.ret == 1
    result.stdout.fnmatch_lines(["*planned 3, collected 2; planned but not collected: *test_counts[[]one]"])


def test_a_result_that_is_not_reported_fails(toy: Toy) -> None:
    """A result that gets lost on its way to the report is missed."""
    toy.pytester.makepyfile(
        dropper="import pytest\n@pytest.hookimpl(tryfirst=True)\ndef pytest_runtest_logreport(report):\n"
        "    report.user_properties = [] if 'order' in report.nodeid else report.user_properties\n"
    )
    toy.pytester.syspathinsert()
    result = toy.run(GOOD, "-p", "dropper")

    assert result.ret == 1
    result.stdout.fnmatch_lines(["integrity: planned 3 ≠ collected 3 ≠ executed 3 ≠ reported 2"])


def test_an_early_stop_names_what_never_ran(toy: Toy) -> None:
    """With -x the rest is not run, and the report says so."""
    toy.run("@covers('TOY-001')\ndef test_a():\n    assert 0 == 1\n" + GOOD, "-x")

    assert outcomes(toy.report())["test_order"] == "notRun"


@pytest.mark.parametrize("cases", [pytest.param(GOOD.partition('@covers("TOY-001", "TOY-005")')[0], id="deselected")])
def test_a_run_that_executed_nothing_fails(toy: Toy, cases: str) -> None:
    """An empty run is not green."""
    result = toy.run(cases, "-k", "nothing_is_named_so")

    assert result.ret != 0
    result.stdout.fnmatch_lines(["*no case was executed, so nothing was judged"])


def test_a_run_in_which_nothing_applies_fails(toy: Toy) -> None:
    """Nor is one in which every case belongs to another behaviour."""
    result = toy.run("@covers('TOY-005')\ndef test_text(): pass\n")

    assert result.ret == 1
    assert toy.report()["verdict"]["because"][0] == "no case was executed, so nothing was judged"


def test_a_selection_is_partial_and_says_what_it_left_out(toy: Toy) -> None:
    """A requirement whose rows did not all run is not proven."""
    result = toy.run(GOOD, "-k", "one")

    assert result.ret == 0
    report = toy.report()
    assert verdicts(report)["TOY-001"] == "untested"
    assert [one["id"] for one in report["leftOut"]] == [
        "quota/test_toy::test_counts[two]",
        "quota/test_toy::test_elsewhere",
        "quota/test_toy::test_order",
    ]
    assert report["verdict"]["result"] == "partial"
    assert "-k one" in report["target"]["reproduce"]["command"]


def test_certify_takes_no_selection(toy: Toy) -> None:
    """Only the whole suite may claim conformance."""
    assert toy.run(GOOD, "--intent", "certify").ret == 0
    assert toy.report()["verdict"]["claimsConformance"]

    assert toy.run(GOOD, "--intent", "certify", "-k", "one").ret == 1
    assert not toy.report()["verdict"]["claimsConformance"]


def test_a_case_with_its_own_kueue_is_not_for_an_attached_cluster(toy: Toy) -> None:
    """It is counted with its reason, not skipped."""
    toy.run("@owns_kueue\n@covers('TOY-001')\ndef test_own(): pass\n" + GOOD, "--context", "mine")

    absent = {one["id"]: one["reason"] for one in toy.report()["notApplicable"]}
    assert "restarts Kueue" in absent["quota/test_toy::test_own"]


def test_a_retry_plugin_is_refused(toy: Toy) -> None:
    """A case that passes at the second attempt is not green."""
    toy.pytester.makepyfile(rerunfailures="")
    toy.pytester.syspathinsert()
    result = toy.run(GOOD, "-p", "rerunfailures")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*pytest-rerunfailures is active*-p no:rerunfailures"])


def test_the_report_does_not_depend_on_the_run(toy: Toy) -> None:
    """Serial and parallel, this target and that one: the same report but for target, date and durations."""
    toy.run(GOOD, "--report-dir", "serial")
    assert toy.run(GOOD, "--report-dir", "again").ret == 0
    assert toy.run(GOOD, "--report-dir", "parallel", "-n", "2").ret == 0
    toy.run(GOOD, "--report-dir", "other", "--target", "kueue")

    serial, again, parallel, other = map(toy.report, ("serial", "again", "parallel", "other"))
    assert differences(serial, again) == []
    assert differences(serial, parallel) == []
    assert differences(serial, other) == []
    assert parallel["target"]["environment"]["parallelism"] == 2
    assert other["target"]["implementation"]["project"] == "kueue"
    assert serial["target"]["reproduce"]["command"] == (
        "python -m pytest suites/conformance -p no:hypothesispytest"
        " --target reference --behaviour kueue-0.19 --intent ci"
    )


def test_the_command_to_repeat_a_run_names_no_path_of_this_machine(toy: Toy) -> None:
    """Absolute paths become places in the suite; where files go is left out."""
    toy.run(GOOD)
    case = toy.pytester.path / "suites/conformance/quota/test_toy.py"
    toy.pytester.runpytest(f"{case}::test_order", "--report-dir", str(toy.pytester.path / "there"))

    command = toy.report("there")["target"]["reproduce"]["command"]
    assert command.startswith("python -m pytest suites/conformance/quota/test_toy.py::test_order --target reference")


def test_a_folder_that_cannot_be_written_is_refused(toy: Toy) -> None:
    """Before anything runs, and in words."""
    toy.pytester.makefile("", taken="a file")
    result = toy.run(GOOD, "--report-dir", "taken/out")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--report-dir taken/out: *taken is no folder we may write to"])


def test_failures_in_workers_reach_the_report(toy: Toy) -> None:
    """A parallel run tells as much of a failure as a serial one."""
    bad = "\n@covers('TOY-002')\ndef test_bad():\n    assert 'Pending' == 'Admitted'\n"
    for folder, args in (("serial", ()), ("parallel", ("-n", "2"))):
        assert toy.run(GOOD + SKIPS + bad, "--report-dir", folder, *args).ret == 1

    assert differences(toy.report("serial"), toy.report("parallel")) == []
    assert outcomes(toy.report("parallel"))["test_bad"] == "failed"


def test_a_dead_worker_fails_the_run(toy: Toy) -> None:
    """The case that took its worker along is named as never executed."""
    result = toy.run(GOOD + "\n@covers('TOY-002')\ndef test_dies():\n    import os\n    os._exit(1)\n", "-n", "2")

    assert result.ret != 0
    result.stdout.fnmatch_lines(["*planned but not executed: quota/test_toy::test_dies*"])


def test_a_listing_writes_nothing(toy: Toy) -> None:
    """--collect-only is no run."""
    assert toy.run(GOOD, "--collect-only").ret == 0
    assert not (toy.pytester.path / "out").exists()


def test_other_tests_are_left_alone(toy: Toy) -> None:
    """Tests outside of the suite need no requirement and leave no report."""
    toy.pytester.makepyfile(test_own="import pytest\ndef test_own(): pass\ndef test_skip(): pytest.skip('fine')\n")
    result = toy.pytester.runpytest("test_own.py")

    result.assert_outcomes(passed=1, skipped=1)
    assert not (toy.pytester.path / "out").exists()


def test_allure_results_come_on_request(toy: Toy) -> None:
    """--alluredir passes through, and a skip is a failure there too."""
    toy.run(SKIPS, "--alluredir", "allure")

    results = [json.loads(one.read_text()) for one in Path(toy.pytester.path / "allure").glob("*-result.json")]
    assert [one["status"] for one in results] == ["failed"] * 4
