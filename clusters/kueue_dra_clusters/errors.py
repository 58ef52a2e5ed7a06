"""What can go wrong with our own set-up; what the judged Kueue refuses is a value, never one of these."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

TAIL_LINES = 15
LOG_LINES = 40
PANICS = ("panic: ", "fatal error: ")
"""How the last words of a Go program begin that did not end by itself."""


class ClusterError(Exception):
    """A real Kueue could not be had; the message says what to do."""


class MissingTool(ClusterError):
    """A program or a folder that is needed is not there."""


class InvalidSetting(ClusterError):
    """A variable of the environment that cannot be read."""


class ProcessError(ClusterError):
    """A local process did not do what it should; shows the last lines of its log."""

    def __init__(self, name: str, what: str, log: Path) -> None:
        self.name = name
        self.log = tail(log)
        super().__init__(f"{name} {what}; the end of its log:\n{self.log}")


def tail(log: Path, lines: int = TAIL_LINES) -> str:
    """Read the last lines of a log, each cut to a readable length."""
    if not log.exists():
        return "  (no log)"
    return tail_of(log.read_text(encoding="utf-8", errors="replace"), lines)


def lines_about(names: Iterable[str], log: str, lines: int = LOG_LINES) -> str:
    """Give the last lines of Kueue's log that are about one of these namespaces, each cut to a readable length."""
    marks = [mark for name in names for mark in (f'"{name}"', f"{name}/")]
    said = [line for line in log.splitlines() if any(mark in line for mark in marks)]
    return "the last that Kueue logged of it:\n" + tail_of("\n".join(said), lines)


def tail_of(text: str, lines: int = TAIL_LINES) -> str:
    """Give the last lines of what a program has said, or the first ones of its panic, each cut to a readable length."""
    said = text.splitlines()
    panics = [number for number, line in enumerate(said) if line.startswith(PANICS)]
    shown = said[panics[-1] :][:lines] if panics else said[-lines:]
    return "\n".join(f"  {line[:400]}" for line in shown) or "  (empty)"
