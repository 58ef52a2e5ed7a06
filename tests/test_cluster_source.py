"""``--context`` and ``--kubeconfig``: a cluster that cannot be read is one line, and exit code 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clusters_live.test_existing_cluster import a_kubeconfig
from tests.commands import kueue_dra

COMMANDS = (
    ("simulate",),
    ("explain",),
    ("show",),
    ("what-if", "--set", "cq/team:cpu=1"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=[each[0] for each in COMMANDS])
def test_an_unknown_context_is_an_error_with_the_known_ones(command: tuple[str, ...], tmp_path: Path) -> None:
    """The kubeconfig is the one that is named."""
    result = kueue_dra(*command, "--context", "mien", "--kubeconfig", a_kubeconfig(tmp_path))

    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    why = "found none of that name in the kubeconfig, it has: mine, other"
    assert line == f"kueue-dra {command[0]}: context mien: {why}"


@pytest.mark.parametrize("command", COMMANDS, ids=[each[0] for each in COMMANDS])
def test_a_kubeconfig_that_cannot_be_read_is_an_error(command: tuple[str, ...], tmp_path: Path) -> None:
    """Without --context its current context is used."""
    result = kueue_dra(*command, "--kubeconfig", tmp_path / "none")

    assert result.exit_code == 2
    assert "no kubeconfig could be read" in result.stderr
    assert result.stdout == ""


def test_an_api_server_that_does_not_answer_is_an_error(tmp_path: Path) -> None:
    """Nothing listens on port 1."""
    result = kueue_dra("explain", "--context", "mine", "--kubeconfig", a_kubeconfig(tmp_path))

    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith("kueue-dra explain: context mine: ")


def test_what_if_needs_a_cluster() -> None:
    """A change alone is no question."""
    result = kueue_dra("what-if", "--set", "cq/team:cpu=1")

    assert result.exit_code == 2
    assert "no cluster: give a dump, manifests or --context" in result.stderr
