"""Shapes of expressions whose answer is not known: where Go has no order, or the engine is mistaken."""

from __future__ import annotations

from collections.abc import Iterator

from .checked import Kind, Node

# What asks a list for nothing that depends on the order of its elements.
_ORDERLESS = frozenset(
    {"size", "@in", "sort", "sum", "min", "max", "sets.contains", "sets.equivalent", "sets.intersects"}
)

_OF_OPTIONALS = frozenset({"orValue", "value", "hasValue", "or"})
_OF_SCALARS = frozenset({"timestamp", "duration"})


def undecided(root: Node) -> Iterator[str]:
    """Name the shapes in question that an expression has."""
    if _binds_side_by_side(root):
        yield "cel.bind() or optMap() beside another macro: the engine (0.1.3) confuses their variables"
    for node in root.walk():
        yield from _optionals(node)
        yield from _lists(node)


def _optionals(node: Node) -> Iterator[str]:
    if node.name in ("_?._", "_[?_]") and _looks_into_anything(node.children[0].kind):
        yield "an optional look-up in a value of any type"
    if node.name in _OF_OPTIONALS and not _is_optional(node.children[0].kind):
        yield f"{node.name}() of a value that may be no optional"
    if len({_is_optional(child.kind) for child in _elements(node)}) > 1:
        yield "a literal of optional and other values"


def _lists(node: Node) -> Iterator[str]:
    if node.name == "includes" and node.children[0].kind.name in _OF_SCALARS:
        yield f"includes() of a {node.children[0].kind.name}"
    if node.name not in _ORDERLESS and node.form != "comprehension" and any(map(_unordered, node.children)):
        yield "the order of a map's keys, which Kubernetes leaves to chance"
    if any(child.name == "flatten" for child in node.children) and not _takes_flattened(node):
        yield "flatten(), whose elements the engine does not type"


def _looks_into_anything(kind: Kind) -> bool:
    return kind.is_open or (_is_optional(kind) and kind.params[0].is_open)


def _is_optional(kind: Kind) -> bool:
    return kind.name == "optional_type"


def _elements(node: Node) -> tuple[Node, ...]:
    """Give the values of a literal."""
    if node.form == "struct":
        return node.children[1::2]
    return node.children if node.form == "list" else ()


def _binds_side_by_side(node: Node) -> bool:
    """Tell whether a bound name and another macro follow each other, so that the engine reuses a slot too early."""
    parts = [list(_macros(child)) for child in node.children]
    if sum(map(bool, parts)) > 1 and any(macro.children[0].is_empty for part in parts for macro in part):
        return True
    return any(map(_binds_side_by_side, node.children))


def _macros(node: Node) -> Iterator[Node]:
    return (below for below in node.walk() if below.form == "comprehension")


def _unordered(node: Node) -> bool:
    """Tell whether a value is a list in the order of a map's keys."""
    if node.form != "comprehension" or node.kind.name != "list":
        return False
    return node.children[0].kind.name == "map" or _unordered(node.children[0])


def _takes_flattened(parent: Node) -> bool:
    """Tell whether the type of a flattened list does not matter, or is the one it is compared with."""
    if parent.name in ("_==_", "_!=_"):
        one, other = map(_kind, parent.children)
        return one == other
    return parent.name == "size"


def _kind(node: Node) -> Kind:
    """Give the type that Kubernetes sees."""
    if node.name == "flatten" and node.children[0].kind.params[0].params:
        return node.children[0].kind.params[0]
    return node.kind
