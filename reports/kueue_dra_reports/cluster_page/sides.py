"""What a page compares: one cluster, or the same cluster before and after a change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.simulation.cluster_tree import (
    ClusterTree,
    PlacedWorkload,
    TreeNode,
)

NodeSides = Sequence[TreeNode | None]
"""One ClusterQueue or Cohort on each side; None where it does not exist."""
WorkSides = Sequence[PlacedWorkload | None]
"""One Workload on each side; None where it does not exist."""
QUEUE, COHORT = "ClusterQueue", "Cohort"
NO_QUEUE = TreeNode(
    kind="",
    name="No ClusterQueue",
    parent="",
    depth=0,
    exists=True,
    circle=(),
    quotas=(),
)
"""The place of work that names no ClusterQueue that exists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSides:
    """The trees of a page; ``effects`` says what a change does to Workloads."""

    trees: Sequence[ClusterTree]
    effects: Mapping[Key, str] = field(default_factory=dict)

    @property
    def compares(self) -> bool:
        """Whether the page has both sides of a change."""
        return len(self.trees) > 1

    @property
    def labels(self) -> Sequence[str]:
        """The name of each side; empty if there is one."""
        return ("before", "after") if self.compares else ("",)

    def nodes(self) -> Iterator[NodeSides]:
        """Give each node in the order of the last tree; what only the first one has comes last."""
        found: dict[tuple[str, str], list[TreeNode | None]] = {}
        for at in self._last_first():
            for node in self.trees[at].nodes:
                key = (node.kind, node.name)
                sides = found.setdefault(key, [None for _ in self.trees])
                sides[at] = node
        yield from found.values()
        if any(tree.work.get("") for tree in self.trees):
            yield [NO_QUEUE for _ in self.trees]

    def work(self, node: TreeNode) -> list[WorkSides]:
        """Give the Workloads of a ClusterQueue in the order of the last tree."""
        if node.kind == COHORT:
            return []
        name = "" if node is NO_QUEUE else node.name
        found: dict[Key, list[PlacedWorkload | None]] = {}
        for at in self._last_first():
            for each in self.trees[at].work.get(name, ()):
                key = each.decision.key
                sides = found.setdefault(key, [None for _ in self.trees])
                sides[at] = each
        return list(found.values())

    def _last_first(self) -> Sequence[int]:
        return range(len(self.trees))[::-1]
