"""What decides whether Kueue manages a Job.

Kueue: pkg/controller/jobframework/utils.go (WorkloadShouldBeSuspended)
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOwnership:
    """The queue name of a Job, and what the Configuration states about its namespace."""

    queue: str
    """The queue name of the Job; empty for none."""
    has_default: bool
    """Whether its namespace has an active LocalQueue named default."""
    selected: bool
    """Whether managedJobsNamespaceSelector matches its namespace."""
    unnamed_too: bool
    """Whether manageJobsWithoutQueueName is set."""
    owner_is_queued: bool
    """Whether its controller is of a kind that Kueue queues."""
    has_queued_ancestor: bool
    """Whether a controller of it, or of that in turn, is work that Kueue manages."""
