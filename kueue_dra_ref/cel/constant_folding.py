"""Conversions of constants, which Kubernetes' CEL carries out when it builds the program: a failure is a refusal.

cel-go: interpreter/decorators.go (decOptimize, maybeOptimizeConstUnary)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kueue_dra_ref.cel import engine
from kueue_dra_ref.cel.checked_expr import CheckedExpr
from kueue_dra_ref.cel.model import EvaluationError, Undecided
from kueue_dra_ref.cel.validators import CONVERSIONS

_FOLDED = CONVERSIONS | {"dyn", "type"}
# Go's strconv.ParseBool takes these; the engine takes fewer.
_TRUTHS = frozenset(
    {"1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"}
)
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")


def failures(tree: CheckedExpr) -> Iterator[str]:
    """Give the words of each conversion that fails."""
    for call in _conversions(tree):
        match _value(call):
            case EvaluationError(detail=detail) if not isinstance(
                _value(call.first), EvaluationError
            ):
                yield detail


def undecided(tree: CheckedExpr) -> Iterator[str]:
    """Name the conversions that the engine carries out otherwise than Kubernetes."""
    for call in _conversions(tree):
        inner = call.first
        if (
            call.function == "bool"
            and inner.form == "constant"
            and inner.value in _TRUTHS - {"true", "false"}
        ):
            yield f"bool() of {inner.value}"
        elif isinstance(_value(call), Undecided):
            yield f"{call.function}() of a constant"
    yield from (
        f"{node.function}() of another text than RFC 3339 writes"
        for node in tree.walk()
        if _is_odd_time(node)
    )


def _conversions(tree: CheckedExpr) -> Iterator[CheckedExpr]:
    return (node for node in tree.walk() if _is_folded(node) and node.form == "call")


def _is_odd_time(node: CheckedExpr) -> bool:
    """Tell whether a text may be a time to the engine only, which reads them less strictly."""
    if node.function != "timestamp" or node.first.kind.name in ("int", "timestamp"):
        return False
    text = node.first
    if text.form != "constant":
        return True
    return not _RFC3339.fullmatch(str(text.value)) and not isinstance(
        _value(node), EvaluationError
    )


def _is_folded(node: CheckedExpr) -> bool:
    """Tell whether Kubernetes knows a value before it sees a device."""
    if node.form == "call":
        return node.function in _FOLDED and _is_folded(node.first)
    return node.form == "constant" or (
        node.form in ("list", "struct") and all(map(_is_folded, node.children))
    )


def _value(node: CheckedExpr) -> object:
    return engine.program(_text(node))({})


def _text(node: CheckedExpr) -> str:
    """Write a constant expression again."""
    match node.form:
        case "call":
            return f"{node.function}({_text(node.first)})"
        case "list":
            elements = ", ".join(map(_text, node.children))
            return f"[{elements}]"
        case "struct":
            entries = ", ".join(map(_entry, node.keys, node.values))
            return f"{{{entries}}}"
        case _:
            return _literal(node)


def _entry(key: CheckedExpr, value: CheckedExpr) -> str:
    return f"{_text(key)}: {_text(value)}"


def _literal(node: CheckedExpr) -> str:
    match node.kind.name, node.value:
        case "null", _:
            return "null"
        case "uint", value:
            return f"{value or 0}u"
        case "bool", _:
            return "true"  # either converts alike
        case _, str() as value:
            return f'"{_escaped(value)}"'
        case _, bytes() as value:
            escaped = [f"\\x{each:02x}" for each in value]
            return 'b"' + "".join(escaped) + '"'
        case _, value:
            return repr(value)


def _escaped(text: str) -> str:
    return "".join(f"\\U{ord(each):08x}" for each in text)
