"""The hunt for disagreements without a real Kueue: what is drawn, what is left of a scenario, who plays beside whom."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.cluster.reference import ReferenceTarget
from kueue_dra_ref.cluster.replaying import answers
from kueue_dra_ref.difference import difference
from kueue_dra_ref.playing import played_together
from kueue_dra_ref.scenario import Scenario
from suites.differential.drawing import batches
from suites.differential.shrinking import shrunk

KUEUE_0_19 = behaviour("kueue-0.19")


def test_a_seed_gives_the_same_worlds_again() -> None:
    """Two draws of one number are alike, those of another are not."""
    first, again, other = (batches(of=2, behaviour=KUEUE_0_19, number=n, count=4) for n in (5, 5, 6))

    assert first == again
    assert [world.steps for batch in first for world in batch] != [w.steps for batch in other for w in batch]


def test_worlds_beside_each_other_are_decided_as_if_alone() -> None:
    """On the reference; that it is so on a real Kueue is what the hunt relies on."""
    for batch in batches(of=4, behaviour=KUEUE_0_19, number=11, count=6):
        together = [list(seen) for seen in zip(*played_together(batch, ReferenceTarget(KUEUE_0_19)), strict=True)]

        assert difference(together, [list(answers(world, KUEUE_0_19)) for world in batch]) is None


def test_generated_worlds_reach_what_the_hunt_is_about() -> None:
    """Work is admitted, waits, is refused, preempted and evicted, and objects are refused."""
    seen: set[str] = set()
    for batch in batches(of=8, behaviour=KUEUE_0_19, number=1, count=40):
        for observation in (each for world in batch for each in answers(world, KUEUE_0_19)):
            seen |= {"rejected"} if "rejected" in observation else set()
            for workload in (observation.get("workloads") or {}).values():
                conditions = (each for each in workload.values() if isinstance(each, dict) and "reason" in each)
                seen |= {each["reason"] for each in conditions}

    assert seen >= {"rejected", "Admitted", "Pending", "Inadmissible", "Preempted", "LocalQueueStopped"}


def a_scenario(*steps: str) -> Scenario:
    """A scenario whose steps apply one named object each."""
    applied = tuple({"apply": [{"apiVersion": "v1", "kind": "K", "metadata": {"name": name}}]} for name in steps)
    return Scenario(name="s", configuration={}, inventory=(), steps=applied)


def names(scenario: Scenario) -> list[str]:
    """What a scenario applies, in order."""
    return [each["metadata"]["name"] for step in scenario.steps for each in step.get("apply") or ()]


@pytest.mark.parametrize("needed", [["a"], ["h"], ["c", "f"], ["a", "b", "h"]])
def test_only_what_the_difference_needs_is_left(needed: list[str]) -> None:
    """Whatever can be left out is, in few tries."""
    tried = []

    def differs(scenario: Scenario) -> bool:
        tried.append(scenario)
        return set(needed) <= set(names(scenario))

    assert names(shrunk(a_scenario(*"abcdefgh"), differs)) == needed
    assert len(tried) < 60


def test_objects_within_a_step_are_left_out_too() -> None:
    """A step of many objects keeps the one that matters; the inventory goes."""
    (step,) = a_scenario("x").steps
    many = {"apply": [*step["apply"], *a_scenario("y").steps[0]["apply"]]}
    scenario = replace(a_scenario(), steps=(many,), inventory=tuple(step["apply"]))

    found = shrunk(scenario, lambda each: "y" in names(each))

    assert (names(found), found.inventory) == (["y"], ())
