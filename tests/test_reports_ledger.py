"""A run reports cases that do not collect, do not execute or are excluded."""

from __future__ import annotations

import pytest

from tests.toys import GOOD, SKIPS, Toy, outcomes, verdicts

pytest_plugins = ["pytester"]


@pytest.mark.parametrize(
    ("case", "words"),
    [
        pytest.param("@covers('NOPE-001')", "cites 'NOPE-001', which is in no catalogue", id="unknown"),
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
    result.stdout.fnmatch_lines([f"*suites/kueue_dra_suites/conformance/quota/test_toy.py: test_wrong {words}*"])
    assert toy.report()["verdict"]["result"] == "failure"


def test_a_file_that_skips_itself_does_not_collect(toy: Toy) -> None:
    """Rows that vanish with their file are noticed."""
    result = toy.run("pytest.skip('no driver', allow_module_level=True)\n" + GOOD)

    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*test_toy.py: skips itself*no driver*"])


def test_a_skip_counts_as_a_failure(toy: Toy) -> None:
    """A missing prerequisite fails, wherever the case gives up."""
    result = toy.run(SKIPS)

    assert result.ret == 1
    report = toy.report()
    assert set(outcomes(report).values()) == {"notTestable"}
    assert report["verdict"]["result"] == "failure"
    result.stdout.fnmatch_lines(["*a missing prerequisite fails a conformance case: no driver here*"])


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


@pytest.mark.parametrize("args", [(), ("-n", "2")])
def test_a_selection_without_a_case_is_answered_in_one_line(toy: Toy, args: tuple[str, ...]) -> None:
    """An empty run is not green, and its report would tell nothing."""
    result = toy.run(GOOD, "-k", "nothing_is_named_so", "-q", *args)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    line = "kueue-dra: no case matches -k nothing_is_named_so (4 do not, 0 do not apply)"
    assert [each for each in result.stderr.lines if each] == [line]
    result.stdout.no_fnmatch_line("*conformance*")
    assert not (toy.pytester.path / "out").exists()


def test_a_run_in_which_nothing_applies_fails(toy: Toy) -> None:
    """Nor is one in which every case belongs to another behaviour."""
    result = toy.run("@covers('TOY-005')\ndef test_text(): pass\n")

    assert result.ret == 1
    assert toy.report()["verdict"]["because"][0] == "no case was executed, so nothing was checked"


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


def test_a_dead_worker_fails_the_run(toy: Toy) -> None:
    """The case that took its worker along is named as never executed."""
    result = toy.run(GOOD + "\n@covers('TOY-002')\ndef test_dies():\n    import os\n    os._exit(1)\n", "-n", "2")

    assert result.ret != 0
    result.stdout.fnmatch_lines(["*planned but not executed: quota/test_toy::test_dies*"])
