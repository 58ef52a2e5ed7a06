"""`format()` of strings: what Kubernetes' CEL checks of its arguments before it sees a device.

cel-go: ext/formatting.go (stringFormatValidator, stringFormatChecker)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kueue_dra_ref.cel.checked_expr import CheckedExpr

_CLAUSE = re.compile(r"%(?:\.[0-9]+)?(.)", re.DOTALL)
_SURE = {
    "s": frozenset({"string", "int", "uint", "bool"}),
    "d": frozenset({"int", "uint"}),
    "%": frozenset[str](),
}


def undecided(root: CheckedExpr) -> Iterator[str]:
    """Name the uses of `format()` other than of plain values by %s and %d."""
    for node in root.walk():
        if node.function == "format" and not _is_sure(node):
            yield "format() of other than plain values by %s and %d"


def _is_sure(node: CheckedExpr) -> bool:
    text = node.first
    values = node.last
    if text.form != "constant" or values.form != "list":
        return False
    pattern = str(text.value)
    clauses = [clause for clause in _CLAUSE.findall(pattern) if clause != "%"]
    count = len(clauses)
    if count != len(values.children):
        return False
    if count != pattern.count("%"):
        return False
    return all(map(_fits, clauses, values.children))


def _fits(clause: str, value: CheckedExpr) -> bool:
    sure = _SURE.get(clause, frozenset())
    return value.kind.name in sure
