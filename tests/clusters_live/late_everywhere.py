"""A pytest plugin for whole live runs: whatever Kueue writes of a case comes late, by chance, and nothing may turn red.

``make live ARGS="-p tests.clusters_live.late_everywhere"``; a write is held back for up to ``LATE_SECONDS`` (0.3).
What Kueue writes of the fence is on time: so the fence passes although Kueue is not done, wherever it can.
"""

from __future__ import annotations

import os
import random
from contextlib import ExitStack

import pytest

from kueue_dra_clusters.controlplane import ControlPlane
from kueue_dra_clusters.fence import PREFIX
from kueue_dra_clusters.waiting import limits_of
from kueue_dra_ref.target import Manifest
from tests.clusters_live.late import late_writes

MOST = float(os.environ.get("LATE_SECONDS", "0.3"))


def delay(asked: Manifest) -> float:
    """Say for how long a write is held back."""
    place = asked.get("namespace") or asked["name"]
    return 0.0 if place.startswith(PREFIX) else random.uniform(0.0, MOST)


class LatePlane(ControlPlane):
    """A control plane that has such a webhook as long as it is open."""

    def start(self) -> LatePlane:
        """Bring it up, and then the webhook."""
        super().start()
        self.late = ExitStack()
        self.late.enter_context(late_writes(self.objects(limits_of({})), self.kueue.processes.directory, delay))
        return self

    def close(self) -> None:
        """End the webhook first."""
        self.late.close()
        super().close()


def pytest_configure() -> None:
    """Make each caller that starts a control plane start this one."""
    pytest.MonkeyPatch().setattr("kueue_dra_clusters.controlplane.ControlPlane", LatePlane)
