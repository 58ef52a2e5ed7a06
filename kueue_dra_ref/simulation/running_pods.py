"""Pods of Jobs that Kueue stops in a simulation: they end at once, so that the quota of the Job is released.

No counterpart: the Job controller of Kubernetes ends the pods of a suspended Job.
"""

from __future__ import annotations

from collections.abc import Iterator

from kueue_dra_ref.api.job_kinds import JOB, JOB_KINDS, is_active, is_suspended
from kueue_dra_ref.controlplane.store import key_of
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.target import Manifest, NotQuiescent

Running = frozenset[tuple[str, Key]]
"""Kind and key of the work whose pods run."""


def running_jobs(target: ReferenceTarget) -> Running:
    """Name the Jobs of a running cluster whose pods run."""
    running = set()
    for kind in JOB_KINDS:
        for job in target.store.every(kind):
            if is_active(job) and not is_suspended(job):
                running.add((kind, key_of(job)))
    return frozenset(running)


def settle(target: ReferenceTarget, running: Running) -> str:
    """Settle, and end the pods of running Jobs that are suspended by then; give the workloads that never settle."""
    restless = _settled(target)
    while _end_pods(target, running):
        restless = _settled(target)
    return restless


def _settled(target: ReferenceTarget) -> str:
    """Settle, and give the workloads that do not; a migration settles once the pods have stopped."""
    try:
        target.settle()
    except NotQuiescent as restless:
        return str(restless)
    return ""


def _end_pods(target: ReferenceTarget, running: Running) -> bool:
    """End the pods of suspended Jobs; False if there are none."""
    stopped = list(_stopped(target, running))
    for job in stopped:
        status = {}
        if job["kind"] == JOB.name:
            status = {**job["status"], "active": 0}
        target.store.put({**job, "status": status})
    return bool(stopped)


def _stopped(target: ReferenceTarget, running: Running) -> Iterator[Manifest]:
    for kind, key in sorted(running):
        job = target.store.get(kind, key)
        if job and is_active(job) and is_suspended(job):
            yield job
