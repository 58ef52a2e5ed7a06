"""Priority classes: a Workload follows the class of its Job and the value of the class (Kueue 0.19).

Kueue: pkg/controller/jobframework/reconciler.go (updateWorkloadPriorities, classifyWorkloadsForPriorityUpdate,
    PrepareWorkloadPriority);
    pkg/controller/jobframework/defaults.go (ApplyDefaultWorkloadPriorityClass)
"""

from __future__ import annotations

from dataclasses import dataclass

from kueue_dra_ref.model.rule import rule

WORKLOAD_CLASS = "WorkloadPriorityClass"


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorityClassRef:
    """The priority class of a Workload, and the WorkloadPriorityClass that its Job names; empty for none."""

    kind: str
    name: str
    wanted: str
    reserved: bool
    """Whether the Workload has a quota reservation."""


@rule("PRIORITY-006")
def default_workload_priority_class(name: str, has_default: bool) -> str:
    """A new Job without a WorkloadPriorityClass gets the one named default, if it exists.

    Kueue: pkg/controller/jobframework/defaults.go (ApplyDefaultWorkloadPriorityClass);
        pkg/util/priority/priority.go (DefaultWorkloadPriorityClassExist)
    """
    return name or ("default" if has_default else "")


@rule("PRIORITY-001")
def priority_class_must_exist(found: bool) -> bool:
    """Kueue creates no Workload for a Job whose priority class does not exist.

    Kueue: pkg/controller/jobframework/reconciler.go (PrepareWorkloadPriority, ExtractPriority);
        pkg/util/priority/priority.go (GetPriorityFromWorkloadPriorityClass)
    """
    return found


@rule("PRIORITY-002")
def workload_follows_priority_class_change(ref: PriorityClassRef) -> bool:
    """A Workload gets the new WorkloadPriorityClass of its Job, whether it is pending or admitted.

    Kueue: pkg/controller/jobframework/reconciler.go (UpdateWorkloadPriority, updateWorkloadPriorities,
        classifyWorkloadsForPriorityUpdate)
    """
    return ref.kind == WORKLOAD_CLASS and ref.name != ref.wanted


@rule("PRIORITY-003")
def pending_workload_gets_first_priority_class(ref: PriorityClassRef) -> bool:
    """A pending Workload without a priority class gets the first WorkloadPriorityClass of its Job.

    Kueue: pkg/controller/jobframework/reconciler.go (updateWorkloadPriorities, classifyWorkloadsForPriorityUpdate)
    """
    return not ref.kind and ref.wanted != "" and not ref.reserved


@rule("PRIORITY-004")
def priority_class_value_is_propagated() -> bool:
    """The Workloads of a WorkloadPriorityClass get its new value.

    Kueue: pkg/controller/core/workloadpriorityclass_controller.go (Reconcile)
    """
    return True


@rule("PRIORITY-005")
def priority_change_requeues_pending(before: int, after: int) -> bool:
    """Kueue retries pending workloads when the priority of a workload with a quota reservation changes.

    Kueue: pkg/controller/core/workload_controller.go (Update); pkg/workload/workload.go (PriorityChanged)
    """
    return before != after
