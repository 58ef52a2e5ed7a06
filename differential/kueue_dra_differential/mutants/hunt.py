"""Looks for generated scenarios that tell mutants of one line from the reference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace

from kueue_dra_differential.mutants.process import ChangedReference
from kueue_dra_differential.oracle import Comparison, OutcomeKind, compared
from kueue_dra_differential.shrink import smallest
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.reference.replay import answers
from kueue_dra_ref.scenarios.scenario import Observation, Scenario

NO_ANSWER = "the mutant raises an error, or does not end"
GoingOn = Callable[[Scenario], bool]


@dataclass(frozen=True, slots=True)
class Suspect:
    """A mutant that no scenario has distinguished so far."""

    name: str
    change: str
    """The line before and after."""
    reference: ChangedReference


@dataclass(slots=True, kw_only=True)
class Hunt:
    """Replays scenarios on the reference and on each suspect, until none is left."""

    behaviour: Behaviour
    suspects: list[Suspect]
    tried: int = field(default=0, init=False)
    """The number of scenarios."""

    def found(
        self, scenarios: Iterator[Scenario], going_on: GoingOn
    ) -> Iterator[tuple[Suspect, Comparison]]:
        """Give each suspect that a scenario distinguishes, with that scenario; shrunk while ``going_on`` says so.

        The record of the scenario is what the reference shows; the difference is that of the mutant.
        """
        with ExitStack() as stack:
            for each in self.suspects:
                stack.enter_context(closing(each.reference))
            while self.suspects and (scenario := next(scenarios, None)):
                self.tried += 1
                for suspect, outcome in self._told_apart(scenario):
                    self.suspects.remove(suspect)
                    yield suspect, self._smallest(suspect, outcome, going_on)

    def _told_apart(self, scenario: Scenario) -> Sequence[tuple[Suspect, Comparison]]:
        for suspect in self.suspects:
            suspect.reference.ask(scenario)
        recorded = self._recorded(scenario)
        outcomes = []
        for suspect in self.suspects:
            outcome = _compared(recorded, suspect.reference.answers())
            if outcome.kind is not OutcomeKind.AGREES:
                outcomes.append((suspect, outcome))
        return outcomes

    def _smallest(
        self, suspect: Suspect, first: Comparison, going_on: GoingOn
    ) -> Comparison:
        def alone(scenario: Scenario) -> Comparison:
            recorded = self._recorded(scenario)
            suspect.reference.ask(recorded)
            return _compared(recorded, suspect.reference.answers())

        return smallest(first, alone, going_on=going_on)

    def _recorded(self, scenario: Scenario) -> Scenario:
        """Give a scenario with what the reference shows as its record."""
        bare = replace(scenario, recorded=())
        shown = tuple(answers(bare, self.behaviour))
        return replace(bare, behaviour=self.behaviour.name, recorded=shown)


def _compared(scenario: Scenario, shown: Sequence[Observation] | None) -> Comparison:
    if shown is None:
        return Comparison(scenario=scenario, kind=OutcomeKind.ENDED, trouble=NO_ANSWER)
    return compared(scenario, shown)
