"""Shows how far a run is, and about how long the rest takes."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import click

from tests.mutants.trial import CAUGHT, Result

EVERY = 20
MINUTE = 60


@dataclass(slots=True, kw_only=True)
class Progress:
    """Counts results."""

    of: int
    """How many results there will be."""
    began: float = field(default_factory=time.monotonic)
    done: int = 0
    left: int = 0
    """How many mutants no case caught."""

    def show(self, result: Result) -> None:
        """Show a mutant that is not caught, and now and then the progress."""
        self.done += 1
        if result.outcome != CAUGHT:
            self.left += 1
            click.echo(result.text)
        if self.done % EVERY == 0:
            click.echo(self.text)

    @property
    def text(self) -> str:
        """The progress as one line."""
        passed = time.monotonic() - self.began
        each = passed / self.done
        minutes = each * (self.of - self.done) / MINUTE
        return (
            f"{self.done} of {self.of} tried, {self.left} not caught; {each:.1f} s each, about {minutes:.0f} min left"
        )
