"""Shapes of Go types, as an API server's decoder sees them: what it takes, what it calls them, what it prints.

No counterpart: the decoder's view of Go types.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache, cached_property

LAST = sys.maxsize
FIRST = -LAST
"""The minors of a field that every minor has."""


class GoType(Enum):
    """What a value without parts is."""

    TEXT = "string"
    FLAG = "bool"
    WHOLE = "int64"
    QUANTITY = "resource.Quantity"
    TIME = "v1.Time"
    ANYTHING = "runtime.RawExtension"


@dataclass(frozen=True, slots=True)
class GoScalar:
    """A value without parts; ``go`` is the name of its type."""

    holds: GoType
    go: str

    @property
    def bound(self) -> int:
        """The least number that is too large for a whole one."""
        return 2**31 if self.go == "int32" else 2**63


@dataclass(frozen=True, slots=True)
class GoSlice:
    """A list; one that is ``keyed`` is a map by the names of its elements (x-kubernetes-list-type)."""

    element: Shape
    keyed: bool = False


@dataclass(frozen=True, slots=True)
class GoMap:
    """A map from strings, whose type may have a name, as the type of its keys may."""

    value: Shape
    key: str = "string"
    go: str = ""


@dataclass(frozen=True, slots=True)
class GoField:
    """A field of a struct: its key, how Go names it, and the minors of Kubernetes 1.x that have it.

    ``embedded`` is the struct inside the struct that has the field.
    """

    key: str
    shape: Shape
    go: str = ""
    pointer: bool = False
    since: int = FIRST
    until: int = LAST
    embedded: str = ""

    @property
    def name(self) -> str:
        """What Go calls the field."""
        return self.go or self.key[0].upper() + self.key[1:]


@dataclass(frozen=True, eq=False)
class GoStruct:
    """An object with named fields; ``go`` is the name of its type."""

    go: str
    fields: tuple[GoField, ...]

    @cache  # noqa: B019 - there are few structs, and they last as long as the program
    def known(self, minor: int) -> dict[str, GoField]:
        """Give the fields that a minor has, by key."""
        return {
            field.key: field
            for field in self.fields
            if field.since <= minor <= field.until
        }

    @cached_property
    def zeros(self) -> tuple[str, ...]:
        """The amounts that are no pointers: they are zero where they were not sent."""
        return tuple(
            field.key
            for field in self.fields
            if field.shape is QUANTITY and not field.pointer
        )


Shape = GoScalar | GoSlice | GoMap | GoStruct

TEXT, FLAG, WHOLE = (
    GoScalar(holds, holds.value) for holds in (GoType.TEXT, GoType.FLAG, GoType.WHOLE)
)
QUANTITY, TIME, ANYTHING = (
    GoScalar(holds, holds.value)
    for holds in (GoType.QUANTITY, GoType.TIME, GoType.ANYTHING)
)
RAW = GoScalar(GoType.ANYTHING, "json.RawMessage")
"""Anything that an API server keeps as it came, the order of keys included."""
TEXTS = GoSlice(TEXT)


def word(go: str) -> GoScalar:
    """Give the shape of a text that has a type of its own."""
    return GoScalar(GoType.TEXT, go)


def go_type(shape: Shape) -> str:
    """Name a type as Go does."""
    match shape:
        case GoScalar(_, go):
            return go
        case GoStruct(go):
            return go
        case GoSlice(element):
            return f"[]{go_type(element)}"
        case GoMap(value, key, go):
            return go or f"map[{key}]{go_type(value)}"


def bare(go: str) -> str:
    """Take the package off a type's name."""
    return go.rpartition(".")[2]


def all_of(shape: Shape, names: str) -> tuple[GoField, ...]:
    """Make fields of one shape, which every minor has; their names are words of a text."""
    return tuple(GoField(name, shape) for name in names.split())


def fields(
    go: str, *parts: GoField | tuple[str, Shape] | tuple[str, Shape, int]
) -> GoStruct:
    """Make a struct; a pair is a field that every minor has, a triple one that came with a minor."""
    return GoStruct(
        go, tuple(part if isinstance(part, GoField) else _field(part) for part in parts)
    )


def pointers(
    *parts: GoField | tuple[str, Shape] | tuple[str, Shape, int],
) -> Iterator[GoField]:
    """Make fields that can be unset, which Go tells from being empty."""
    for part in parts:
        found = part if isinstance(part, GoField) else _field(part)
        yield GoField(
            found.key,
            found.shape,
            found.go,
            pointer=True,
            since=found.since,
            until=found.until,
        )


def _field(part: tuple[str, Shape] | tuple[str, Shape, int]) -> GoField:
    match part:
        case (key, shape):
            return GoField(key, shape)
        case (key, shape, since):
            return GoField(key, shape, since=since)
