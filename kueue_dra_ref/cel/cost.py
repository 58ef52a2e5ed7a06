"""The known traps of the API server's cost estimate, which Kueue's own caches skip.

Kubernetes: k8s.io/dynamic-resource-allocation/cel/compile.go (draCostEstimator, sizeEstimator);
    k8s.io/apiserver/pkg/cel/library/cost.go (CostEstimator)
"""

from __future__ import annotations

from kueue_dra_ref.cel.source import Source, read

_CHEAP = frozenset({"startsWith", "endsWith", "size"})


def cost_trap(expression: str) -> str | None:
    """Name what makes the API server refuse the expression as too complex although it looks innocent."""
    source = read(expression)
    for index, token in enumerate(source.tokens):
        if source.text(index + 1) != "(":
            continue
        if token.text == "type" and _compared(source, index):
            return "type() compared"
        if source.text(index - 1) == ".":
            trap = _method_trap(source, index)
            if trap:
                return trap
    return None


def _method_trap(source: Source, index: int) -> str | None:
    name = source.text(index)
    if name == "join":
        return "join()"
    if name not in ("split", "findAll"):
        return None
    end = source.pair.get(index + 1, index + 1)
    trap = _element_traversed(source, end)
    if trap is None:
        return None
    return f"{trap} of an element of {name}()"


def _compared(source: Source, index: int) -> bool:
    end = source.pair.get(index + 1, index)
    operators = ("==", "!=")
    if source.text(index - 1) in operators:
        return True
    return source.text(end + 1) in operators


def _element_traversed(source: Source, end: int) -> str | None:
    """Name what is done with an indexed element, whose length the estimate does not know."""
    if source.text(end + 1) != "[":
        return None
    closing = source.pair.get(end + 1, end + 1)
    operator = source.text(closing + 1)
    if operator == "+":
        return "+"
    method = source.text(closing + 2)
    if operator == "." and method not in _CHEAP:
        return f"{method}()"
    return None
