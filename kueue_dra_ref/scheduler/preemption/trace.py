"""The trace of a search for victims (Kueue 0.19): who is left alone, who comes first and why, who is put back again.

No counterpart: explanation only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kueue_dra_ref.cache.snapshot import ReservedWorkload
from kueue_dra_ref.explain.step import MOST, Step, listed, named
from kueue_dra_ref.model.resource_node import FlavorResource
from kueue_dra_ref.model.rule import Rule

Place = tuple[tuple[tuple[int, ...], ...], str]
"""What each rule of the order says of a candidate, and its UID."""
Rules = Sequence[Rule[..., Any]]
_MOST_TURNS = 3 * MOST


@dataclass(slots=True, kw_only=True)
class PreemptionTrace:
    """What a search leaves behind: steps, and names that are gathered by the reason why they are left alone."""

    _told: list[Step] = field(default_factory=list)
    _turns: int = 0
    _alone: dict[tuple[str, str, tuple[str, ...]], list[str]] = field(
        default_factory=dict
    )

    def record_skipped(
        self, who: str, why: str, cites: tuple[str, ...], when: str = ""
    ) -> None:
        """Leave somebody alone, always or only ``when`` something is tried."""
        self._alone.setdefault((when, why, cites), []).append(who)

    def record(self, text: str, cites: tuple[str, ...] = ()) -> None:
        """Tell what happened next, once whoever has been left alone by now is named."""
        self._told += self._left()
        self._alone.clear()
        self._told.append(Step(requirements=cites, text=text))

    def turn(self, text: str, cites: tuple[str, ...] = ()) -> None:
        """Tell what happened next in a search that may have many turns; only the first ones are told."""
        self._turns += 1
        if self._turns <= _MOST_TURNS:
            self.record(text, cites)

    def record_order(
        self,
        rules: Rules,
        candidates: Iterable[tuple[ReservedWorkload, Place, tuple[str, ...]]],
    ) -> None:
        """Tell in which order candidates are looked at, what lets each be, and which rule put it behind another."""
        known = list(candidates)
        for number, (hold, place, cites) in enumerate(known[:MOST]):
            text = f"candidate {number + 1} is {described(hold)}"
            if number:
                before = known[number - 1]
                why, more = _decided(rules, before[1], place)
                text, cites = (
                    f"{text}, behind {name(before[0])}: {why}",
                    (*cites, *more),
                )
            self.record(text, cites)
        if len(known) > MOST:
            self.record(f"and {named(len(known) - MOST, 'candidate')} more")

    def steps(self, short: Collection[FlavorResource]) -> tuple[Step, ...]:
        """Everything in order, each with what was to be freed."""
        wanted = ", ".join(
            f"{resource} in flavor {flavor}" for flavor, resource in sorted(short)
        )
        told = [*self._told, *self._left()]
        if self._turns > _MOST_TURNS:
            told.append(
                Step(
                    requirements=(),
                    text=f"{named(self._turns - _MOST_TURNS, 'turn')} more are not told",
                )
            )
        return tuple(
            dict.fromkeys(
                replace(step, text=f"to free {wanted}: {step.text}") for step in told
            )
        )

    def _left(self) -> Iterator[Step]:
        for (when, why, cites), who in self._alone.items():
            alone = f"{listed(who)} {'is' if len(who) == 1 else 'are'} left alone"
            yield Step(
                requirements=cites, text=f"{alone}{f', {when}' if when else ''}: {why}"
            )


def name(hold: ReservedWorkload) -> str:
    """A workload by namespace and name."""
    return "/".join(hold.key)


def described(hold: ReservedWorkload) -> str:
    """A workload with what the order of victims depends on."""
    evicted = ", evicted already" if hold.evicted else ""
    return f"{name(hold)} of ClusterQueue {hold.cluster_queue}, priority {hold.priority}{evicted}"


def _decided(rules: Rules, one: Place, other: Place) -> tuple[str, tuple[str, ...]]:
    """The first rule of the order that tells two candidates apart."""
    for rule, mine, theirs in zip(rules, one[0], other[0], strict=True):
        if mine != theirs:
            return rule.sentence, rule.requirements[:1]
    return "by UID", ()
