"""The bench of moments itself: with the reference as the cluster nothing differs, and what is planted is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kueue_dra_ref.api.conditions import condition
from kueue_dra_ref.api.scheme import KINDS
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.simulation.run import a_namespace
from tests.moments.compared import Moment, compared
from tests.moments.drawn import Plan, plans
from tests.moments.figures import Figures, lines
from tests.moments.recorded import Documents, Recording, read, record, write

SEED = 4
HEAD = {"apiVersion": "kueue-dra.dev/v1alpha1", "kind": "ClusterDump", "spec": {"kubernetes": "v1.36.3", "notRead": []}}


@pytest.fixture(scope="module")
def recording() -> Recording:
    """Record a plan on the reference, with one dump."""
    target = ReferenceTarget(behaviour("kueue-0.19.2"))
    target.apply([a_namespace("default")])
    plan = next(plans(target.behaviour, SEED))

    def dumped() -> Documents:
        kinds = [kind for kind in KINDS if kind != "ClusterRole"]
        items = [each for kind in kinds for each in target.list(KINDS[kind].storage, kind)]
        return [HEAD, {"apiVersion": "v1", "kind": "List", "items": items}]

    return record(replace(plan, dumps=plan.dumps[:1]), "0.19", target, dumped)


def _copy(recording: Recording, folder: Path) -> Recording:
    return read(write(recording, folder))


def _only(recording: Recording) -> Moment:
    (moment,) = compared(recording)
    return moment


def test_nothing_differs_from_itself(recording: Recording, tmp_path: Path) -> None:
    """Through a file; each waiting Workload is explained, and each step that follows is compared."""
    found = _copy(recording, tmp_path)

    moment = _only(found)

    figures = Figures()
    figures.add(moment)
    assert moment.agrees, list(lines(moment))
    assert not figures.differ
    assert moment.settled.derived == moment.settled.waiting == moment.settled.told > 0
    assert moment.same == moment.steps == len(found.seen) - found.dumps[0].step > 0


def _waiting(recording: Recording) -> Any:
    for each in recording.dumps[0].settled[1]["items"]:
        if each["kind"] == "Workload" and (condition(each, "QuotaReserved") or {}).get("status") == "False":
            return each
    raise AssertionError("nothing waits")


def _message(recording: Recording) -> None:
    (found,) = [each for each in _waiting(recording)["status"]["conditions"] if each["type"] == "QuotaReserved"]
    found["message"] = "couldn't assign flavors to pod set main: no such thing"


def _admission(recording: Recording) -> None:
    for observation in recording.seen[-1]:
        for workload in observation["workloads"].values():
            workload["admission"] = {"clusterQueue": "another", "podSets": []}


def _figure(recording: Recording) -> None:
    for dumps in (recording.dumps[0].settled, recording.dumps[0].again):
        for each in dumps[1]["items"]:
            if each["kind"] == "ClusterQueue":
                each["status"]["pendingWorkloads"] = 77


PLANTED: dict[str, tuple[Callable[[Recording], None], str]] = {
    "another message": (_message, "  explain: "),
    "another admission": (_admission, "  going on: "),
    "a wrong figure": (_figure, "  audit: STATUS-013"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_is_found(recording: Recording, tmp_path: Path, name: str) -> None:
    """One line names it with both sides, and the figures say that something differs."""
    plant, line = PLANTED[name]
    found = _copy(recording, tmp_path)
    plant(found)

    moment = _only(found)

    figures = Figures()
    figures.add(moment)
    assert any(each.startswith(line) for each in lines(moment)), list(lines(moment))
    assert figures.differ


def test_a_seed_gives_the_same_plans_again() -> None:
    """Scenarios and dumps are the same; another seed gives others."""

    def drawn(seed: int) -> list[Plan]:
        found = plans(behaviour("kueue-0.19.2"), seed)
        return [next(found) for _ in range(3)]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
