"""Validation of CEL selectors: length, compilation, type, and the costs that are known to be too high.

Kubernetes: pkg/apis/resource/validation/validation.go (validateSelectorSlice, validateSelector, validateCELSelector)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from kueue_dra_ref.api.names import size
from kueue_dra_ref.api.unstructured import Object
from kueue_dra_ref.apiserver.fielderrors import (
    Errors,
    forbidden,
    invalid,
    listed,
    required,
    too_long,
)
from kueue_dra_ref.apiserver.kubernetes_version import Kubernetes
from kueue_dra_ref.cel import CompileError, Undecided, compiled, cost_trap, lacking

MAX_SELECTORS = 32
MAX_EXPRESSION = 10 * 1024
_GATED = {
    "allowMultipleAllocations": "DRAConsumableCapacity",
    "includes": "DRAListTypeAttributes",
}
# The minors from which a new selector may use a library's functions: one after the minor that brought them.
_SINCE = {
    **dict.fromkeys(
        ("existsOne", "transformList", "transformMap", "transformMapEntry"), 33
    ),
    **dict.fromkeys(("first", "last"), 33),
    **dict.fromkeys(("slice", "flatten", "distinct", "reverse", "sort", "sortBy"), 35),
}
_SHORT = {"semver": 1, "isSemver": 1}
_NORMALIZES_SINCE = 34
"""The minor from which a new selector may say whether the text of a version is to be normalized."""


def selectors(
    found: list[Object] | None,
    path: str,
    k: Kubernetes,
    *,
    stored: bool = False,
) -> Errors:
    """Check a list of selectors; a stored one may use what a gate has taken away since."""
    yield from listed(
        found, path, k, partial(_selector, k=k, stored=stored), at_most=MAX_SELECTORS
    )


def _selector(selector: Object, path: str, *, k: Kubernetes, stored: bool) -> Errors:
    if "cel" not in selector:
        yield required(f"{path}.cel")
        return
    yield from _expression(
        selector["cel"].get("expression") or "",
        f"{path}.cel.expression",
        k,
        stored=stored,
    )


def _expression(expression: str, path: str, k: Kubernetes, *, stored: bool) -> Errors:
    if stored and k.is_declarative:
        return
    if size(expression) > MAX_EXPRESSION:
        yield too_long(path, MAX_EXPRESSION, k)
        return
    match (None if stored else _gated(expression, k)) or compiled(expression):
        case CompileError(detail=detail) if not _may_be_lists(detail, k):
            yield invalid(path, expression, detail)
        case CompileError() | Undecided():
            return  # what the engine cannot say is no refusal
        case _ if cost_trap(expression):
            yield forbidden(path, "too complex, exceeds cost limit")


def _may_be_lists(fault: str, k: Kubernetes) -> bool:
    """Tell whether a fault is about attributes as such, which can be lists where a gate allows them."""
    return k.on("DRAListTypeAttributes") and "type 'any'" in fault


def _gated(expression: str, k: Kubernetes) -> CompileError | None:
    """Compile an expression with the names that gates or age take away misspelt, and spell them right in the answer."""
    taken = list(_taken_away(k))
    text = expression
    for name in taken:
        text = re.sub(rf"\b{name}\b", _misspelt(name), text)
    found = compiled(text)
    if isinstance(found, CompileError):
        detail = found.detail
        for name in taken:
            detail = detail.replace(_misspelt(name), name)
        return CompileError(detail=detail)
    return lacking(expression, _SHORT) if k.minor < _NORMALIZES_SINCE else None


def _misspelt(name: str) -> str:
    return f"{name[:-1]}_"


def _taken_away(k: Kubernetes) -> Iterator[str]:
    """Name what this Kubernetes does not let a new selector use."""
    yield from (name for name, gate in _GATED.items() if not k.on(gate))
    yield from (name for name, since in _SINCE.items() if k.minor < since)
