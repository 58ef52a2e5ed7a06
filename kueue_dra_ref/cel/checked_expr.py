"""The engine's checked expression (cel.expr.CheckedExpr, protobuf wire form) read as a typed tree.

cel-go: common/ast/conversion.go (ToProto)
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

_NAMES = {
    3: {1: "bool", 2: "int", 3: "uint", 4: "double", 5: "string", 6: "bytes"},
    5: {1: "any", 2: "timestamp", 3: "duration"},
}
"""The names of primitive and well-known types."""
Fields = dict[int, list[Any]]


@dataclass(frozen=True, slots=True)
class ExprKind:
    """A CEL type: its name and its parameters."""

    name: str
    params: tuple[ExprKind, ...] = ()

    def __str__(self) -> str:
        inner = ", ".join(
            "google.protobuf.Any" if param.name == "any" else str(param)
            for param in self.params
        )
        return f"{self.name}({inner})" if self.params else self.name

    @property
    def element(self) -> ExprKind:
        """What a list or an optional has of, or a map as keys."""
        element, *_ = self.params
        return element

    @property
    def is_open(self) -> bool:
        """Whether the type is known at run time only."""
        return self.name in ("any", "dyn")

    def mentions_open(self) -> bool:
        """Whether the type, or one that it is made of, is known at run time only; a type as a value is a plain one."""
        if self.name == "type":
            return False
        return self.is_open or any(param.mentions_open() for param in self.params)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedExpr:
    """One expression: `name` is a function, field or variable; `value` a constant; `offset` its place in the source.

    Two expressions that are written alike are equal.
    """

    form: str
    kind: ExprKind
    offset: int = field(compare=False)
    name: str
    value: Any
    children: tuple[CheckedExpr, ...]
    tests: bool
    """Whether has() asks for a field, rather than the field being read."""

    @property
    def is_empty(self) -> bool:
        """Whether this is a literal list or map without elements."""
        return self.form in ("list", "struct") and not self.children

    @property
    def function(self) -> str:
        """The function that is called; empty for what is no call."""
        return self.name if self.form == "call" else ""

    @property
    def first(self) -> CheckedExpr:
        """What a method or a look-up is applied to, or the first operand."""
        first, *_ = self.children
        return first

    @property
    def last(self) -> CheckedExpr:
        """The last operand."""
        *_, last = self.children
        return last

    @property
    def keys(self) -> tuple[CheckedExpr, ...]:
        """The keys of a literal map."""
        return self.children[::2]

    @property
    def values(self) -> tuple[CheckedExpr, ...]:
        """The values of a literal map."""
        return self.children[1::2]

    def walk(self) -> Iterator[CheckedExpr]:
        """Give this node and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


def tree(serialized: bytes) -> CheckedExpr:
    """Read the engine's serialisation of a checked expression."""
    checked = _fields(_only(_fields(serialized)[2]))
    kinds = {
        _int(entry, 1): _kind(_fields(_only(entry[2])))
        for entry in map(_fields, checked.get(3, []))
    }
    source = _fields(_only(checked[5]))
    offsets = {
        _int(entry, 1): _int(entry, 2) for entry in map(_fields, source.get(4, []))
    }
    return _Reader(kinds, offsets).node(_only(checked[4]))


@dataclass(frozen=True, slots=True)
class _Reader:
    kinds: dict[int, ExprKind]
    offsets: dict[int, int]

    def node(self, raw: bytes) -> CheckedExpr:
        fields = _fields(raw)
        key = next(key for key in fields if key in _FORMS)
        form = _FORMS[key]
        content = _fields(_only(fields[key]))
        name, value, below = _content(form, content)
        return CheckedExpr(
            form=form,
            kind=self.kinds.get(_int(fields, 2), ExprKind("dyn")),
            offset=self.offsets[_int(fields, 2)],
            name=name,
            value=value,
            tests=form == "select" and bool(_int(content, 3)),
            children=tuple(self.node(child) for child in below),
        )


_FORMS = {
    3: "constant",
    4: "variable",
    5: "select",
    6: "call",
    7: "list",
    8: "struct",
    9: "comprehension",
}


def _content(form: str, fields: Fields) -> tuple[str, Any, list[bytes]]:
    """Split one kind of expression into its name, constant and the expressions below it."""
    match form:
        case "constant":
            return "", _constant(fields), []
        case "variable":
            return _text(fields, 1), None, []
        case "select":
            return _text(fields, 2), None, fields[1]
        case "call":
            return _text(fields, 2), None, _parts(fields, 1, 3)
        case "list":
            return "", None, _parts(fields, 1)
        case "struct":
            return "", None, _entries(fields)
        case _:
            return "", None, _parts(fields, 2, 4, 5, 6, 7)


def _parts(fields: Fields, *keys: int) -> list[bytes]:
    found: list[bytes] = []
    for key in keys:
        found += fields.get(key, [])
    return found


def _entries(fields: Fields) -> list[bytes]:
    """Give the keys, where there are any, and the values of a map or a message."""
    found: list[bytes] = []
    for raw in fields.get(2, []):
        entry = _fields(raw)
        found += entry.get(3, [])
        found += entry[4]
    return found


def _constant(fields: Fields) -> Any:
    ((key, values),) = fields.items()
    value = _only(values)
    match key:
        case 3:
            return _signed(value)
        case 5:
            return _only(struct.unpack("<d", value))
        case 6:
            return value.decode()
        case _:
            return value


def _signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value


def _kind(fields: Fields) -> ExprKind:
    """Read a type; what is neither named nor known counts as known at run time only."""
    ((key, values),) = fields.items()
    value = _only(values)
    match key:
        case 3 | 5:
            return ExprKind(_NAMES[key][value])
        case 6:
            return ExprKind("list", _params(value, 1))
        case 7:
            return ExprKind("map", _params(value, 1, 2))
        case 11:
            return ExprKind("type", (_kind(_fields(value)),))
        case 14:
            abstract = _fields(value)
            return ExprKind(
                _text(abstract, 1),
                tuple(_kind(_fields(param)) for param in abstract.get(2, [])),
            )
        case _:
            return ExprKind("null" if key == 2 else "dyn")


def _params(raw: bytes, *keys: int) -> tuple[ExprKind, ...]:
    fields = _fields(raw)
    return tuple(
        _kind(_fields(_only(fields[key]))) if key in fields else ExprKind("dyn")
        for key in keys
    )


def _fields(raw: bytes) -> Fields:
    """Split a protobuf message into its fields, each with its values in order."""
    fields: Fields = {}
    at = 0
    while at < len(raw):
        tag, at = _varint(raw, at)
        value: Any
        match tag & 7:
            case 0:
                value, at = _varint(raw, at)
            case 1:
                value, at = raw[at:], len(raw)  # a double is alone in its message
            case _:
                length, at = _varint(raw, at)
                value, at = raw[at : at + length], at + length
        fields.setdefault(tag >> 3, []).append(value)
    return fields


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (raw[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if raw[at - 1] < 0x80:
            return value, at


def _int(fields: Fields, key: int) -> int:
    return int(_only(fields.get(key, [0])))


def _text(fields: Fields, key: int) -> str:
    return str(_only(fields.get(key, [b""])).decode())


def _only(values: Sequence[Any]) -> Any:
    """Give the value of a field that is not repeated."""
    (value,) = values
    return value
