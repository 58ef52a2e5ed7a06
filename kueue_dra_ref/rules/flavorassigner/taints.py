"""Taints and tolerations: which flavors the pods do not tolerate (Queue Admission, step 6).

Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (checkFlavorForPodSets)
"""

from __future__ import annotations

from kueue_dra_ref.model.flavor_check import FlavorCheck
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.model.tolerations import (
    Fields,
    Tolerates,
    tolerates,
    tolerates_by_comparison,
)


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


def _untolerated(check: FlavorCheck, by: Tolerates) -> str | None:
    of_flavor = check.spec.get("tolerations") or ()
    tolerations = (*check.pod_set.tolerations, *of_flavor)
    for taint in check.spec.get("nodeTaints") or ():
        if taint.get("effect") not in {"NoSchedule", "NoExecute"}:
            continue
        tolerated = False
        for toleration in tolerations:
            tolerated = tolerated or by(toleration, taint)
        if not tolerated:
            return f"untolerated taint {_show_taint(taint)} in flavor {check.name}"
    return None


def _show_taint(taint: Fields) -> str:
    """Print a taint as Go prints the struct, as Kueue's message does."""
    key = taint.get("key", "")
    value = taint.get("value", "")
    effect = taint.get("effect", "")
    return f"{{{key} {value} {effect} <nil>}}"
