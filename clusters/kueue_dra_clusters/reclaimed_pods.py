"""JobSets that Kueue leaves as they are, because they report fewer Jobs that succeeded than before."""

from __future__ import annotations

from kueue_dra_ref.api.job_kind import pods_of_replica
from kueue_dra_ref.api.job_kinds import JOB_SET, replicated_jobs
from kueue_dra_ref.target import Manifest


def reports_fewer(job: Manifest, workload: Manifest) -> bool:
    """Whether a JobSet has fewer pods of Jobs that succeeded than its Workload has reclaimable ones.

    Kueue's webhook denies the Workload the lower number, and the controller of JobSets goes no further.
    """
    if job["kind"] != JOB_SET.name:
        return False
    status = job.get("status") or {}
    succeeded = {}
    for each in status.get("replicatedJobsStatus") or ():
        succeeded[each["name"]] = each["succeeded"]
    pods = {}
    for each in replicated_jobs(job):
        name = each["name"]
        pods[name] = succeeded.get(name, 0) * pods_of_replica(each)
    reclaimable = (workload.get("status") or {}).get("reclaimablePods") or ()
    return any(each["count"] > pods.get(each["name"], 0) for each in reclaimable)
