"""The derivation of a decision: one step after another, each with the requirement that it follows from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step: what follows, and from which requirements."""

    requirements: tuple[str, ...]
    text: str

    def __str__(self) -> str:
        return f"{self.text} [{', '.join(self.requirements)}]" if self.requirements else self.text
