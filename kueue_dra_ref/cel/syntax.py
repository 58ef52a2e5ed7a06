"""What Kubernetes' parser refuses and the engine's takes: names in backquotes, and numbers beyond a double.

cel-go: parser/parser.go (VisitSelect, VisitDouble)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isinf

from kueue_dra_ref.cel.source import Source
from kueue_dra_ref.cel.validators import ValidatorError

_DOUBLE = re.compile(r"[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+")
_ENDS_OPERAND = re.compile(r"(?:.*\w|[\"'`)\]}])", re.DOTALL)


def faults(source: Source) -> Iterator[ValidatorError]:
    """Give what only Kubernetes refuses, in the order of the source."""
    for index, token in enumerate(source.tokens):
        if token.text.startswith("`") and source.text(index - 1) in (".", "?"):
            yield ValidatorError("unsupported syntax: '`'", token.start)
        if _DOUBLE.fullmatch(token.text) and isinf(float(token.text)):
            yield ValidatorError("invalid double literal", _signed(source, index))


def _signed(source: Source, index: int) -> int:
    """Give where a number starts, its sign included."""
    before, sign = source.texts(index - 2, 2)
    is_signed = sign == "-" and not _ENDS_OPERAND.match(before)
    return source.tokens[index - is_signed].start
