"""Results for a document are cached, and distinct from those of every other document."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from kueue_dra_ref.api.deepcopy import MemoizedCopy, copied
from kueue_dra_ref.api.status_errors import ManifestError
from kueue_dra_ref.behaviours import NAMES, behaviour
from kueue_dra_ref.controlplane.apiserver import ApiServer
from kueue_dra_ref.reference.sketches import SketchServer
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.target import Manifest

NAMESPACE: Manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}


def a_maker(made: list[Any]) -> Callable[[], list[Any]]:
    """Give what adds to a list, and gives another list, each time that it is asked."""

    def make() -> list[Any]:
        made.append(len(made))
        return [len(made)]

    return make


@pytest.mark.parametrize(
    ("other", "times"),
    [
        pytest.param({"count": 1}, 1, id="equal"),
        pytest.param({"count": True}, 2, id="a-flag"),
        pytest.param({"count": 1.0}, 2, id="a-fraction"),
        pytest.param({"count": "1"}, 2, id="a-text"),
        pytest.param({1: "count"}, 2, id="another-key"),
    ],
)
def test_a_document_is_asked_about_once(other: object, times: int) -> None:
    """A value of another type makes another document."""
    made: list[Any] = []
    remembered = MemoizedCopy()
    for document in ({"count": 1}, other):
        remembered.once(document, (), a_maker(made))

    assert len(made) == times


def test_another_situation_is_asked_about_anew() -> None:
    """A document may lead to something else there."""
    remembered, make = MemoizedCopy(), a_maker([])

    assert [remembered.once({}, (place,), make) for place in ("here", "there", "here")] == [[1], [2], [1]]


def test_who_changes_what_is_given_changes_nothing_else() -> None:
    """Each is given a copy."""
    remembered = MemoizedCopy()
    for _ in range(2):
        remembered.once({}, (), lambda: [1]).append(2)

    assert remembered.once({}, (), lambda: []) == [1]


def test_what_no_json_can_be_is_asked_about_each_time() -> None:
    """A date as YAML reads one, for example."""
    remembered, make = MemoizedCopy(), a_maker([])

    assert [remembered.once({"day": date(2025, 9, 17)}, (), make) for _ in range(2)] == [[1], [2]]
    assert copied([{"day": date(2025, 9, 17)}]) == [{"day": date(2025, 9, 17)}]


def test_everything_is_forgotten_when_there_is_no_more_room() -> None:
    """The cache has a bound."""
    remembered, make = MemoizedCopy(room=2), a_maker([])

    assert [remembered.once(each, (), make) for each in (1, 2, 3, 1)] == [[1], [2], [3], [4]]


def a_target(*, sketches: bool) -> ReferenceTarget:
    """Make a reference with one namespace, whose API server accepts sketches or not."""
    target = ReferenceTarget(behaviour(NAMES[0]), SketchServer() if sketches else ApiServer())
    assert target.apply([NAMESPACE]) == []
    return target


def test_a_sketch_that_was_taken_is_refused_by_who_takes_none() -> None:
    """And each caller gets the warning."""
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "team"}}
    sketch = {**job, "spec": {"template": {"spec": {"containers": [{"name": "c"}]}}}}
    lenient = [a_target(sketches=True) for _ in range(2)]
    assert [target.apply([sketch]) for target in lenient] == [[], []]

    assert lenient[0].api_server.warnings == lenient[1].api_server.warnings != []
    assert a_target(sketches=False).apply([sketch])


def test_a_refused_object_is_refused_again() -> None:
    """A fault is no document, and found each time."""
    with pytest.raises(ManifestError) as first:
        ApiServer().storable({**NAMESPACE, "metadata": {"labels": 1}}, a_target(sketches=False).store)
    with pytest.raises(ManifestError) as second:
        ApiServer().storable({**NAMESPACE, "metadata": {"labels": 1}}, a_target(sketches=False).store)

    assert str(first.value) == str(second.value)
