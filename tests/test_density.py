"""The density check counts what it says, and fails above each limit."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import density
from tests.density import COMPLEXITY, LINES, NODES_PER_LINE

PLAIN = '''
    """A module."""

    import os  # not counted


    def total(amounts):
        """Add up amounts."""
        result = 0
        for amount in amounts:
            result += amount
        return result
    '''
DENSE = "\n".join(f"one_{number} = two.three[four].five(six, seven=eight, nine=ten)" for number in range(15))
BRANCHES = "\n".join(
    ["def branches(one):", *(f"    if one == {number}:\n        one = {number + 1}" for number in range(10))]
)
LONG = "\n".join(["def long(one):", *("    one = 1" for _ in range(26))])
WALRUS = "found = [two for one in range(3) if (two := one + 1)]\n"


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        pytest.param(DENSE, f"syntax nodes per line of code; at most {NODES_PER_LINE:g}", id="density"),
        pytest.param(BRANCHES, f":1: branches has complexity 11; at most {COMPLEXITY}", id="complexity"),
        pytest.param(LONG, f":1: long has 26 lines; at most {LINES}", id="length"),
        pytest.param(WALRUS, ":1: a comprehension assigns with :=", id="walrus"),
    ],
)
def test_a_module_above_a_limit_fails(source: str, problem: str, planted: Callable[[str], Path]) -> None:
    """Each limit on its own, with the place."""
    path = planted(source)

    assert [each for each in density.problems(path) if problem in each]
    assert density.main([str(path)]) == 1


@pytest.mark.parametrize(
    "source", [pytest.param(PLAIN, id="plain"), pytest.param(DENSE.splitlines()[0], id="too-few-lines")]
)
def test_a_plain_module_passes(source: str, planted: Callable[[str], Path]) -> None:
    """And one with too few lines for a mean."""
    path = planted(source)

    assert list(density.problems(path)) == []
    assert density.main([str(path)]) == 0


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        pytest.param("one", 1, id="none"),
        pytest.param("one if two else three", 2, id="conditional-expression"),
        pytest.param("one and two or three", 3, id="boolean-operators"),
        pytest.param("[a for a in b for c in d if e]", 4, id="comprehension"),
        pytest.param("lambda: one if two else three", 2, id="lambda"),
    ],
)
def test_decisions_in_expressions_count(expression: str, expected: int) -> None:
    """A branch that moves into an expression is still a branch."""
    (function,) = ast.parse(f"def f():\n    return {expression}").body
    assert isinstance(function, ast.FunctionDef)

    assert density.complexity(function) == expected


def test_a_function_inside_another_counts_by_itself() -> None:
    """Neither hides what the other decides."""
    source = "def outer():\n    def inner():\n        return 1 if x else 2\n    return inner\n"
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)

    assert density.complexity(function) == 1


def test_each_room_is_measured() -> None:
    """All that is installed but the cases, whose tables have long rows."""
    rooms = {path.parent.parent.name for path in density.ROOT.glob("*/kueue_dra_*/__init__.py")}

    assert set(density.ROOMS) == rooms - {"suites"} | {"kueue_dra_ref"}


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Write a module where the check looks for it."""
    monkeypatch.setattr(density, "ROOT", tmp_path)

    def write(source: str) -> Path:
        path = tmp_path / "planted.py"
        path.write_text(textwrap.dedent(source), "utf-8")
        return path

    return write
