"""Work that Kueue leaves as it is, because its webhook denies the Workload fewer pods than are reclaimable."""

from __future__ import annotations

from collections.abc import Mapping

from kueue_dra_ref.api.job_kind import pods_of_replica
from kueue_dra_ref.api.job_kinds import JOB_SET, succeeded_jobs
from kueue_dra_ref.target import Manifest


def reports_fewer(job: Manifest, workload: Manifest) -> bool:
    """Whether a JobSet has fewer pods of Jobs that succeeded than its Workload has reclaimable ones.

    Kueue's webhook denies the Workload the lower number, and the controller of JobSets goes no further.
    """
    if job["kind"] != JOB_SET.name:
        return False
    pods = {}
    for each, done in succeeded_jobs(job):
        pods[each["name"]] = done * pods_of_replica(each)
    return has_fewer(workload, pods)


def has_fewer(workload: Manifest, pods: Mapping[str, int]) -> bool:
    """Whether a Workload has more reclaimable pods in a pod set than some number for each."""
    status = workload.get("status") or {}
    for each in status.get("reclaimablePods") or ():
        least = pods.get(each["name"], 0)
        if each["count"] > least:
            return True
    return False
