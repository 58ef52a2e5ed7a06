"""Compile a CEL device selector and match devices, as Kueue 0.19 does with Kubernetes 1.36's DRA environment.

Kueue compiles selectors with every DRA feature off but in the environment for stored expressions, which ignores
feature gates: `device.allowMultipleAllocations` and `includes()` compile, the former is never filled by Kueue and so is
always false, and a list attribute fails every evaluation on its device.

Kubernetes: k8s.io/dynamic-resource-allocation/cel/compile.go (CompileCELExpression, DeviceMatches)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

from kueue_dra_ref.api import quantities
from kueue_dra_ref.cel import (
    checked_expr,
    constant_folding,
    engine,
    error_messages,
    formats,
    syntax,
)
from kueue_dra_ref.cel.activation import Activation, facts, variables
from kueue_dra_ref.cel.model import CompileError, Device, EvaluationError, Undecided
from kueue_dra_ref.cel.rewrites import rewritten
from kueue_dra_ref.cel.source import Source, beyond_the_engine, for_the_engine, read
from kueue_dra_ref.cel.validators import Validation, ValidatorError, literals, review

_NOT_IN_THE_ENGINE = re.compile(
    r"'(?:lastIndexOf|indexOf)' applied to '\(list\("
    r"|'string' applied to '\(net\."
    r"|undeclared reference to '(?:exists_one|transformMap|transformMapEntry|unwrap|unwrapOpt|validate)'"
    r"|'_[<>]=?_' applied to '\((?:int|uint|double), (?:int|uint|double)\)'"
    r"|reserved identifier|recursion limit|No overload found in reference resolve step"
)
_VERSION = frozenset({"version"})
_IN_GO = {
    "null": "null_type",
    "timestamp": "google.protobuf.Timestamp",
    "duration": "google.protobuf.Duration",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Selector:
    """A compiled expression."""

    expression: str
    source: Source
    review: Validation
    plain: engine.Evaluate

    def matches(self, device: Device) -> bool | EvaluationError | Undecided:
        """Evaluate on one device; the answer is remembered, for the engine leaks a little with each call of ours."""
        return _matches(self, facts(device))


@lru_cache(maxsize=4096)
def compiled(expression: str) -> Selector | CompileError | Undecided:
    """Compile an expression; the API server's limits on length and cost are not Kueue's and are not applied."""
    source = read(expression)
    faults = tuple(syntax.faults(source))
    if faults:
        return _rejected(expression, faults)
    in_one_call = formats.in_one_call(source, expression)
    unsupported = beyond_the_engine(read(in_one_call))
    if unsupported:
        return Undecided(reason=unsupported)
    text: str | None = in_one_call
    while text is not None:
        try:
            tree = checked_expr.tree(engine.checked(text))
        except engine.CompileRejected as refused:
            before, refusal = text, str(refused)
            text = rewritten(text, refusal)
        else:
            return _fault(text, tree) or _selector(text, read(text), review(tree))
    if _NOT_IN_THE_ENGINE.search(refusal) or (
        "optFlatMap" in expression and "undeclared reference" in refusal
    ):
        return Undecided(reason=f"the engine does not know: {refusal}")
    return CompileError(
        detail=f"compilation failed: {error_messages.refusal(before, refusal)}"
    )


def _rejected(expression: str, faults: Iterable[ValidatorError]) -> CompileError:
    issues = [error_messages.issue(expression, fault) for fault in faults]
    detail = "\n".join(issues)
    return CompileError(detail=f"compilation failed: {detail}")


def _fault(
    expression: str, tree: checked_expr.CheckedExpr
) -> CompileError | Undecided | None:
    """Apply the checks that Kubernetes makes of a typed expression."""
    found = review(tree)
    undecided = chain(
        found.undecided,
        constant_folding.undecided(tree),
        _odd_integers(found),
    )
    for reason in undecided:
        return Undecided(reason=reason)
    faults = sorted(
        [*found.faults, *_bad_literals(tree)], key=lambda fault: fault.offset
    )
    if faults:
        return _rejected(expression, faults)
    if tree.kind.name not in ("bool", "any"):
        kind = _as_go_prints(tree.kind)
        return CompileError(
            detail=f"must evaluate to bool or the unknown type, not {kind}"
        )
    constant = next(_bad_constants(tree), None)
    return (
        CompileError(detail=f"program instantiation failed: {constant}")
        if constant
        else None
    )


def _selector(
    expression: str, source: Source, found: Validation
) -> Selector | Undecided:
    try:
        plain = engine.program(for_the_engine(source, found.always_guarded))
    except engine.CompileRejected as refused:
        return Undecided(reason=f"the engine does not know: {refused}")
    return Selector(expression=expression, source=source, review=found, plain=plain)


def _as_go_prints(kind: checked_expr.ExprKind) -> checked_expr.ExprKind:
    """Give the names that a type and its parameters have outside the checker's messages."""
    params = tuple(map(_as_go_prints, kind.params))
    return checked_expr.ExprKind(_IN_GO.get(kind.name, kind.name), params)


def _bad_literals(tree: checked_expr.CheckedExpr) -> Iterator[ValidatorError]:
    for call in literals(tree, frozenset({"matches"})):
        if not engine.is_regex(call.last.value):
            yield ValidatorError("invalid matches argument", call.last.offset)
    for call in literals(tree, frozenset({"duration", "timestamp"})):
        if not engine.converts(call.function, call.first.value):
            yield ValidatorError(f"invalid {call.function} argument", call.first.offset)


def _odd_integers(found: Validation) -> Iterator[str]:
    for text in found.integer_views:
        if text is not None and _hides_its_integer(text):
            yield f"the integer of {text}, which Kubernetes does not see"


def _hides_its_integer(text: str) -> bool:
    try:
        return not quantities.shows_its_integer(text)
    except quantities.BadQuantity:
        return False


def _bad_constants(tree: checked_expr.CheckedExpr) -> Iterator[str]:
    """Find the constants that Kubernetes evaluates when it builds the program, and that fail then."""
    yield from constant_folding.failures(tree)
    searches = (node for node in tree.walk() if node.function in ("find", "findAll"))
    for _, pattern, *_ in (call.children for call in searches):
        if pattern.form == "constant" and not engine.is_regex(str(pattern.value)):
            yield f"error parsing regexp: {pattern.value}"


@lru_cache(maxsize=65536)
def _matches(
    selector: Selector, seen: Activation
) -> bool | EvaluationError | Undecided:
    data = variables(seen)
    if isinstance(data, EvaluationError | Undecided):
        return data
    doubt = _doubt(selector.review, seen)
    if doubt:
        return Undecided(reason=doubt)
    program = (
        _guarded(selector, _guards(selector, seen))
        if selector.review.guarded
        else selector.plain
    )
    return _verdict(program(data))


def _guards(selector: Selector, seen: Activation) -> frozenset[int]:
    versions = seen.named(_VERSION)
    return frozenset(
        offset
        for offset, name in selector.review.guarded.items()
        if _is_met(name, versions)
    )


def _doubt(found: Validation, seen: Activation) -> str | None:
    """Name what the engine would get wrong on this device."""
    for doubt in found.doubts:
        if _is_met(doubt.name, seen.named(doubt.kinds)):
            return f"a use of {doubt.name or 'an attribute'} that the engine answers differently"
    if None in found.integer_views and not seen.shows_all_integers:
        return "the integer of a capacity, which Kubernetes does not see"
    return None


def _is_met(name: str | None, names: frozenset[str]) -> bool:
    return name in names or (name is None and bool(names))


@lru_cache(maxsize=4096)
def _guarded(selector: Selector, offsets: frozenset[int]) -> engine.Evaluate:
    return engine.program(
        for_the_engine(selector.source, offsets | selector.review.always_guarded)
    )


def _verdict(value: Any) -> bool | EvaluationError | Undecided:
    """Take a truth or a fault as it is; any other value of an attribute is no answer."""
    match value:
        case bool() | EvaluationError() | Undecided():
            return value
        case int():
            return _not_bool("int", "unsupported type conversion from 'int' to bool")
        case str():
            return _not_bool(
                "string", "unsupported native conversion from string to 'bool'"
            )
        case _:
            return _not_bool(
                "kubernetes.Semver", "type conversion error from 'Semver' to 'bool'"
            )


def _not_bool(kind: str, why: str) -> EvaluationError:
    return EvaluationError(
        detail=f"CEL result of type {kind} could not be converted to bool: {why}"
    )
