"""The trace of a search for a flavor (Kueue 0.19): flavors that were skipped, preferred, or not tried.

No counterpart: explanation only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.types import FlavorQuota
from kueue_dra_ref.explain.step import Step, listed
from kueue_dra_ref.model.rule import Rule

Rules = Sequence[Rule[..., Any]]
Flavors = Sequence[FlavorQuota]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorTrace:
    """Makes the steps of one search; ``where`` names the pod set if there are several."""

    where: str

    def try_next(
        self, flavor: FlavorQuota, rules: Rules, others: Flavors
    ) -> Iterator[Step]:
        """Give the rules for which Kueue tries the flavor after this one, if there is one."""
        if not others:
            return
        where = f"{self.where}flavor {flavor.name}"
        for rule in rules:
            text = f"{where}: try the next flavor: {rule.sentence}"
            yield Step.by(text, rule)

    def preferred(
        self, flavor: str, best: str, rules: Rules, *, is_preferred: bool
    ) -> Iterator[Step]:
        """Give which of two flavors is preferred, and the rule that decides it."""
        if not flavor or not best:
            return
        first, second = best, flavor
        if is_preferred:
            first, second = flavor, best
        reason = "both rank equally, and it is listed first"
        if len(rules) == 1:
            reason = rules[0].sentence
        preference = f"flavor {first} is preferred to flavor {second}"
        text = f"{self.where}{preference}: {reason}"
        yield Step.by(text, *rules)

    def not_tried(self, flavors: Flavors, cites: tuple[str, ...]) -> Iterator[Step]:
        """Give the flavors that were not tried."""
        if flavors:
            names = [flavor.name for flavor in flavors]
            shown = listed(names)
            text = f"{self.where}not tried: flavor {shown}"
            yield Step(requirements=cites, text=text)
