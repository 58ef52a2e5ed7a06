"""Mutants that only some cases look at, so that those that survive take no longer than others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutants.importers import importers
from tests.mutants.log import Log
from tests.mutants.order import chosen, limited, ordered
from tests.mutants.trial import CAUGHT, SURVIVED, Result

CASES = [f"case-{number}" for number in range(10)]


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        pytest.param(None, CASES, id="all"),
        pytest.param(10, CASES, id="no-more-than-there-are"),
        pytest.param(4, ["case-0", "case-1", "case-2", "case-6"], id="the-first-and-some-of-the-rest"),
        pytest.param(1, ["case-0"], id="one"),
    ],
)
def test_not_all_cases_are_the_light_ones(limit: int | None, expected: list[str]) -> None:
    """The first ones are light; a mutant may be noticed by heavy ones only."""
    assert list(chosen(CASES, limit)) == expected


def test_all_recorded_answers_look_on() -> None:
    """They are many, and quick."""
    answers = [f"tests/test_apiserver.py::test[{number}]" for number in range(3)]

    assert limited([*CASES, *answers], 1) == ["case-0", *answers]
    assert limited([*answers, *CASES], None) == [*answers, *CASES]


def test_each_test_function_looks_on_before_one_looks_twice() -> None:
    """A function with one case is not lost among those with hundreds."""
    rows = [f"table[{number}]" for number in range(100)]

    assert list(chosen([*rows[:60], "other[a]", *rows[60:], "other[b]"], 4)) == [*rows[:2], "other[a]", "table[2]"]


def test_one_case_of_each_way_through_the_module_comes_first() -> None:
    """A case that runs the same lines as an earlier one comes after all that run others."""
    running = {"a": 0b01, "b": 0b01, "c": 0b11, "d": 0b10, "e": 0b10}
    weights = {"a": 20, "b": 0, "c": 40, "d": 60, "e": 80}

    assert ordered(running, weights, {}, "seed") == ["b", "c", "d", "a", "e"]
    assert ordered(running, weights, {"e": 1}, "seed") == ["e", "b", "c", "a", "d"]


def test_a_table_is_read_by_the_modules_that_import_it() -> None:
    """A case runs nothing of the table itself."""
    assert "kueue_dra_ref/apiserver/admission_request.py" in importers("kueue_dra_ref/apiserver/kubernetes_versions.py")
    assert "kueue_dra_ref/controlplane/apiserver.py" in importers("kueue_dra_ref/apiserver/__init__.py")


@pytest.mark.parametrize(
    ("outcome", "limit", "of_the_run", "expected"),
    [
        pytest.param(CAUGHT, 5, None, True, id="caught-by-some"),
        pytest.param(SURVIVED, 5, None, False, id="survived-some"),
        pytest.param(SURVIVED, 5, 9, False, id="survived-fewer"),
        pytest.param(SURVIVED, 5, 5, True, id="survived-as-many"),
        pytest.param(SURVIVED, 5, 4, True, id="survived-more"),
        pytest.param(SURVIVED, None, 5, True, id="survived-all"),
    ],
)
def test_a_run_without_a_limit_tries_again_what_some_did_not_catch(
    tmp_path: Path, outcome: str, limit: int | None, of_the_run: int | None, *, expected: bool
) -> None:
    """The log keeps the limit."""
    log = Log(tmp_path / "log.jsonl")
    log.add(Result(name="m", outcome=outcome, before="a", after="b", seconds=1, state="s", limit=limit))

    (kept,) = log.results("s")

    assert kept.holds(of_the_run) is expected


def test_the_logs_of_all_samples_say_which_cases_catch_most(tmp_path: Path) -> None:
    """A case that caught a mutant of another sample looks first at those of the same module."""
    for seed in (1, 2):
        log = Log(tmp_path / f"seed-{seed}.jsonl")
        log.add(Result(name=f"m{seed}", outcome=CAUGHT, before="a", after="b", seconds=1, state="s"))

    found = [each.name for one in log.all() for each in one.results()]

    assert found == ["m1", "m2"]
