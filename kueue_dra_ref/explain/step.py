"""The steps of a decision that ``explain`` prints, each with the requirements that it follows from.

No counterpart: explanation only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.model.slots import Slot

AnyRule = Rule[..., Any]

TIMES = "\N{MULTIPLICATION SIGN}"
ARROW = "\N{RIGHTWARDS ARROW}"
MOST = 10
"""How many names of a long list are printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step: what Kueue decides, and the requirements that it follows from."""

    requirements: tuple[str, ...]
    text: str

    @classmethod
    def by(cls, text: str, *rules: AnyRule) -> Step:
        """Give a step that cites the first requirement of each rule."""
        return cls(requirements=cited(rules), text=text)

    def __str__(self) -> str:
        if not self.requirements:
            return self.text
        cites = ", ".join(self.requirements)
        return f"{self.text} [{cites}]"


def cited(rules: Slot[..., Any] | Iterable[AnyRule]) -> tuple[str, ...]:
    """Give the first requirement of each rule."""
    if isinstance(rules, Slot):
        rules = rules.rules
    cites = []
    for rule in rules:
        if rule.requirements:
            cites.append(rule.requirements[0])
    return tuple(cites)


def named(count: int, noun: str) -> str:
    """Give a number with its noun, in the plural unless it is 1."""
    if count == 1:
        return f"{count} {noun}"
    return f"{count} {noun}s"


def listed(names: Sequence[str], most: int = MOST) -> str:
    """Give names separated by commas; of more than ``most`` the first ones, and the number of the others."""
    shown = ", ".join(names[:most])
    if len(names) <= most:
        return shown
    return f"{shown} and {len(names) - most} more"


def circle_text(cohorts: Sequence[str]) -> str:
    """Say that cohorts form a circle; a long one names the first of them."""
    shown = list(cohorts)
    if len(shown) > MOST:
        shown = [*shown[:MOST], "...", shown[-1]]
    return f"cohorts form a circle: {f' {ARROW} '.join(shown)}"
