"""Runs a batch of scenarios on the reference and on a real Kueue; a difference counts if it happens again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from kueue_dra_clusters.errors import ClusterError, ProcessError
from kueue_dra_clusters.kueue_process import NAME as KUEUE
from kueue_dra_clusters.waiting import TimedOut
from kueue_dra_differential.batch import Batch
from kueue_dra_differential.dispatched import observed_together
from kueue_dra_differential.ledger import Entry, known
from kueue_dra_fixtures.case_audit import AuditedTarget
from kueue_dra_fixtures.invariants import InvariantViolated
from kueue_dra_ref.api.elastic_work import ELASTIC, annotation
from kueue_dra_ref.api.pods_ready import wait_for_pods_ready
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.reference.replay import answers
from kueue_dra_ref.scenarios.diff import Difference, difference
from kueue_dra_ref.scenarios.playback import replayed_together
from kueue_dra_ref.scenarios.scenario import Observation, Scenario, is_comparable
from kueue_dra_ref.target import Ref, Target


class OutcomeKind(StrEnum):
    """The outcome of a scenario."""

    AGREES = "agrees"
    DIFFERS = "differs"
    KNOWN = "known"
    """As DIFFERS, but explained in the ledger."""
    RACE = "race"
    UNSETTLED = "unsettled"
    UNLAWFUL = "unlawful"
    """The real Kueue's figures are inconsistent."""
    ENDED = "ended"
    """The real Kueue exited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A scenario with the observations of the real Kueue as its record, and how the reference compares."""

    scenario: Scenario
    kind: OutcomeKind
    step: int = 0
    """The first step that differs, from 1."""
    difference: Difference | None = None
    other: tuple[Observation, ...] = ()
    """Of a race, what the same Kueue decided another time."""
    trouble: str = ""

    @property
    def comparable(self) -> list[Observation]:
        """The observations of the real Kueue after the steps in which it had settled."""
        return [each for each in self.scenario.recorded if is_comparable(each)]


class KueueEnded(ClusterError):
    """The real Kueue has exited: the end of its log, and the scenarios that it ran."""


COUNTED_AGAIN = ("holders are counted", "charges are reservations", "charges are usage")
"""Invariants that a deactivated workload violates after a restart, up to Kueue 0.15."""
QUEUED_AGAIN = ("waiting are counted",)
"""Invariants that a finished workload violates once its LocalQueue is created, in Kueue 0.14."""
RUNS_ON = ("nothing runs unreserved",)
"""Invariants that elastic work violates whose Workload is evicted while a larger one waits (ELASTIC-012)."""

AGAIN = 5
"""The runs after the first that differs.

Kueue chooses between two candidates for preemption by random UIDs: two runs more show the same once in four times.
"""

RETRIED = frozenset({"DeviceClass", "ResourceSlice", "ResourceClaimTemplate"})
"""Kinds whose change reaches inadmissible work only when Kueue happens to retry it, or when it is touched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Oracle:
    """A real Kueue and the reference of the same release."""

    target: Target
    behaviour: Behaviour
    kueue: str
    """The release, as scenarios name it."""
    ledger: tuple[Entry, ...] = ()

    def compare(self, batch: Batch) -> list[Comparison]:
        """Run the scenarios of a batch together, and run again, alone, each one that differs."""
        outcomes = []
        for outcome in self._first(batch):
            if outcome.kind is OutcomeKind.DIFFERS:
                outcome = self._again(outcome)
            outcomes.append(outcome)
        return outcomes

    def _first(self, batch: Batch) -> list[Comparison]:
        """Run scenarios together; after a timeout or a violated invariant, in two parts.

        Scenarios in which Kueue admits nothing while it waits for pods would wait for those of each other.
        """
        if len(batch) == 1 or _blocks(batch[0]):
            return [self.alone(each) for each in batch]
        try:
            recorded = self.recorded(batch, lawful=True)
        except (TimedOut, InvariantViolated) as trouble:
            first, second = apart(batch, str(trouble))
            return self._first(first) + self._first(second)
        return [self._compared(scenario) for scenario in recorded]

    def alone(self, scenario: Scenario) -> Comparison:
        """Run one scenario alone."""
        try:
            (recorded,) = self.recorded([scenario], lawful=True)
        except TimedOut as trouble:
            kind = OutcomeKind.UNSETTLED
            return Comparison(scenario=scenario, kind=kind, trouble=str(trouble))
        except InvariantViolated as trouble:
            kind = OutcomeKind.UNLAWFUL
            return Comparison(scenario=scenario, kind=kind, trouble=str(trouble))
        return self._compared(recorded)

    def ended(self, scenario: Scenario, trouble: KueueEnded) -> Comparison:
        """Give the outcome of a scenario in which this Kueue exited."""
        return Comparison(
            scenario=replace(scenario, kueue=self.kueue, recorded=()),
            kind=OutcomeKind.ENDED,
            trouble=str(trouble),
        )

    def _compared(self, scenario: Scenario) -> Comparison:
        return compared(scenario, answers(scenario, self.behaviour))

    def _again(self, first: Comparison) -> Comparison:
        """Run it `AGAIN` times more, alone: two different results of Kueue are a race, not a difference."""
        second = self.alone(first.scenario)
        if second.kind is not OutcomeKind.DIFFERS:
            return replace(first, kind=OutcomeKind.RACE, other=second.scenario.recorded)
        for _ in range(AGAIN - 1):
            other = self.alone(first.scenario)
            if difference(second.comparable, other.comparable):
                seen = other.scenario.recorded
                return replace(second, kind=OutcomeKind.RACE, other=seen)
        settled = second.difference is not None and known(
            self.behaviour.kueue, second.difference, self.ledger
        )
        return replace(second, kind=OutcomeKind.KNOWN) if settled else second

    def recorded(
        self, batch: Sequence[Scenario], *, lawful: bool = False
    ) -> list[Scenario]:
        """Give the scenarios with the observations of the real Kueue; ``lawful`` also checks the invariants.

        Raises:
            ConfigurationRejected: Kueue does not start with their configuration.
            TimedOut: they did not settle.
            InvariantViolated: an invariant does not hold at the end.
            KueueEnded: the real Kueue has exited.
            ClusterError: another process of its control plane has exited.

        """
        try:
            rows = self._run(batch, lawful)
        except ProcessError as trouble:
            if trouble.name != KUEUE:
                raise
            names = ", ".join(scenario.name for scenario in batch)
            raise KueueEnded(f"{trouble}\nwhile it ran: {names}") from trouble
        found = []
        columns = zip(*rows, strict=True)
        for scenario, seen in zip(batch, columns, strict=True):
            recorded = tuple(seen)
            if not scenario.workers:
                recorded = tuple(map(marked, scenario.steps, seen))
            found.append(replace(scenario, kueue=self.kueue, recorded=recorded))
        return found

    def _run(
        self, batch: Sequence[Scenario], lawful: bool
    ) -> Sequence[Sequence[Observation]]:
        target = AuditedTarget(self.target)
        try:
            rows = list(self._rows(batch, target))
            if lawful:
                target.check_invariants(*self._excused(batch))
        finally:
            target.clean()
        return rows

    def _rows(
        self, batch: Sequence[Scenario], target: Target
    ) -> Iterator[list[Observation]]:
        if batch[0].workers:
            return observed_together(batch, target, self.behaviour)
        return replayed_together(batch, target)

    def _excused(self, batch: Sequence[Scenario]) -> Sequence[str]:
        """Name the invariants that known defects of a release violate."""
        rules = self.behaviour.queueing
        steps = [step for scenario in batch for step in scenario.steps]
        restarted = any("restart" in step for step in steps)
        return (
            *(RUNS_ON if _has_elastic_work(steps) else ()),
            *(COUNTED_AGAIN if restarted and not rules.count_on_start else ()),
            *(() if rules.skip_on_local_queue_add else QUEUED_AGAIN),
        )


def _blocks(scenario: Scenario) -> bool:
    """Whether Kueue admits nothing while it waits for pods."""
    return bool(wait_for_pods_ready(scenario.configuration).block_admission)


def _has_elastic_work(steps: Iterable[Mapping[str, Any]]) -> bool:
    applied = (each for step in steps for each in step.get("apply") or ())
    return any(annotation(each, ELASTIC) for each in applied)


def compared(scenario: Scenario, shown: Iterable[Observation]) -> Comparison:
    """Compare what is shown after each step with the record of a scenario, up to the first difference."""
    pairs = zip(shown, scenario.recorded, strict=True)
    for step, (mine, theirs) in enumerate(pairs, 1):
        if is_comparable(theirs) and (found := difference(mine, theirs)):
            return Comparison(
                scenario=scenario,
                kind=OutcomeKind.DIFFERS,
                step=step,
                difference=found,
            )
    return Comparison(scenario=scenario, kind=OutcomeKind.AGREES)


def apart(batch: Batch, trouble: str) -> tuple[Batch, Batch]:
    """Separate the scenarios that an error names from the others; if it names none or all, halve the batch."""
    words = set(re.findall(r"[\w.-]+", trouble))
    named = [scenario for scenario in batch if words & _names(scenario)]
    if len(named) in (0, len(batch)):
        half = len(batch) // 2
        return batch[:half], batch[half:]
    others = [scenario for scenario in batch if scenario not in named]
    return tuple(others), tuple(named)


def _names(scenario: Scenario) -> set[str]:
    """Give the names that no other scenario of the batch has."""
    found = set()
    for step in scenario.steps:
        for manifest in step.get("apply") or ():
            if manifest["kind"] in ("Namespace", "ClusterQueue"):
                found.add(manifest["metadata"]["name"])
    return found


def marked(step: Mapping[str, Any], seen: Observation) -> Observation:
    """Mark an observation after a change of nothing but `RETRIED` kinds as unsettled: retries may be pending."""
    changed = [*(step.get("apply") or ()), *(step.get("delete") or ())]
    kinds = {Ref.of(each).kind for each in changed}
    return {**seen, "unsettled": True} if kinds and kinds <= RETRIED else seen
