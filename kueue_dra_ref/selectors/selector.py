"""Compile a CEL device selector and match devices, as Kueue 0.19 does with Kubernetes 1.36's DRA environment.

Kueue compiles selectors with every DRA feature off but in the environment for stored expressions, which ignores
feature gates: `device.allowMultipleAllocations` and `includes()` compile, the former is never filled by Kueue and so is
always false, and a list attribute fails every evaluation on its device.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from kueue_dra_ref.api.quantities import BadQuantity

from . import checked, engine, library, semver
from .model import CompileFault, Device, EvaluationFault, Undecided
from .review import CONVERSIONS, Doubt, Fault, Review, literals, review
from .source import Source, beyond_the_engine, for_the_engine, read

_NOT_IN_THE_ENGINE = re.compile(
    r"'(?:lastIndexOf|indexOf)' applied to '\(list\("
    r"|'string' applied to '\(net\."
    r"|undeclared reference to '(?:exists_one|transformMap|transformMapEntry)'"
    r"|reserved identifier|recursion limit|No overload found in reference resolve step"
)
_FIELD = re.compile(r"expression of type 'kubernetes.DRADevice' cannot be the operand of a select operation")
_OVERLOAD = re.compile(r"(<input>:(\d+):(\d+): found no matching overload for '(\w+)' applied to ')\(([^\n]*)\)'")
_CONVERTED = {"bool": "boolean"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """A device as a value to remember answers by."""

    driver: str
    shared: bool
    attributes: tuple[tuple[str, str, Any], ...]
    capacity: tuple[tuple[str, str], ...]

    @property
    def versions(self) -> frozenset[str]:
        """The names, without domain, of the attributes that are versions."""
        return frozenset(name.partition("/")[2] or name for name, kind, _ in self.attributes if kind == "version")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Selector:
    """A compiled expression."""

    expression: str
    source: Source = field(repr=False)
    review: Review = field(repr=False)
    plain: engine.Evaluate = field(repr=False)

    def matches(self, device: Device) -> bool | EvaluationFault | Undecided:
        """Evaluate on one device; an answer is remembered by the expression and what the device publishes."""
        attributes = tuple(
            (name, kind, tuple(value) if isinstance(value, list) else value)
            for name, typed in sorted(device.attributes.items())
            for kind, value in typed.items()
        )
        return _matches(
            self,
            Facts(
                driver=device.driver,
                shared=device.allow_multiple_allocations,
                attributes=attributes,
                capacity=tuple(sorted((name, str(value)) for name, value in device.capacity.items())),
            ),
        )


@lru_cache(maxsize=4096)
def compiled(expression: str) -> Selector | CompileFault | Undecided:
    """Compile an expression; the API server's limits on length and cost are not Kueue's and are not applied."""
    source = read(expression)
    unsupported = beyond_the_engine(source)
    if unsupported:
        return Undecided(reason=unsupported)
    try:
        tree = checked.tree(engine.checked(expression))
    except engine.Refused as refusal:
        if _NOT_IN_THE_ENGINE.search(str(refusal)):
            return Undecided(reason=f"the engine does not know: {refusal}")
        return CompileFault(detail=f"compilation failed: {_wording(expression, str(refusal))}")
    return _reviewed(expression, source, tree)


def _reviewed(expression: str, source: Source, tree: checked.Node) -> Selector | CompileFault | Undecided:
    found = review(tree)
    if found.undecided:
        return Undecided(reason=found.undecided[0])
    faults = sorted([*found.faults, *_bad_literals(tree)], key=lambda fault: fault.offset)
    if faults:
        issues = "\n".join(_issue(expression, fault) for fault in faults)
        return CompileFault(detail=f"compilation failed: {issues}")
    if tree.kind.name not in ("bool", "any"):
        return CompileFault(detail=f"must evaluate to bool or the unknown type, not {tree.kind}")
    for refusal in _bad_constants(tree):
        return CompileFault(detail=f"program instantiation failed: {refusal}")
    try:
        plain = engine.program(for_the_engine(source))
    except engine.Refused as refused:
        return Undecided(reason=f"the engine does not know: {refused}")
    return Selector(expression=expression, source=source, review=found, plain=plain)


def _bad_literals(tree: checked.Node) -> Iterator[Fault]:
    for call in literals(tree, frozenset({"matches"})):
        if not engine.is_regex(call.children[-1].value):
            yield Fault("invalid matches argument", call.children[-1].offset)
    for call in literals(tree, frozenset({"duration", "timestamp"})):
        if not engine.converts(call.name, call.children[0].value):
            yield Fault(f"invalid {call.name} argument", call.children[0].offset)


def _bad_constants(tree: checked.Node) -> Iterator[str]:
    """Find the constants that Kubernetes evaluates when it builds the program, and that fail then."""
    for call in literals(tree, CONVERSIONS):
        if not engine.converts(call.name, call.children[0].value):
            yield f"type conversion error from '{call.children[0].kind}' to '{call.name}'"
    for call in literals(tree, frozenset({"find", "findAll"})):
        if call.children[1].form == "constant" and not engine.is_regex(call.children[1].value):
            yield f"error parsing regexp: {call.children[1].value}"


def _issue(expression: str, fault: Fault) -> str:
    """Print an issue as CEL does: place, message, the line and a pointer."""
    before = expression[: fault.offset]
    line, column = before.count("\n") + 1, fault.offset - (before.rfind("\n") + 1)
    text = expression.split("\n")[line - 1]
    return f"ERROR: <input>:{line}:{column + 1}: {fault.detail}\n | {text}\n | {'.' * column}^"


def _wording(expression: str, refusal: str) -> str:
    """Say the engine's refusal in Kubernetes' words."""
    lines = expression.split("\n")

    def overload(match: re.Match[str]) -> str:
        line, column = lines[int(match[2]) - 1], int(match[3]) - 1
        if not re.search(rf"\.\s*{match[4]}\s*$", line[:column]):
            return match[0]
        target, _, rest = match[5].partition(", ")
        return f"{match[1]}{target}.({rest})'"

    def fielded(match: re.Match[str]) -> str:
        name = re.search(r"device\s*\.\s*(?!driver|attributes|capacity|allowMultipleAllocations)(\w+)", expression)
        return f"undefined field '{name[1]}'" if name else match[0]

    issues = [issue for issue in re.split(r"(?=^ERROR: )", refusal, flags=re.MULTILINE) if "'*error*'" not in issue]
    return _OVERLOAD.sub(overload, _FIELD.sub(fielded, "".join(issues))).rstrip("\n")


@lru_cache(maxsize=65536)
def _matches(selector: Selector, facts: Facts) -> bool | EvaluationFault | Undecided:
    data = _data(facts)
    if isinstance(data, EvaluationFault | Undecided):
        return data
    names = frozenset(name.partition("/")[2] or name for name, _, _ in facts.attributes)
    for doubt in selector.review.doubts:
        if _applies(doubt, facts.versions if doubt.only_versions else names):
            return Undecided(reason=f"a use of {doubt.name or 'an attribute'} that the engine answers differently")
    guarded = frozenset(
        offset
        for offset, name in selector.review.guarded.items()
        if name in facts.versions or (name is None and facts.versions)
    )
    value = _guarded(selector, guarded)(data) if guarded else selector.plain(data)
    return _verdict(value)


def _applies(doubt: Doubt, names: frozenset[str]) -> bool:
    return doubt.name in names or (doubt.name is None and bool(names))


@lru_cache(maxsize=4096)
def _guarded(selector: Selector, offsets: frozenset[int]) -> engine.Evaluate:
    return engine.program(for_the_engine(selector.source, offsets))


def _verdict(value: Any) -> bool | EvaluationFault | Undecided:
    match value:
        case bool() | EvaluationFault() | Undecided():
            return value
        case int():
            return EvaluationFault(detail=_not_bool("int", "unsupported type conversion from 'int' to bool"))
        case str():
            return EvaluationFault(detail=_not_bool("string", "unsupported native conversion from string to 'bool'"))
        case _:
            return EvaluationFault(
                detail=_not_bool("kubernetes.Semver", "type conversion error from 'Semver' to 'bool'")
            )


def _not_bool(kind: str, why: str) -> str:
    return f"CEL result of type {kind} could not be converted to bool: {why}"


def _data(facts: Facts) -> dict[str, Any] | EvaluationFault | Undecided:
    """Lay the device out as the engine's variables, names without domain under the driver's."""
    attributes: dict[str, dict[str, Any]] = {}
    for name, kind, value in facts.attributes:
        read_value = _attribute(kind, value)
        if isinstance(read_value, EvaluationFault):
            return EvaluationFault(detail=f"attribute {name}: {read_value.detail}")
        domain, identifier = _qualified(name, facts.driver)
        attributes.setdefault(domain, {})[identifier] = read_value
    capacity: dict[str, dict[str, bytes]] = {}
    for name, text in facts.capacity:
        domain, identifier = _qualified(name, facts.driver)
        try:
            capacity.setdefault(domain, {})[identifier] = library.quantity(text)
        except BadQuantity as error:
            return Undecided(reason=f"capacity {name}: {error}")
    return {
        "device.driver": facts.driver,
        "device.allowMultipleAllocations": facts.shared,
        "device.attributes": attributes,
        "device.capacity": capacity,
    }


def _attribute(kind: str, value: Any) -> Any:
    match kind:
        case "string" | "int" | "bool":
            return value
        case "version":
            try:
                return library.version(value)
            except semver.BadVersion as error:
                return EvaluationFault(detail=f"parse semantic version: {error}")
        case _:
            return EvaluationFault(detail="unsupported attribute value")


def _qualified(name: str, driver: str) -> tuple[str, str]:
    domain, slash, identifier = name.partition("/")
    return (domain, identifier) if slash else (driver, name)
