"""The derivation of a decision: one step after another, each with the requirement that it follows from.

No counterpart: explanation only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.model.rule import Rule

TIMES = "\N{MULTIPLICATION SIGN}"
MOST = 10
"""How many of what fills a list are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step: what follows, and from which requirements."""

    requirements: tuple[str, ...]
    text: str

    @classmethod
    def by(cls, text: str, *rules: Rule[..., Any]) -> Step:
        """Give a step that cites the first requirement of each rule."""
        return cls(requirements=cited(rules), text=text)

    def __str__(self) -> str:
        return (
            f"{self.text} [{', '.join(self.requirements)}]"
            if self.requirements
            else self.text
        )


def cited(rules: Iterable[Rule[..., Any]]) -> tuple[str, ...]:
    """The requirement that each rule stands for first of all."""
    return tuple(rule.requirements[0] for rule in rules if rule.requirements)


def named(count: int, word: str) -> str:
    """A number with its noun."""
    return f"{count} {word}{'' if count == 1 else 's'}"


def listed(names: Sequence[str]) -> str:
    """Names in a row, and how many more there are of a long list."""
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return ", ".join(names[:MOST]) + more
