"""Starting and stopping Jobs: Kueue sets whether a Job is suspended, its number of pods and their nodes.

Kueue: pkg/controller/jobframework/reconciler.go (startJob, stopJob);
pkg/controller/jobs/job/job_controller.go (RunWithPodSetsInfo, RestorePodSetsInfo); pkg/podset/podset.go (Merge)
"""

from __future__ import annotations

from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.jobs import pod_of
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.rules.jobframework.job_reconciliation import PodSets
from kueue_dra_ref.target import Manifest

Failed = tuple[str, str]
"""The reason and the message of a Job that cannot start."""


class JobPods:
    """Starts Jobs that are admitted and suspends those that are not."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue
        self.store = kueue.store
        self.rules = kueue.behaviour.jobs

    def follow(self, job: Manifest, workload: Manifest) -> Failed | None:
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
            pod_sets = workload["spec"]["podSets"]
            restored = self._resized(job, pod_sets)
            self.suspend(restored, workload)

    def suspend(self, job: Manifest, workload: Manifest) -> None:
        """Suspend a Job, and restore the node selector and tolerations of its pods."""
        if job["spec"].get("suspend"):
            return
        template = _restored_template(job, workload)
        changes = {
            "suspend": True,
            "template": template,
        }
        self._update(job, changes)

    def _start(self, job: Manifest, workload: Manifest) -> Failed | None:
        pod = pod_of(job)
        node_selector = pod.get("nodeSelector") or {}
        node_labels: dict[str, str] = {}
        for flavor in self._flavors(workload):
            node_labels |= flavor.get("nodeLabels") or {}
        conflict = self.rules.fail_on_conflicting_labels
        failed = conflict(node_selector, node_labels)
        if failed is None:
            self._unsuspend(job, workload)
        return failed

    def _unsuspend(self, job: Manifest, workload: Manifest) -> None:
        admission = workload["status"]["admission"]
        resized = self._resized(job, admission["podSetAssignments"])
        template = _template_of(resized)
        for flavor in self._flavors(workload):
            _add_flavor(template["spec"], flavor)
        changes = {
            "suspend": False,
            "template": template,
        }
        self._update(resized, changes)

    def _update(self, job: Manifest, changes: Manifest) -> None:
        updated = dict(job)
        updated["metadata"] = dict(job["metadata"])
        spec = dict(job["spec"])
        updated["spec"] = spec | changes
        self.store.put(updated)

    def _resized(self, job: Manifest, pod_sets: PodSets) -> Manifest:
        """Give a Job with the number of pods of its pod set, if partial admission may reduce it."""
        rules = self.rules
        if rules.min_parallelism(job) is None:
            return job
        spec = dict(job["spec"])
        count = pod_sets[0]["count"]
        for change in rules.apply_pod_count(job, count):
            spec |= change
        return {**job, "spec": spec}

    def _flavors(self, workload: Manifest) -> list[Manifest]:
        """Give the specs of the assigned flavors, each once."""
        admission = workload["status"]["admission"]
        specs: dict[str, Manifest] = {}
        for assignment in admission["podSetAssignments"]:
            for name in assignment["flavors"].values():
                flavor = self.store.find("ResourceFlavor", name)
                if flavor is None:
                    continue
                specs[name] = flavor.get("spec") or {}
        return list(specs.values())


def _add_flavor(spec: Manifest, flavor: Manifest) -> None:
    """Add the node labels and tolerations of a flavor to the spec of a pod."""
    node_labels = flavor.get("nodeLabels")
    if node_labels:
        node_selector = spec.get("nodeSelector") or {}
        spec["nodeSelector"] = {
            **node_selector,
            **node_labels,
        }
    tolerations = flavor.get("tolerations")
    if tolerations:
        before = spec.get("tolerations") or []
        spec["tolerations"] = [
            *before,
            *tolerations,
        ]


_RESTORED = ("nodeSelector", "tolerations")


def _restored_template(job: Manifest, workload: Manifest) -> Manifest:
    """Give the pod template of a Job with the node selector and the tolerations of its Workload's pod set."""
    template = _template_of(job)
    spec = template["spec"]
    pod_set = workload["spec"]["podSets"][0]
    original_template = pod_set.get("template") or {}
    original = original_template.get("spec") or {}
    for key in _RESTORED:
        spec.pop(key, None)
        if key in original:
            spec[key] = original[key]
    return template


def _template_of(job: Manifest) -> Manifest:
    """Copy the pod template of a Job, and the spec in it."""
    template = dict(job["spec"].get("template") or {})
    spec = template.get("spec") or {}
    template["spec"] = dict(spec)
    return template
