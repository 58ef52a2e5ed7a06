"""Render a cluster, or both sides of a change, as one self-contained HTML page; every value is escaped."""

from __future__ import annotations

from kueue_dra_ref.simulation.cluster_tree import ClusterTree
from kueue_dra_ref.simulation.what_if import WhatIf
from kueue_dra_reports.cluster_page.view import PageHead, change_view, cluster_view
from kueue_dra_reports.page.environment import template

TEMPLATE = "cluster.html"


def cluster_page(tree: ClusterTree, head: PageHead) -> str:
    """Give the page of a cluster."""
    return template(TEMPLATE).render(cluster_view(tree, head)) + "\n"


def change_page(
    before: ClusterTree, after: ClusterTree, found: WhatIf, head: PageHead
) -> str:
    """Give the page of a change, with the cluster before and after it side by side."""
    return template(TEMPLATE).render(change_view(before, after, found, head)) + "\n"
