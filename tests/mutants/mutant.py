"""The mutants of a module: each is an operator at one of its positions."""

from __future__ import annotations

import difflib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

from tests.mutants.operators import OPERATORS

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "kueue_dra_ref"
DECIDING = (
    "apiserver",
    "cache",
    "cel",
    "controllers",
    "controlplane",
    "dra",
    "model",
    "rules",
    "scheduler",
    "workload",
)
"""The packages that decide; `explain` and `simulation` only say why."""


class UnknownModule(Exception):
    """A package or a file that the reference does not have; the message names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One change of one module."""

    file: str
    """The path of the module below the checkout."""
    operator: str
    occurrence: int
    """Which position of the operator in the module, from 0."""
    line: int

    @property
    def name(self) -> str:
        """The change as one word, for the log and for a list of equivalents."""
        return f"{self.file}:{self.line}:{self.operator}:{self.occurrence}"

    @property
    def source(self) -> str:
        """The changed module."""
        code = (ROOT / self.file).read_text("utf-8")
        changed: str = mutate_code(code, OPERATORS[self.operator], self.occurrence)
        return changed

    def change(self, source: str) -> tuple[str, str]:
        """Give the line before, and after in the changed module."""
        before = (ROOT / self.file).read_text("utf-8").splitlines()
        found = ["", ""]
        for line in difflib.ndiff(before, source.splitlines()):
            if line[:2] in ("- ", "+ ") and not found[line[0] == "+"]:
                found[line[0] == "+"] = line[2:].strip()
        return found[0], found[1]


def modules(chosen: Sequence[str]) -> list[Path]:
    """Give the modules of the chosen packages or files below the reference; all that decide without a choice.

    Raises:
        UnknownModule: there is none of that name.

    """
    found: list[Path] = []
    for each in chosen or DECIDING:
        place = PACKAGE / each
        if not place.exists():
            raise UnknownModule(f"found {each}; expected a package or a file below {PACKAGE.name}")
        found += sorted(place.rglob("*.py")) if place.is_dir() else [place]
    return found


def mutants_of(module: Path) -> Iterator[Mutant]:
    """Give every mutant of a module; annotations, docstrings and messages are no expressions that decide."""
    nodes = list(ast_nodes(get_ast(module.read_text("utf-8"))))
    file = module.relative_to(ROOT).as_posix()
    for name, operator in OPERATORS.items():
        occurrence = 0
        for node in nodes:
            for (line, _), _ in operator.mutation_positions(node):
                if not _is_annotation(node):
                    yield Mutant(file=file, operator=name, occurrence=occurrence, line=line)
                occurrence += 1


def _is_annotation(node: Any) -> bool:
    """Whether a node belongs to an annotation or to a decorator, which decide nothing."""
    while node is not None:
        if node.type in ("annassign", "tfpdef", "decorator"):
            return not _is_value(node)
        node = node.parent
    return False


def _is_value(node: Any) -> bool:
    return bool(node.type == "annassign" and len(node.children) > 2)


def sample(chosen: Sequence[str], number: int, seed: int) -> list[Mutant]:
    """Draw mutants; the same ones for the same seed as long as the modules do not change."""
    every = [mutant for module in modules(chosen) for mutant in mutants_of(module)]
    drawn = random.Random(seed)  # no secret
    return drawn.sample(every, min(number, len(every)))
