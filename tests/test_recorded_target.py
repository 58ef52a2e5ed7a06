"""Replays do what a recording does: a look at the queues of a nested cohort makes Kueue requeue its tree."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.model.slots import AnyOf
from kueue_dra_ref.reference.replay import answers
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.scenarios.diff import difference
from kueue_dra_ref.scenarios.files import scenarios
from kueue_dra_ref.scenarios.playback import replayed
from kueue_dra_ref.scenarios.scenario import Observation, Scenario
from tests.commands import ROOT

KUEUE = behaviour("kueue-0.19.2")
NESTED, FLAT = scenarios(ROOT / "docs" / "scenarios" / "requeued-by-a-look-0.19.yaml")
"""The same story in a nested and in a root cohort, as Kueue 0.19.2 decided it."""


def reasons_at_the_end(observations: list[Observation]) -> dict[str, str]:
    """The reason of the condition QuotaReserved of each Job's Workload, after the last step."""
    workloads = observations[-1]["workloads"]
    return {name: found["QuotaReserved"]["reason"] for name, found in workloads.items()}


@pytest.mark.parametrize("scenario", [NESTED, FLAT], ids=["nested", "flat"])
def test_a_replay_agrees_with_the_recording(scenario: Scenario) -> None:
    """Each step that the recording compares is the same."""
    for ours, recorded in zip(answers(scenario, KUEUE), scenario.recorded, strict=True):
        assert recorded.get("unsettled") or difference(ours, recorded) is None


def test_only_the_nested_cohort_loses_the_retry() -> None:
    """The inadmissible workload was requeued without effect by then, and is requeued only once."""
    assert reasons_at_the_end(list(answers(NESTED, KUEUE)))["waiting"] == "Inadmissible"
    assert reasons_at_the_end(list(answers(FLAT, KUEUE)))["waiting"] == "QuotaReserved"


def test_without_the_rule_no_look_has_an_effect() -> None:
    """COHORT-025 is what makes the two differ."""
    cohorts = replace(KUEUE.cohorts, requeue_tree=AnyOf())
    without: Behaviour = replace(KUEUE, cohorts=cohorts)

    assert reasons_at_the_end(list(answers(NESTED, without)))["waiting"] == "QuotaReserved"


def test_a_reference_that_nothing_observes_keeps_the_retry() -> None:
    """`simulate` uses this target: listing queues changes nothing."""
    found = list(replayed(NESTED, ReferenceTarget(KUEUE)))

    assert reasons_at_the_end(found)["waiting"] == "QuotaReserved"
