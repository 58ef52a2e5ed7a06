"""Taints and tolerations: which flavors the pods do not tolerate (Queue Admission, step 6).

Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (checkFlavorForPodSets)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from kueue_dra_ref.api.labels import integer
from kueue_dra_ref.model.flavor_check import FlavorCheck
from kueue_dra_ref.model.rule import rule

Fields = Mapping[str, Any]
"""The fields of a taint, a toleration or the spec of a ResourceFlavor."""
Tolerates = Callable[[Fields, Fields], bool]


@rule("QUOTA-019", "QUOTA-032", "QUOTA-033")
def taints_must_be_tolerated(check: FlavorCheck) -> str | None:
    """Kueue skips a flavor with a NoSchedule or NoExecute taint that neither pod nor flavor tolerates.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (checkFlavorForPodSets)
    """
    return _untolerated(check, tolerates_by_comparison)


@rule("QUOTA-019", "QUOTA-032", "QUOTA-034")
def taints_must_be_tolerated_0_15(check: FlavorCheck) -> str | None:
    """Kueue skips a flavor with an untolerated taint; operators Gt and Lt tolerate none.

    Kueue 0.15: pkg/scheduler/flavorassigner/flavorassigner.go (checkFlavorForPodSets)
    """
    return _untolerated(check, tolerates)


def tolerates(toleration: Fields, taint: Fields) -> bool:
    """Whether a toleration matches a taint; its operators are Equal and Exists."""
    return _matches(toleration, taint) and _same(toleration, taint)


def tolerates_by_comparison(toleration: Fields, taint: Fields) -> bool:
    """Whether a toleration matches a taint; its operators are Equal, Exists, Gt and Lt."""
    if not _matches(toleration, taint):
        return False
    return _same(toleration, taint) or _compares(toleration, taint)


def _untolerated(check: FlavorCheck, by: Tolerates) -> str | None:
    of_flavor = check.spec.get("tolerations") or ()
    tolerations = (*check.pod_set.tolerations, *of_flavor)
    for taint in check.spec.get("nodeTaints") or ():
        if taint.get("effect") not in {"NoSchedule", "NoExecute"}:
            continue
        if not any(by(each, taint) for each in tolerations):
            return f"untolerated taint {_show_taint(taint)} in flavor {check.name}"
    return None


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


def _show_taint(taint: Fields) -> str:
    """Print a taint as Go prints the struct, as Kueue's message does."""
    key = taint.get("key", "")
    value = taint.get("value", "")
    effect = taint.get("effect", "")
    return f"{{{key} {value} {effect} <nil>}}"
