"""Which functions a new selector may use depends on the Kubernetes minor: those of the minor before it."""

from __future__ import annotations

import pytest

from kueue_dra_ref.apiserver import MINORS
from kueue_dra_ref.apiserver.cel_selectors import selectors

TOO_OLD = "undeclared reference to '{}'"


NO_OVERLOAD = "found no matching overload for '{}' applied to '(string, bool)'"


@pytest.mark.parametrize("minor", [31, 32, 33, 34, 35, 36])
@pytest.mark.parametrize(
    ("expression", "name"),
    [
        pytest.param('semver("v1.0", true).major() == 1', "semver", id="a version"),
        pytest.param('isSemver("v1.0", true)', "isSemver", id="whether it is one"),
    ],
)
def test_versions_are_normalized_one_minor_after_that_was_brought(expression: str, name: str, minor: int) -> None:
    """Kubernetes 1.33 brought the form of two arguments; the form of one is as old as device selectors."""
    found = [{"cel": {"expression": expression}}]
    messages = [str(error) for error in selectors(found, "spec.selectors", MINORS[f"1.{minor}"])]
    plain = [{"cel": {"expression": expression.replace(", true", "")}}]

    assert [NO_OVERLOAD.format(name) in each for each in messages] == ([True] if minor < 34 else [])
    assert list(selectors(found, "spec.selectors", MINORS[f"1.{minor}"], stored=True)) == []
    assert list(selectors(plain, "spec.selectors", MINORS[f"1.{minor}"])) == []


@pytest.mark.parametrize(
    ("expression", "name", "since"),
    [
        pytest.param("[1,2].transformList(i, v, v) == [1, 2]", "transformList", 33, id="two variables"),
        pytest.param("[1].existsOne(i, v, v == 1)", "existsOne", 33, id="exactly one of two variables"),
        pytest.param("[1,2].slice(0,1) == [1]", "slice", 35, id="part of a list"),
        pytest.param("[2].sort() == [2]", "sort", 35, id="sorting"),
    ],
)
@pytest.mark.parametrize("minor", [31, 32, 33, 34, 35, 36])
def test_a_library_comes_one_minor_after_it_was_brought(expression: str, name: str, since: int, minor: int) -> None:
    """A selector that is new is refused before, with the function's name; one that is stored is not."""
    found = [{"cel": {"expression": expression}}]
    messages = [str(error) for error in selectors(found, "spec.selectors", MINORS[f"1.{minor}"])]

    assert [TOO_OLD.format(name) in each for each in messages] == ([True] if minor < since else [])
    assert list(selectors(found, "spec.selectors", MINORS[f"1.{minor}"], stored=True)) == []
