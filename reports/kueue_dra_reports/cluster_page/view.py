"""What the page of a cluster shows, as plain values for its template; of a change both sides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.explain.step import named
from kueue_dra_ref.simulation.cluster_tree import ClusterTree
from kueue_dra_ref.simulation.what_if import WhatIf
from kueue_dra_reports.cluster_page.node_view import last_of, node_view
from kueue_dra_reports.cluster_page.quota_cells import devices_first
from kueue_dra_reports.cluster_page.sides import QUEUE, PageSides
from kueue_dra_reports.cluster_page.work_data import WorkData

View = dict[str, Any]
MANY = 40
"""The number of ClusterQueues and Cohorts above which a page shows only resources in use at first."""
OPEN_AT_FIRST = 40
"""The most Workloads of a page whose ClusterQueues are open at first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageHead:
    """What a page says of its input: where it is from, which rules decide, and what is not considered."""

    source: str
    behaviour: str
    notes: Sequence[str] = ()
    explain: str = ""
    """The command that explains a Workload of the input, without its name; empty if there is none."""


def cluster_view(tree: ClusterTree, head: PageHead) -> View:
    """Collect what the page of one cluster shows."""
    every = [each for work in tree.work.values() for each in work]
    waiting = sum(each.waits for each in every)
    verb = "waits" if waiting == 1 else "wait"
    sentence = f"{waiting} of {named(len(every), 'workload')} {verb}"
    return _view(PageSides(trees=(tree,)), head, sentence)


def change_view(
    before: ClusterTree, after: ClusterTree, found: WhatIf, head: PageHead
) -> View:
    """Collect what the page of a change shows: both sides, and what the change does."""
    effects = {each.named.key: str(each.effect) for each in found.workloads}
    sentence = f"The change has an effect on {named(len(effects), 'workload')}"
    if effects:
        numbers = Counter(effects.values())
        listed = [f"{number} {effect}" for effect, number in numbers.items()]
        each = ", ".join(listed)
        sentence = f"{sentence}: {each}"
    page = PageSides(trees=(before, after), effects=effects)
    return _view(page, head, sentence)


def _view(page: PageSides, head: PageHead, sentence: str) -> View:
    data = WorkData(page.effects)
    nodes = []
    queues: dict[str, list[Any]] = {}
    for number, sides in enumerate(page.nodes()):
        work = page.work(last_of(sides))
        nodes.append(node_view(page, sides, work, number))
        if work:
            queues[str(number)] = [data.row(each) for each in work]
    return {
        "head": head,
        "sentence": sentence,
        "sides": page.labels,
        "nodes": nodes,
        "resources": _resources(nodes),
        "queues": sum(node["kind"] == QUEUE for node in nodes),
        "many": len(nodes) > MANY,
        "data": {
            **data.tables(),
            "sides": page.labels,
            "queues": queues,
            "explain": head.explain,
            "open": sum(map(len, queues.values())) <= OPEN_AT_FIRST,
        },
    }


def _resources(nodes: Sequence[View]) -> list[str]:
    """Name the resources of all quotas, devices first."""
    every = {row.resource for node in nodes for row in node["quotas"]}
    return sorted(every, key=lambda name: devices_first((name, "")))
