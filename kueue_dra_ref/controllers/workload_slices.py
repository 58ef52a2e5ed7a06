"""The slices of elastic work: the Workload that counts for it, and those that are finished.

Kueue: pkg/workloadslicing/workloadslicing.go (EnsureWorkloadSlices, FindNotFinishedWorkloads, normalizeActiveSlices)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.elastic_work import (
    in_chain,
    replaced_by,
    slice_key,
    slice_name,
)
from kueue_dra_ref.api.ownership import is_owned_by
from kueue_dra_ref.controllers.workload_conditions import finish, is_denied
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.rules.jobframework.job_reconciliation import PodSets
from kueue_dra_ref.target import Manifest

Slices = Sequence[Manifest]


class Incompatible(Exception):
    """Work has other pod sets than its Workload, so that it is not a matter of their size."""


class Denied(Exception):
    """The webhook denies the Workload its new size, so that its work is left as it is."""


class WorkloadSlices:
    """Selects, resizes and finishes the Workloads of elastic work."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue
        self.rules = kueue.behaviour.jobs

    def unfinished(self, workloads: Iterable[Manifest | None]) -> list[Manifest]:
        """Give those that exist and are not finished, the oldest first."""
        found = []
        for workload in workloads:
            if workload is not None and not is_true(workload, "Finished"):
                found.append(workload)
        return sorted(found, key=self._age)

    def ensure(self, slices: Slices, pod_sets: PodSets) -> Manifest | None:
        """Give the Workload that has the pods of the work, resized if need be; None if a new one is needed.

        Raises:
            Incompatible: the pod sets have other names.
            Denied: the Workload cannot be resized.

        """
        workload = self._selected(slices)
        if workload is None:
            return None
        before = _counts(workload["spec"]["podSets"])
        after = _counts(pod_sets)
        if before.keys() != after.keys():
            raise Incompatible
        if before == after:
            return workload
        reserved = is_true(workload, "QuotaReserved")
        if self.rules.resize_slice(reserved, before, after):
            return self._resized(workload, after)
        return None

    def runs_on(self, job: Manifest, admitted: bool) -> bool:
        """Whether elastic work runs on while its newest Workload waits."""
        return self.rules.elastic(job) and self.rules.run_on(admitted)

    def fails_again(self, job: Manifest, workload: Manifest) -> tuple[str, str] | None:
        """Say why elastic work cannot start that has run with another Workload."""
        if not self.rules.elastic(job):
            return None
        own = self._all_of(job)
        first = own[0]["metadata"]["name"]
        name = workload["metadata"]["name"]
        return self.rules.fail_to_restart(first, name)

    def _all_of(self, job: Manifest) -> list[Manifest]:
        """Give the Workloads of elastic work, the oldest first."""
        uid = job["metadata"]["uid"]
        workloads = self.kueue.store.every("Workload")
        return in_chain(each for each in workloads if is_owned_by(each, uid))

    def annotations(self, name: str, replaced: Manifest | None) -> dict[str, str]:
        """Give the annotations of a new Workload that may replace another."""
        old = slice_key(replaced) if replaced else ""
        found: dict[str, str] = {}
        for each in self.rules.slice_annotations(name, old):
            found |= each
        first = slice_name(replaced) if replaced else ""
        for each in self.rules.first_slice(name, first):
            found |= each
        return found

    def _selected(self, slices: Slices) -> Manifest | None:
        """Give the Workload that counts; others that are evicted, or have lost their quota, are finished.

        The scheduler finishes those that hold quota, when it admits the one that replaces them.
        """
        if len(slices) < 2:
            return _last(slices)
        active = [each for each in slices if not is_true(each, "Evicted")]
        holder = _last(filter(_holds_quota, active))
        selected = _replacement(holder, active) or holder or _last(active)
        if self.rules.newest_slice_counts():
            selected = slices[-1]
        for each in filter(_is_over, slices):
            if each not in (selected, holder):
                self._finish(each, active)
        return selected

    def _finish(self, workload: Manifest, active: Slices) -> None:
        replaced = _replacement(workload, active) is not None
        finished = self.rules.finish_evicted(replaced)
        assert finished is not None
        finish(self.kueue, workload, *finished)

    def _resized(self, workload: Manifest, counts: Mapping[str, int]) -> Manifest:
        working = self.kueue.patched(workload)
        pod_sets = []
        for each in working["spec"]["podSets"]:
            pod_sets.append({**each, "count": counts[each["name"]]})
        working["spec"] = {**working["spec"], "podSets": pod_sets}
        if is_denied(self.kueue, working, workload):
            raise Denied
        self.kueue.store.put(working)
        return working

    def _age(self, workload: Manifest) -> tuple[str, int]:
        created = workload["metadata"]["creationTimestamp"]
        return created, self.kueue.store.order_of(workload)


def _counts(pod_sets: PodSets) -> dict[str, int]:
    return {each["name"]: each["count"] for each in pod_sets}


def _last(slices: Iterable[Manifest]) -> Manifest | None:
    found = list(slices)
    return found[-1] if found else None


def _replacement(workload: Manifest | None, slices: Slices) -> Manifest | None:
    """Give the Workload that replaces another one."""
    if workload is None:
        return None
    key = slice_key(workload)
    found = [each for each in slices if replaced_by(each) == key]
    return _last(found)


def _is_over(workload: Manifest) -> bool:
    return is_true(workload, "Evicted") or not _holds_quota(workload)


def _holds_quota(workload: Manifest) -> bool:
    return is_true(workload, "QuotaReserved")
