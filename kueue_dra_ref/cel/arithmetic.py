"""Computed values that Kubernetes takes otherwise than those read: quantities, and doubles that are no number.

A quantity's ``add()`` and ``sub()`` give a pointer, and a quantity that was read does not equal one: ``a == b.add(c)``
fails with "no such overload" while ``b.add(c) == a`` compares. What is done to one element by element is not followed
here. Doubles that were computed may be no number, which has no order in Kubernetes and one in the engine.

Kubernetes: k8s.io/apiserver/pkg/cel/library/quantity.go (Quantity)
"""

from __future__ import annotations

from collections.abc import Iterator

from kueue_dra_ref.cel.checked_expr import CheckedExpr

_COMPUTES = frozenset({"add", "sub"})
_TAKES = _COMPUTES | {
    "compareTo",
    "isGreaterThan",
    "isLessThan",
    "sign",
    "asInteger",
    "isInteger",
    "asApproximateFloat",
}
_ORDERS = frozenset({"_<_", "_<=_", "_>_", "_>=_"})
_SURE_NUMBERS = frozenset({"asApproximateFloat"})
_EQUALS = frozenset({"_==_", "_!=_"})


def undecided(root: CheckedExpr) -> Iterator[str]:
    """Name the places where the kind of a computed quantity counts."""
    for node in root.walk():
        if node.function in _ORDERS and any(map(_may_be_no_number, node.children)):
            yield "an order of computed doubles, which may be no number"
        for place, child in enumerate(node.children):
            if (
                child.function in _COMPUTES
                and child.kind.name == "kubernetes.Quantity"
                and not _takes(node, place)
            ):
                yield f"{child.function}() other than before a method or left of =="


def _takes(node: CheckedExpr, place: int) -> bool:
    return node.function in _TAKES or (node.function in _EQUALS and place == 0)


def _may_be_no_number(node: CheckedExpr) -> bool:
    computed = (
        node.form not in ("constant", "select", "variable")
        and node.function not in _SURE_NUMBERS
    )
    if node.function == "dyn":
        return _may_be_no_number(node.first)
    return node.kind.name == "double" and computed and not _is_a_number(node)


def _is_a_number(node: CheckedExpr) -> bool:
    """Tell whether an integer is converted, or a constant negated."""
    return node.function in ("double", "-_") and node.first.kind.name in (
        "int",
        "uint",
    )
