"""Cases in several processes that are forked when everything is collected."""

from __future__ import annotations

import pytest

from kueue_dra_reports.compare import differences
from tests.toys import GOOD, Toy, outcomes

pytest_plugins = ["pytester"]
BAD = """
import os, signal

@covers("TOY-002")
def test_bad():
    print("what was printed")
    assert "Pending" == "Admitted"
"""
DEADLY = """
@covers("TOY-002")
@pytest.mark.parametrize("number", range(4))
def test_deadly(number):
    if os.getpid() != PARENT:
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_forks_report_what_one_process_does(toy: Toy) -> None:
    """Both sides of a failure and what it printed included; every case is counted once."""
    alone = toy.run(GOOD + BAD, "--report-dir", "alone")
    forked = toy.run(GOOD + BAD, "--report-dir", "forked", "--forks", "3")

    assert (alone.ret, forked.ret) == (1, 1)
    assert differences(toy.report("alone"), toy.report("forked")) == []
    assert toy.report("forked")["target"]["environment"]["parallelism"] == 3
    forked.stdout.fnmatch_lines(["*what was printed*", "integrity: planned 4 = collected 4 = executed 4 = reported 4"])
    assert forked.parseoutcomes() == alone.parseoutcomes()


def test_a_fork_that_dies_fails_the_run(toy: Toy) -> None:
    """The output has its exit code and the missing cases."""
    result = toy.run("import os, signal\nPARENT = os.getpid()\n" + DEADLY, "--forks", "2")

    assert result.ret == 1
    assert sorted(outcomes(toy.report()).values()).count("passed") == 2
    result.stdout.fnmatch_lines(["a process that ran a part of the cases exited early, with code -9"])
    assert "planned but not executed" in " ".join(toy.report()["integrity"]["faults"])


def test_cases_come_one_after_another_when_the_first_failure_ends_the_run(toy: Toy) -> None:
    """Nothing is forked then."""
    result = toy.run(BAD + GOOD, "--forks", "2", "-x")

    assert toy.report()["target"]["environment"]["parallelism"] == 1
    assert result.parseoutcomes()["failed"] == 1


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(["--forks", "0"], "*--forks: found 0; expected 1 or more", id="none"),
        pytest.param(["--forks", "2", "--target", "kueue"], "*--forks: for the reference only; *", id="a-real-kueue"),
        pytest.param(["--forks", "2", "-n", "2"], "*--forks: cannot be combined with -n, *", id="workers"),
    ],
)
def test_what_forks_cannot_do_is_refused(toy: Toy, words: list[str], expected: str) -> None:
    """In one line, before anything runs."""
    result = toy.run(GOOD, *words)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([expected])
