"""What a new pod becomes before it is stored: completed by the API server, then gated by Kueue's webhook.

Kueue: pkg/controller/jobs/pod/pod_webhook.go (Default, addRoleHash)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kueue_dra_ref.api.jobs import PRIORITY_LABEL, QUEUE_LABEL
from kueue_dra_ref.api.metadata import annotations_of, finalizers_of, labels_of
from kueue_dra_ref.api.queued_pods import (
    GATE,
    INDEX,
    MANAGED,
    PARENT,
    ROLE,
    TOPOLOGY_GATE,
    with_gates,
)
from kueue_dra_ref.behaviours.phases_pods import PodRules
from kueue_dra_ref.controllers.job_management import ManagedJobs
from kueue_dra_ref.controlplane.store import Store
from kueue_dra_ref.target import Manifest

_BUILT_IN = {
    "system-cluster-critical": 2_000_000_000,
    "system-node-critical": 2_000_001_000,
}
_NODE_IS_LOST = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


@dataclass(frozen=True, slots=True, kw_only=True)
class PodMutation:
    """Completes and gates new pods."""

    rules: PodRules
    managed: ManagedJobs
    priority_class: Callable[[Manifest], str]
    """Names the WorkloadPriorityClass of a new pod; empty for none."""
    store: Store

    def of(self, pod: Manifest) -> Manifest:
        """Give a new pod as it is stored."""
        found = {**pod, "spec": self._completed(pod["spec"])}
        managed = self.managed
        if PARENT in annotations_of(found):
            return self._of_parent(found)
        if managed.is_off(found) or self.rules.unmanaged(managed.ownership(found)):
            return found
        _label(found, QUEUE_LABEL, managed.queue(found))
        _label(found, PRIORITY_LABEL, self.priority_class(found))
        if managed.claims(found) and self.rules.gate(False):
            return self._indexed(_gated(found, self._role(found)))
        return found

    def _indexed(self, pod: Manifest) -> Manifest:
        index = self.rules.index(pod)
        if index is not None:
            pod["metadata"]["labels"] = {**labels_of(pod), INDEX: index}
        return pod

    def _of_parent(self, pod: Manifest) -> Manifest:
        """Give a pod of other work, which is gated by its annotation alone; what makes it may need no finalizer."""
        if self.managed.is_off(pod) or not self.rules.gate(False):
            return pod
        if self.rules.finalize_pods_of_parent():
            return self._indexed(_gated(pod, self._role(pod)))
        return self._indexed(_held(pod, self._role(pod)))

    def _role(self, pod: Manifest) -> str:
        return self.rules.role.or_else("main", pod)

    def _completed(self, spec: Manifest) -> Manifest:
        """Give a spec with the priority and the tolerations that the API server adds."""
        tolerations = list(spec.get("tolerations") or ())
        for key in _NODE_IS_LOST:
            if any(_tolerates(each, key) for each in tolerations):
                continue
            tolerations.append(
                {
                    "key": key,
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": 300,
                }
            )
        priority = self._priority(spec.get("priorityClassName") or "")
        found = {**spec, "tolerations": tolerations, "priority": priority}
        runtime_class = self.store.find(
            "RuntimeClass", spec.get("runtimeClassName") or ""
        )
        return _run_by(found, runtime_class) if runtime_class else found

    def _priority(self, name: str) -> int:
        if name in _BUILT_IN:
            return _BUILT_IN[name]
        classes = list(self.store.every("PriorityClass"))
        if name:
            classes = [each for each in classes if each["metadata"]["name"] == name]
        else:
            classes = [each for each in classes if each.get("globalDefault")]
        return int(min((each.get("value", 0) for each in classes), default=0))


def _run_by(spec: Manifest, runtime_class: Manifest) -> Manifest:
    """Give a spec with the overhead, the node selector and the tolerations of its RuntimeClass.

    Kubernetes: plugin/pkg/admission/runtimeclass/admission.go (setOverhead, setScheduling)
    """
    found = dict(spec)
    if overhead := (runtime_class.get("overhead") or {}).get("podFixed"):
        found["overhead"] = overhead
    scheduling = runtime_class.get("scheduling") or {}
    if selector := scheduling.get("nodeSelector"):
        found["nodeSelector"] = {**(spec.get("nodeSelector") or {}), **selector}
    added = scheduling.get("tolerations") or ()
    found["tolerations"] = [
        *spec["tolerations"],
        *(each for each in added if each not in spec["tolerations"]),
    ]
    return found


def _gated(pod: Manifest, role: str) -> Manifest:
    """Give a pod with the label, the finalizer, the gates and the role of one that Kueue manages."""
    _label(pod, MANAGED, "true")
    meta = pod["metadata"]
    meta["finalizers"] = [*finalizers_of(pod), MANAGED]
    return _held(pod, role)


def _held(pod: Manifest, role: str) -> Manifest:
    """Give a pod with the gates and the role of one that waits for its admission."""
    meta = pod["metadata"]
    meta["annotations"] = {ROLE: role, **annotations_of(pod)}
    return with_gates(pod, GATE, TOPOLOGY_GATE)


def _label(pod: Manifest, label: str, value: str) -> None:
    if value:
        pod["metadata"]["labels"] = {**labels_of(pod), label: value}


def _tolerates(toleration: Manifest, key: str) -> bool:
    """Whether a toleration keeps pods on a node that is lost."""
    if toleration.get("effect") not in (None, "", "NoExecute"):
        return False
    return toleration.get("key") in (None, "", key)
