"""The events of a generated scenario in which a manager of MultiKueue dispatches work to two workers."""

from __future__ import annotations

from dataclasses import dataclass

MANAGER = 0
"""The number of the manager among the clusters; the workers are 1 and 2."""
Offered = tuple[str | None, str | None, str | None]
"""The spec of a claim template on each cluster, by its name in the theme; None for no template."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    """Submit work on the manager, with its claim template on some of the clusters."""

    kind: str
    pods: int
    cpu: int
    priority: int
    offered: Offered
    claims: bool
    """Whether the pods have a claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdraw:
    """Delete one of the earlier jobs on the manager."""

    job: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Complete:
    """Complete one of the earlier jobs on the worker that runs it."""

    job: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pods:
    """Report of each Job, on the worker that runs it, how many of its pods are active."""

    active: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Provide:
    """Create the claim template of an earlier job on one of the clusters, where it is missing."""

    job: int
    cluster: int
    like: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lose:
    """Cut the manager off from a worker."""

    worker: int
    how: str
    """What is deleted: the Secret or the MultiKueueCluster; or `renamed` for a Secret that does not exist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejoin:
    """Connect the manager to a worker again."""

    worker: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """Change the quota of the contested resource on one of the clusters."""

    cluster: int
    nominal: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Halt:
    """Stop or resume the ClusterQueue of one of the clusters."""

    cluster: int
    policy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """Name the workers in the MultiKueueConfig."""

    workers: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefer:
    """Give an earlier job another priority class on the manager."""

    job: int
    priority: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """Deactivate or activate the Workload of an earlier job, or its copies on the workers."""

    job: int
    active: bool
    cluster: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Respond:
    """Answer for an earlier job the check that a worker has of its own."""

    job: int
    worker: int
    state: str


JobEvent = Withdraw | Complete | Prefer | Switch | Respond
ClusterEvent = Lose | Rejoin | Amount | Halt | Use
DispatchEvent = Dispatch | Provide | Pods | JobEvent | ClusterEvent
