"""The text of a CEL expression as tokens, and its rewriting to what the engine evaluates as Kubernetes would.

cel-go: parser/parser.go (Parse)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

NO_OVERLOAD = "kueue_dra_no_such_overload()"
OWN_RANGE = "kueue_dra_range"
OWN = {
    ".indexOf(": "kueue_dra_index_of",
    ".lastIndexOf(": "kueue_dra_last_index_of",
    ".substring(": "kueue_dra_substring",
    "lists.range(": OWN_RANGE,
}
"""Functions that the engine has and answers otherwise than Kubernetes, and the names of ours for them."""

_TOKEN = re.compile(
    r"""
      (?P<blank> \s+ | //[^\n]* )
    | (?P<raw>   (?:[bB]?[rR]|[rR][bB]) (?: \"{3}.*?\"{3} | '{3}.*?'{3} | "[^"\n]*" | '[^'\n]*' ) )
    | (?P<text>  [bB]? (?: \"{3}(?:\\.|[^\\])*?\"{3} | '{3}(?:\\.|[^\\])*?'{3}
                         | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' ) )
    | (?P<number> 0x[0-9a-fA-F]+[uU]? | \d*\.\d+(?:[eE][+-]?\d+)? | \d+[eE][+-]?\d+ | \d+[uU]? )
    | (?P<word>  [_a-zA-Z][_a-zA-Z0-9]* | `[^`\n]*` )
    | (?P<sign>  && | \|\| | [=!<>]= | . )
    """,
    re.VERBOSE | re.DOTALL,
)
_CLOSES = {"(": ")", "[": "]", "{": "}"}
_RELATIONS = frozenset({"==", "!=", "<", "<=", ">", ">=", "in"})
_ENDS_OPERAND = _RELATIONS | {"&&", "||", "?", ":", ",", "(", "[", "{", ")", "]", "}"}
_FIELDS = ("attributes", "capacity")
_OVER_KEYS = frozenset(
    {
        "all",
        "exists",
        "exists_one",
        "existsOne",
        "map",
        "filter",
        "size",
        "transformList",
    }
)


class Token(NamedTuple):
    """A token and where it starts."""

    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Source:
    """A tokenised expression whose brackets are paired; `pair` leads from either bracket to the other."""

    tokens: tuple[Token, ...]
    pair: dict[int, int]

    def text(self, index: int) -> str:
        """The token's text, or nothing beyond either end."""
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def texts(self, index: int, count: int) -> list[str]:
        """The texts of `count` tokens."""
        return [self.text(index + offset) for offset in range(count)]

    def after(self, opened: int) -> int:
        """The index after the bracket that closes an opened one; the next one if none does."""
        return self.pair.get(opened, opened) + 1


def read(expression: str) -> Source:
    """Tokenise an expression; brackets that do not match stay unpaired, the engine will refuse them."""
    tokens = tuple(
        Token(match.group(), match.start())
        for match in _TOKEN.finditer(expression)
        if match.lastgroup != "blank"
    )
    pair: dict[int, int] = {}
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token.text in _CLOSES:
            opened.append(index)
        elif opened and token.text == _CLOSES[tokens[opened[-1]].text]:
            pair[index] = opened.pop()
            pair[pair[index]] = index
    return Source(tokens, pair)


def beyond_the_engine(source: Source) -> str | None:
    """Name a use of `device` as a value, which the engine's qualified variables cannot give, or of `format`."""
    for index, token in enumerate(source.tokens):
        if source.text(index - 1) == ".":
            continue
        if token.text == "format" and source.text(index + 1) == ".":
            return "format"
        if token.text == "device":
            reason = _as_a_value(source, index)
            if reason:
                return reason
    return None


def _as_a_value(source: Source, index: int) -> str | None:
    operator, field, after = source.texts(index + 1, 3)
    if operator == "[":
        return None  # refused by Kubernetes and by the engine, in the same words
    if operator != "." or field == "?":
        return "device used as a value"
    if source.texts(index - 2, 2) == ["has", "("] and after == ")":
        return "has() of a field of device"
    if field in _FIELDS and not _reads_domains(source, index):
        return f"device.{field} used as a value"
    return None


def _reads_domains(source: Source, index: int) -> bool:
    """Tell whether the map of domains is only looked into: an unknown domain is empty, yet not a member."""
    operator, name, following = source.texts(index + 3, 3)
    if operator == "[":
        return True
    if operator == ".":
        if name == "?" or name in _OVER_KEYS:
            return True
        return following != "("
    if source.text(index - 1) == "in":
        return True
    return source.texts(index - 2, 2) == ["size", "("] and operator == ")"


def for_the_engine(source: Source, guarded: Iterable[int] = ()) -> str:
    """Give the source whose unknown domains are empty maps and whose `guarded` comparisons refuse a lone version."""
    starts = {token.start: index for index, token in enumerate(source.tokens)}
    spans = dict(
        operands(source, starts[offset]) for offset in guarded if offset in starts
    )
    return " ".join(_render(source, spans, range(len(source.tokens))))


def operands(source: Source, operator: int) -> tuple[int, tuple[int, int]]:
    """Find the operands of a comparison: where the left begins, and where operator and right operand end."""
    left = operator
    while left > 0 and not _ends_operand(source, left - 1, forwards=False):
        left = source.pair.get(left - 1, left - 1)
    right = operator + 1
    while right < len(source.tokens) and not _ends_operand(
        source, right, forwards=True
    ):
        right = source.pair.get(right, right) + 1
    return left, (operator, right)


def _ends_operand(source: Source, index: int, *, forwards: bool) -> bool:
    text = source.text(index)
    if text == "?":
        return source.text(index - 1) != "."
    return text in _ENDS_OPERAND and text not in ("([{" if forwards else ")]}")


def _render(
    source: Source, spans: dict[int, tuple[int, int]], rendered: range
) -> Iterator[str]:
    index, stop = rendered.start, rendered.stop
    while index < stop:
        operator, end = spans.get(index, (index, index))
        if index < end <= stop:
            yield _guard(source, spans, index, operator, end)
            index = end
            continue
        piece, index = _piece(source, spans, index)
        yield piece


def _guard(
    source: Source,
    spans: dict[int, tuple[int, int]],
    left: int,
    operator: int,
    end: int,
) -> str:
    """Compare two values; a version or quantity, a map or bytes to the engine, compares with its like only."""
    one = " ".join(_render(source, spans, range(left, operator)))
    other = " ".join(_render(source, spans, range(operator + 1, end)))
    plain = f"{one} {source.text(operator)} {other}"
    return f"(type({one}) in [map, bytes] && type({one}) != type({other}) ? {NO_OVERLOAD} : {plain})"


def _piece(
    source: Source, spans: dict[int, tuple[int, int]], index: int
) -> tuple[str, int]:
    """Render one token, or one whole look-up of a domain."""
    own = _own(source, index)
    if own:
        return own, index + (3 if own == OWN_RANGE else 1)
    if source.text(index - 1) == "." or source.texts(index, 2) != ["device", "."]:
        return source.text(index), index + 1
    name = source.text(index + 2)
    after = index + 3
    found = _key(source, spans, after) if name in _FIELDS else None
    if found is None:
        return f"device.{name}", after
    key, end = found
    domain = f"device.{name}[?{key}].orValue({{}})"
    if source.text(after + 1) == "?":
        domain = f"optional.of({domain})"
    return domain, end + 1


def _own(source: Source, index: int) -> str | None:
    """Name the function of ours that replaces the one called here."""
    method = "".join(source.texts(index - 1, 3))
    function = "".join(source.texts(index, 4))
    return OWN.get(method) or OWN.get(function)


def _key(
    source: Source, spans: dict[int, tuple[int, int]], after: int
) -> tuple[str, int] | None:
    """Render the key of a look-up and give its last token; None where the field is not looked into."""
    optional = source.text(after + 1) == "?"
    start = after + 1 + optional
    if source.text(after) == "[":
        end = source.pair[after]
        return " ".join(_render(source, spans, range(start, end))), end
    if source.text(after) == "." and source.text(start + 1) != "(":
        return f'"{source.text(start)}"', start
    return None
