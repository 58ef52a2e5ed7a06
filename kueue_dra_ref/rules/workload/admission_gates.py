"""Work that waits for another controller: admission gates (Kueue 0.17, gate AdmissionGatedBy).

Kueue: pkg/controller/core/workload_controller.go (mayUpdateConditionForAdmissionGatedBy)
"""

from __future__ import annotations

from kueue_dra_ref.api.admission_gates import GATED, gates_of
from kueue_dra_ref.model.reason_message import ReasonMessage
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import Manifest


@rule("GATED-001", "GATED-002")
def gates_keep_from_admission(workload: Manifest) -> ReasonMessage | None:
    """Kueue does not queue a Workload whose annotation names an admission gate.

    Kueue: pkg/workload/workload.go (IsAdmissible, HasAdmissionGate);
        pkg/controller/core/workload_controller.go (mayUpdateConditionForAdmissionGatedBy)
    """
    written = gates_of(workload)
    if not written:
        return None
    return ReasonMessage(reason=GATED, message=f"Admission is gated by: {written}")


@rule("GATED-003")
def gates_are_cleared() -> str:
    """QuotaReserved says that the gates are gone, as soon as the annotation names none.

    Kueue: pkg/controller/core/workload_controller.go (mayUpdateConditionForAdmissionGatedBy)
    """
    return "AdmissionGatedBy cleared, waiting for quota reservation"


@rule("GATED-004", "GATED-005")
def gates_of_work_are_passed_on(work: Manifest) -> str:
    """A Workload has the admission gates that its work has now.

    Kueue: pkg/controller/jobframework/reconciler.go (PropagateAdmissionGatedByAnnotation, UpdateAdmissionGatedBy)
    """
    return gates_of(work)


@rule("GATED-013")
def gates_of_elastic_work_stay(elastic: bool) -> bool:
    """The Workload of elastic work keeps the admission gates that it was created with.

    Kueue: pkg/controller/jobframework/reconciler.go (ensureOneWorkload, syncWorkloadSlicePriority)
    """
    return elastic
