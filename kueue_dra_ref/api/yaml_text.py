"""YAML as Kubernetes reads and writes it, each value with its line; no other module of the reference knows YAML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice, pairwise
from math import isinf
from typing import Any

import yaml
from yaml import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    Node,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from kueue_dra_ref.api.deepcopy import copied
from kueue_dra_ref.api.files import DocumentError
from kueue_dra_ref.target import Manifest

try:
    from yaml import CBaseLoader as _Composer
    from yaml import CSafeDumper as _Printer
    from yaml import CSafeLoader as _Parser
except ImportError:  # PyYAML built without libyaml: the same answers, ten times slower
    from yaml import BaseLoader as _Composer  # type: ignore[assignment]
    from yaml import SafeDumper as _Printer  # type: ignore[assignment]
    from yaml import SafeLoader as _Parser  # type: ignore[assignment]

Event = Any
"""An event of the parser; the type stubs of PyYAML know neither its anchor nor where it is."""
_MOST_REPEATED = 1_000_000  # a document in which aliases repeat more values grew by aliases of aliases
_BLOCK_STYLES = ("|", ">")
DEEPEST = 100  # no object of Kubernetes has so many levels, and what has many more ends the parser
MOST_DIGITS = 10_000  # no amount of Kubernetes is so long, and a message repeats it
_LONG_NUMBER = re.compile(rf"[-+]?[0-9.]{{{MOST_DIGITS},}}[A-Za-z]{{0,2}}")
_TAG = "tag:yaml.org,2002:"
_BOOLS = dict.fromkeys(("y", "yes", "true", "on"), True) | dict.fromkeys(
    ("n", "no", "false", "off"), False
)
_RESOLVED = {  # what a plain scalar is to Go's YAML library, which differs from YAML 1.1: no timestamps, no base 60
    "bool": ("(?:y|Y|n|N|(?i:yes|no|on|off|true|false))", "yYnNtTfFoO"),
    "null": ("(?:~|null|Null|NULL|)", ["~", "n", "N", ""]),
    "int": (
        "[-+]?(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO]?[0-7_]*|[1-9][0-9_]*)",
        "-+0123456789",
    ),
    "float": (
        r"[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?",
        "-+.0123456789",
    ),
    "nan": (r"(?:\.(?:nan|NaN|NAN)|[-+]?\.(?:inf|Inf|INF))", "-+."),
    "merge": ("<<", "<"),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TextSpan:
    """Where a value is in a text; the lines of its fields are found when they are needed, so a span is small."""

    text: str = field(repr=False)
    start: int
    """The first character of the value."""
    end: int
    """The character after the value."""
    line: int
    """The number of lines of the file above the value."""
    column: int
    """The number of characters before the value on its first line."""
    shift: int
    """The number of lines of the file above the text."""
    steps: tuple[str, ...] = ()
    """The number of the document in the text, from 0, and the path of the value in it."""
    closed: bool = True
    """Whether the value can be read without the rest of the text, because it has no aliases and no tags."""

    def line_of(self, steps: Sequence[str]) -> int:
        """Give the line of a field, or of the deepest part of it that exists."""
        node, above = _nodes_of(self)
        return above + int(_found_at(node, steps)[1].start_mark.line) + 1

    def depth_of(self, steps: Sequence[str]) -> int:
        """Give the number of steps that lead somewhere."""
        node, _ = _nodes_of(self)
        depths = range(len(steps) + 1)
        places = [_found_at(node, steps[:depth])[1] for depth in depths]
        return sum(here is not there for here, there in pairwise(places))

    def lines_above_text(self, steps: Sequence[str]) -> int:
        """Give the number of lines of the file above the first line of a text in a field."""
        root, above = _nodes_of(self)
        node, _ = _found_at(root, steps)
        is_block = getattr(node, "style", None) in _BLOCK_STYLES
        return above + int(node.start_mark.line) + int(is_block)

    @property
    def kind(self) -> str:
        """What the value is, in words."""
        return _kind(_nodes_of(self)[0])

    def part(self, steps: Sequence[str]) -> TextSpan:
        """Give the span of a field, or of the deepest part of it that exists."""
        root, above = _nodes_of(self)
        node, _ = _found_at(root, steps)
        first = self.start - self.column if self.closed else 0
        return replace(
            self,
            start=first + node.start_mark.index,
            end=first + node.end_mark.index,
            line=above + node.start_mark.line,
            column=node.start_mark.column,
            steps=(*self.steps, *steps),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedDocument:
    """One document of a text that is not empty."""

    number: int
    """Which document of the text, from 1."""
    value: Any
    span: TextSpan
    items: Sequence[TextSpan] = ()
    """The spans of the elements of its list ``items``, if it has one."""


def parsed(text: str, file: str, shift: int = 0) -> Iterator[ParsedDocument]:
    """Give each document of a text that is not empty; ``shift`` is the number of lines above the text in its file.

    Raises:
        DocumentError: the text is no YAML, repeats a key, or holds what JSON cannot.

    """
    reader = _Reader(text=text, file=file, shift=shift)
    try:
        yield from reader.documents()
    except yaml.YAMLError as fault:
        raise _syntax_fault(fault, file, reader.complete + 1, shift) from None


def written(manifests: Iterable[Manifest]) -> str:
    """Print manifests as YAML that Kubernetes reads back as the same values."""
    return str(
        yaml.dump_all(
            manifests,
            Dumper=_Dumper,
            sort_keys=False,
            allow_unicode=True,
            explicit_start=True,
        )
    )


def steps(path: str) -> list[str]:
    """Split ``a.b[0].c`` into its steps."""
    return re.findall(r"(?<=\[)[^\]]*(?=\])|[^.\[\]]+(?=\.|\[|$)", path)


def _kind(found: Node | Event) -> str:
    """Say in words what a node is, or the value that an event begins."""
    match found:
        case yaml.MappingNode() | MappingStartEvent():
            return "an object"
        case yaml.SequenceNode() | SequenceStartEvent():
            return "a list"
        case _:
            return f'"{found.value}"' if found.value else "nothing"


@lru_cache(maxsize=256)
def _nodes_of(span: TextSpan) -> tuple[Node, int]:
    """Read the nodes of a span again, with the number of lines of the file above the text that they are read from."""
    if span.closed:
        text = " " * span.column + span.text[span.start : span.end]
        with suppress(yaml.YAMLError, IndexError):
            return _composed(text, 0), span.line
    number, *steps = span.steps
    try:
        document = _composed(span.text, int(number))
    except yaml.YAMLError:  # JSON that is no YAML: its first line is known
        return _composed("{}", 0), span.line
    return _found_at(document, steps)[0], span.shift


def _composed(text: str, number: int) -> Node:
    """Read the nodes of one document; what follows it need not be YAML."""
    nodes = list(islice(yaml.compose_all(text, Loader=_Composer), number + 1))
    return nodes[number]


def _found_at(node: Node, steps: Sequence[str]) -> tuple[Node, Node]:
    """Follow steps as far as they lead: the value there, and the node of its place (its key, if any)."""
    place = node
    for step in steps:
        if isinstance(node, yaml.MappingNode) and (
            pair := next((p for p in node.value if p[0].value == step), None)
        ):
            place, node = pair
        elif (
            isinstance(node, yaml.SequenceNode)
            and step.isdigit()
            and int(step) < len(node.value)
        ):
            place = node = node.value[int(step)]
        else:
            break
    return node, place


_IS_NUMBER = re.compile(f"{_RESOLVED['int'][0]}|{_RESOLVED['float'][0]}")


class _Loader(_Parser):
    yaml_implicit_resolvers: dict[str, Any] = {}


class _Dumper(_Printer):
    def ignore_aliases(self, data: object) -> bool:
        return True


for _name, (_pattern, _first) in _RESOLVED.items():
    _Loader.add_implicit_resolver(
        _TAG + _name, re.compile(f"^(?:{_pattern})$"), list(_first)
    )
    _Dumper.add_implicit_resolver(
        _TAG + _name, re.compile(f"^(?:{_pattern})$"), list(_first)
    )


def _syntax_fault(
    fault: yaml.YAMLError, file: str, number: int, shift: int
) -> DocumentError:
    mark = getattr(fault, "problem_mark", None)
    words = " ".join(
        filter(None, (getattr(fault, "context", None), getattr(fault, "problem", None)))
    ) or str(fault)
    found = " ".join(words.removeprefix("found ").split())
    return DocumentError(
        file=file,
        document=number,
        line=shift + mark.line + 1 if mark else 0,
        found=found,
        expected="YAML",
    )


@dataclass(slots=True)
class _Anchor:
    """What an alias repeats."""

    event: Event
    value: Any = None
    size: int = 0
    """The number of values in it; 0 while it is being read."""


@dataclass(slots=True, kw_only=True)
class _Reader:
    """Makes the values of the events of a text; it keeps no nodes, which need ten times the memory of the values."""

    text: str
    file: str
    shift: int
    complete: int = 0
    """The number of documents that have been read."""
    _events: Iterator[Event] = field(default_factory=lambda: iter(()))
    _depth: int = 0
    _end: int = 0
    """The character after the last mapping or list."""
    _count: int = 0
    """The number of values so far."""
    _repeated: int = 0
    """The number of values that aliases have repeated in this document."""
    _closed: bool = True
    _items: list[TextSpan] = field(default_factory=list)
    _anchors: dict[str, _Anchor] = field(default_factory=dict)
    _plain: dict[str, Any] = field(default_factory=dict)
    """The values of plain scalars by their text; most of them repeat."""

    def documents(self) -> Iterator[ParsedDocument]:
        """Read one document after the other."""
        self._events = yaml.parse(self.text, Loader=_Loader)
        for event in self._events:
            if isinstance(event, DocumentStartEvent):
                document = self._document(event)
                self.complete += 1
                if document.value is not None:
                    yield document

    def _document(self, start: Event) -> ParsedDocument:
        self._depth = self._repeated = 0
        self._closed = not (start.version or start.tags)
        self._items = []
        self._anchors = {}
        root = next(self._events)
        value = self._value(root)
        end = next(self._events).start_mark.index
        span = self._span(root, end)
        items = self._items
        if not self._closed:
            span = replace(span, closed=False)
            items = [replace(each, closed=False) for each in items]
        number = self.complete + 1
        return ParsedDocument(number=number, value=value, span=span, items=items)

    def _span(self, event: Event, end: int, *steps: str) -> TextSpan:
        start = event.start_mark
        return TextSpan(
            text=self.text,
            start=start.index,
            end=end,
            line=self.shift + start.line,
            column=start.column,
            shift=self.shift,
            steps=(str(self.complete), *steps),
        )

    def _value(self, event: Event) -> Any:
        """Read the value that begins with an event."""
        self._count += 1
        if isinstance(event, AliasEvent):
            return self._repeat(event)
        if event.anchor is not None:
            return self._anchored(event)
        return self._unanchored(event)

    def _unanchored(self, event: Event) -> Any:
        if isinstance(event, ScalarEvent):
            return self._scalar(event)
        self._closed = self._closed and event.tag is None
        if isinstance(event, MappingStartEvent):
            return self._mapping(event)
        return [self._value(each) for each in self._inside(event, SequenceEndEvent)]

    def _anchored(self, event: Event) -> Any:
        """Read a value that aliases may repeat."""
        self._closed = False
        first = self._anchors.get(event.anchor)
        if first is not None:
            raise yaml.MarkedYAMLError(
                context="found duplicate anchor; first occurrence",
                context_mark=first.event.start_mark,
                problem="second occurrence",
                problem_mark=event.start_mark,
            )
        anchor = self._anchors[event.anchor] = _Anchor(event)
        before = self._count
        anchor.value = self._unanchored(event)
        anchor.size = 1 + self._count - before
        return anchor.value

    def _repeat(self, event: Event) -> Any:
        self._closed = False
        anchor = self._anchors.get(event.anchor)
        if anchor is None:
            raise yaml.MarkedYAMLError(
                problem="found undefined alias", problem_mark=event.start_mark
            )
        self._count += anchor.size
        self._repeated += anchor.size
        if not anchor.size or self._repeated > _MOST_REPEATED:
            found = "an alias that holds itself, or aliases without end"
            raise self._fault(anchor.event, found, "a finite document")
        return copied(anchor.value)

    def _inside(self, event: Event, end: type[yaml.Event]) -> Iterator[Event]:
        """Give the first event of each value in a mapping or a list, up to its end."""
        self._depth += 1
        for each in self._events:
            if isinstance(each, end):
                break
            if self._depth >= DEEPEST:
                problem = f"more than {DEEPEST} levels inside each other"
                mark = event.start_mark
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=mark)
            yield each
        self._depth -= 1
        self._end = each.end_mark.index

    def _mapping(self, event: Event) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        first: dict[str, Event] = {}
        for key_event in self._inside(event, MappingEndEvent):
            if _is_merge(key_event):
                merged = self._merged(next(self._events)) | merged
                continue
            key = self._key(key_event)
            if key in own:
                line = self._line(first[key])
                found = f'key "{key}" again, first on line {line}'
                raise self._fault(key_event, found, "each key once")
            first[key] = key_event
            of = next(self._events)
            is_items = key == "items" and self._depth == 1
            own[key] = self._list_of_items(of) if is_items else self._value(of)
        return merged | own if merged else own

    def _list_of_items(self, event: Event) -> Any:
        """Read the list ``items`` of a document, and keep the span of each item."""
        if not isinstance(event, SequenceStartEvent) or event.anchor or event.tag:
            return self._value(event)
        values: list[Any] = []
        for each in self._inside(event, SequenceEndEvent):
            index = len(values)
            values.append(self._value(each))
            is_short = isinstance(each, (ScalarEvent, AliasEvent))
            end = each.end_mark.index if is_short else self._end
            first = self._source(each)
            self._items.append(self._span(first, end, "items", str(index)))
        return values

    def _merged(self, event: Event) -> dict[str, Any]:
        """Read what a merge key adds: a mapping, or a list of mappings of which the first counts most."""
        value = self._value(event)
        merged: dict[str, Any] = {}
        for each in value if isinstance(value, list) else [value]:
            if not isinstance(each, dict):
                found = (
                    f'"{each}"'
                    if isinstance(value, list)
                    else _kind(self._source(event))
                )
                raise self._fault(event, found, "an object to merge")
            merged = each | merged
        return merged

    def _key(self, event: Event) -> str:
        key = self._value(event)
        if key is None or isinstance(key, (dict, list)):
            raise self._fault(
                event, f"{_kind(self._source(event))} as a key", "a string"
            )
        return str(key).lower() if isinstance(key, bool) else str(key)

    def _scalar(self, event: Event) -> Any:
        text: str = event.value
        self._check_length(event, text)
        if event.tag is not None:
            self._closed = False
            return self._read_as(event, event.tag)
        if not event.implicit[0]:
            return text
        if text not in self._plain:
            self._plain[text] = self._read_as(event, "!")
        return self._plain[text]

    def _read_as(self, event: Event, tag: str) -> Any:
        """Read a scalar as its tag says, or as its text looks where the tag is only ``!``."""
        text: str = event.value
        if tag == "!":
            tag = _plain_tag(text) if event.implicit[0] else "str"
        match tag.removeprefix(_TAG):
            case "str" | "merge" | "timestamp" | "value":
                return text
            case "bool" if text.lower() in _BOOLS:
                return _BOOLS[text.lower()]
            case "null":
                return None
            case "int" | "float" if _IS_NUMBER.fullmatch(text):
                return text if (number := number_of(text)) is None else number
            case _:
                raise self._fault(event, text or tag, "a value that JSON can hold")

    def _check_length(self, event: Event, text: str) -> None:
        if len(text) > MOST_DIGITS and _LONG_NUMBER.fullmatch(text):
            found = f"a number of {len(text)} digits"
            raise self._fault(event, found, f"at most {MOST_DIGITS} digits")

    def _source(self, event: Event) -> Event:
        """Give the event with which a value begins; for an alias that of the value that it repeats."""
        is_alias = isinstance(event, AliasEvent)
        return self._anchors[event.anchor].event if is_alias else event

    def _line(self, event: Event) -> int:
        return self.shift + int(event.start_mark.line) + 1

    def _fault(self, event: Event, found: str, expected: str) -> DocumentError:
        return DocumentError(
            file=self.file,
            document=self.complete + 1,
            line=self._line(event),
            found=found,
            expected=expected,
        )


def _is_merge(event: Event) -> bool:
    """Whether the key of a mapping is the merge key."""
    if not isinstance(event, ScalarEvent):
        return False
    if event.tag is not None:
        return str(event.tag) == _TAG + "merge"
    return bool(event.implicit[0]) and event.value == "<<"


def _plain_tag(text: str) -> str:
    """Give the tag of a plain scalar, which depends on how it looks."""
    for tag, pattern in _Loader.yaml_implicit_resolvers.get(text[:1], ()):
        if pattern.match(text):
            return str(tag)
    return "str"


def number_of(text: str) -> int | float | None:
    """Read a number as Go does: 0-prefixed is octal, and a float without fraction is printed as a whole number.

    None where a float64 cannot hold it: then Go takes a plain scalar for a string.
    """
    plain = text.replace("_", "")
    base = 8 if re.fullmatch("[-+]?0[0-7]+", plain) else 0
    try:
        whole = int(plain, base)
        return whole if -(2**63) <= whole < 2**64 else float(whole)
    except OverflowError:
        return None
    except ValueError:  # a fraction, an exponent, or more digits than Python reads
        number = float(plain)
    return (
        None
        if isinf(number)
        else int(number)
        if number.is_integer() and abs(number) < 1e21
        else number
    )
