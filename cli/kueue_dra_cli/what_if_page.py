"""Draw a cluster before and after a change; the first side is read early, because the change is made in place."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kueue_dra_cli.explain import with_notes
from kueue_dra_cli.inputs import Simulation
from kueue_dra_cli.page_head import page_head
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.simulation.cluster_state import explanations
from kueue_dra_ref.simulation.cluster_tree import ClusterTree, cluster_tree
from kueue_dra_ref.simulation.run import SimulationResult
from kueue_dra_ref.simulation.what_if import WhatIf


class ClusterBefore:
    """The cluster before a change, and what its page says of the input."""

    def __init__(
        self,
        simulation: Simulation,
        result: SimulationResult,
        files: Sequence[Path],
        change: Sequence[str],
    ) -> None:
        self._result = result
        self._notes = simulation.notes(result)
        self._tree = self._cluster(result, is_changed=False)
        words = shlex.join(change)
        self._head = page_head(simulation, result, self._notes, files, words)

    def page(self, after: ReferenceTarget, found: WhatIf, notes: Sequence[str]) -> str:
        """Give the page of the change; ``notes`` are about what comes of it."""
        from kueue_dra_reports.cluster_page.render import change_page

        changed = replace(self._result, target=after)
        tree = self._cluster(changed, is_changed=True)
        head = replace(self._head, notes=[*self._head.notes, *notes])
        return change_page(self._tree, tree, found, head)

    def _cluster(self, result: SimulationResult, *, is_changed: bool) -> ClusterTree:
        found = explanations(result, is_changed=is_changed)
        return cluster_tree(result, [with_notes(each, self._notes) for each in found])
