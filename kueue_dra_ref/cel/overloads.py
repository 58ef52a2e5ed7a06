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
    calls = (
        node
        for node in tree.walk()
        if node.form == "call" and node.name in longest and not node.member
    )
    younger = [node for node in calls if len(node.children) > longest[node.name]]
    if not younger:
        return None
    faults = [
        ValidatorError(
            f"found no matching overload for '{each.name}' applied to '{_types(each)}'",
            each.offset,
        )
        for each in younger
    ]
    issues = "\n".join(
        error_messages.issue(expression, fault)
        for fault in sorted(faults, key=lambda fault: fault.offset)
    )
    return CompileError(detail=f"compilation failed: {issues}")


def _types(call: checked_expr.CheckedExpr) -> str:
    return f"({', '.join(str(each.kind) for each in call.children)})"
