"""Parents and variants: the Workloads of work in a ClusterQueue with a concurrentAdmissionPolicy.

Kueue: pkg/workload/concurrentadmission/concurrentadmission.go (IsParent, IsVariant, GetVariantFlavor);
    pkg/controller/jobframework/workload_names.go (GetWorkloadNameForVariant)
"""

from __future__ import annotations

from kueue_dra_ref.api.conditions import is_true, set_condition
from kueue_dra_ref.api.metadata import annotations_of, labels_of, owners_of
from kueue_dra_ref.api.workload_names import hashed_name
from kueue_dra_ref.api.workloads import is_active
from kueue_dra_ref.target import Manifest

PARENT = "kueue.x-k8s.io/concurrent-admission-parent"
"""The label of a Workload that has variants."""
ALLOWED = "kueue.x-k8s.io/workload-allowed-resource-flavors"
"""The annotation with the only flavors that a Workload may get."""
CONCURRENT = "ConcurrentAdmission"
"""The feature gate."""
GATE = "kueue.x-k8s.io/concurrent-admission"
"""The preemption gate of a variant."""
_GROUP = "kueue.x-k8s.io"


def is_parent(workload: Manifest) -> bool:
    """Whether a Workload has variants."""
    labels = labels_of(workload)
    return bool(labels.get(PARENT) == "true")


def parent_of(workload: Manifest) -> Manifest | None:
    """Give the reference of a variant to its parent; None for any other Workload."""
    for owner in owners_of(workload):
        if owner["kind"] == "Workload":
            return dict(owner)
    return None


def is_variant(workload: Manifest) -> bool:
    """Whether a Workload is one of the variants of another."""
    return parent_of(workload) is not None


def parent_uid(workload: Manifest) -> str:
    """Give the UID of the parent of a variant; empty for any other Workload."""
    parent = parent_of(workload)
    return str(parent["uid"]) if parent else ""


def allowed_flavors(workload: Manifest) -> tuple[str, ...] | None:
    """Give the only flavors that a Workload may get; None if it may get any."""
    annotations = annotations_of(workload)
    written = annotations.get(ALLOWED)
    if written is None:
        return None
    names = map(str.strip, written.split(","))
    return tuple(filter(None, names))


def variant_flavor(workload: Manifest) -> str:
    """Give the flavor of a variant."""
    allowed = allowed_flavors(workload)
    return allowed[0] if allowed else ""


def variant_name(parent: Manifest, flavor: str, longest: int) -> str:
    """Name a variant after its parent and its flavor, in at most so many characters."""
    meta = parent["metadata"]
    name = meta["name"]
    base = name.rpartition("-")[0]
    return hashed_name(
        f"{base}-variant-{flavor}",
        *("Workload", _GROUP, name, meta["uid"], flavor),
        longest=longest,
    )


def variant_state(variant: Manifest) -> str:
    """Name the state of a variant: finished, inactive, admitted or pending."""
    if is_true(variant, "Finished"):
        return "finished"
    if not is_active(variant):
        return "inactive"
    return "admitted" if is_true(variant, "Admitted") else "pending"


def gate_opened(workload: Manifest) -> str | None:
    """Give when the preemption gate of a variant was opened; None if it is closed, or if there is none."""
    status = workload.get("status") or {}
    for gate in status.get("preemptionGates") or ():
        if gate["name"] == GATE and gate["position"] == "Open":
            return str(gate["lastTransitionTime"])
    return None


def has_closed_gate(workload: Manifest) -> bool:
    """Whether a Workload has a preemption gate that is not open."""
    status = workload.get("status") or {}
    opened = set()
    for gate in status.get("preemptionGates") or ():
        if gate["position"] == "Open":
            opened.add(gate["name"])
    gates = workload["spec"].get("preemptionGates") or ()
    return any(gate["name"] not in opened for gate in gates)


BLOCKED = "BlockedOnPreemptionGates"
"""The condition of a Workload that would preempt others, were its gate open."""


def is_blocked_on_gate(workload: Manifest) -> bool:
    """Whether a Workload would have preempted others, had its preemption gate been open."""
    return is_true(workload, BLOCKED)


def block_on_gate(working: Manifest, message: str, now: str) -> None:
    """Note that the preemption gate of a Workload is closed."""
    set_condition(working, BLOCKED, True, "PreemptionGated", message, now)


def unblock(working: Manifest, reason: str, message: str, now: str) -> None:
    """Note that a Workload is not blocked by its preemption gate any more, if it was."""
    if is_blocked_on_gate(working):
        set_condition(working, BLOCKED, False, reason, message, now)


def open_gate(working: Manifest, now: str) -> None:
    """Open the preemption gate of a variant."""
    opened = {"name": GATE, "position": "Open", "lastTransitionTime": now}
    working["status"]["preemptionGates"] = [opened]
