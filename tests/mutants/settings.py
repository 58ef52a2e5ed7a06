"""What a run is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.sources import state


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options that decide what a result means, and where it is kept."""

    behaviours: Sequence[str]
    recordings: Sequence[str]
    stories: str
    """The part I/N of the recorded scenarios that the first behaviour runs."""
    folder: Path
    """For what the cases reach, and for the log."""
    jobs: int
    cases: int | None = None
    """At most so many cases of a behaviour look at a mutant; all that reach it if there is no limit."""

    @property
    def state(self) -> str:
        """Tell results apart: those of other sources, or of fewer behaviours, do not count."""
        return state(self.stories, *self.behaviours, *self.recordings)
