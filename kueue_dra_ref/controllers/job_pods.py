"""Starting and stopping Jobs: Kueue sets whether a Job is suspended, its number of pods and their nodes.

Kueue: pkg/controller/jobframework/reconciler.go (startJob, stopJob);
pkg/controller/jobs/job/job_controller.go (RunWithPodSetsInfo, RestorePodSetsInfo); pkg/podset/podset.go (Merge)
"""

from __future__ import annotations

from typing import Any

from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.jobs import pod_of
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.target import Manifest


class JobPods:
    """Starts Jobs that are admitted and suspends those that are not."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue
        self.rules = kueue.behaviour.jobs

    def follow(self, job: Manifest, workload: Manifest) -> tuple[str, str] | None:
        """Run a Job exactly while its Workload is admitted; give reason and message if it can never start."""
        admitted = is_true(workload, "Admitted")
        if job["spec"].get("suspend"):
            if self.rules.unsuspend(admitted):
                return self._start(job, workload)
        elif self.rules.suspend(admitted):
            self.suspend(job, workload)
        return None

    def stop(self, job: Manifest, workload: Manifest) -> None:
        """Suspend a Job that has lost its quota, and restore its number of pods."""
        if self.rules.suspend(False):
            restored = self._resized(job, workload["spec"]["podSets"])
            self.suspend(restored, workload)

    def suspend(self, job: Manifest, workload: Manifest) -> None:
        """Suspend a Job, and restore the node selector and tolerations of its pods."""
        if not job["spec"].get("suspend"):
            template = _restored_template(job, workload)
            self._update(job, {"suspend": True, "template": template})

    def _start(self, job: Manifest, workload: Manifest) -> tuple[str, str] | None:
        node_selector = pod_of(job).get("nodeSelector") or {}
        node_labels: dict[str, str] = {}
        for flavor in self._flavors(workload):
            node_labels |= flavor.get("nodeLabels") or {}
        failed = self.rules.fail_on_conflicting_labels(node_selector, node_labels)
        if failed is None:
            self._unsuspend(job, workload)
        return failed

    def _unsuspend(self, job: Manifest, workload: Manifest) -> None:
        job = self._resized(job, workload["status"]["admission"]["podSetAssignments"])
        template = job["spec"].get("template") or {}
        spec: dict[str, Any] = dict(template.get("spec") or {})
        for flavor in self._flavors(workload):
            node_labels = flavor.get("nodeLabels")
            if node_labels:
                spec["nodeSelector"] = {
                    **(spec.get("nodeSelector") or {}),
                    **node_labels,
                }
            tolerations = flavor.get("tolerations")
            if tolerations:
                spec["tolerations"] = [*(spec.get("tolerations") or []), *tolerations]
        self._update(job, {"suspend": False, "template": {**template, "spec": spec}})

    def _update(self, job: Manifest, changes: dict[str, Any]) -> None:
        spec = {**job["spec"], **changes}
        metadata = dict(job["metadata"])
        self.kueue.store.put({**job, "metadata": metadata, "spec": spec})

    def _resized(self, job: Manifest, pod_sets: list[dict[str, Any]]) -> Manifest:
        """Give a Job with the number of pods of its pod set, if partial admission may reduce it."""
        if self.rules.min_parallelism(job) is None:
            return job
        spec = dict(job["spec"])
        for change in self.rules.apply_pod_count(job, pod_sets[0]["count"]):
            spec |= change
        return {**job, "spec": spec}

    def _flavors(self, workload: Manifest) -> list[dict[str, Any]]:
        """Give the specs of the assigned flavors, each once."""
        names = dict[str, None]()
        for assignment in workload["status"]["admission"]["podSetAssignments"]:
            names.update(dict.fromkeys(assignment["flavors"].values()))
        found = [self.kueue.store.find("ResourceFlavor", name) for name in names]
        return [flavor.get("spec") or {} for flavor in found if flavor]


_RESTORED = ("nodeSelector", "tolerations")


def _restored_template(job: Manifest, workload: Manifest) -> dict[str, Any]:
    """Give the pod template of a Job with the node selector and the tolerations of its Workload's pod set."""
    template = job["spec"].get("template") or {}
    pod_set = workload["spec"]["podSets"][0]
    original = (pod_set.get("template") or {}).get("spec") or {}
    spec = dict(template.get("spec") or {})
    for key in _RESTORED:
        spec.pop(key, None)
        if key in original:
            spec[key] = original[key]
    return {**template, "spec": spec}
