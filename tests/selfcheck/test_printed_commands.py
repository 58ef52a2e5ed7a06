"""Commands that docs and `--help` print are commands: each option exists, and what needs no cluster runs as printed."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from kueue_dra_cli import COMMANDS, main
from tests.wheels import clean

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/README.md")])
OPERATORS = re.compile(r"\s(\||>|>>|2>&1|&&|;|#)(\s|$)|;")
ABSENT = ("does not exist", "there is no folder")
"""A file of the reader's is not here."""
RUNS_HERE = ("behaviour", "requirements", "diff-texts")
"""Commands that need no file."""
NEEDS = ("--target kueue", "--context", "--kueue-src", "--against", "--shard", "--rerun-failed", "known.yaml", "acme")
"""What a printed run needs that is not here."""


def leaves(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Give each command and subcommand with its words."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from leaves(child, (*path, name))


def printed() -> Iterator[tuple[str, str]]:
    """Give each printed command line, with where it stands."""
    for path, command in leaves(main):
        for line in (command.epilog or "").splitlines():
            if line.startswith("  kueue-dra "):
                yield f"--help of {' '.join(path)}", re.split(r"\s{2,}", line.strip())[0]
    for page in PAGES:
        for line in _shown(page.read_text("utf-8")):
            yield str(page.relative_to(ROOT)), line


def _shown(text: str) -> Iterator[str]:
    for block in re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        lines = re.findall(r"(?m)^\$ (.*)$", re.sub(r"\\\n\s*", "", block))
        parts = [part for line in lines for part in re.split(r"\s&&\s", line)]
        yield from (part for part in parts if part.startswith("kueue-dra "))


COMMAND_LINES = sorted({(place, line) for place, line in printed() if "…" not in line and "..." not in line})


@pytest.mark.parametrize(("place", "line"), COMMAND_LINES, ids=[f"{place}: {line}" for place, line in COMMAND_LINES])
def test_a_printed_command_is_one(place: str, line: str) -> None:
    """Its options and arguments are those of the program."""
    words = shlex.split(OPERATORS.split(f"{line} ")[0])[1:]
    try:
        parse(words)
    except click.ClickException as fault:
        message = fault.format_message()
        assert any(text in message for text in ABSENT), f"{place}: {line}: {message}"


def parse(words: list[str]) -> None:
    """Parse a command line, and run nothing."""
    command: click.Command = main
    context = click.Context(main, info_name="kueue-dra")
    while isinstance(command, click.Group) and words and words[0] not in ("--help", "--version"):
        _, found, words = command.resolve_command(context, words)
        assert found is not None
        command = found
    if not isinstance(command, click.Group):
        command.make_context(command.name, list(words), parent=context)


def _runs(line: str) -> bool:
    return line.split()[1] in RUNS_HERE and not OPERATORS.search(f"{line} ")


HERE = sorted({line for _, line in COMMAND_LINES if _runs(line)})


@pytest.mark.parametrize("line", HERE)
def test_a_printed_command_that_needs_nothing_runs(line: str, tmp_path: Path) -> None:
    """In an empty folder, with exit code 0."""
    command = [sys.executable, "-m", "kueue_dra_cli", *shlex.split(line)[1:]]
    ran = subprocess.run(
        command, cwd=tmp_path, env=clean({"PYTHONPATH": str(ROOT)}), capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


RUNS = sorted(
    {line for place, line in COMMAND_LINES if place == "--help of run" and not any(each in line for each in NEEDS)}
)


@pytest.mark.parametrize("line", RUNS)
def test_a_printed_run_on_the_reference_runs(line: str, tmp_path: Path) -> None:
    """It selects cases; the whole suite is not run again here."""
    command = [sys.executable, "-m", "kueue_dra_cli", *shlex.split(line)[1:]]
    collected = {"PYTEST_ADDOPTS": "--collect-only", "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(command, cwd=tmp_path, env=clean(collected), capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-500:] + ran.stderr


def test_commands_are_printed() -> None:
    """Empty lists would check nothing, and a wrong option is found."""
    assert len(COMMAND_LINES) > 100
    assert {line.split()[1] for _, line in COMMAND_LINES} >= set(COMMANDS)
    assert len(RUNS) > 3
    assert len(HERE) > 3
    with pytest.raises(click.NoSuchOption):
        parse(["run", "--nosuch"])
