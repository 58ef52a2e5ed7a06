"""Every minor that is pinned has its pins, and a Kueue of another minor is not taken for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kueue_dra_clusters.binaries import Binaries, insist_on_release
from kueue_dra_clusters.errors import MissingTool
from kueue_dra_clusters.go_tool import PINNED
from kueue_dra_clusters.releases import RELEASES, release
from kueue_dra_clusters.waiting import Pauses


@pytest.mark.parametrize("minor", RELEASES)
def test_a_release_is_pinned_under_its_minor(minor: str) -> None:
    """The go.mod names a patch of that minor."""
    assert RELEASES[minor].component.version.startswith(f"v{minor}.")


def test_what_is_pinned_is_a_release() -> None:
    """No folder lies there for nothing."""
    assert {path.name for path in PINNED.glob("kueue-*")} == {f"kueue-{minor}" for minor in RELEASES}


def test_a_minor_that_is_not_pinned_is_answered() -> None:
    """The answer names those that are."""
    with pytest.raises(MissingTool, match=r"Kueue 0\.13 is available; pinned are 0\.14\.0, .*0\.19\.2"):
        release("0.13")


def test_a_minor_that_is_provisional_is_answered_as_such() -> None:
    """There is a behaviour of it, but nothing to hold it against."""
    with pytest.raises(
        MissingTool, match=r"Kueue 0\.20 is available, which is provisional: .*only the reference runs it; pinned are"
    ):
        release("0.20")


@pytest.mark.parametrize(
    ("minor", "pauses"),
    [
        pytest.param("0.14", Pauses(sweep=0, device_class=None, retries=3), id="0.14"),
        pytest.param("0.15", Pauses(sweep=0, device_class=None, retries=3), id="0.15"),
        pytest.param("0.16", Pauses(sweep=1, device_class=None, retries=3), id="0.16"),
        pytest.param("0.17", Pauses(sweep=1, device_class=None, retries=3), id="0.17"),
        pytest.param("0.18", Pauses(sweep=1, device_class=1), id="0.18"),
        pytest.param("0.19", Pauses(sweep=1, device_class=1), id="0.19"),
    ],
)
def test_nobody_waits_for_what_a_release_does_at_once(minor: str, pauses: Pauses) -> None:
    """Sweeps are put off from 0.16 on, and classes are looked at from 0.18 on."""
    assert release(minor).pauses == pauses


def a_kueue(folder: Path, version: str) -> Binaries:
    """Write a program that tells a version as Kueue does."""
    program = folder / "kueue"
    program.write_text(f'#!/bin/sh\necho \'{{"msg": "Initializing", "gitVersion": "{version}"}}\' >&2\n')
    program.chmod(0o755)
    return Binaries(etcd=program, kube_apiserver=program, kueue=program, kueue_module=folder, release=release("0.18"))


@pytest.mark.parametrize("version", ["v0.18.3", "v0.18.0-rc.1", "v0.0.0-main", "abc123"])
def test_a_kueue_of_the_minor_or_of_ones_own_is_taken(tmp_path: Path, version: str) -> None:
    """A build from a branch may have any version."""
    insist_on_release(a_kueue(tmp_path, version))


def test_a_kueue_of_another_minor_is_refused(tmp_path: Path) -> None:
    """It would be checked against requirements that do not hold for it."""
    with pytest.raises(MissingTool, match=r"KUEUE_BIN=.*kueue: it is Kueue v0\.18\.3, expected a 0\.19"):
        insist_on_release(replace(a_kueue(tmp_path, "v0.18.3"), release=release("0.19")))
