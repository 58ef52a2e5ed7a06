"""Every relative link of a page leads to a file, and to a heading of it where it names one."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^\s*(```|~~~)")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)|^\[[^\]]+\]:\s+(\S+)", re.MULTILINE)
CODE = re.compile(r"`[^`]*`")
ELSEWHERE = re.compile(r"^(?:[a-z][a-z0-9+.-]*:|//)")


def _pages() -> list[str]:
    """List the pages that git has, or would add."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [page for page in found if (ROOT / page).is_file()]


@pytest.mark.parametrize("page", _pages())
def test_the_links_of_a_page_resolve(page: str) -> None:
    """Each target is a file or folder of the repository, and each anchor a heading in it."""
    assert list(broken(ROOT / page)) == []


def test_a_link_to_nothing_is_found(tmp_path: Path) -> None:
    """The check finds a missing file and a missing heading, and reads neither code nor other sites."""
    text = (
        "# A `b` c, d\n# Twice\n# Twice\n[ok](#a-b-c-d) [ok](#twice-1) [no](#twice-2) [no](gone.md) `[no](code.md)`\n"
        "[ok](https://example.com)\n```\n# no\n[no](fenced.md)\n```\n[no](#no)\n[wrapped\nlink](gone.md)\n"
    )
    (tmp_path / "page.md").write_text(text, "utf-8")

    assert list(broken(tmp_path / "page.md")) == ["#twice-2", "gone.md", "#no", "gone.md"]


def broken(page: Path) -> Iterator[str]:
    """Give each relative link of a page that leads nowhere."""
    for match in LINK.finditer(CODE.sub("", _prose(page))):
        link = match[1] or match[2]
        path, _, anchor = link.partition("#")
        target = (page.parent / path) if path else page
        if ELSEWHERE.match(link):
            continue
        if not target.exists() or (anchor and anchor not in _anchors(target)):
            yield link


def _prose(page: Path) -> str:
    """Leave out fenced blocks."""
    fenced, lines = False, []
    for line in page.read_text("utf-8").splitlines():
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            lines.append(line)
    return "\n".join(lines)


def _anchors(page: Path) -> set[str]:
    """Give the anchors of a page as GitHub makes them: a repeated heading gets a number."""
    seen: Counter[str] = Counter()
    anchors = set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", _prose(page)))
    for heading in re.findall(r"^#{1,6}\s+(.+?)\s*#*$", _prose(page), re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()).replace(" ", "-")
        anchors.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return anchors
