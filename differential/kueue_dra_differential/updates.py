"""Updates one field of a Job or Workload of a generated scenario."""

from __future__ import annotations

from collections.abc import Callable

from kueue_dra_differential.events import (
    Activate,
    Edit,
    Move,
    Open,
    Rank,
    Resize,
    class_of,
)
from kueue_dra_differential.gated import gated
from kueue_dra_differential.other_work import resized
from kueue_dra_fixtures.manifests import PRIORITY_LABEL, QUEUE_LABEL, marked, with_spec
from kueue_dra_ref.target import Manifest


def rewritten(
    made: Manifest, event: Edit, queue: Callable[[int], str]
) -> Manifest | None:
    """Give the updated object, ``queue`` naming LocalQueues; None for a Job that would be deactivated."""
    if made["kind"] == "Workload":
        return _workload(made, event, queue)
    return _job(made, event, queue)


def _job(job: Manifest, event: Edit, queue: Callable[[int], str]) -> Manifest | None:
    match event:
        case Activate():
            return None
        case Open():
            return gated(job, event.left)
        case Move():
            return marked(job, labels={QUEUE_LABEL: queue(event.queue)})
        case Resize():
            if job["kind"] != "Job":
                return resized(job, event.pods)
            return with_spec(job, parallelism=event.pods)
        case Rank():
            return marked(
                job,
                labels={
                    PRIORITY_LABEL: class_of(event.priority) if event.priority else None
                },
            )


def _workload(workload: Manifest, event: Edit, queue: Callable[[int], str]) -> Manifest:
    match event:
        case Activate():
            return with_spec(workload, active=event.active)
        case Open():
            return gated(workload, event.left)
        case Move():
            return with_spec(workload, queueName=queue(event.queue))
        case Resize():
            *others, last = workload["spec"]["podSets"]
            return with_spec(workload, podSets=[*others, {**last, "count": event.pods}])
        case Rank():
            return with_spec(workload, priority=event.priority)
