"""Concurrent admission: a Workload has a variant for each flavor, and is admitted with the first one that is.

Kueue: pkg/controller/concurrentadmission/controller.go (variantReconciler);
    pkg/cache/queue/manager.go (IsConcurrentAdmissionParentWithoutLock);
    pkg/scheduler/scheduler.go (findAdmittedSibling, issueMigration)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kueue_dra_ref.api.durations import seconds
from kueue_dra_ref.api.variants import GATE, allowed_flavors
from kueue_dra_ref.model.condition import Condition
from kueue_dra_ref.model.reason_message import ReasonMessage
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import Manifest

_RETAIN = "RetainFirstAdmission"
_PREEMPTION_TIMEOUT = seconds("5m")
"""Seconds after which the next variant of a Workload may preempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sibling:
    """A variant and the admitted one; flavors are numbered in the order of the ClusterQueue."""

    mode: str
    """The mode of the migration."""
    flavor: int
    admitted: int
    """The flavor of the variant that is admitted."""
    last_acceptable: int | None
    """The last flavor to migrate to; None if all are acceptable."""


@rule("CONC-001")
def policy_makes_variants(cluster_queue: Manifest) -> bool:
    """The Workloads of a ClusterQueue with a concurrentAdmissionPolicy have variants.

    Kueue: pkg/cache/queue/manager.go (ConcurrentAdmissionEnabledFor)
    """
    return cluster_queue["spec"].get("concurrentAdmissionPolicy") is not None


@rule("CONC-002", "CONC-034")
def variant_for_each_flavor(cluster_queue: Manifest) -> Iterator[str]:
    """Kueue creates a variant of a Workload for each flavor of the ClusterQueue.

    Kueue: pkg/controller/concurrentadmission/controller.go (variantReconciler, createVariants)
    """
    for group in cluster_queue["spec"].get("resourceGroups") or ():
        for flavor in group["flavors"]:
            yield flavor["name"]


@rule("CONC-032")
def as_many_variants_as_flavors(variants: int, flavors: int) -> bool:
    """Kueue creates no variant while a Workload has as many as there are flavors, of whichever they are.

    Kueue 0.18: pkg/controller/concurrentadmission/controller.go (variantReconciler, Reconcile)
    """
    return variants >= flavors


@rule("CONC-027")
def names_need_a_hyphen(parent: str) -> bool:
    """A Workload whose name has no hyphen gets no variants: the controller panics when it names them.

    Kueue: pkg/controller/jobframework/workload_names.go (getWorkloadBaseName)
    """
    return "-" not in parent


@rule("CONC-003")
def allowed_flavors_only(workload: Manifest, flavor: str) -> str | None:
    """Kueue skips each flavor that the annotation workload-allowed-resource-flavors of a Workload does not name.

    Kueue: pkg/workload/concurrentadmission/concurrentadmission.go (IsFlavorAllowedForVariant)
    """
    allowed = allowed_flavors(workload)
    if allowed is None or flavor in allowed:
        return None
    return f"skipping flavor {flavor} due to WorkloadAllowedResourceFlavorAnnotation annotation"


@rule("CONC-004", "CONC-030")
def parent_is_not_queued() -> bool:
    """Kueue queues the variants, and not their parent.

    Kueue: pkg/cache/queue/manager.go (AddOrUpdateWorkload, IsConcurrentAdmissionParentWithoutLock)
    """
    return True


@rule("CONC-005")
def parent_is_not_charged() -> bool:
    """The admission of a variant takes quota, and that of its parent takes none.

    Kueue: pkg/cache/scheduler/cache.go (AddOrUpdateWorkload, concurrentAdmissionEnabledForWithoutLock)
    """
    return True


@rule("CONC-028")
def parent_has_no_checks() -> bool:
    """Kueue lists admission checks for the variants of a Workload, and none for the Workload itself.

    Kueue: pkg/controller/core/workload_controller.go (WorkloadReconciler, reconcileSyncAdmissionChecks)
    """
    return True


@rule("CONC-006")
def parent_is_admitted_with_variant(name: str) -> Condition:
    """A parent gets the admission of its variant that is admitted.

    Kueue: pkg/controller/concurrentadmission/controller.go (variantReconciler, syncAdmissionStatus)
    """
    return Condition(
        type="Admitted",
        value=True,
        reason="Admitted",
        message=f"The variant {name} is admitted",
    )


@rule("CONC-007")
def retain_first_admission(sibling: Sibling) -> bool:
    """With RetainFirstAdmission, Kueue deactivates all other variants once one is admitted.

    Kueue: pkg/controller/concurrentadmission/controller.go (variantReconciler, deactivateVariants)
    """
    return sibling.mode == _RETAIN and sibling.flavor != sibling.admitted


@rule("CONC-008")
def less_preferred_flavors_are_given_up(sibling: Sibling) -> bool:
    """With TryPreferredFlavors, Kueue deactivates the variants whose flavors come after that of the admitted one.

    Kueue: pkg/controller/concurrentadmission/controller.go (variantReconciler, deactivateVariants)
    """
    return sibling.mode != _RETAIN and sibling.flavor > sibling.admitted


@rule("CONC-009")
def unacceptable_flavors_are_given_up(sibling: Sibling) -> bool:
    """Once a variant is admitted, Kueue deactivates those whose flavors come after lastAcceptableFlavorName.

    Kueue: pkg/controller/concurrentadmission/controller.go (variantReconciler, deactivateVariants)
    """
    last = sibling.last_acceptable
    if last is None or sibling.flavor == sibling.admitted:
        return False
    return sibling.flavor > last


@rule("CONC-010")
def variants_of_inactive_parent(active: bool) -> bool:
    """Kueue deactivates all variants of a parent that is deactivated.

    Kueue: pkg/controller/concurrentadmission/controller.go (variantReconciler, deactivateVariants)
    """
    return not active


@rule("CONC-011")
def variants_are_active_without_admission(admitted: bool) -> bool:
    """Kueue activates all variants of an active parent while none of them is admitted.

    Kueue: pkg/controller/concurrentadmission/controller.go (variantReconciler, activateVariants)
    """
    return not admitted


@rule("CONC-019")
def preferred_variants_stay_active(sibling: Sibling) -> bool:
    """With TryPreferredFlavors, Kueue activates again the acceptable variants before the one that is admitted.

    Kueue: pkg/controller/concurrentadmission/controller.go (variantReconciler, activateVariants)
    """
    if sibling.mode == _RETAIN or sibling.flavor >= sibling.admitted:
        return False
    last = sibling.last_acceptable
    return last is None or sibling.flavor <= last


@rule("CONC-012")
def migrate_to_preferred_flavor(preemptor: str) -> ReasonMessage:
    """Kueue evicts the admitted variant for one with a flavor before it, as soon as that one fits.

    Kueue: pkg/scheduler/scheduler.go (issueMigration, findAdmittedLessFavorableSibling)
    """
    why = "due to migration to more favorable resource flavor"
    return ReasonMessage(
        reason="FlavorMigration",
        message=f"Evicted to accommodate a workload (UID: {preemptor}) {why}",
    )


@rule("CONC-013")
def parent_is_evicted_with_variant() -> ReasonMessage:
    """A parent is evicted with its variant, whose quota is released once the work of the parent has stopped.

    Kueue: pkg/controller/concurrentadmission/controller.go (variantReconciler, syncVariantEvictionStatus)
    """
    return ReasonMessage(
        reason="VariantEvicted", message="Admitted variant was evicted"
    )


@rule("CONC-014")
def parent_is_evicted_without_variant() -> ReasonMessage:
    """A parent is evicted when the variant with which it was admitted is gone.

    Kueue: pkg/controller/concurrentadmission/controller.go (variantReconciler, syncAdmissionStatus)
    """
    return ReasonMessage(reason="ConcurrentAdmission", message="No variant is running")


@rule("CONC-015")
def variants_finish_with_parent(finished: Manifest) -> ReasonMessage:
    """Kueue finishes all variants of a finished parent.

    Kueue: pkg/controller/concurrentadmission/controller.go (variantReconciler, syncFinished)
    """
    return ReasonMessage(reason=finished["reason"], message=finished["message"])


@rule("CONC-026")
def variant_shows_pods_of_parent() -> bool:
    """The admitted variant of a Workload has the condition PodsReady of its parent.

    Kueue: pkg/controller/concurrentadmission/controller.go (variantReconciler, syncPodsReadyCond)
    """
    return True


@rule("CONC-026")
def variant_is_not_awaited(variant: bool) -> bool:
    """Kueue waits for the pods of a parent, and not of its variants.

    Kueue: pkg/controller/core/workload_controller.go (reconcileNotReadyTimeout)
    """
    return variant


@rule("CONC-016")
def variant_of_removed_flavor(known: bool) -> bool:
    """Kueue deletes a variant whose flavor the ClusterQueue does not have any more.

    Kueue: pkg/controller/concurrentadmission/controller.go (variantReconciler, deleteStaleVariants)
    """
    return not known


@rule("CONC-017")
def variant_has_preemption_gate() -> str:
    """A variant has a preemption gate: until that is open, it preempts nothing.

    Kueue: pkg/controller/concurrentadmission/controller.go (generateVariant)
    """
    return GATE


@rule("CONC-017")
def closed_gate_blocks_preemption(closed: bool) -> str | None:
    """A Workload that needs preemption waits while its preemption gate is closed.

    Kueue: pkg/workload/workload.go (HasClosedPreemptionGate)
    """
    return "Workload requires preemption, but it's gated" if closed else None


@rule("CONC-018")
def gates_open_one_by_one(seconds: float | None) -> float:
    """Kueue opens the gate of the most preferred variant that is blocked by it, and the next one five minutes later.

    Kueue: pkg/controller/concurrentadmission/controller.go (variantReconciler, selectVariantToOpenPreemptionGate)
    """
    return 0 if seconds is None else max(0, _PREEMPTION_TIMEOUT - seconds)
