"""The two sides of a failed comparison as YAML, as Kubernetes prints it; a verdict is the status of a Workload."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import asdict, is_dataclass
from difflib import SequenceMatcher
from enum import Enum
from typing import Any

from kueue_dra_ref.api.yaml_text import written
from kueue_dra_ref.verdict import (
    Admitted,
    Evicted,
    Finished,
    Inadmissible,
    Pending,
    Reserved,
    Undecided,
    Unrecognised,
    Verdict,
)

Line = tuple[str, str]
"""A sign (``-`` expected, ``+`` observed, a space for both) and the text of a line."""
DEEPEST = 20
MORE = "nothing more"
SCALARS = (str, bool, int, float, type(None))


def form(value: object) -> str:
    """Print a value that a case compares, as YAML without a document start; a text of several lines as it is."""
    if isinstance(value, str) and "\n" in value:
        return value
    values = plain(value)
    text = written([values])
    text = text.removeprefix("---").lstrip(" \n")
    text = text.removesuffix("...\n")
    return text.rstrip("\n")


def plain(value: object, depth: int = 0) -> Any:
    """Turn a value into what YAML has; what no rule knows is its ``repr``."""
    if isinstance(value, Verdict):
        return _status(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, SCALARS):
        return value
    if depth > DEEPEST:
        return repr(value)
    return _container(value, depth + 1)


def _container(value: object, depth: int) -> Any:
    if isinstance(value, Mapping):
        found = {}
        for key, one in value.items():
            found[str(key)] = plain(one, depth)
        return found
    if isinstance(value, list | tuple):
        return [plain(one, depth) for one in value]
    if isinstance(value, Set):
        members = [plain(one, depth) for one in value]
        return sorted(members, key=str)
    if is_dataclass(value) and not isinstance(value, type):
        name = type(value).__name__
        return {name: plain(asdict(value), depth)}
    return repr(value)


def _status(verdict: Verdict) -> dict[str, Any]:
    """Give the status of a Workload with this verdict; ``resourceUsage`` adds up all pod sets."""
    if isinstance(verdict, Undecided):
        return {"undecided": verdict.why}
    status: dict[str, Any] = {"conditions": list(_conditions(verdict))}
    if isinstance(verdict, Admitted | Reserved):
        return {"admission": {"resourceUsage": dict(verdict.usage)}, **status}
    return status


def _conditions(verdict: Verdict) -> Iterator[object]:
    match verdict:
        case Admitted():
            yield _condition("QuotaReserved")
            yield _condition("Admitted")
        case Reserved():
            yield _condition("QuotaReserved")
            yield {"admissionChecks": list(verdict.checks)}
        case Pending() | Inadmissible():
            word = type(verdict).__name__.lower()
            yield _condition(
                "QuotaReserved", "False", f"{word}: {verdict.reason.value}"
            )
        case Evicted() | Finished():
            yield {**_condition(type(verdict).__name__), "reason": verdict.reason}
        case Unrecognised():
            yield from verdict.conditions


def _condition(kind: str, status: str = "True", message: str = "") -> dict[str, str]:
    found = {"type": kind, "status": status}
    return {**found, "message": message} if message else found


def compared(expected: str, observed: str) -> Sequence[Line]:
    """Compare two texts line by line, with all lines that are equal."""
    left = expected.splitlines()
    right = observed.splitlines()
    lines: list[Line] = []
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    for tag, start, end, first, last in matcher.get_opcodes():
        if tag == "equal":
            lines += _signed(" ", left[start:end])
            continue
        lines += _signed("-", left[start:end])
        lines += _signed("+", right[first:last])
    return lines


def _signed(sign: str, texts: Sequence[str]) -> list[Line]:
    return [(sign, text) for text in texts]


def differing(expected: str, observed: str) -> str:
    """Give the lines in which two texts differ, in one line for a list."""
    sides: dict[str, list[str]] = {"-": [], "+": [], " ": []}
    for sign, text in compared(expected, observed):
        sides[sign].append(text.strip())
    left = " ".join(sides["-"])
    right = " ".join(sides["+"])
    return f"expected {left or MORE}, observed {right or MORE}"
