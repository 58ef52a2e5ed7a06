"""Taints and tolerations: which flavors the pods do not tolerate (Queue Admission, step 6).

Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (checkFlavorForPodSets)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from kueue_dra_ref.api.labels import integer
from kueue_dra_ref.api.types import PodSet
from kueue_dra_ref.model.rule import rule

Tolerates = Callable[[Mapping[str, Any], Mapping[str, Any]], bool]


@rule("QUOTA-019", "QUOTA-032", "QUOTA-033")
def taints_must_be_tolerated(
    pod_set: PodSet, name: str, flavor: Mapping[str, Any]
) -> str | None:
    """Kueue skips a flavor with a NoSchedule or NoExecute taint that neither pod nor flavor tolerates.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (checkFlavorForPodSets)
    """
    return _untolerated(pod_set, name, flavor, _same_or_compares)


@rule("QUOTA-019", "QUOTA-032", "QUOTA-034")
def taints_must_be_tolerated_0_15(
    pod_set: PodSet, name: str, flavor: Mapping[str, Any]
) -> str | None:
    """Kueue skips a flavor with an untolerated taint; operators Gt and Lt tolerate none.

    Kueue 0.15: pkg/scheduler/flavorassigner/flavorassigner.go (checkFlavorForPodSets)
    """
    return _untolerated(pod_set, name, flavor, _same)


def _untolerated(
    pod_set: PodSet, name: str, flavor: Mapping[str, Any], tolerates: Tolerates
) -> str | None:
    tolerations = (*pod_set.tolerations, *(flavor.get("tolerations") or ()))
    for taint in flavor.get("nodeTaints") or ():
        concerned = [
            toleration for toleration in tolerations if _concerns(toleration, taint)
        ]
        keeps_out = taint.get("effect") in {"NoSchedule", "NoExecute"}
        if keeps_out and not any(
            tolerates(toleration, taint) for toleration in concerned
        ):
            return f"untolerated taint {_show_taint(taint)} in flavor {name}"
    return None


def _concerns(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    """Whether a toleration has the effect and the key of a taint; an empty one matches any."""
    return all(
        not toleration.get(key) or toleration[key] == taint.get(key)
        for key in ("effect", "key")
    )


def _same(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    match toleration.get("operator") or "Equal":
        case "Exists":
            return True
        case "Equal":
            return (toleration.get("value") or "") == (taint.get("value") or "")
        case _:
            return False


def _same_or_compares(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    return _same(toleration, taint) or _compares(toleration, taint)


def _compares(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    """Whether the value of a taint is above (Gt) or below (Lt) that of a toleration, both integers."""
    bound, value = _number(toleration), _number(taint)
    if bound is None or value is None:
        return False
    match toleration.get("operator"):
        case "Gt":
            return value > bound
        case "Lt":
            return value < bound
        case _:
            return False


def _number(holder: Mapping[str, Any]) -> int | None:
    text = holder.get("value") or ""
    return integer(text) if re.fullmatch("0|-?[1-9][0-9]*", text) else None


def _show_taint(taint: Mapping[str, Any]) -> str:
    """Print a taint as Go prints the struct, as Kueue's message does."""
    return f"{{{taint.get('key', '')} {taint.get('value', '')} {taint.get('effect', '')} <nil>}}"
