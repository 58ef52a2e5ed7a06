"""Jobs and their Workloads: one Workload per Job, suspended until admitted, suspended again on eviction."""

from __future__ import annotations

from typing import Any

from kueue_dra_ref.rule import rule


@rule("STATUS-029")
def a_job_is_one_pod_set(job: dict[str, Any]) -> list[dict[str, Any]]:
    """The pods of a Job as one pod set called main, as many as run at once."""
    spec = job["spec"]
    parallelism = spec.get("parallelism", 1)
    pods = min(parallelism, spec["completions"]) if spec.get("completions") is not None else parallelism
    return [{"name": "main", "count": pods, "template": spec.get("template") or {}}]


@rule("STATUS-024")
def a_job_waits_suspended(admitted: bool) -> bool:
    """A Job whose workload is not admitted is suspended."""
    return not admitted


@rule("STATUS-025")
def admission_releases_the_job(admitted: bool) -> bool:
    """A Job whose workload is admitted runs."""
    return admitted


@rule("STATUS-026")
def quota_is_returned_once_no_pod_runs(job: dict[str, Any] | None) -> bool:
    """An evicted workload keeps its quota while pods of its Job are active."""
    return not ((job or {}).get("status") or {}).get("active")


@rule("QUEUE-007")
def a_finished_job_finishes_its_workload(job: dict[str, Any]) -> tuple[str, str] | None:
    """Reason and message of Finished, once the Job is complete or has failed."""
    for found in (job.get("status") or {}).get("conditions") or ():
        if found.get("type") in {"Complete", "Failed"} and found.get("status") == "True":
            return ("Succeeded" if found["type"] == "Complete" else "Failed"), found.get("message", "")
    return None
