"""What Kubernetes checks in a typed expression and the engine does not, and where the engine would answer wrongly.

Kubernetes: k8s.io/dynamic-resource-allocation/cel/compile.go (CompileCELExpression);
    cel-go: cel/validator.go (ExtendedValidations)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from kueue_dra_ref.cel import arithmetic, formatting, unsupported_shapes
from kueue_dra_ref.cel.checked_expr import CheckedExpr, ExprKind

DEVICE_TYPES = frozenset(
    {"kubernetes.Quantity", "kubernetes.Semver", "kubernetes.URL", "net.IP", "net.CIDR"}
)
CONVERSIONS = frozenset(
    {"bool", "bytes", "double", "duration", "int", "string", "timestamp", "uint"}
)
_COMPARES_WHOLE = frozenset(
    {
        "_==_",
        "_!=_",
        "@in",
        "sets.contains",
        "sets.equivalent",
        "sets.intersects",
        "distinct",
    }
)
_EVERY_KIND = frozenset({"version", "bool", "string", "int"})
# What the engine converts and Kubernetes does not, or the other way round.
_CONVERTED_OTHERWISE = {"int": frozenset({"bool"}), "bool": frozenset({"string"})}


@dataclass(frozen=True, slots=True)
class ValidatorError:
    """A rule of Kubernetes that the expression breaks, and where."""

    detail: str
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UndecidedReason:
    """A use the engine would get wrong if the attribute `name` (None: any) has a value of one of these kinds."""

    name: str | None
    kinds: frozenset[str] = frozenset({"version"})


@dataclass(frozen=True, slots=True)
class Validation:
    """All findings of a review of the typed tree."""

    faults: list[ValidatorError] = field(default_factory=list)
    undecided: list[str] = field(default_factory=list)
    doubts: list[UndecidedReason] = field(default_factory=list)
    guarded: dict[int, str | None] = field(default_factory=dict)
    always_guarded: set[int] = field(default_factory=set)
    integer_views: list[str | None] = field(default_factory=list)


def review(root: CheckedExpr) -> Validation:
    """Review a whole expression."""
    found = Validation()
    found.undecided.extend(unsupported_shapes.undecided(root))
    found.undecided.extend(arithmetic.undecided(root))
    found.undecided.extend(formatting.undecided(root))
    found.doubts.extend(_doubtful_keys(root))
    formatted = _formatted(root)
    for node in root.walk():
        match node.form:
            case "list" | "struct" if id(node) not in formatted:
                _literal(node, found)
            case "select":
                _select(node, found)
            case "comprehension":
                _comprehension(node, found)
            case "call":
                _call(node, found)
    return found


def _formatted(root: CheckedExpr) -> set[int]:
    """Give the identities of the expressions in calls of `format()`."""
    found: set[int] = set()
    for node in root.walk():
        if node.function == "format":
            found.update(map(id, node.walk()))
    return found


def _literal(node: CheckedExpr, found: Validation) -> None:
    if node.form == "list":
        found.faults.extend(_mixed(node.children, found))
    else:
        found.faults.extend(_mixed(node.keys, found))
        found.faults.extend(_mixed(node.values, found))


def _select(node: CheckedExpr, found: Validation) -> None:
    holder = node.first
    if node.tests and holder.kind.is_open:
        name = _attribute(holder)
        found.doubts.append(UndecidedReason(name=name, kinds=_EVERY_KIND))


def _comprehension(node: CheckedExpr, found: Validation) -> None:
    values = node.first
    if values.kind.is_open and _reads_attributes(values):
        found.doubts.append(UndecidedReason(name=None))


def _doubtful_keys(root: CheckedExpr) -> Iterator[UndecidedReason]:
    """Doubt the keys of maps that may be a version, which either engine refuses in its own way."""
    for node in root.walk():
        keys: tuple[CheckedExpr, ...] = ()
        if node.form == "struct":
            keys = node.keys
        elif node.function == "_[_]":
            keys = (node.last,)
        if any(key.kind.is_open for key in keys):
            yield UndecidedReason(name=None)


def literals(root: CheckedExpr, functions: frozenset[str]) -> Iterator[CheckedExpr]:
    """Give the calls of the named functions whose last argument is a constant."""
    for node in root.walk():
        if node.function in functions and node.last.form == "constant":
            yield node


def _mixed(
    nodes: tuple[CheckedExpr, ...], found: Validation
) -> Iterator[ValidatorError]:
    """Refuse elements whose type differs from the first one's; an empty literal goes with anything of its form."""
    expected: ExprKind | None = None
    for node in nodes:
        kind = (
            node.kind.element
            if node.kind.name == "optional_type" and node.function != "optional.none"
            else node.kind
        )
        if node.function == "optional.none":
            found.undecided.append("optional.none() in a literal")
        if _is_empty(node):
            continue
        if expected is None:
            expected = kind
        elif kind != expected:
            if kind.name == expected.name and _hides_empty(node):
                found.undecided.append(
                    "a literal of lists or maps some of which are empty"
                )
            yield ValidatorError(
                f"expected type '{expected}' but found '{kind}'", node.offset
            )


def _is_empty(node: CheckedExpr) -> bool:
    return node.is_empty or node.function == "optional.none"


def _is_list_of_lists(kind: ExprKind) -> bool:
    """Tell whether a list holds lists, or may do so; what hides its type may be such a list."""
    return not kind.params or kind.element.name == "list" or kind.element.is_open


def _hides_empty(node: CheckedExpr) -> bool:
    return any(_is_empty(below) for below in node.walk())


def _call(node: CheckedExpr, found: Validation) -> None:
    kinds = [child.kind for child in node.children]
    if _reads_attributes(node):
        _attributes_in_call(node, kinds, found)
    review_call = _CALLS.get(node.function)
    if review_call is not None:
        review_call(node, kinds, found)


def _opened(node: CheckedExpr, _: list[ExprKind], found: Validation) -> None:
    if _holds_device_type(node.first.kind):
        found.undecided.append(f"{node.function}() of a {node.first.kind}")


def _compared(node: CheckedExpr, kinds: list[ExprKind], found: Validation) -> None:
    one, other = kinds
    if one.name in DEVICE_TYPES and other.is_open:
        found.always_guarded.add(node.offset)


def _searched(node: CheckedExpr, _: list[ExprKind], found: Validation) -> None:
    if _is_empty(node.last):
        found.undecided.append("a search in nothing, which Kubernetes does not begin")


def _flatten(node: CheckedExpr, kinds: list[ExprKind], found: Validation) -> None:
    kind, *_ = kinds
    if not _is_list_of_lists(kind):
        detail = f"found no matching overload for 'flatten' applied to '{kind}.()'"
        found.faults.append(ValidatorError(detail, node.offset))


def _integer_view(node: CheckedExpr, _: list[ExprKind], found: Validation) -> None:
    """Record a quantity whose integer view depends on how it was written: a text, or the device's own (None)."""
    viewed = node.first
    if viewed.function == "quantity" and viewed.first.form == "constant":
        found.integer_views.append(str(viewed.first.value))
    elif _attribute(viewed) is not None:
        found.integer_views.append(None)
    else:
        found.undecided.append(f"{node.function}() of a computed quantity")


_CALLS: dict[str, Callable[[CheckedExpr, list[ExprKind], Validation], None]] = {
    "dyn": _opened,
    "type": _opened,
    "_==_": _compared,
    "@in": _searched,
    "flatten": _flatten,
    "asInteger": _integer_view,
    "isInteger": _integer_view,
}


def _attributes_in_call(
    node: CheckedExpr, kinds: list[ExprKind], found: Validation
) -> None:
    """Find what treats a version, which the engine sees as a map, otherwise than Kubernetes treats a version."""
    if node.function in _COMPARES_WHOLE and any(map(_holds_open, _wholes(node))):
        found.doubts.append(UndecidedReason(name=None))
    if node.function == "@in":
        _search(node, found)
    if not kinds or not node.first.kind.is_open:
        return
    name = _attribute(node.first)
    if node.function == "_==_" and node.last.kind.name != "null":
        found.guarded[node.offset] = name
    if node.function in ("size", "type"):
        found.doubts.append(UndecidedReason(name=name))
    if node.function in _CONVERTED_OTHERWISE:
        converted = _CONVERTED_OTHERWISE[node.function]
        found.doubts.append(UndecidedReason(name=name, kinds=converted))


def _holds_open(kind: ExprKind) -> bool:
    return bool(kind.params) and kind.mentions_open()


def _search(node: CheckedExpr, found: Validation) -> None:
    """Doubt a search in an attribute, and one for an attribute in a constant."""
    wanted, values = node.children
    if values.kind.is_open:
        found.doubts.append(UndecidedReason(name=_attribute(values)))
    elif wanted.kind.is_open and _is_constant(values):
        found.doubts.append(UndecidedReason(name=_attribute(wanted)))


def _reads_attributes(node: CheckedExpr) -> bool:
    """Tell whether an attribute can flow into an expression: directly, or through a name bound around it."""
    variables = (below.name for below in node.walk() if below.form == "variable")
    return any(
        name == "device.attributes" or not name.startswith("device.")
        for name in variables
    )


def _wholes(node: CheckedExpr) -> list[ExprKind]:
    """Give the types compared element by element; the keys of a map are strings, so `in` a map is safe."""
    kinds = [child.kind for child in node.children]
    if node.function == "@in":
        searched = node.last.kind
        return [searched] if searched.name == "list" else []
    first, *others = node.children
    return [] if others == [first] else kinds


def _is_constant(node: CheckedExpr) -> bool:
    return node.form in ("list", "struct") and all(
        child.form == "constant" for child in node.children
    )


def _holds_device_type(kind: ExprKind) -> bool:
    return kind.name in DEVICE_TYPES or any(
        _holds_device_type(param) for param in kind.params
    )


def _attribute(node: CheckedExpr) -> str | None:
    """Name the attribute or capacity that an expression reads from a map of the device, if that is what it does."""
    if not node.children or node.first.kind.name != "map":
        return None
    if node.form == "select":
        return node.name
    key = node.last
    return (
        str(key.value) if node.function == "_[_]" and key.form == "constant" else None
    )
