"""What a page shows of one ClusterQueue or Cohort."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kueue_dra_ref.explain.step import circle_text
from kueue_dra_ref.simulation.cluster_tree import TreeNode
from kueue_dra_reports.cluster_page.quota_cells import quota_rows
from kueue_dra_reports.cluster_page.sides import (
    COHORT,
    NodeSides,
    PageSides,
    WorkSides,
)
from kueue_dra_reports.cluster_page.work_summary import counts, effects, reasons

NO_WORK = "no workload"


def node_view(
    page: PageSides, sides: NodeSides, work: Sequence[WorkSides], number: int
) -> dict[str, Any]:
    """Collect what the page shows of a node; its names are those of the last side that has it."""
    node = last_of(sides)
    last = [each[-1] for each in work if each[-1] is not None]
    summary = effects(work, page.effects) if page.compares else reasons(last)
    return {
        "id": number,
        "kind": node.kind,
        "name": node.name,
        "parent": node.parent,
        "depth": node.depth,
        "notes": list(_notes(node)),
        "quotas": quota_rows(sides),
        "counts": _counts(node, page, work),
        "waits": sum(each.waits for each in last),
        "summary": summary,
    }


def last_of(sides: NodeSides) -> TreeNode:
    """Give a node as it is on the last side that has it."""
    return next(each for each in reversed(sides) if each is not None)


def _counts(node: TreeNode, page: PageSides, work: Sequence[WorkSides]) -> list[str]:
    """Count the work of a ClusterQueue on each side."""
    if node.kind == COHORT:
        return []
    if not work:
        return [NO_WORK for _ in page.trees]
    return [counts(each) for each in zip(*work, strict=True)]


def _notes(node: TreeNode) -> Iterator[str]:
    if not node.exists:
        yield "no Cohort object: only its members name it"
    if node.circle:
        yield f"{circle_text(node.circle)}; Kueue admits nothing below them"
