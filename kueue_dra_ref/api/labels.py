"""Label selectors and the node requirements of a pod, matched against labels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from kueue_dra_ref.api.quantities import clamp
from kueue_dra_ref.api.status_errors import invalid
from kueue_dra_ref.api.unstructured import child, mappings

NAME_LABEL = "kubernetes.io/metadata.name"
"""The label with its name that the API server gives each namespace."""


def selects(selector: dict[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether a LabelSelector matches; an empty one matches everything.

    Raises:
        ManifestFault: an operator is unknown or a field is of the wrong type.

    """
    wanted = child(selector, "matchLabels", dict, {})
    plain = all(labels.get(key) == value for key, value in wanted.items())
    return plain and all(
        expression_holds(e, labels) for e in mappings(selector, "matchExpressions")
    )


def expression_holds(expression: dict[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether one ``{key, operator, values}`` requirement holds for labels.

    Raises:
        ManifestFault: the operator is unknown.

    """
    key, operator, values = (
        expression.get("key", ""),
        expression.get("operator"),
        expression.get("values") or [],
    )
    present, value = key in labels, labels.get(key, "")
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
            raise invalid(
                "operator",
                operator,
                "expected In, NotIn, Exists, DoesNotExist, Gt or Lt",
            )


def integer(text: str) -> int | None:
    """The 64-bit integer that a text is; None when it is none."""
    found = int(text) if re.fullmatch("[+-]?[0-9]+", text) else None
    return found if found is not None and found == clamp(found) else None


def _compares(operator: str, value: str, values: list[str]) -> bool:
    left, right = integer(value), integer(values[0]) if len(values) == 1 else None
    if left is None or right is None:
        return False
    return left > right if operator == "Gt" else left < right
