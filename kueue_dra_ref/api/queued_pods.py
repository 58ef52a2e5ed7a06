"""Pods that Kueue queues one by one or in groups: the marks that it reads and writes on them.

Kueue: pkg/controller/jobs/pod/constants/constants.go (SchedulingGateName);
    pkg/util/pod/pod.go (HasGate, Gate, Ungate, IsTerminated)
"""

from __future__ import annotations

from kueue_dra_ref.api.metadata import (
    annotations_of,
    finalizers_of,
    labels_of,
    owners_of,
)
from kueue_dra_ref.target import Manifest

POD = "Pod"
FRAMEWORK = "pod"
"""The name of pods among the integrations of a Configuration."""
THROUGH_PODS = ("Deployment", "StatefulSet", "LeaderWorkerSet")
"""The kinds of work that Kueue queues through their pods."""
_DOMAIN = "kueue.x-k8s.io"
MANAGED = f"{_DOMAIN}/managed"
"""The label of pods that Kueue manages, and the finalizer that it gives them."""
GATE = f"{_DOMAIN}/admission"
TOPOLOGY_GATE = f"{_DOMAIN}/topology"
GROUP = f"{_DOMAIN}/pod-group-name"
TOTAL = f"{_DOMAIN}/pod-group-total-count"
FAST = f"{_DOMAIN}/pod-group-fast-admission"
SERVING = f"{_DOMAIN}/pod-group-serving"
RETRIABLE = f"{_DOMAIN}/retriable-in-group"
ROLE = f"{_DOMAIN}/role-hash"
PARENT = f"{_DOMAIN}/pod-suspending-parent"
PREBUILT = f"{_DOMAIN}/prebuilt-workload-name"
INDEX = f"{_DOMAIN}/pod-group-pod-index"
INDEX_LABEL = f"{_DOMAIN}/pod-group-pod-index-label"
"""The annotation of a pod that names the label with its index."""
IS_GROUP = f"{_DOMAIN}/is-group-workload"


def prebuilt_name(work: Manifest) -> str:
    """Name the Workload that was created before its work; empty for none."""
    name = annotations_of(work).get(PREBUILT) or labels_of(work).get(PREBUILT)
    return name or ""


def phase_of(pod: Manifest) -> str:
    """Give the phase of a pod; Pending without one."""
    status = pod.get("status") or {}
    return str(status.get("phase") or "Pending")


def is_terminated(pod: Manifest) -> bool:
    """Whether a pod has succeeded or failed."""
    return phase_of(pod) in ("Succeeded", "Failed")


def is_gated(pod: Manifest, gate: str = GATE) -> bool:
    """Whether a pod has a scheduling gate."""
    spec = pod.get("spec") or {}
    gates = spec.get("schedulingGates") or ()
    return any(each.get("name") == gate for each in gates)


def is_held(pod: Manifest) -> bool:
    """Whether a pod does not run: it is gated, or it has ended."""
    return is_terminated(pod) or is_gated(pod)


def is_leaving(pod: Manifest) -> bool:
    """Whether a pod is deleted, and there as long as it has finalizers."""
    return bool(pod["metadata"].get("deletionTimestamp"))


def is_usable(pod: Manifest) -> bool:
    """Whether a pod runs, may still run, or has succeeded."""
    spec = pod.get("spec") or {}
    if is_leaving(pod) and not spec.get("nodeName"):
        return False
    return phase_of(pod) != "Failed"


def outcome_of(pod: Manifest) -> tuple[str, str] | None:
    """Give the reason and the message with which a pod finishes its Workload; None while it has not ended."""
    if not is_terminated(pod):
        return None
    status = pod["status"]
    reason = "Succeeded" if status["phase"] == "Succeeded" else "Failed"
    return reason, str(status.get("message") or "")


def with_gates(pod: Manifest, *gates: str) -> Manifest:
    """Copy a pod that has scheduling gates, in addition to its own."""
    spec = dict(pod.get("spec") or {})
    found = list(spec.get("schedulingGates") or ())
    for gate in gates:
        if not is_gated(pod, gate):
            found.append({"name": gate})
    spec["schedulingGates"] = found
    return {**pod, "spec": spec}


def without_gates(pod: Manifest, *gone: str) -> Manifest:
    """Copy a pod without some scheduling gates; unless they are named, without those of pods that Kueue queues."""
    gone = gone or (GATE, TOPOLOGY_GATE)
    spec = dict(pod["spec"])
    gates = spec.pop("schedulingGates", None) or ()
    others = [each for each in gates if each["name"] not in gone]
    if others:
        spec["schedulingGates"] = others
    return {**pod, "spec": spec, "metadata": dict(pod["metadata"])}


def has_finalizer(pod: Manifest) -> bool:
    """Whether a deleted pod stays until Kueue has seen it."""
    return MANAGED in finalizers_of(pod)


def without_finalizer(pod: Manifest) -> Manifest:
    """Copy a pod without the finalizer of Kueue."""
    meta = dict(pod["metadata"])
    finalizers = meta.pop("finalizers", None) or ()
    others = [each for each in finalizers if each != MANAGED]
    if others:
        meta["finalizers"] = others
    return {**pod, "metadata": meta}


def is_of_group(workload: Manifest) -> bool:
    """Whether a Workload is of a group of pods."""
    return annotations_of(workload).get(IS_GROUP) == "true"


def is_of_one_pod(workload: Manifest) -> bool:
    """Whether a Workload is of a pod without a group."""
    if is_of_group(workload):
        return False
    owners = list(owners_of(workload))
    if len(owners) != 1:
        return False
    owner = owners[0]
    return bool(owner["apiVersion"] == "v1" and owner["kind"] == "Pod")


def pod_template(pod: Manifest) -> Manifest:
    """Give the template that a Workload has of a pod: its spec alone."""
    return {"spec": pod.get("spec") or {}}
