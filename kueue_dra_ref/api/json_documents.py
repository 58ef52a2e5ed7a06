"""JSON files of manifests, read with Python's JSON parser, which is twenty times faster than a YAML parser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from kueue_dra_ref.api.yaml_text import (
    DEEPEST,
    MOST_DIGITS,
    ParsedDocument,
    TextSpan,
    number_of,
)

_SPACE = re.compile(r"[ \t\n\r]*")
_PLAIN = re.compile(
    r"[\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]*"
)
"""Texts in which each character is the same to JSON and to YAML."""
_NOT_PLAIN = re.compile(rf"\\u[dD][89a-fA-F]|[0-9.]{{{MOST_DIGITS}}}")
"""Parts of surrogate pairs, and numbers that are too long, in texts too."""


class _NotPlain(ValueError):
    """The text is no JSON, or YAML reads it otherwise."""


def parsed_json(text: str, shift: int = 0) -> ParsedDocument | None:
    """Read a text that is one JSON object; None if it is another text, or if YAML would report an error in it."""
    if not text.lstrip().startswith("{") or _NOT_PLAIN.search(text):
        return None
    if _PLAIN.fullmatch(text) is None:
        return None
    try:
        return _Reader(text=text, shift=shift).document()
    except (ValueError, IndexError, RecursionError):
        return None


@dataclass(slots=True, kw_only=True)
class _Reader:
    """Reads one object; the elements of its list ``items`` one by one, so that the place of each is known."""

    text: str
    shift: int
    _spans_text: str = field(init=False)
    """The text without the tabs between its values, on which YAML depends."""
    _at: int = 0
    _lines: int = 0
    """The number of lines above `_counted`."""
    _counted: int = 0
    _items: list[TextSpan] = field(default_factory=list)
    _keys: dict[str, str] = field(default_factory=dict)
    """Each key once, because most objects have the same ones."""
    _decoder: json.JSONDecoder = field(init=False)

    def __post_init__(self) -> None:
        self._spans_text = self.text.replace("\t", " ")
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_int=_number,
            parse_float=_number,
            parse_constant=_refused,
        )

    def document(self) -> ParsedDocument:
        """Read the text to its end."""
        self._next()
        start = self._place()
        value: dict[str, Any] = {}
        for _ in self._each("}"):
            key = self._value()
            if key in value or self._next() != ":":
                raise _NotPlain
            self._at += 1
            is_list = self._next() == "[" and key == "items"
            value[key] = self._list_of_items() if is_list else self._value()
        if self.text[self._at :].strip():
            raise _NotPlain
        span = self._span(start)
        return ParsedDocument(number=1, value=value, span=span, items=self._items)

    def _list_of_items(self) -> list[Any]:
        values: list[Any] = []
        for _ in self._each("]"):
            start = self._place()
            values.append(self._value())
            index = len(self._items)
            self._items.append(self._span(start, "items", str(index)))
        return values

    def _each(self, end: str) -> Iterator[None]:
        """Stop before each element of an object or list, and after its end."""
        self._at += 1
        while self._next() != end:
            yield
            if self._next() == ",":
                self._at += 1
                is_last = self._next() == end
            else:
                is_last = self._next() != end
            if is_last:
                raise _NotPlain
        self._at += 1

    def _next(self) -> str:
        """Skip white space, and give the character after it."""
        found = _SPACE.match(self.text, self._at)
        self._at = found.end() if found else self._at
        return self.text[self._at]

    def _value(self) -> Any:
        value, self._at = self._decoder.raw_decode(self.text, self._at)
        if _is_deeper(value, DEEPEST - 2):
            raise _NotPlain
        return value

    def _place(self) -> tuple[int, int, int]:
        """Give the current place, the number of lines above it, and the characters before it on its line."""
        self._lines += self.text.count("\n", self._counted, self._at)
        self._counted = self._at
        column = self._at - self.text.rfind("\n", 0, self._at) - 1
        return self._at, self._lines, column

    def _span(self, start: tuple[int, int, int], *steps: str) -> TextSpan:
        first, lines, column = start
        return TextSpan(
            text=self._spans_text,
            start=first,
            end=self._at,
            line=self.shift + lines,
            column=column,
            shift=self.shift,
            steps=("0", *steps),
        )

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        once = self._keys.setdefault
        found = {once(key, key): value for key, value in pairs}
        if len(found) < len(pairs):
            raise _NotPlain  # a key twice
        return found


def _number(text: str) -> Any:
    number = number_of(text)
    return text if number is None else number


def _refused(text: str) -> Any:
    raise _NotPlain(text)


def _is_deeper(value: Any, levels: int) -> bool:
    """Whether a value has more levels inside each other."""
    level = [value]
    for _ in range(levels):
        inside: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                inside += each.values()
            elif isinstance(each, list):
                inside += each
        if not inside:
            return False
        level = inside
    return True
