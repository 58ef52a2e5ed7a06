"""The cohort tree as a mermaid diagram, for a README or an issue: quotas, and what each ClusterQueue has pending."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kueue_dra_ref.simulation.cluster_tree import (
    ClusterTree,
    PlacedWorkload,
    TreeNode,
    TreeQuota,
)
from kueue_dra_reports.cluster_page.quota_cells import devices_first, lent_text
from kueue_dra_reports.cluster_page.work_summary import reasons

MOST_CHARACTERS, MOST_EDGES = 50_000, 500
"""What mermaid draws unless it is configured otherwise (maxTextSize, maxEdges)."""
LONGEST_TEXT = 120
"""Characters of a name or a message in a label."""
BREAK = "<br/>"
COHORT = "Cohort"
_UNSAFE = re.compile(r"[^A-Za-z0-9 .,:;/()+*=_\u00a0-\U0010ffff-]|:(?! )")
"""What mermaid, Markdown or HTML may read as more than text; for mermaid also a colon in front of a number sign."""
_CLASSES = (
    "classDef cohort stroke-dasharray:4 3",
    "classDef waits stroke:#b58900,stroke-width:3px",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MermaidDiagram:
    """A diagram, and what it leaves out because mermaid would not draw it; empty if nothing."""

    text: str
    left_out: str = ""

    @property
    def fits(self) -> bool:
        """Whether mermaid draws it with its default limits."""
        edges = self.text.count("-->")
        return len(self.text) <= MOST_CHARACTERS and edges <= MOST_EDGES


@dataclass(frozen=True, slots=True, kw_only=True)
class _Detail:
    """How much a diagram shows; each level leaves out what the ones before it do."""

    left_out: str = ""
    of_nodes: bool = True
    """Whether it shows cpu, memory and other resources of nodes."""
    reasons: bool = True
    idle: bool = True
    """Whether it shows ClusterQueues in which nothing waits."""
    queues: bool = True


_LEVELS = (
    _Detail(),
    _Detail(left_out="cpu and memory", of_nodes=False),
    _Detail(left_out="cpu, memory and reasons", of_nodes=False, reasons=False),
    _Detail(
        left_out="cpu, memory, reasons, and ClusterQueues in which nothing waits",
        of_nodes=False,
        reasons=False,
        idle=False,
    ),
    _Detail(
        left_out="cpu, memory and ClusterQueues",
        of_nodes=False,
        queues=False,
    ),
)


def cluster_diagram(tree: ClusterTree) -> MermaidDiagram:
    """Draw the tree with as much as mermaid draws with its default limits."""
    for detail in _LEVELS:
        text = _drawn(tree, detail)
        diagram = MermaidDiagram(text=text, left_out=detail.left_out)
        if diagram.fits:
            break
    return diagram


def _drawn(tree: ClusterTree, detail: _Detail) -> str:
    lines = ["flowchart LR"]
    cohorts: dict[str, str] = {}
    for number, node in enumerate(tree.nodes):
        work = _waiting(tree, node)
        if not _is_drawn(node, work, detail):
            continue
        id_ = f"n{number}"
        lines.append(f"  {id_}{_box(node, work, detail)}")
        if node.parent in cohorts:
            lines.append(f"  {cohorts[node.parent]} --> {id_}")
        if _is_cohort(node):
            cohorts[node.name] = id_
    lines += [f"  {each}" for each in _CLASSES]
    return "\n".join(lines) + "\n"


def _is_drawn(node: TreeNode, work: Sequence[PlacedWorkload], detail: _Detail) -> bool:
    if _is_cohort(node):
        return True
    return detail.queues and (detail.idle or bool(work))


def _box(node: TreeNode, work: Sequence[PlacedWorkload], detail: _Detail) -> str:
    """Give the shape, the label and the class of a node."""
    texts = [f"<b>{node.kind} {escaped(node.name)}</b>"]
    for quota in sorted(node.quotas, key=_quota_order):
        is_of_nodes, _ = _quota_order(quota)
        if detail.of_nodes or not is_of_nodes:
            texts.append(escaped(_quota(quota)))
    if node.circle:
        texts.append("in a circle of cohorts")
    if work and detail.reasons:
        texts += map(escaped, reasons(work))
    elif work:
        texts.append(f"{len(work)} waiting")
    label = BREAK.join(texts)
    if _is_cohort(node):
        return f'(["{label}"]):::cohort'
    return f'["{label}"]{":::waits" if work else ""}'


def _is_cohort(node: TreeNode) -> bool:
    return node.kind == COHORT


def _quota_order(quota: TreeQuota) -> tuple[bool, tuple[str, str]]:
    return devices_first((quota.resource, quota.flavor))


def _quota(quota: TreeQuota) -> str:
    parts = [f"{quota.used.text} of {quota.nominal.text} used"]
    if quota.borrowed.units:
        parts.append(f"{quota.borrowed.text} borrowed")
    if quota.lent_most.units:
        parts.append(f"{lent_text(quota)} lent")
    return f"{quota.resource} ({quota.flavor}): {', '.join(parts)}"


def _waiting(tree: ClusterTree, node: TreeNode) -> list[PlacedWorkload]:
    if _is_cohort(node):
        return []
    work = tree.work.get(node.name, ())
    return [each for each in work if each.waits]


def escaped(text: str) -> str:
    """Write a text for a label of mermaid: shortened, and each character that has a meaning as its number."""
    if len(text) > LONGEST_TEXT:
        text = f"{text[: LONGEST_TEXT - 1]}…"
    return _UNSAFE.sub(_numbered, " ".join(text.split()))


def _numbered(found: re.Match[str]) -> str:
    return f"#{ord(found[0])};"
