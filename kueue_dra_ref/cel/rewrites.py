"""Expressions that Kubernetes' CEL accepts and the engine's type check refuses, rewritten for the engine.

No counterpart: rewrites what only the engine refuses.
"""

from __future__ import annotations

import re

from kueue_dra_ref.cel.source import Source, operands, read

_REFUSED = re.compile(
    r"<input>:(\d+):(\d+): found no matching overload for '([\w<>=]+)' applied to '\((.*)\)'"
)
_NUMBERS = ("int", "uint", "double")
_RENAMED = {
    "string": (re.compile(r"net\.(?:IP|CIDR)"), "kueue_dra_text"),
    "indexOf": (re.compile(r"list\((\w+), \1"), "kueue_dra_index_of"),
    "lastIndexOf": (re.compile(r"list\((\w+), \1"), "kueue_dra_last_index_of"),
}
_ORDERS = frozenset({"_<_", "_<=_", "_>_", "_>=_"})


def rewritten(text: str, refusal: str) -> str | None:
    """Rewrite one thing that the engine has refused and Kubernetes would not; nothing where there is none."""
    for line, column, name, kinds in _REFUSED.findall(refusal):
        at = _offset(text, int(line), int(column))
        if name in _ORDERS and _are_two_numbers(kinds):
            return _compared_at_run_time(read(text), text, at)
        ours = _our_name(name, kinds)
        if ours and text[:at].rstrip().endswith(name):
            start = text.rindex(name, 0, at)
            end = start + len(name)
            return text[:start] + ours + text[end:]
    return None


def _our_name(name: str, kinds: str) -> str:
    """Name the function of ours that takes these kinds; empty for none."""
    if name not in _RENAMED:
        return ""
    pattern, ours = _RENAMED[name]
    return ours if pattern.match(kinds.replace(")", "")) else ""


def _are_two_numbers(kinds: str) -> bool:
    one, _, other = kinds.partition(", ")
    return one in _NUMBERS and other in _NUMBERS


def _compared_at_run_time(source: Source, text: str, at: int) -> str | None:
    """Hide the type of the right operand, so that numbers of different types are compared as they come."""
    starts = [token.start for token in source.tokens]
    if at not in starts:
        return None
    operator = starts.index(at)
    _, (_, after) = operands(source, operator)
    end = after - 1
    start = starts[operator + 1]
    stop = starts[end] + len(source.text(end))
    operand = text[start:stop]
    return f"{text[:start]}dyn({operand}){text[stop:]}"


def _offset(text: str, line: int, column: int) -> int:
    above = text.split("\n")[: line - 1]
    return sum(map(len, above)) + len(above) + column - 1
