"""Shapes of expressions whose answer is not known: where Go has no order, or the engine is mistaken.

No counterpart: refuses expressions whose answer is not known.
"""

from __future__ import annotations

from collections.abc import Iterator

from kueue_dra_ref.cel.checked_expr import CheckedExpr, ExprKind

# What asks a list for nothing that depends on the order of its elements.
_ORDERLESS = frozenset(
    {
        "size",
        "@in",
        "sort",
        "sum",
        "min",
        "max",
        "sets.contains",
        "sets.equivalent",
        "sets.intersects",
    }
)

_OF_OPTIONALS = frozenset({"orValue", "value", "hasValue", "or"})
_NOT_INCLUDED = frozenset({"timestamp", "duration", "optional_type"})
_KEYS = frozenset({"string", "int", "uint", "bool", "any"})
_OF_ATTRIBUTES = frozenset({"string", "int", "bool", "any", "dyn"})
_EQUALITIES = frozenset({"_==_", "_!=_"})


def undecided(root: CheckedExpr) -> Iterator[str]:
    """Name the shapes in question that an expression has."""
    if _binds_side_by_side(root):
        yield "cel.bind() or optMap() next to another macro: the engine (0.1.3) confuses their variables"
    for node in root.walk():
        yield from _optionals(node)
        yield from _lists(node)
        yield from _mixtures(node)
        if node.function == "sum" and node.kind.name == "uint":
            yield "a sum of unsigned integers, which the engine adds up as signed ones"


def _optionals(node: CheckedExpr) -> Iterator[str]:
    if node.function in ("_?._", "_[?_]") and _looks_into_anything(node.first.kind):
        yield "an optional look-up in a value of any type"
    if node.function in _OF_OPTIONALS and not _is_optional(node.first.kind):
        yield f"{node.function}() of a value that may be no optional"
    if len({_is_optional(child.kind) for child in _elements(node)}) > 1:
        yield "a literal of optional and other values"
    if node.function == "value" and node.first.function == "optional.none":
        yield "the value of nothing, which the engine gives a type of its own"


def _lists(node: CheckedExpr) -> Iterator[str]:
    kinds = [child.kind for child in node.children]
    if node.function == "includes":
        yield from _included(kinds)
    reads_order = node.function not in _ORDERLESS and node.form != "comprehension"
    if reads_order and any(map(_unordered, node.children)):
        yield "the order of a map's keys, which Kubernetes leaves to chance"
    flattened = any(child.function == "flatten" for child in node.children)
    if flattened and not _takes_flattened(node):
        yield "flatten(), whose elements the engine does not type"


def _included(kinds: list[ExprKind]) -> Iterator[str]:
    for kind in kinds:
        if kind.name in _NOT_INCLUDED:
            yield f"includes() with a {kind}"
            return


def _mixtures(node: CheckedExpr) -> Iterator[str]:
    if node.form == "struct":
        yield from _keys(node)
    if node.function not in _EQUALITIES:
        return
    hides = any(map(_hides_its_type, node.children))
    if hides and _differ(*node.children):
        yield f"{node.function} of values whose types may differ"


def _keys(node: CheckedExpr) -> Iterator[str]:
    for key in node.keys:
        if key.kind.name not in _KEYS:
            yield f"a map with a {key.kind} as key"
            return


def _hides_its_type(node: CheckedExpr) -> bool:
    """Tell whether a value that is no attribute's is given as one of any type."""
    stands_in = node.function == "orValue" and _looks_into_anything(node.first.kind)
    if not stands_in and node.function != "dyn":
        return False
    return node.last.kind.name not in _OF_ATTRIBUTES


def _differ(one: CheckedExpr, other: CheckedExpr) -> bool:
    return _shown(one) != _shown(other)


def _shown(node: CheckedExpr) -> ExprKind:
    return node.last.kind if _hides_its_type(node) else node.kind


def _looks_into_anything(kind: ExprKind) -> bool:
    return kind.is_open or (_is_optional(kind) and kind.element.is_open)


def _is_optional(kind: ExprKind) -> bool:
    return kind.name == "optional_type"


def _elements(node: CheckedExpr) -> tuple[CheckedExpr, ...]:
    """Give the values of a literal."""
    if node.form == "struct":
        return node.values
    return node.children if node.form == "list" else ()


def _binds_side_by_side(node: CheckedExpr) -> bool:
    """Tell whether a bound name and another macro follow each other, so that the engine reuses a slot too early."""
    parts = [list(_macros(child)) for child in node.children]
    if sum(map(bool, parts)) > 1 and any(
        macro.first.is_empty for part in parts for macro in part
    ):
        return True
    return any(map(_binds_side_by_side, node.children))


def _macros(node: CheckedExpr) -> Iterator[CheckedExpr]:
    return (below for below in node.walk() if below.form == "comprehension")


def _unordered(node: CheckedExpr) -> bool:
    """Tell whether a value is a list in the order of a map's keys."""
    if node.form != "comprehension" or node.kind.name != "list":
        return False
    return node.first.kind.name == "map" or _unordered(node.first)


def _takes_flattened(parent: CheckedExpr) -> bool:
    """Tell whether the type of a flattened list does not matter, or is the one it is compared with."""
    if parent.function in _EQUALITIES:
        one, other = map(_kind, parent.children)
        return one == other
    return parent.function == "size"


def _kind(node: CheckedExpr) -> ExprKind:
    """Give the type that Kubernetes sees."""
    if node.function != "flatten":
        return node.kind
    lists = node.first.kind
    return lists.element if lists.params and lists.element.params else node.kind
