"""The menu: help that teaches, at once, and errors that lead on."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from click import Context

from kueue_dra_cli import COMMANDS, LazyGroup, main
from tests.commands import ROOT, kueue_dra


def test_the_menu_names_every_command_with_what_it_does() -> None:
    """A newcomer sees what there is."""
    result = kueue_dra("--help")

    assert result.exit_code == 0
    assert {"run", "simulate", "explain", "config", "replay", "report", "requirements"} <= set(COMMANDS)
    assert all(f"\n  {name}  " in result.output for name in COMMANDS)
    assert "Exit codes" in result.output


@pytest.mark.parametrize("name", COMMANDS)
def test_the_menu_says_what_the_command_says(name: str) -> None:
    """The first sentence of each command is the one that the menu prints without importing it."""
    assert isinstance(main, LazyGroup)
    command = main.get_command(Context(main), name)

    assert command is not None
    assert (command.help or "").splitlines()[0] == COMMANDS[name]


@pytest.mark.parametrize("name", ["run", "simulate", "explain", "replay", "requirements", "audit", "show"])
def test_the_help_of_a_command_has_an_example(name: str) -> None:
    """Examples can be copied."""
    result = kueue_dra(name, "--help")

    assert result.exit_code == 0
    assert f"  kueue-dra {name}" in result.output


def test_help_is_printed_at_once() -> None:
    """The menu takes less than 0.3 s; counted is the processor's time, since the machine may be busy with more."""
    before = os.times()
    subprocess.run([sys.executable, "-m", "kueue_dra_cli", "--help"], cwd=ROOT, check=True, capture_output=True)
    after = os.times()

    took = after.children_user + after.children_system - before.children_user - before.children_system
    assert took < 0.3


def test_the_menu_imports_neither_the_reference_nor_pytest() -> None:
    """The menu stays fast on each machine."""
    probe = (
        "import sys, kueue_dra_cli; print(sorted({'yaml', 'pytest', 'kubernetes', 'kueue_dra_ref'} & set(sys.modules)))"
    )

    found = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, check=True, capture_output=True, text=True)

    assert found.stdout == "[]\n"


def test_the_version_is_printed() -> None:
    """An installed package says its version, a checkout that it is one."""
    result = kueue_dra("--version")

    assert result.exit_code == 0
    assert result.output.startswith("kueue-dra ")


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        pytest.param("simulte", "did you mean simulate?", id="near"),
        pytest.param("frobnicate", "known: run, simulate, explain", id="far"),
    ],
)
def test_an_unknown_command_leads_to_a_known_one(typed: str, hint: str) -> None:
    """A typing error is answered with what was meant."""
    result = kueue_dra(typed)

    assert result.exit_code == 2
    assert f"no such command '{typed}'; {hint}" in result.stderr
