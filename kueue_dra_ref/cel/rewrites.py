"""What Kubernetes' CEL takes and the engine's type check refuses, said in words that the engine takes too.

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


def mended(text: str, said: str) -> str | None:
    """Rewrite one thing that the engine has refused and Kubernetes would not; nothing where there is none."""
    for line, column, name, kinds in _REFUSED.findall(said):
        at = _offset(text, int(line), int(column))
        if name in _ORDERS and _are_two_numbers(kinds):
            return _compared_at_run_time(read(text), text, at)
        pattern, ours = _RENAMED.get(name, (None, ""))
        if (
            pattern
            and pattern.match(kinds.replace(")", ""))
            and text[:at].rstrip().endswith(name)
        ):
            start = text.rindex(name, 0, at)
            return text[:start] + ours + text[start + len(name) :]
    return None


def _are_two_numbers(kinds: str) -> bool:
    one, _, other = kinds.partition(", ")
    return one in _NUMBERS and other in _NUMBERS


def _compared_at_run_time(source: Source, text: str, at: int) -> str | None:
    """Hide the type of the right operand, so that numbers of different types are compared as they come."""
    operator = next(
        (index for index, token in enumerate(source.tokens) if token.start == at), None
    )
    if operator is None:
        return None
    end = operands(source, operator)[1][1] - 1
    start, stop = (
        source.tokens[operator + 1].start,
        source.tokens[end].start + len(source.text(end)),
    )
    return f"{text[:start]}dyn({text[start:stop]}){text[stop:]}"


def _offset(text: str, line: int, column: int) -> int:
    return sum(len(each) + 1 for each in text.split("\n")[: line - 1]) + column - 1
