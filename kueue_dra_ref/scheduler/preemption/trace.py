"""The trace of a search for preemption targets: skipped workloads, the order of candidates, and each attempt.

No counterpart: explanation only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from kueue_dra_ref.cache.snapshot import ReservedWorkload
from kueue_dra_ref.explain.step import MOST, Step, listed, named
from kueue_dra_ref.model.resource_node import FlavorResource
from kueue_dra_ref.model.slots import Order

Requirements = tuple[str, ...]
Parts = tuple[Any, ...]
SortKey = tuple[Parts, str]
"""The sort key of a candidate: what each rule of the order gives, then its UID."""
_MOST_ROUNDS = 3 * MOST


class OrderedCandidate(NamedTuple):
    """A candidate at its place in the order, with the requirements that make it a candidate."""

    workload: ReservedWorkload
    key: SortKey
    cites: Requirements


class _Skipped(NamedTuple):
    """Why workloads, or all workloads of ClusterQueues and cohorts, are no candidates."""

    everywhere: bool
    attempt: str
    reason: str
    cites: Requirements


@dataclass(slots=True, kw_only=True)
class PreemptionTrace:
    """Collects the steps of one search; skipped workloads are grouped by the reason."""

    _steps: list[Step] = field(default_factory=list)
    _rounds: int = 0
    _skipped: dict[_Skipped, list[str]] = field(default_factory=dict)

    def record(self, text: str, cites: Requirements = ()) -> None:
        """Add a step, after the workloads that were skipped so far."""
        self._steps += self._skipped_steps()
        self._skipped.clear()
        step = Step(requirements=cites, text=text)
        self._steps.append(step)

    def record_round(self, text: str, cites: Requirements = ()) -> None:
        """Add a step of a search that may have many rounds; only the first ones are kept."""
        self._rounds += 1
        if self._rounds <= _MOST_ROUNDS:
            self.record(text, cites)

    def record_skipped(
        self,
        workload: ReservedWorkload,
        reason: str,
        cites: Requirements,
        attempt: str = "",
    ) -> None:
        """Record that a workload is no candidate, in every attempt or in one."""
        skipped = _Skipped(False, attempt, reason, cites)
        self._skip(workload.name, skipped)

    def record_no_candidates(
        self, where: str, reason: str, cites: Requirements
    ) -> None:
        """Record that a ClusterQueue or cohort has no candidates."""
        skipped = _Skipped(True, "", reason, cites)
        self._skip(where, skipped)

    def _skip(self, name: str, skipped: _Skipped) -> None:
        names = self._skipped.setdefault(skipped, [])
        names.append(name)

    def record_order(
        self, rules: Order[Any], candidates: Sequence[OrderedCandidate]
    ) -> None:
        """Record the order of the candidates, and the rule that puts each after the one before it."""
        before = None
        first = candidates[:MOST]
        for number, candidate in enumerate(first, 1):
            workload = described(candidate.workload)
            text = f"candidate {number} is {workload}"
            cites = candidate.cites
            if before is not None:
                name = before.workload.name
                sentence, more = _deciding_rule(rules, before.key, candidate.key)
                text = f"{text}, after {name}: {sentence}"
                cites = (*cites, *more)
            self.record(text, cites)
            before = candidate
        left = len(candidates) - MOST
        if left > 0:
            self.record(f"and {named(left, 'more candidate')}")

    def steps(self, to_free: Collection[FlavorResource]) -> tuple[Step, ...]:
        """Give the steps in order; each begins with the flavors and resources that preemption has to free."""
        steps = [*self._steps, *self._skipped_steps()]
        hidden = self._rounds - _MOST_ROUNDS
        if hidden > 0:
            text = f"{named(hidden, 'more step')} not shown"
            steps.append(Step(requirements=(), text=text))
        names = []
        for flavor, resource in sorted(to_free):
            name = f"{resource} in flavor {flavor}"
            names.append(name)
        goal = ", ".join(names)
        unique = dict.fromkeys(steps)
        return tuple(
            replace(step, text=f"to free {goal}: {step.text}") for step in unique
        )

    def _skipped_steps(self) -> Iterator[Step]:
        for skipped, names in self._skipped.items():
            subject = _no_candidates(skipped, names)
            text = f"{subject}: {skipped.reason}"
            yield Step(requirements=skipped.cites, text=text)


def described(workload: ReservedWorkload) -> str:
    """Give a workload with the fields that its place among the candidates depends on."""
    queue = f"ClusterQueue {workload.cluster_queue}"
    text = f"{workload.name} of {queue}, priority {workload.priority}"
    if workload.evicted:
        return f"{text}, already evicted"
    return text


def _no_candidates(skipped: _Skipped, names: Sequence[str]) -> str:
    if skipped.everywhere:
        return f"no candidates in {listed(names)}"
    verb = "is no candidate"
    if len(names) > 1:
        verb = "are no candidates"
    subject = f"{listed(names)} {verb}"
    if skipped.attempt:
        return f"{subject} {skipped.attempt}"
    return subject


def _deciding_rule(
    rules: Order[Any], one: SortKey, other: SortKey
) -> tuple[str, Requirements]:
    """Give the first rule of the order in which two candidates differ."""
    first, _ = one
    second, _ = other
    for index, rule in enumerate(rules.rules):
        if first[index] != second[index]:
            return rule.sentence, rule.requirements[:1]
    return "its UID is greater", ()
