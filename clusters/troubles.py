"""What can go wrong with our own set-up; what the judged Kueue refuses is a value, never one of these."""

from __future__ import annotations

from pathlib import Path

TAIL_LINES = 15


class ClusterTrouble(Exception):
    """A real Kueue could not be had; the message says what to do."""


class MissingTool(ClusterTrouble):
    """A program or a folder that is needed is not there."""


class ProcessTrouble(ClusterTrouble):
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


def tail_of(text: str, lines: int = TAIL_LINES) -> str:
    """Give the last lines of what a program has said, each cut to a readable length."""
    return "\n".join(f"  {line[:400]}" for line in text.splitlines()[-lines:]) or "  (empty)"
