"""Expressions that Kubernetes' CEL accepts and the engine's type check refuses, rewritten for the engine.

No counterpart: rewrites what only the engine refuses.
"""

from __future__ import annotations

import re

from kueue_dra_ref.cel.source import Source, operands, read

_REFUSED = re.compile(
    r"<input>:(\d+):(\d+): found no matching overload for '([\w<>=]+)' applied to '\((.*)\)'"
)
_NUMBERS = frozenset({"int", "uint", "double"})
_ADDRESS = re.compile(r"net\.(?:IP|CIDR)")
_LIST_AND_ITEM = re.compile(r"list\((\w+), \1")
_RENAMED = {
    "string": (_ADDRESS, "kueue_dra_text"),
    "indexOf": (_LIST_AND_ITEM, "kueue_dra_index_of"),
    "lastIndexOf": (_LIST_AND_ITEM, "kueue_dra_last_index_of"),
}
_ORDERS = frozenset({"_<_", "_<=_", "_>_", "_>=_"})


def rewritten(text: str, refusal: str) -> str | None:
    """Rewrite one thing that the engine has refused and Kubernetes would not; nothing where there is none."""
    for line, column, name, kinds in _REFUSED.findall(refusal):
        start = _offset(text, int(line))
        at = start + int(column) - 1
        if name in _ORDERS and _are_two_numbers(kinds):
            source = read(text)
            return _compared_at_run_time(source, text, at)
        ours = _our_name(name, kinds)
        before = text[:at].rstrip()
        if ours and before.endswith(name):
            head = before.removesuffix(name)
            tail = text[len(before) :]
            return f"{head}{ours}{tail}"
    return None


def _our_name(name: str, kinds: str) -> str:
    """Name the function of ours that takes these kinds; empty for none."""
    if name not in _RENAMED:
        return ""
    pattern, ours = _RENAMED[name]
    flat = kinds.replace(")", "")
    if not pattern.match(flat):
        return ""
    return ours


def _are_two_numbers(kinds: str) -> bool:
    one, _, other = kinds.partition(", ")
    return _NUMBERS.issuperset((one, other))


def _compared_at_run_time(source: Source, text: str, at: int) -> str | None:
    """Hide the type of the right operand, so that numbers of different types are compared as they come."""
    starts = [token.start for token in source.tokens]
    if at not in starts:
        return None
    operator = starts.index(at)
    _, right = operands(source, operator)
    _, after = right
    last = after - 1
    start = starts[operator + 1]
    length = len(source.text(last))
    stop = starts[last] + length
    head = text[:start]
    operand = text[start:stop]
    tail = text[stop:]
    return f"{head}dyn({operand}){tail}"


def _offset(text: str, line: int) -> int:
    """Give where a line starts; the first is 1."""
    lines = text.split("\n")
    above = lines[: line - 1]
    return sum(map(len, above)) + len(above)
