"""Recorded scenarios: which steps the reference decides otherwise than the Kueue that was recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.behaviours.releases import KUEUE
from kueue_dra_ref.reference.replay import answers, completed
from kueue_dra_ref.scenarios.diff import difference
from kueue_dra_ref.scenarios.files import scenarios
from kueue_dra_ref.scenarios.scenario import Scenario, is_comparable


def differing(files: Sequence[str]) -> Iterator[str]:
    """Name each step that differs; a scenario that cannot be replayed differs in its first step."""
    for file in files:
        for scenario in read(file):
            for step in _steps(scenario):
                yield f"{scenario.name} step {step}"


@cache
def read(file: str) -> Sequence[Scenario]:
    """Read the scenarios of a file; a fork has what its server has read."""
    return list(scenarios(Path(file)))


def _steps(scenario: Scenario) -> Iterator[int]:
    release = behaviour(scenario.behaviour or KUEUE + scenario.kueue.removeprefix("v"))
    try:
        ours = tuple(answers(completed(scenario, release), release))
    except Exception:  # noqa: BLE001  # a mutant may raise anything
        yield 1
        return
    for number, (shown, recorded) in enumerate(zip(ours, scenario.recorded, strict=False), 1):
        if is_comparable(recorded) and difference(shown, recorded):
            yield number
