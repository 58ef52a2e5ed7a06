"""Label selectors and the node requirements of a pod, matched against labels."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kueue_dra_ref.api.quantities import clamp
from kueue_dra_ref.api.status_errors import invalid
from kueue_dra_ref.api.unstructured import Object, child, mappings

NAME_LABEL = "kubernetes.io/metadata.name"
"""The label with its name that the API server gives each namespace."""


def selects(selector: Object, labels: Mapping[str, str]) -> bool:
    """Tell whether a LabelSelector matches; an empty one matches everything.

    Raises:
        ManifestError: an operator is unknown or a field is of the wrong type.

    """
    wanted = child(selector, "matchLabels", dict, {})
    for key, value in wanted.items():
        if labels.get(key) != value:
            return False
    expressions = mappings(selector, "matchExpressions")
    return all(expression_holds(each, labels) for each in expressions)


def expression_holds(expression: Object, labels: Mapping[str, str]) -> bool:
    """Tell whether one ``{key, operator, values}`` requirement holds for labels.

    Raises:
        ManifestError: the operator is unknown.

    """
    key = expression.get("key", "")
    operator = expression.get("operator")
    values = expression.get("values") or []
    present = key in labels
    value = labels.get(key, "")
    match operator:
        case "In":
            return present and value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return present
        case "DoesNotExist":
            return not present
        case "Gt" | "Lt":
            return present and _compares(operator, value, values)
        case _:
            expected = "expected In, NotIn, Exists, DoesNotExist, Gt or Lt"
            raise invalid("operator", operator, expected)


def integer(text: str) -> int | None:
    """Read the 64-bit integer that a text is; None when it is none."""
    if not re.fullmatch("[+-]?[0-9]+", text):
        return None
    found = int(text)
    return found if found == clamp(found) else None


def _compares(operator: str, value: str, values: list[str]) -> bool:
    if len(values) != 1:
        return False
    left = integer(value)
    right = integer(values[0])
    if left is None:
        return False
    if right is None:
        return False
    if operator == "Gt":
        return left > right
    return left < right
