"""The report of whole runs: what it says of each case, and where it is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kueue_dra_reports.compare import differences
from tests.toys import GOOD, SKIPS, Toy, outcomes, verdicts

pytest_plugins = ["pytester"]


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
            "target: reference (version v0.19.2), checked as kueue-0.19.2, intent ci",
            "integrity: planned 3 = collected 3 = executed 3 = reported 3",
            "verdict: success*only a run with --intent certify*",
            "not applicable: 1 case, TOY-005 does not hold in kueue-0.19.2",
            "files: out/report.yaml, out/report.json, out/junit.xml",
        ]
    )
    assert '<testcase classname="quota.test_toy" name="test_order"' in (toy.pytester.path / "out/junit.xml").read_text()


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
    result.stderr.fnmatch_lines(
        ["*--behaviour kueue-9: no requirement holds in it; known: kep-2025-09, kueue-0.19.2; *"]
    )


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
    assert (check["expected"], check["observed"]) == ("Admitted", "Pending")
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
        "python -m pytest suites/kueue_dra_suites/conformance -p no:hypothesispytest"
        " --target reference --behaviour kueue-0.19.2 --intent ci"
    )


def test_the_command_to_repeat_a_run_names_no_path_of_this_machine(toy: Toy) -> None:
    """Absolute paths become places in the suite; where files go is left out."""
    toy.run(GOOD)
    case = toy.pytester.path / "suites/kueue_dra_suites/conformance/quota/test_toy.py"
    toy.pytester.runpytest(f"{case}::test_order", "--report-dir", str(toy.pytester.path / "there"))

    command = toy.report("there")["target"]["reproduce"]["command"]
    assert command.startswith(
        "python -m pytest suites/kueue_dra_suites/conformance/quota/test_toy.py::test_order --target reference"
    )


def test_a_folder_that_cannot_be_written_is_refused(toy: Toy) -> None:
    """Before anything runs, and in words."""
    toy.pytester.makefile("", taken="a file")
    result = toy.run(GOOD, "--report-dir", "taken/out")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--report-dir taken/out: *taken is not a writable folder"])


def test_failures_in_workers_reach_the_report(toy: Toy) -> None:
    """A parallel run tells as much of a failure as a serial one."""
    bad = "\n@covers('TOY-002')\ndef test_bad():\n    assert 'Pending' == 'Admitted'\n"
    for folder, args in (("serial", ()), ("parallel", ("-n", "2"))):
        assert toy.run(GOOD + SKIPS + bad, "--report-dir", folder, *args).ret == 1

    assert differences(toy.report("serial"), toy.report("parallel")) == []
    assert outcomes(toy.report("parallel"))["test_bad"] == "failed"


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
