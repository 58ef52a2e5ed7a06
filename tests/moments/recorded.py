"""Records what a real Kueue does in the steps of a plan, with the dumps that are taken of it on the way."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.controlplane import ControlPlane
from kueue_dra_clusters.dump import dump
from kueue_dra_clusters.fence import PREFIX
from kueue_dra_clusters.releases import release
from kueue_dra_clusters.waiting import TimedOut, let_pass
from kueue_dra_ref.scenarios.observation import ObservedState, observed
from kueue_dra_ref.scenarios.playback import (
    known_refs,
    ran,
    settled,
    started,
)
from kueue_dra_ref.scenarios.scenario import Observation, Scenario
from kueue_dra_ref.target import Manifest, Target
from tests.moments.drawn import CHECK, Plan

_LATER = 0.3
"""Seconds between two dumps of a settled cluster."""
Documents = list[Manifest]
"""What ``kueue-dra dump`` writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dumps:
    """The dumps after one step."""

    step: int
    early: Documents
    """While Kueue works on the step."""
    settled: Documents
    again: Documents
    """A moment later."""


@dataclass(slots=True, kw_only=True)
class Recording:
    """What a real Kueue did."""

    name: str
    kueue: str
    plan: Plan
    seen: list[list[Observation]] = field(default_factory=list)
    """After each step, by scenario."""
    dumps: list[Dumps] = field(default_factory=list)
    ending: str = ""
    """Why it ended before the last step; empty if it did not."""

    @property
    def release(self) -> str:
        """The behaviour of the Kueue that was recorded, with its patch."""
        return release(self.kueue).name


def record(plan: Plan, kueue: str, target: Target, dumped: Callable[[], Documents]) -> Recording:
    """Run the steps of a plan on a target, until it does not settle; ``dumped`` reads its cluster."""
    found = Recording(name=plan.name, kueue=kueue, plan=plan)
    first = plan.batch[0]
    started(first, first.configuration, target)
    target.apply(first.inventory)
    if plan.checked:
        target.apply([CHECK])
    for step in range(1, len(first.steps) + 1):
        try:
            _record_step(found, step, target, dumped)
        except TimedOut as late:
            found.ending = f"step {step} did not settle: {late}"
        if found.ending:
            break
    return found


def _record_step(found: Recording, step: int, target: Target, dumped: Callable[[], Documents]) -> None:
    plan = found.plan
    steps = [each.steps[step - 1] for each in plan.batch]
    for configuration in steps[0].get("restart") or ():
        started(plan.batch[0], configuration, target)
    ran(steps, target)
    is_dumped = step in plan.dumps
    early = dumped() if is_dumped else []
    if settled(target):
        found.ending = f"step {step} did not settle"
        return
    found.seen.append(seen_by(target, plan, step))
    if is_dumped:
        now = dumped()
        let_pass(_LATER)
        dumps = Dumps(step=step, early=early, settled=now, again=dumped())
        found.dumps.append(dumps)


def seen_by(target: Target, plan: Plan, step: int) -> list[Observation]:
    """Observe each scenario after a step."""
    state = ObservedState.by(target)
    return [observed(state, known_refs(each, step)) for each in plan.batch]


def dump_of(plane: ControlPlane) -> Documents:
    """Read a cluster as ``kueue-dra dump`` does, without the objects of this framework."""
    head, found = dump(APIClient(api=plane.api), lambda kind: None).documents()
    items = [each for each in found["items"] if not _is_fence(each)]
    return [head, {**found, "items": items}]


def _is_fence(obj: Manifest) -> bool:
    meta = obj["metadata"]
    names = (meta["name"], meta.get("namespace", ""))
    return any(each.startswith(PREFIX) for each in names)


def write(recording: Recording, folder: Path) -> Path:
    """Write a recording to a file; `read` reads it again."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{recording.kueue}-{recording.name}.json"
    plan = recording.plan
    found = {
        "name": recording.name,
        "kueue": recording.kueue,
        "dumps": [_as_json(each) for each in recording.dumps],
        "scenarios": [_scenario(each) for each in plan.batch],
        "planned": plan.dumps,
        "checked": plan.checked,
        "seen": recording.seen,
        "ending": recording.ending,
    }
    file.write_text(json.dumps(found, default=str), "utf-8")
    return file


def _as_json(dumps: Dumps) -> dict[str, Any]:
    return {"step": dumps.step, "early": dumps.early, "settled": dumps.settled, "again": dumps.again}


def _scenario(scenario: Scenario) -> dict[str, Any]:
    return {
        "name": scenario.name,
        "configuration": scenario.configuration,
        "inventory": scenario.inventory,
        "steps": scenario.steps,
    }


def read(file: Path) -> Recording:
    """Read a recording."""
    found = json.loads(file.read_text("utf-8"))
    plan = Plan(
        name=found["name"],
        batch=tuple(map(_scenario_of, found["scenarios"])),
        dumps=tuple(found["planned"]),
        checked=found["checked"],
    )
    return Recording(
        name=found["name"],
        kueue=found["kueue"],
        plan=plan,
        seen=found["seen"],
        dumps=[Dumps(**each) for each in found["dumps"]],
        ending=found["ending"],
    )


def _scenario_of(found: dict[str, Any]) -> Scenario:
    return Scenario(
        name=found["name"],
        configuration=found["configuration"],
        inventory=_tuple(found["inventory"]),
        steps=_tuple(found["steps"]),
    )


def _tuple(found: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(found)
