"""YAML as Kubernetes reads and writes it, each value with its line; no other module of the reference knows YAML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import isinf
from typing import Any

import yaml
from yaml import Node as Node

from kueue_dra_ref.api.files import DocumentError
from kueue_dra_ref.target import Manifest

try:
    from yaml import CSafeDumper as _Printer
    from yaml import CSafeLoader as _Parser
except ImportError:  # PyYAML built without libyaml: the same answers, ten times slower
    from yaml import SafeDumper as _Printer  # type: ignore[assignment]
    from yaml import SafeLoader as _Parser  # type: ignore[assignment]

_MOST_VALUES = (
    1_000_000  # a document that is larger than this grew by aliases of aliases
)
_DEEPEST = 100  # no object of Kubernetes has so many levels, and what has many more ends the parser
_MOST_DIGITS = 10_000  # no amount of Kubernetes is so long, and a message repeats it
_LONG_NUMBER = re.compile(rf"[-+]?[0-9.]{{{_MOST_DIGITS},}}[A-Za-z]{{0,2}}")
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


def parsed(text: str, file: str, shift: int = 0) -> Iterator[tuple[int, Node, Any]]:
    """Give each document of a text that is not empty: its number, its node and its value.

    Raises:
        DocumentError: the text is no YAML, repeats a key, or holds what JSON cannot.

    """
    number = 0
    try:
        for number, node in enumerate(yaml.compose_all(text, Loader=_Loader), 1):
            if node.tag != _TAG + "null":
                yield (
                    number,
                    node,
                    _Values(file=file, number=number, shift=shift).of(node),
                )
    except yaml.YAMLError as fault:
        raise _syntax_fault(fault, file, number + 1, shift) from None


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


def found_at(node: Node, steps: Sequence[str]) -> tuple[Node, Node]:
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


def kind_of(node: Node) -> str:
    """Say in words what a node is."""
    match node:
        case yaml.MappingNode():
            return "an object"
        case yaml.SequenceNode():
            return "a list"
        case _:
            return f'"{node.value}"' if node.value else "nothing"


_IS_NUMBER = re.compile(f"{_RESOLVED['int'][0]}|{_RESOLVED['float'][0]}")


class _Loader(_Parser):
    yaml_implicit_resolvers: dict[str, Any] = {}
    depth = 0

    def descend_resolver(self, parent: Node | None, index: object) -> None:
        """Count the levels on the way down; libyaml itself has no bound but the memory of its stack."""
        self.depth += 1
        if self.depth > _DEEPEST:
            mark = parent.start_mark if parent else None
            raise yaml.MarkedYAMLError(
                problem=f"more than {_DEEPEST} levels inside each other",
                problem_mark=mark,
            )

    def ascend_resolver(self) -> None:
        self.depth -= 1


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


@dataclass(slots=True, kw_only=True)
class _Values:
    """Turns the nodes of one document into JSON values."""

    file: str
    number: int
    shift: int
    left: int = _MOST_VALUES
    inside: list[Node] = field(default_factory=list)

    def of(self, node: Node) -> Any:
        self.left -= 1
        if self.left < 0 or any(node is each for each in self.inside):
            raise self._fault(
                node,
                "an alias that holds itself, or aliases without end",
                "a finite document",
            )
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        self.inside.append(node)
        value = (
            self._mapping(node)
            if isinstance(node, yaml.MappingNode)
            else [self.of(each) for each in node.value]
        )
        self.inside.pop()
        return value

    def _mapping(self, node: yaml.MappingNode) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            if key_node.tag == _TAG + "merge":
                merged = self._merged(value_node) | merged
                continue
            key = self._key(key_node)
            if key in own:
                raise self._fault(
                    key_node,
                    f'key "{key}" again, first on line {lines[key]}',
                    "each key once",
                )
            own[key], lines[key] = (
                self.of(value_node),
                self.shift + key_node.start_mark.line + 1,
            )
        return merged | own

    def _merged(self, node: Node) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        for each in node.value if isinstance(node, yaml.SequenceNode) else [node]:
            if not isinstance(each, yaml.MappingNode):
                raise self._fault(each, kind_of(each), "an object to merge")
            merged = self.of(each) | merged
        return merged

    def _key(self, node: Node) -> str:
        key = self.of(node) if isinstance(node, yaml.ScalarNode) else None
        if key is None:
            raise self._fault(node, f"{kind_of(node)} as a key", "a string")
        return str(key).lower() if isinstance(key, bool) else str(key)

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        text = str(node.value)
        if len(text) > _MOST_DIGITS and _LONG_NUMBER.fullmatch(text):
            found = f"a number of {len(text)} digits"
            raise self._fault(node, found, f"at most {_MOST_DIGITS} digits")
        match node.tag.removeprefix(_TAG):
            case "str" | "merge" | "timestamp" | "value":
                return text
            case "bool" if text.lower() in _BOOLS:
                return _BOOLS[text.lower()]
            case "null":
                return None
            case "int" | "float" if _IS_NUMBER.fullmatch(text):
                return text if (number := _number(text)) is None else number
            case _:
                raise self._fault(node, text or node.tag, "a value that JSON can hold")

    def _fault(self, node: Node, found: str, expected: str) -> DocumentError:
        line = self.shift + node.start_mark.line + 1
        return DocumentError(
            file=self.file,
            document=self.number,
            line=line,
            found=found,
            expected=expected,
        )


def _number(text: str) -> int | float | None:
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
