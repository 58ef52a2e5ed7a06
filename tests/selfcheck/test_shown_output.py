"""What the pages show below a command is what the command prints."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "CONTRIBUTING.md", "docs/reference/cli.md", "docs/how-to/check-a-driver.md",
    "docs/how-to/audit-a-cluster.md", *(
    str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("docs/tutorial/*.md"))
))  # fmt: skip
PROGRAM = [sys.executable, "-m", "kueue_dra_cli"]
RUNS_HERE = ("simulate", "explain", "config", "vendor", "devices", "audit", "git")
"""Commands that need no real Kueue and write no file."""


def shown(page: str) -> Iterator[tuple[str, str]]:
    """Give each command of a page that shows what it prints, with that."""
    for block in re.findall(r"^```console\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            if output.strip() and _words(command)[0] in RUNS_HERE:
                yield command, output


def _words(command: str) -> list[str]:
    words = shlex.split(re.split(r";| > ", command)[0], comments=True)
    return words[1:] if words[0] == "kueue-dra" else words


CASES = [(page, *each) for page in PAGES for each in shown((ROOT / page).read_text("utf-8"))]


@pytest.mark.parametrize(("page", "command", "output"), CASES, ids=[f"{page}: {each}" for page, each, _ in CASES])
def test_a_page_shows_what_the_command_prints(page: str, command: str, output: str) -> None:
    """A line with an ellipsis leaves out lines."""
    words = _words(command)
    ran = subprocess.run(
        words if words[0] == "git" else PROGRAM + words, cwd=ROOT, capture_output=True, text=True, check=False
    )
    printed = {text + (f"{ran.returncode}\n" if "echo $?" in command else "") for text in _printed(ran)}

    assert any(is_shown(output, text) for text in printed), f"{page} shows\n{output}\nbut it prints\n{ran.stdout}"


def test_pages_show_commands() -> None:
    """An empty list would check nothing, and a difference is found."""
    assert len(CASES) >= 12
    assert is_shown("a\n…\nd\n", "a\nb\nc\nd\n")
    assert not is_shown("a\nd\n", "a\nb\nd\n")


def _printed(ran: subprocess.CompletedProcess[str]) -> Iterator[str]:
    """Give the output alone, the errors alone, and the errors with the output as a terminal shows them."""
    yield from (ran.stdout, ran.stderr, ran.stderr + ran.stdout)


def is_shown(output: str, printed: str) -> bool:
    """Tell whether a page may show this for what a command prints; a line with an ellipsis leaves out lines."""

    def lines(text: str) -> str:
        return "\n".join(line.rstrip() for line in text.strip().splitlines())

    pattern = (
        re.escape(lines(output))
        .replace(re.escape("…") + "\\\n", r"(?:.*\n)*")
        .replace("\\\n" + re.escape("…"), r"(?:\n.*)*")
    )
    return re.fullmatch(pattern, lines(printed)) is not None
