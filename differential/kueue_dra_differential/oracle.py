"""One batch of worlds, decided by the reference and by a real Kueue; a difference counts once it was seen again."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from kueue_dra_clusters.errors import ClusterError, ProcessError
from kueue_dra_clusters.kueue_process import NAME as KUEUE
from kueue_dra_clusters.waiting import TimedOut
from kueue_dra_differential.generate import Batch
from kueue_dra_differential.ledger import Entry, known
from kueue_dra_fixtures.case_audit import AuditedTarget
from kueue_dra_fixtures.invariants import InvariantViolated
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.reference.replay import answers
from kueue_dra_ref.scenarios.diff import Difference, difference
from kueue_dra_ref.scenarios.playback import played_together
from kueue_dra_ref.scenarios.scenario import Observation, Scenario, is_comparable
from kueue_dra_ref.target import Ref, Target


class OutcomeKind(StrEnum):
    """How a world came out."""

    AGREES = "agrees"
    DIFFERS = "differs"
    KNOWN = "known"
    """As DIFFERS, but settled in the ledger."""
    RACE = "race"
    UNSETTLED = "unsettled"
    UNLAWFUL = "unlawful"
    """The real Kueue's figures are at odds with each other."""
    ENDED = "ended"
    """The real Kueue ended by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A world with the real Kueue's observations as what was recorded, and how the reference's compare."""

    scenario: Scenario
    kind: OutcomeKind
    step: int = 0
    """The first step that differs, from 1."""
    difference: Difference | None = None
    other: tuple[Observation, ...] = ()
    """Of a race, what the same Kueue answered another time."""
    trouble: str = ""

    @property
    def comparable(self) -> list[Observation]:
        """What the real Kueue showed after the steps in which it had settled."""
        return [each for each in self.scenario.recorded if is_comparable(each)]


class KueueEnded(ClusterError):
    """The real Kueue has ended by itself: its last words, and the worlds that it played."""


COUNTED_AGAIN = ("holders are counted", "charges are reservations", "charges are usage")
"""Laws that a deactivated workload breaks after a restart, up to Kueue 0.15."""
QUEUED_AGAIN = ("waiting are counted",)
"""Laws that a finished workload breaks once its LocalQueue comes, in Kueue 0.14."""

RETRIED = frozenset({"DeviceClass", "ResourceSlice", "ResourceClaimTemplate"})
"""Kinds whose change is noticed by what was refused when Kueue happens to try it again, or when it is touched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Oracle:
    """A real Kueue beside the reference of the same release."""

    target: Target
    behaviour: Behaviour
    kueue: str
    """The release, as scenarios name it."""
    ledger: tuple[Entry, ...] = ()

    def judge(self, batch: Batch) -> list[Comparison]:
        """Play the worlds of a batch side by side, and again alone whichever came out differently."""
        return [
            self._again(each) if each.kind is OutcomeKind.DIFFERS else each
            for each in self._first(batch)
        ]

    def _first(self, batch: Batch) -> list[Comparison]:
        """Play worlds side by side; where that cannot be done, in parts."""
        if len(batch) == 1:
            return [self.alone(batch[0])]
        try:
            return [
                self._compared(world) for world in self.recorded(batch, lawful=True)
            ]
        except (TimedOut, InvariantViolated) as trouble:
            return [
                each
                for part in apart(batch, str(trouble))
                for each in self._first(part)
            ]

    def alone(self, world: Scenario) -> Comparison:
        """Play one world by itself."""
        try:
            (recorded,) = self.recorded([world], lawful=True)
        except (TimedOut, InvariantViolated) as trouble:
            kind = (
                OutcomeKind.UNSETTLED
                if isinstance(trouble, TimedOut)
                else OutcomeKind.UNLAWFUL
            )
            return Comparison(scenario=world, kind=kind, trouble=str(trouble))
        return self._compared(recorded)

    def ended(self, world: Scenario, trouble: KueueEnded) -> Comparison:
        """Say that a world ended this Kueue."""
        return Comparison(
            scenario=replace(world, kueue=self.kueue, recorded=()),
            kind=OutcomeKind.ENDED,
            trouble=str(trouble),
        )

    def _again(self, first: Comparison) -> Comparison:
        """Have it answered twice more, alone: who answers in two ways is of two minds, not of another one."""
        second = self.alone(first.scenario)
        if second.kind is not OutcomeKind.DIFFERS:
            return replace(first, kind=OutcomeKind.RACE, other=second.scenario.recorded)
        third = self.alone(first.scenario)
        if difference(second.comparable, third.comparable):
            return replace(second, kind=OutcomeKind.RACE, other=third.scenario.recorded)
        settled = second.difference is not None and known(
            self.behaviour.kueue, second.difference, self.ledger
        )
        return replace(second, kind=OutcomeKind.KNOWN) if settled else second

    def recorded(
        self, batch: Sequence[Scenario], *, lawful: bool = False
    ) -> list[Scenario]:
        """Give the worlds with what the real Kueue showed of each; ``lawful`` if its figures have to add up.

        Raises:
            ConfigurationRefused: Kueue does not start with their configuration.
            TimedOut: they did not come to rest.
            LawBroken: a conservation law does not hold in the end.
            KueueEnded: the real Kueue has ended.
            ClusterTrouble: what it runs on has.

        """
        try:
            rows = self._played(batch, lawful)
        except ProcessError as trouble:
            if trouble.name != KUEUE:
                raise
            played = ", ".join(world.name for world in batch)
            raise KueueEnded(f"{trouble}\nwhile it played: {played}") from trouble
        columns = zip(*rows, strict=True)
        return [
            replace(
                world, kueue=self.kueue, recorded=tuple(map(marked, world.steps, seen))
            )
            for world, seen in zip(batch, columns, strict=True)
        ]

    def _played(
        self, batch: Sequence[Scenario], lawful: bool
    ) -> Sequence[Sequence[Observation]]:
        target = AuditedTarget(self.target)
        try:
            rows = list(played_together(batch, target))
            if lawful:
                target.insist_on_laws(*self._excused(batch))
        finally:
            target.clean()
        return rows

    def _excused(self, batch: Sequence[Scenario]) -> Sequence[str]:
        """Name the laws that need not hold: of whom a Kueue counts or queues that it should have forgotten."""
        rules = self.behaviour.queueing
        restarted = any("restart" in step for world in batch for step in world.steps)
        return (
            *(COUNTED_AGAIN if restarted and not rules.count_on_start else ()),
            *(() if rules.skip_on_local_queue_add else QUEUED_AGAIN),
        )

    def _compared(self, world: Scenario) -> Comparison:
        ours = answers(world, self.behaviour)
        for step, (mine, theirs) in enumerate(
            zip(ours, world.recorded, strict=True), 1
        ):
            if is_comparable(theirs) and (found := difference(mine, theirs)):
                return Comparison(
                    scenario=world,
                    kind=OutcomeKind.DIFFERS,
                    step=step,
                    difference=found,
                )
        return Comparison(scenario=world, kind=OutcomeKind.AGREES)


def apart(batch: Batch, trouble: str) -> tuple[Batch, Batch]:
    """Part the worlds that a trouble names from the others; where it names none or all, one half from the other."""
    words = set(re.findall(r"[\w.-]+", trouble))
    named = {world.name for world in batch if words & _names(world)} or {
        world.name for world in batch
    }
    if len(named) == len(batch):
        named = {world.name for world in batch[len(batch) // 2 :]}
    first, last = (
        tuple(world for world in batch if (world.name in named) is among)
        for among in (False, True)
    )
    return first, last


def _names(world: Scenario) -> set[str]:
    """Give the names that no other world of the batch has."""
    applied = (each for step in world.steps for each in step.get("apply") or ())
    return {
        each["metadata"]["name"]
        for each in applied
        if each["kind"] in ("Namespace", "ClusterQueue")
    }


def marked(step: Mapping[str, Any], seen: Observation) -> Observation:
    """Mark what was seen right after a change of nothing but these: retries of what was refused may be ahead."""
    concerned = {
        Ref.of(each).kind
        for verb in ("apply", "delete")
        for each in step.get(verb) or ()
    }
    return {**seen, "unsettled": True} if concerned and concerned <= RETRIED else seen
