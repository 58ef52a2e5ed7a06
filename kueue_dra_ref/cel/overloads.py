"""Forms of functions that came later than the functions themselves: an older Kubernetes finds no overload for them.

Kubernetes: k8s.io/apiserver/pkg/cel/environment/base.go (MustBaseEnvSet)
"""

from __future__ import annotations

from collections.abc import Mapping

from kueue_dra_ref.cel import checked_expr, engine, error_messages
from kueue_dra_ref.cel.model import CompileError
from kueue_dra_ref.cel.validators import ValidatorError


def lacking(expression: str, longest: Mapping[str, int]) -> CompileError | None:
    """Compile for a Kubernetes that knows functions with so many arguments only; None when it finds nothing."""
    try:
        tree = checked_expr.tree(engine.checked(expression))
    except engine.CompileRejected:
        return None
    faults = []
    for node in tree.walk():
        if _is_younger(node, longest):
            types = _types(node)
            detail = (
                f"found no matching overload for '{node.function}' applied to '{types}'"
            )
            fault = ValidatorError(detail, node.offset)
            faults.append(fault)
    if not faults:
        return None
    faults.sort(key=lambda fault: fault.offset)
    issues = [error_messages.issue(expression, fault) for fault in faults]
    detail = "\n".join(issues)
    return CompileError(detail=f"compilation failed: {detail}")


def _is_younger(node: checked_expr.CheckedExpr, longest: Mapping[str, int]) -> bool:
    if node.function not in longest:
        return False
    return len(node.children) > longest[node.function]


def _types(call: checked_expr.CheckedExpr) -> str:
    kinds = [str(each.kind) for each in call.children]
    listed = ", ".join(kinds)
    return f"({listed})"
