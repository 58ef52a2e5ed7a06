"""The known traps of the API server's cost estimate, which Kueue's own caches skip.

Kubernetes: k8s.io/dynamic-resource-allocation/cel/compile.go (draCostEstimator, sizeEstimator);
    k8s.io/apiserver/pkg/cel/library/cost.go (CostEstimator)
"""

from __future__ import annotations

from kueue_dra_ref.cel.source import Source, read

_CHEAP = frozenset({"startsWith", "endsWith", "size"})
_EQUALITIES = frozenset({"==", "!="})


def cost_trap(expression: str) -> str | None:
    """Name what makes the API server refuse the expression as too complex although it looks innocent."""
    source = read(expression)
    for index in range(len(source.tokens)):
        called = source.texts(index, 2)
        if called == ["type", "("] and _compared(source, index):
            return "type() compared"
        trap = _method_trap(source, index)
        if trap:
            return trap
    return None


def _method_trap(source: Source, index: int) -> str | None:
    name, opened = source.texts(index, 2)
    if opened != "(":
        return None
    if name == "join":
        return "join()"
    if name not in ("split", "findAll"):
        return None
    trap = _element_traversed(source, source.after(index + 1))
    if trap is None:
        return None
    return f"{trap} of an element of {name}()"


def _compared(source: Source, index: int) -> bool:
    beside = source.text(index - 1), source.text(source.after(index + 1))
    return not _EQUALITIES.isdisjoint(beside)


def _element_traversed(source: Source, at: int) -> str | None:
    """Name what is done with an indexed element, whose length the estimate does not know."""
    is_indexed = source.text(at) == "["
    operator, method = source.texts(source.after(at), 2) if is_indexed else ("", "")
    if operator == "+":
        return "+"
    if operator == "." and method not in _CHEAP:
        return f"{method}()"
    return None
