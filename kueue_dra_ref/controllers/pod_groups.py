"""How the pods of a group fill the pod sets of its Workload: which take part, which are too many, which are replaced.

Kueue: pkg/controller/jobs/pod/pod_controller.go (FindMatchingWorkloads, equivalentToWorkload, sortActivePods)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.queued_pods import has_finalizer, is_gated, is_usable
from kueue_dra_ref.behaviours.phases_pods import PodRules
from kueue_dra_ref.controlplane.store import Store
from kueue_dra_ref.model.pod_group import PodGroup
from kueue_dra_ref.target import Manifest


@dataclass(slots=True, kw_only=True)
class GroupMatch:
    """The pods of a group, as the pod sets of its Workload need them."""

    kept: list[Manifest] = field(default_factory=list)
    excess: list[Manifest] = field(default_factory=list)
    """Pods that run, may still run or have succeeded, and are deleted."""
    replaced: list[Manifest] = field(default_factory=list)
    """Pods that have failed or were deleted, and whose place is taken."""
    absent: int = 0
    """How many pods the Workload waits for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMatching:
    """Matches groups of pods and their Workloads."""

    rules: PodRules
    store: Store

    def of(self, group: PodGroup, workload: Manifest) -> GroupMatch:
        """Match the pods of a group with the pod sets of its Workload."""
        found = GroupMatch()
        for pod_set in workload["spec"]["podSets"]:
            own = [pod for pod in group.pods if self.role(pod) == pod_set["name"]]
            self._match(own, pod_set["count"], group.is_fast, found)
        return found

    def _match(
        self, own: Sequence[Manifest], count: int, fast: bool, found: GroupMatch
    ) -> None:
        active = sorted(filter(is_usable, own), key=self._first_to_keep)
        inactive = [pod for pod in own if not is_usable(pod)]
        found.absent += self.rules.absent.or_else(0, len(active), count, fast)
        excess = self.rules.excess.or_else(0, len(active), count)
        kept = len(active) - excess
        found.kept += active[:kept]
        found.excess += active[kept:]
        over = max(min(len(inactive), len(own) - count), 0)
        inactive.sort(key=self._last_to_keep)
        found.kept += inactive[: len(inactive) - over]
        found.replaced += inactive[len(inactive) - over :]

    def _first_to_keep(self, pod: Manifest) -> tuple[bool, bool, int]:
        """Order pods: those with a finalizer first, then those that run, then those created first."""
        return not has_finalizer(pod), is_gated(pod), self.store.order_of(pod)

    def _last_to_keep(self, pod: Manifest) -> tuple[bool, int]:
        return not has_finalizer(pod), -self.store.order_of(pod)

    def role(self, pod: Manifest) -> str:
        """Give the role of a pod in its group."""
        return self.rules.role.or_else("main", pod)

    def roles(self, group: PodGroup) -> list[str]:
        """Give the role of each pod of a group."""
        return [self.role(pod) for pod in group.pods]

    def is_equivalent(self, kept: Sequence[Manifest], workload: Manifest) -> bool:
        """Whether the pods that take part fit into the pod sets of a Workload."""
        if not kept:
            return False
        counts = dict(self._counts(kept))
        own = {each["name"]: each["count"] for each in workload["spec"]["podSets"]}
        if not counts.keys() <= own.keys():
            return False
        if is_true(workload, "Finished"):
            return True
        return all(count <= own[role] for role, count in counts.items())

    def _counts(self, kept: Sequence[Manifest]) -> Iterator[tuple[str, int]]:
        roles = [self.role(pod) for pod in kept if is_usable(pod)]
        for role in dict.fromkeys(roles):
            yield role, roles.count(role)
