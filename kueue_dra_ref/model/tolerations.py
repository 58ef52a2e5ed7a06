"""Tolerations of pods and flavors, and the taints that they match.

No counterpart: taints and tolerations as Kubernetes has them (k8s.io/component-helpers).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from kueue_dra_ref.api.labels import integer

Fields = Mapping[str, Any]
"""The fields of a taint, a toleration or the spec of a ResourceFlavor."""
Tolerates = Callable[[Fields, Fields], bool]


def tolerates(toleration: Fields, taint: Fields) -> bool:
    """Whether a toleration matches a taint; its operators are Equal and Exists."""
    return _matches(toleration, taint) and _same(toleration, taint)


def tolerates_by_comparison(toleration: Fields, taint: Fields) -> bool:
    """Whether a toleration matches a taint; its operators are Equal, Exists, Gt and Lt."""
    if not _matches(toleration, taint):
        return False
    return _same(toleration, taint) or _compares(toleration, taint)


def _matches(toleration: Fields, taint: Fields) -> bool:
    """Whether a toleration has the effect and the key of a taint; an empty one matches any."""
    for field in ("effect", "key"):
        wanted = toleration.get(field)
        if wanted and wanted != taint.get(field):
            return False
    return True


def _same(toleration: Fields, taint: Fields) -> bool:
    operator = toleration.get("operator") or "Equal"
    if operator == "Exists":
        return True
    if operator != "Equal":
        return False
    value = taint.get("value") or ""
    return value == (toleration.get("value") or "")


def _compares(toleration: Fields, taint: Fields) -> bool:
    """Whether the value of a taint is above (Gt) or below (Lt) that of a toleration, both integers."""
    bound = _number(toleration)
    value = _number(taint)
    if bound is None or value is None:
        return False
    match toleration.get("operator"):
        case "Gt":
            return value > bound
        case "Lt":
            return value < bound
        case _:
            return False


def _number(holder: Fields) -> int | None:
    text = holder.get("value") or ""
    if not re.fullmatch("0|-?[1-9][0-9]*", text):
        return None
    return integer(text)
