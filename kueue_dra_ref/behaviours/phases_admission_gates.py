"""The phase of a behaviour in which a Workload waits for another controller to open its admission gates."""

from __future__ import annotations

from dataclasses import dataclass

from kueue_dra_ref.model.reason_message import ReasonMessage
from kueue_dra_ref.model.slots import AnyOf, First
from kueue_dra_ref.target import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionGateRules:
    """What becomes of work with the annotation ``kueue.x-k8s.io/admission-gated-by``."""

    closed: First[[Manifest], ReasonMessage] = First()
    """With which reason and message does a Workload wait outside the queues? Without rules: none does."""
    cleared: First[[], str] = First()
    """What does its QuotaReserved say once its gates are gone? Without rules: what it was before."""
    passed_on: First[[Manifest], str] = First()
    """Which gates does the Workload of work have? Without rules: those that it was created with."""
    stay: AnyOf[[bool]] = AnyOf()
    """Does it keep those by whether the work is elastic? Without rules: it loses them with its work."""
