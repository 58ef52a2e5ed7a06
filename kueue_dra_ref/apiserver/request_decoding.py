"""Decoding of what a client sends, as an API server decodes it: a wrong type is refused, an unknown field dropped.

Kubernetes: k8s.io/apimachinery/pkg/runtime/serializer/json/json.go (Decode)
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kueue_dra_ref.api.names import printed
from kueue_dra_ref.api.quantities import BadQuantity, parse
from kueue_dra_ref.api.unstructured import Object
from kueue_dra_ref.apiserver.go_types import (
    TEXT,
    GoField,
    GoMap,
    GoScalar,
    GoSlice,
    GoStruct,
    GoType,
    Shape,
    bare,
    go_type,
)

_LIKE_A_QUANTITY = re.compile(r"[+-]?\d*(\.\d*)?[eEinumkKMGTP]*[-+]?\d*")
_QUANTITY_WORDS = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_SUFFIX_WORDS = "unable to parse quantity's suffix"
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


_EMBEDDED_SINCE = 35
"""The minor from which a fault names the struct that is embedded, too."""


class Undecodable(Exception):
    """What was sent is not of the type that it must be; the text is the decoder's, ``path`` the field."""

    path = ""
    found: str | None = None
    """A text that cannot be read; the words of a wrong type say what was found."""


class _Mismatch(Undecodable):
    """A wrong type, after which decoding continues: an unreadable text is reported before it."""


@dataclass(slots=True)
class Decoder:
    """One decoding, for one minor of Kubernetes; ``unknown`` are the paths of fields that were dropped."""

    minor: int
    unknown: list[str] = field(default_factory=list)
    _mismatches: list[_Mismatch] = field(default_factory=list)

    def decoded(self, value: Object, shape: GoStruct) -> Object:
        """Give the fields that the type has; null is the same as absent.

        Raises:
            Undecodable: a value is of the wrong type.

        """
        found = self._struct(value, shape, "", "")
        if self._mismatches:
            raise self._mismatches[0]
        return found

    def _struct(
        self, value: Mapping[str, Any], shape: GoStruct, path: str, names: str
    ) -> Object:
        known = shape.known(self.minor)
        found: Object = dict.fromkeys(shape.zeros, "0")
        for key, each in value.items():
            here = f"{path}.{key}" if path else key
            if key not in known:
                self.unknown.append(here)
            elif known[key].shape is TEXT and isinstance(
                each, str
            ):  # as most are: nothing can be wrong with it
                found[key] = each
            elif each is not None:
                place = _FieldPosition(
                    bare(shape.go),
                    f"{names}.{self._named(known[key])}" if names else key,
                )
                found[key] = self._value(each, known[key].shape, here, place)
        return found

    def _named(self, part: GoField) -> str:
        return (
            f"{part.embedded}.{part.key}"
            if part.embedded and self.minor >= _EMBEDDED_SINCE
            else part.key
        )

    def _value(self, value: Any, shape: Shape, path: str, place: _FieldPosition) -> Any:
        try:
            return self._read(value, shape, path, place)
        except _Mismatch as fault:
            fault.path = path
            self._mismatches.append(fault)
            return _zero(shape)

    def _read(self, value: Any, shape: Shape, path: str, place: _FieldPosition) -> Any:
        match shape, value:
            case GoStruct(), dict():
                return self._struct(value, shape, path, place.names)
            case GoSlice(element), list():
                return [
                    self._part(each, element, f"{path}[{i}]", place)
                    for i, each in enumerate(value)
                ]
            case GoMap(element), dict():
                return {
                    str(key): self._part(each, element, f"{path}.{key}", place)
                    for key, each in value.items()
                }
            case GoScalar(), _:
                return _plain(value, shape, path, place)
            case _:
                raise place.mismatch(value, shape)

    def _part(self, value: Any, shape: Shape, path: str, place: _FieldPosition) -> Any:
        return _zero(shape) if value is None else self._value(value, shape, path, place)


@dataclass(frozen=True, slots=True)
class _FieldPosition:
    """Where a value stands: the struct that holds its field, and the names of the fields on the way there."""

    struct: str
    names: str

    def mismatch(self, value: Any, shape: Shape) -> _Mismatch:
        found, kind = _found(value), go_type(shape)
        if (
            found == "number"
            and isinstance(shape, GoScalar)
            and shape.holds is GoType.WHOLE
        ):
            found = f"number {value}"
        return _Mismatch(
            f"json: cannot unmarshal {found} into Go struct field {self.struct}.{self.names} of type {kind}"
        )


def _plain(value: Any, shape: GoScalar, path: str, place: _FieldPosition) -> Any:
    match shape.holds, value:
        case GoType.ANYTHING, _:
            return copy.deepcopy(value)
        case GoType.QUANTITY, _:
            return _quantity(value, path)
        case GoType.TIME, _:
            return _time(value, path, place)
        case (GoType.TEXT, str()) | (GoType.FLAG, bool()):
            return value
        case GoType.WHOLE, int() if (
            not isinstance(value, bool) and -shape.bound <= value < shape.bound
        ):
            return value
        case _:
            raise place.mismatch(value, shape)


def _unreadable(words: str, value: Any, path: str) -> Undecodable:
    fault = Undecodable(words)
    fault.path, fault.found = path, printed(value)
    return fault


def _quantity(value: Any, path: str) -> str:
    text = value.strip() if isinstance(value, str) else json.dumps(value)
    try:
        return str(parse(text))
    except BadQuantity:
        has_suffix = text and _LIKE_A_QUANTITY.fullmatch(text)
        words = _SUFFIX_WORDS if has_suffix else _QUANTITY_WORDS
        raise _unreadable(words, value, path) from None


def _time(value: Any, path: str, place: _FieldPosition) -> str:
    if not isinstance(value, str):
        words = str(place.mismatch(value, TEXT))
        raise _unreadable(words, value, path)
    if not _TIME.fullmatch(value):
        words = f'parsing time "{value}" as "2006-01-02T15:04:05Z07:00": cannot parse "{value}" as "2006"'
        raise _unreadable(words, value, path)
    return value


def _found(value: Any) -> str:
    match value:
        case bool():
            return "bool"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def _zero(shape: Shape) -> Any:
    match shape:
        case GoScalar(GoType.TEXT | GoType.TIME):
            return ""
        case GoScalar(GoType.FLAG):
            return False
        case GoScalar(GoType.WHOLE):
            return 0
        case GoScalar(GoType.QUANTITY):
            return "0"
        case GoSlice():
            return []
        case GoStruct():
            return dict.fromkeys(shape.zeros, "0")
        case _:
            return {}
