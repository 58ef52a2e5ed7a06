"""Errors of the test environment; rejections by Kueue are values, never one of these."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

TAIL_LINES = 15
LOG_LINES = 40
PANICS = ("panic: ", "fatal error: ")
"""How the last output of a Go program begins after a panic."""


class ClusterError(Exception):
    """A real Kueue is not available; the message says what to do."""


class MissingTool(ClusterError):
    """A required program or folder is missing."""


class InvalidSetting(ClusterError):
    """An invalid value of an environment variable."""


class ProcessError(ClusterError):
    """A local process failed; the message shows the end of its log."""

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
    marks = []
    for name in names:
        marks += [f'"{name}"', f"{name}/"]
    found = []
    for line in log.splitlines():
        if any(mark in line for mark in marks):
            found.append(line)
    text = tail_of("\n".join(found), lines)
    return f"the last lines of Kueue's log about it:\n{text}"


def tail_of(text: str, lines: int = TAIL_LINES) -> str:
    """Give the last lines of the output of a program, or the first ones of its panic, each cut to a readable length."""
    shown = text.splitlines()
    panics = [number for number, line in enumerate(shown) if line.startswith(PANICS)]
    if panics:
        begin = panics[-1]
        shown = shown[begin : begin + lines]
    else:
        shown = shown[-lines:]
    cut = [f"  {line[:400]}" for line in shown]
    return "\n".join(cut) or "  (empty)"
