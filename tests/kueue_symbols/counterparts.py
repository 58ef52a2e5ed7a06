"""Find the counterpart paragraphs of docstrings, and read the places that they name.

A counterpart is one of::

    No counterpart: REASON.
    PROJECT: FILE (SYMBOL, SYMBOL); FILE (SYMBOL); PROJECT: FILE (SYMBOL)

PROJECT is ``Kueue`` (the newest pinned release), ``Kueue 0.17`` (the pinned release of that minor), ``Kubernetes`` or
``cel-go``; a FILE without one has the PROJECT before it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kueue_dra_clusters.releases import NEWEST, RELEASES

ROOT = Path(__file__).resolve().parents[2]
LISTS = Path(__file__).parent

PARAGRAPH = re.compile(r"(?:Kueue(?: \d\.\d+)?|Kubernetes|cel-go|No counterpart): ")
NONE = re.compile(r"No counterpart: \S.*\.")
PLACE = re.compile(
    r"(?:(?P<project>Kueue(?: \d\.\d+)?|Kubernetes|cel-go): )?(?P<file>[\w./-]+) \((?P<symbols>[^()]+)\)"
)
SYMBOLS = re.compile(r"\w+(?:, \w+)*")


@dataclass(frozen=True, slots=True)
class Documented:
    """A module, class or function with a docstring; ``name`` is empty for the module itself."""

    path: str
    line: int
    name: str
    docstring: str
    is_rule: bool = False

    @property
    def place(self) -> str:
        """Where it is, as editors want it."""
        return f"{self.path}:{self.line}: {self.name or 'the module'}"

    @property
    def counterparts(self) -> list[str]:
        """Its counterpart paragraphs, each on one line."""
        _, *after_summary = re.split(r"\n\s*\n", self.docstring)
        paragraphs = (" ".join(each.split()) for each in after_summary)
        return [each for each in paragraphs if PARAGRAPH.match(each)]


@dataclass(frozen=True, slots=True)
class Place:
    """A file of a project and some symbols in it; ``version`` is empty for a project other than Kueue."""

    version: str
    file: str
    symbols: tuple[str, ...]


class Malformed(ValueError):
    """A counterpart that does not follow the grammar."""


def documented(root: Path = ROOT) -> Iterator[Documented]:
    """Give every module, class and function of the reference."""
    for path in sorted((root / "kueue_dra_ref").rglob("*.py")):
        name = path.relative_to(root).as_posix()
        tree = ast.parse(path.read_text("utf-8"))
        yield Documented(name, 1, "", ast.get_docstring(tree) or "")
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                yield Documented(name, node.lineno, node.name, ast.get_docstring(node) or "", _is_rule(node))


def places(counterpart: str) -> list[Place]:
    """Give the places that a counterpart names; none for ``No counterpart``.

    Raises:
        Malformed: it does not follow the grammar, or names a minor that is not pinned.

    """
    if counterpart.startswith("No counterpart"):
        if not NONE.fullmatch(counterpart):
            raise Malformed(f"{counterpart!r}: expected 'No counterpart: REASON.'")
        return []
    found = []
    project = ""
    for part in counterpart.split("; "):
        match = PLACE.fullmatch(part)
        if not match or not SYMBOLS.fullmatch(match["symbols"]):
            raise Malformed(f"{part!r}: expected 'FILE (SYMBOL, SYMBOL)'")
        project = match["project"] or project
        if not project:
            raise Malformed(f"{part!r}: names no project")
        found.append(Place(_version(project), match["file"], tuple(match["symbols"].split(", "))))
    return found


def list_of(version: str) -> Path:
    """Give the file that holds the symbols of a pinned release."""
    return LISTS / f"kueue-{version}.txt"


@cache
def stored_symbols(version: str) -> dict[str, frozenset[str]]:
    """Read the symbols of each cited file of a pinned release."""
    lines = list_of(version).read_text("utf-8").splitlines()
    entries = (line.split(": ", 1) for line in lines)
    return {file: frozenset(names.split()) for file, names in entries}


@cache
def pinned() -> dict[str, str]:
    """Give the pinned version of each minor, such as 0.19.2 of 0.19."""
    return {minor: each.component.version.removeprefix("v") for minor, each in RELEASES.items()}


def _version(project: str) -> str:
    name, _, minor = project.partition(" ")
    if name != "Kueue":
        return ""
    versions = pinned()
    if (minor or NEWEST) not in versions:
        raise Malformed(f"{project!r}: no release of that minor is pinned")
    return versions[minor or NEWEST]


def _is_rule(node: ast.FunctionDef | ast.ClassDef) -> bool:
    calls = [each.func for each in node.decorator_list if isinstance(each, ast.Call)]
    return any(isinstance(each, ast.Name) and each.id == "rule" for each in calls)
