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
        if node.name == "format" and node.form == "call" and not _is_sure(node):
            yield "format() of other than plain values by %s and %d"


def _is_sure(node: CheckedExpr) -> bool:
    text, values = node.children[0], node.children[-1]
    if text.form != "constant" or values.form != "list":
        return False
    clauses = [clause for clause in _CLAUSE.findall(str(text.value)) if clause != "%"]
    fits = len(clauses) == len(values.children) and str(text.value).count("%") == len(
        clauses
    )
    return fits and all(
        value.kind.name in _SURE.get(clause, ())
        for clause, value in zip(clauses, values.children, strict=True)
    )
