"""Whether a Job runs, with how many pods and on which nodes: what Kueue writes to the Job itself.

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
        self.kueue, self.rules = kueue, kueue.behaviour.jobs

    def follow(self, job: Manifest, workload: Manifest) -> tuple[str, str] | None:
        """Have a Job run when its Workload is admitted, and only then; or say why it can never start."""
        admitted = is_true(workload, "Admitted")
        if job["spec"].get("suspend"):
            return (
                self._start(job, workload)
                if any(rule(admitted) for rule in self.rules.unsuspend)
                else None
            )
        if any(rule(admitted) for rule in self.rules.suspend):
            self.suspend(job, workload)
        return None

    def stop(self, job: Manifest, workload: Manifest) -> None:
        """Suspend a Job that has lost its quota, with as many pods as it asked for."""
        if any(rule(False) for rule in self.rules.suspend):
            self.suspend(self._resized(job, workload["spec"]["podSets"]), workload)

    def suspend(self, job: Manifest, workload: Manifest) -> None:
        """Suspend a Job, and take back from its pods what admission gave them."""
        if not job["spec"].get("suspend"):
            changed = {
                **job["spec"],
                "suspend": True,
                "template": _as_asked(job, workload),
            }
            self.kueue.store.put(
                {**job, "metadata": dict(job["metadata"]), "spec": changed}
            )

    def _start(self, job: Manifest, workload: Manifest) -> tuple[str, str] | None:
        asked = pod_of(job).get("nodeSelector") or {}
        given = {
            key: value
            for flavor in self._flavors(workload)
            for key, value in (flavor.get("nodeLabels") or {}).items()
        }
        found = next(
            (
                told
                for rule in self.rules.fail_on_conflicting_labels
                if (told := rule(asked, given))
            ),
            None,
        )
        if found is None:
            self._release(job, workload)
        return found

    def _release(self, job: Manifest, workload: Manifest) -> None:
        job = self._resized(job, workload["status"]["admission"]["podSetAssignments"])
        template = job["spec"].get("template") or {}
        spec: dict[str, Any] = dict(template.get("spec") or {})
        for flavor in self._flavors(workload):
            if labels := flavor.get("nodeLabels"):
                spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), **labels}
            if tolerations := flavor.get("tolerations"):
                spec["tolerations"] = [*(spec.get("tolerations") or []), *tolerations]
        changed = {
            **job["spec"],
            "suspend": False,
            "template": {**template, "spec": spec},
        }
        self.kueue.store.put(
            {**job, "metadata": dict(job["metadata"]), "spec": changed}
        )

    def _resized(self, job: Manifest, pod_sets: list[dict[str, Any]]) -> Manifest:
        """A Job that may run with fewer pods, with as many as its pod set has."""
        if all(rule(job) is None for rule in self.rules.min_parallelism):
            return job
        changes = [
            rule(job, pod_sets[0]["count"]) for rule in self.rules.apply_pod_count
        ]
        spec = {key: value for change in changes for key, value in change.items()}
        return {**job, "spec": {**job["spec"], **spec}}

    def _flavors(self, workload: Manifest) -> list[dict[str, Any]]:
        assignments = workload["status"]["admission"]["podSetAssignments"]
        names = dict.fromkeys(
            name
            for assignment in assignments
            for name in assignment["flavors"].values()
        )
        found = (self.kueue.store.find("ResourceFlavor", name) for name in names)
        return [flavor.get("spec") or {} for flavor in found if flavor]


def _as_asked(job: Manifest, workload: Manifest) -> dict[str, Any]:
    """The pod template of a Job with the node selector and the tolerations that its Workload was made with."""
    template = job["spec"].get("template") or {}
    had = (workload["spec"]["podSets"][0].get("template") or {}).get("spec") or {}
    given = ("nodeSelector", "tolerations")
    kept = {
        key: value
        for key, value in (template.get("spec") or {}).items()
        if key not in given
    }
    return {**template, "spec": kept | {key: had[key] for key in given if key in had}}
