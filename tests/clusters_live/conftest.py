"""One control plane for all live tests here; each test leaves it empty."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kueue_dra_clusters.controlplane import ControlPlane
from kueue_dra_clusters.live_target import LiveTarget
from tests.clusters_live.manifests import CONFIGURATION


@pytest.fixture(scope="session")
def plane() -> Iterator[ControlPlane]:
    """Have a control plane."""
    with ControlPlane() as plane:
        yield plane


@pytest.fixture(scope="session")
def shared_target(plane: ControlPlane) -> Iterator[LiveTarget]:
    """Have one target for all tests."""
    target = LiveTarget(plane)
    yield target
    target.stop()


@pytest.fixture
def target(shared_target: LiveTarget) -> Iterator[LiveTarget]:
    """Have a running Kueue and an empty cluster."""
    assert shared_target.start(CONFIGURATION) == ()
    yield shared_target
    shared_target.clean()
