"""The path of pages for driver vendors: each command runs, in the order of its page, and prints what the page shows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from kueue_dra_cli.vendor_checks import SCHEMAS
from kueue_dra_reports.json_schema import published
from tests.selfcheck.test_shown_output import is_shown

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("check-a-driver.md", "map-a-driver.md", "charge-by-amount.md", "driver-in-ci.md")
NEEDS_MORE = ("helm ", "kubectl ", "pip ", "kueue-dra vendor check driver/")
"""Commands that need a cluster, a network or the reader's own driver."""


def _text(page: str) -> str:
    return (ROOT / "docs" / "how-to" / page).read_text("utf-8")


def _blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", _text(page), re.MULTILINE | re.DOTALL)


def _commands(page: str) -> Iterator[tuple[str, str]]:
    for block in _blocks(page, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            if not command.startswith(NEEDS_MORE):
                yield command, output


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_run(page: str, tmp_path: Path) -> None:
    """Exit code 0 unless the page prints it, and the output that the page shows."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    programs = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    commands = list(_commands(page))

    for command, output in commands:
        ran = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, f"{command}\n{ran.stdout}{ran.stderr}"
        printed = (ran.stdout, ran.stderr, ran.stderr + ran.stdout)
        assert not output.strip() or any(is_shown(output, each) for each in printed), f"{command}\n{ran.stdout}"
    assert len(commands) >= 4


@pytest.mark.parametrize(("page", "name"), [("check-a-driver.md", "descriptor"), ("driver-in-ci.md", "known")])
def test_the_file_that_a_page_shows_is_valid(page: str, name: str) -> None:
    """As its published schema says."""
    (text,) = _blocks(page, "yaml")

    assert list(Draft202012Validator(published(SCHEMAS[name], name)).iter_errors(yaml.safe_load(text))) == []
