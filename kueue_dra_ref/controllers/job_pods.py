"""Starting and stopping Jobs: Kueue sets whether a Job is suspended, its number of pods and their nodes.

Kueue: pkg/controller/jobframework/reconciler.go (startJob, stopJob);
pkg/controller/jobs/job/job_controller.go (RunWithPodSetsInfo, RestorePodSetsInfo); pkg/podset/podset.go (Merge)
"""

from __future__ import annotations

from collections.abc import Sequence

from kueue_dra_ref.api.admission_checks import ADMISSION_CHECK, check_states
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.job_kind import PodSetPlace, replaced, template_at, template_of
from kueue_dra_ref.api.job_kinds import (
    JOB_KINDS,
    is_suspended,
    pod_set_places,
    with_suspend,
)
from kueue_dra_ref.api.multikueue import is_multikueue
from kueue_dra_ref.api.spark_application import (
    with_global_selector,
    without_global_selector,
)
from kueue_dra_ref.api.topologies import NO_REQUEST
from kueue_dra_ref.api.train_jobs import unresolved
from kueue_dra_ref.controllers.workload_slices import WorkloadSlices
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import Store
from kueue_dra_ref.rules.jobframework.job_reconciliation import PodSets
from kueue_dra_ref.target import Manifest
from kueue_dra_ref.workload.pod_set_info import (
    FIELDS,
    PodSetInfo,
    of_flavors,
    of_pod,
    of_update,
)

Failed = tuple[str, str]
"""The reason and the message of a Job that cannot start."""


class JobPods:
    """Starts Jobs that are admitted and suspends those that are not."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue
        self.store = kueue.store
        self.rules = kueue.behaviour.jobs
        self.slices = WorkloadSlices(kueue)

    def follow(self, job: Manifest, workload: Manifest) -> Failed | None:
        """Run a Job exactly while its Workload is admitted; give reason and message if it can never start."""
        admitted = is_true(workload, "Admitted")
        if is_suspended(job):
            if not self.rules.unsuspend(admitted) or self._is_held(job, workload):
                return None
            return self._start(job, workload)
        if not self.slices.runs_on(job, admitted):
            self.stop(job, workload, admitted=admitted)
        return None

    def stop(self, job: Manifest, workload: Manifest, *, admitted: bool) -> None:
        """Suspend a Job that is not admitted any more."""
        if self.rules.suspend(admitted):
            self.suspend(job, workload)

    def stop_unmatched(self, job: Manifest) -> None:
        """Suspend a Job without a Workload; its pods keep what they got when they started."""
        if is_suspended(job) or self.rules.finished(job):
            return
        self._update(job, suspended=True)

    def suspend(self, job: Manifest, workload: Manifest) -> None:
        """Suspend a Job, and restore the number, node selector and tolerations of its pods."""
        if is_suspended(job):
            return
        if JOB_KINDS[job["kind"]].raw:
            self._update(job, suspended=True)
            return
        pod_sets = workload["spec"]["podSets"]
        changed = self._sized(job, pod_sets)
        for place, pod_set in zip(pod_set_places(job), pod_sets, strict=False):
            if template_at(job, place.path):
                part = _restored_part(changed, place, pod_set)
                changed = replaced(changed, place.path, part)
        self._update(changed, suspended=True)

    def _is_held(self, job: Manifest, workload: Manifest) -> bool:
        """Whether admitted work stays suspended, because MultiKueue runs it on a worker."""
        rules = self.kueue.behaviour.dispatching
        if not rules.hold(job["kind"]):
            return False
        return any(map(self._is_multikueue, check_states(workload)))

    def _is_multikueue(self, state: Manifest) -> bool:
        check = self.store.find(ADMISSION_CHECK, state["name"])
        return is_multikueue(check)

    def _start(self, job: Manifest, workload: Manifest) -> Failed | None:
        if failed := self.rules.fail_to_start(job):
            return failed
        if failed := self.slices.fails_again(job, workload):
            return failed
        if JOB_KINDS[job["kind"]].raw:
            self._update(job, suspended=False)
            return None
        admission = workload["status"]["admission"]
        assignments = admission["podSetAssignments"]
        infos = []
        for place, assignment in zip(pod_set_places(job), assignments, strict=True):
            info = self.info(_template_of(job, place), assignment, workload)
            if not isinstance(info, PodSetInfo):
                return info
            infos.append((place, info))
        self._unsuspend(job, assignments, infos)
        return None

    def info(
        self, template: Manifest, assignment: Manifest, workload: Manifest
    ) -> PodSetInfo | Failed:
        """Give what the pods of a template get when they start, or why they cannot start with it."""
        info = self._placed(assignment, workload)
        info = info.and_also(of_flavors(flavors_of(self.store, assignment)))
        rules = self.kueue.behaviour.checking
        for check, update in rules.pod_set_updates(check_states(workload)) or ():
            if update["name"] != assignment["name"]:
                continue
            added = of_update(update)
            failed = self._conflict(info, added)
            if failed is not None:
                reason, message = failed
                return reason, f'in admission check "{check}": {message}'
            info = info.and_also(added)
        given = info
        overwrites = self.rules.overwrites(workload)
        for values in self.rules.own_values(assignment["name"], workload):
            if overwrites and "annotations" in values:
                continue
            given = given.and_also(PodSetInfo(values=values))
        return self._conflict(of_pod(template), given) or info

    def _placed(self, assignment: Manifest, workload: Manifest) -> PodSetInfo:
        """Give what pods get that are placed on nodes."""
        if not assignment.get("topologyAssignment"):
            return PodSetInfo()
        rules = self.kueue.behaviour.topology
        pod_sets = self.kueue.informers.workload(workload).pod_sets
        request = next(
            (each.topology for each in pod_sets if each.name == assignment["name"]),
            NO_REQUEST,
        )
        return PodSetInfo(
            values={"annotations": rules.pod_annotations.or_else({}, request)},
            gates=tuple(rules.scheduling_gates()),
        )

    def _conflict(self, asked: PodSetInfo, given: PodSetInfo) -> Failed | None:
        """Say which key has one value in ``asked`` and another in ``given``."""
        for name in FIELDS:
            before = asked.values.get(name, {})
            after = given.values.get(name, {})
            failed = self.rules.fail_on_conflicting_labels(before, after, name)
            if failed is not None:
                return failed
        return None

    def _unsuspend(
        self,
        job: Manifest,
        assignments: PodSets,
        infos: Sequence[tuple[PodSetPlace, PodSetInfo]],
    ) -> None:
        changed = self._resized(job, assignments)
        for place, info in infos:
            if self._writes(changed, place):
                part = _copied_part(changed, place)
                info.add_to({"spec": part} if place.built else part)
                changed = replaced(changed, place.path, part)
        self._update(without_global_selector(changed), suspended=False)

    def _writes(self, job: Manifest, place: PodSetPlace) -> bool:
        """Whether Kueue places the pods of a pod set; a template that the object lacks may be left out."""
        has_one = bool(template_at(job, place.path)) or place.default is None
        return has_one or self.rules.writes_default_template()

    def _update(self, job: Manifest, *, suspended: bool) -> None:
        updated = with_suspend(unresolved(job), suspended)
        updated["metadata"] = dict(job["metadata"])
        self.store.put(updated)

    def _sized(self, job: Manifest, pod_sets: PodSets) -> Manifest:
        """Give work with the number of pods that its Workload asks for, where Kueue restores it."""
        resized = self._resized(job, pod_sets)
        spec = dict(resized["spec"])
        for change in self.rules.restore_pod_counts(job, pod_sets):
            spec |= change
        return {**resized, "spec": spec}

    def _resized(self, job: Manifest, pod_sets: PodSets) -> Manifest:
        """Give a Job with the number of pods of its pod set, if partial admission may reduce it."""
        rules = self.rules
        if rules.min_parallelism(job) is None:
            return job
        spec = dict(job["spec"])
        [pod_set] = pod_sets
        count = pod_set["count"]
        for change in rules.apply_pod_count(job, count):
            spec |= change
        return {**job, "spec": spec}


def flavors_of(store: Store, assignment: Manifest) -> list[Manifest]:
    """Give the specs of the flavors of a pod set, each once."""
    specs: dict[str, Manifest] = {}
    for name in (assignment.get("flavors") or {}).values():
        flavor = store.find("ResourceFlavor", name)
        if flavor is not None:
            specs[name] = flavor.get("spec") or {}
    return list(specs.values())


_RESTORED = ("nodeSelector", "tolerations", "schedulingGates")


def _restored_part(job: Manifest, place: PodSetPlace, pod_set: Manifest) -> Manifest:
    """Give a pod template of a Job with the labels, node selector and tolerations of its Workload's pod set."""
    part = _copied_part(job, place)
    if not place.built:
        _restore_metadata(part, pod_set)
    spec = part if place.built else part["spec"]
    original_template = pod_set.get("template") or {}
    original = original_template.get("spec") or {}
    for key in _RESTORED:
        spec.pop(key, None)
        if key in original:
            spec[key] = original[key]
    return part


def _restore_metadata(template: Manifest, pod_set: Manifest) -> None:
    """Give a pod template the labels and annotations that it had before its pods started."""
    written = pod_set.get("template") or {}
    original = written.get("metadata") or {}
    meta = dict(template.get("metadata") or {})
    for key in ("labels", "annotations"):
        meta.pop(key, None)
        if key in original:
            meta[key] = original[key]
    template["metadata"] = meta


def _template_of(job: Manifest, place: PodSetPlace) -> Manifest:
    """Give the template of the pods that start."""
    part = _copied_part(job, place)
    return {"spec": part} if place.built else part


def _copied_part(job: Manifest, place: PodSetPlace) -> Manifest:
    """Copy a pod template of a Job and the spec in it, or the fields that describe the pods instead."""
    if place.built:
        return with_global_selector(job, template_at(job, place.path))
    template = dict(template_of(job, place))
    spec = template.get("spec") or {}
    template["spec"] = dict(spec)
    return template
