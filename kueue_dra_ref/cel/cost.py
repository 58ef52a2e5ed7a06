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
        called = source.text(index + 1) == "("
        if token.text == "type" and called and _compared(source, index):
            return "type() compared"
        if token.text == "join" and called and source.text(index - 1) == ".":
            return "join()"
        if (
            token.text in ("split", "findAll")
            and called
            and source.text(index - 1) == "."
        ):
            trap = _element_traversed(source, source.pair.get(index + 1, index + 1))
            if trap:
                return f"{trap} of an element of {token.text}()"
    return None


def _compared(source: Source, index: int) -> bool:
    after = source.text(source.pair.get(index + 1, index) + 1)
    return after in ("==", "!=") or source.text(index - 1) in ("==", "!=")


def _element_traversed(source: Source, end: int) -> str | None:
    """Name what is done with an indexed element, whose length the estimate does not know."""
    if source.text(end + 1) != "[":
        return None
    after = source.pair.get(end + 1, end + 1) + 1
    if source.text(after) == "+":
        return "+"
    if source.text(after) == "." and source.text(after + 1) not in _CHEAP:
        return f"{source.text(after + 1)}()"
    return None
