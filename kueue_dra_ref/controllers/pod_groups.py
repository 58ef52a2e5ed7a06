"""How the pods of a group fill the pod sets of its Workload: which take part, which are too many, which are replaced.

Kueue: pkg/controller/jobs/pod/pod_controller.go (FindMatchingWorkloads, equivalentToWorkload, sortActivePods)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import filterfalse

from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.queued_pods import has_finalizer, is_gated, is_usable
from kueue_dra_ref.api.topologies import with_request
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


def placed(rules: PodRules, pod_set: Manifest, pod: Manifest, label: str) -> Manifest:
    """Give a pod set with the topology that a pod of it requests, or their template; a label numbers the pods."""
    request = rules.topology.or_else({}, pod, label)
    return with_request(pod_set, request)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMatching:
    """Matches groups of pods and their Workloads."""

    rules: PodRules
    store: Store

    def of(self, group: PodGroup, workload: Manifest) -> GroupMatch:
        """Match the pods of a group with the pod sets of its Workload."""
        if self.rules.unmatched(group):
            return GroupMatch(kept=list(group.pods))
        found = GroupMatch()
        for pod_set in workload["spec"]["podSets"]:
            name = pod_set["name"]
            own = [pod for pod in group.pods if self.role(pod) == name]
            self._match(
                own,
                pod_set["count"],
                group.is_fast,
                found,
            )
        return found

    def _match(
        self,
        own: Sequence[Manifest],
        count: int,
        fast: bool,
        found: GroupMatch,
    ) -> None:
        """Match the pods of one role with the count of its pod set."""
        active = list(filter(is_usable, own))
        active.sort(key=self._first_to_keep)
        pods = len(active)
        found.absent += self.rules.absent.or_else(0, pods, count, fast)
        excess = sum(self.rules.excess(pods, count))
        kept = pods - excess
        found.kept += active[:kept]
        found.excess += active[kept:]
        inactive = sorted(filterfalse(is_usable, own), key=self._last_to_keep)
        room = max(count - pods, 0)
        found.kept += inactive[:room]
        found.replaced += inactive[room:]

    def _first_to_keep(self, pod: Manifest) -> tuple[bool, bool, int]:
        """Order pods: those with a finalizer first, then those that run, then those created first."""
        created = self.store.order_of(pod)
        is_free = not has_finalizer(pod)
        return is_free, is_gated(pod), created

    def _last_to_keep(self, pod: Manifest) -> tuple[bool, int]:
        created = self.store.order_of(pod)
        is_free = not has_finalizer(pod)
        return is_free, -created

    def role(self, pod: Manifest) -> str:
        """Give the role of a pod in its group."""
        return self.rules.role.or_else("main", pod)

    def first_of(self, group: PodGroup, role: str) -> Manifest:
        """Give the first pod of a role in a group; a pod alone has none."""
        pods = (pod for pod in group.usable if self.role(pod) == role)
        return next(pods, group.first)

    def roles(self, group: PodGroup) -> list[str]:
        """Give the role of each pod of a group."""
        return [self.role(pod) for pod in group.pods]

    def is_equivalent(self, kept: Sequence[Manifest], workload: Manifest) -> bool:
        """Whether the pods that take part fit into the pod sets of a Workload."""
        if not kept:
            return False
        finished = is_true(workload, "Finished")
        own = {}
        for pod_set in workload["spec"]["podSets"]:
            own[pod_set["name"]] = pod_set["count"]
        for role, count in self._counts(kept):
            if role not in own:
                return False
            if count > own[role] and not finished:
                return False
        return True

    def _counts(self, kept: Sequence[Manifest]) -> Iterator[tuple[str, int]]:
        usable = filter(is_usable, kept)
        counted = Counter(map(self.role, usable))
        yield from counted.items()
