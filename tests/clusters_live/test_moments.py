"""Dumps in the middle of generated scenarios: what the commands say is what the real Kueue says, and does next.

``python -m tests.moments`` takes more of them, or other ones.
"""

from __future__ import annotations

from functools import partial

import pytest

from kueue_dra_clusters.controlplane import ControlPlane
from kueue_dra_clusters.live_target import LiveTarget
from kueue_dra_ref.behaviours import behaviour
from tests.moments.compared import compared
from tests.moments.drawn import plans
from tests.moments.figures import Figures, lines
from tests.moments.recorded import dump_of, record

MOMENTS = 3
SEED = 4


@pytest.mark.live
def test_the_commands_answer_as_the_cluster_does(plane: ControlPlane, target: LiveTarget) -> None:
    """explain, audit, and a reference that goes on from the dump, at three moments."""
    figures = Figures()
    for plan in plans(behaviour("kueue-0.19.2"), SEED):
        target.clean()
        for moment in compared(record(plan, "0.19", target, partial(dump_of, plane))):
            figures.add(moment)
            print("\n".join(lines(moment)), flush=True)
        if figures.moments >= MOMENTS:
            break

    print(figures)
    assert not figures.differ, figures
