"""A build of the user runs with a behaviour that no release has, and says what it is."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from kueue_dra_clusters.binaries import KUEUE_VARIABLE, MANIFESTS_VARIABLE, binaries
from kueue_dra_clusters.controlplane import ControlPlane
from kueue_dra_clusters.live_target import LiveTarget
from kueue_dra_clusters.own_build import FACTS
from tests.clusters_live.manifests import CONFIGURATION

pytestmark = pytest.mark.live

BUILD = {"source": "kueue", "version": "v0.19.2-1-gabcdef0", "commit": "abcdef0", "dirty": False, "changed": []}


def test_a_build_runs_with_a_provisional_behaviour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program of a release, laid out as a build of a checkout."""
    released = binaries()
    shutil.copy(released.kueue, tmp_path / "kueue")
    (tmp_path / FACTS).write_text(json.dumps(BUILD))
    monkeypatch.setenv(KUEUE_VARIABLE, str(tmp_path / "kueue"))
    monkeypatch.setenv(MANIFESTS_VARIABLE, str(released.kueue_module))
    found = binaries("0.20")

    with ControlPlane(found) as plane, closing(LiveTarget(plane)) as target:
        assert target.start(CONFIGURATION) == ()
        described = target.describe()

    assert found.release.minor == "0.20"
    assert described["build"] == BUILD
    assert described["kueue"].startswith("v0.19.")
