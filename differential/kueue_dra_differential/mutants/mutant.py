"""The mutants of a module: each is an operator at one of its positions."""

from __future__ import annotations

import difflib
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

from kueue_dra_differential.mutants.operators import OPERATORS
from kueue_dra_differential.mutants.places import PACKAGE, ROOT

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
EXPLAINING = frozenset(
    {
        "dra/device_charge_trace.py",
        "dra/selector_trace.py",
        "scheduler/flavorassigner/flavor_trace.py",
        "scheduler/flavorassigner/limit_trace.py",
        "scheduler/nominate_trace.py",
        "scheduler/preemption/fairsharing_trace.py",
        "scheduler/preemption/trace.py",
        "workload/resources_trace.py",
        "workload/total_requests_trace.py",
    }
)
"""Modules of these packages that only say why, too."""

HOLDERS = frozenset(
    {
        "classdef",
        "file_input",
        "for_stmt",
        "funcdef",
        "if_stmt",
        "simple_stmt",
        "suite",
        "while_stmt",
        "with_stmt",
    }
)
"""What holds a statement, or the condition of one, in parso's tree."""
EXAMPLE = f"{PACKAGE.name}/scheduler/cycle.py"


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
    lines: range
    """From the first of the statement to the end of the change: a case that runs one of them reaches it.

    The line of an operator only runs when its left side asks for it.
    """

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
            raise UnknownModule(
                f"found {each}; expected a package or a file below {PACKAGE.name}"
            )
        found += _deciding(place) if place.is_dir() else [place]
    return found


def _deciding(folder: Path) -> Iterator[Path]:
    for module in sorted(folder.rglob("*.py")):
        if module.relative_to(PACKAGE).as_posix() not in EXPLAINING:
            yield module


def mutants_of(module: Path) -> Iterator[Mutant]:
    """Give every mutant of a module; annotations, docstrings and messages are no expressions that decide."""
    nodes = list(ast_nodes(get_ast(module.read_text("utf-8"))))
    file = module.relative_to(ROOT).as_posix()
    for name, operator in OPERATORS.items():
        occurrence = 0
        for node in nodes:
            for (line, _), (end, _) in operator.mutation_positions(node):
                if not (_is_annotation(node) or _is_assigned(node, name)):
                    yield Mutant(
                        file=file,
                        operator=name,
                        occurrence=occurrence,
                        line=line,
                        lines=range(_start(node), end + 1),
                    )
                occurrence += 1


def at(file: str, line: int) -> list[Mutant]:
    """Give the mutants of a line.

    Raises:
        UnknownModule: the reference has no such module, or the line has no expression that a mutant changes.

    """
    module = ROOT / file
    if not file.startswith(f"{PACKAGE.name}/") or not module.is_file():
        raise UnknownModule(f"found {file}; expected a module such as {EXAMPLE}")
    found = [each for each in mutants_of(module) if each.line == line]
    if not found:
        lines = sorted({each.line for each in mutants_of(module)})
        near = min(lines, key=lambda each: abs(each - line), default=0)
        raise UnknownModule(
            f"{file}:{line}: no mutant changes this line; the nearest with one is {near}"
        )
    return found


def _is_annotation(node: Any) -> bool:
    """Whether a node belongs to an annotation or to a decorator, or separates parameters: none decides anything."""
    if node.parent is not None and node.parent.type == "parameters":
        return True
    while node is not None:
        if node.type in ("annassign", "tfpdef", "decorator"):
            return not _is_value(node)
        node = node.parent
    return False


def _is_assigned(node: Any, operator: str) -> bool:
    """Whether `not` would stand before an assignment, as in ``if not a := b``, which is no Python."""
    return operator == "AddNot" and any(
        each.type == "namedexpr_test" for each in node.children
    )


def _is_value(node: Any) -> bool:
    return bool(node.type == "annassign" and len(node.children) > 2)


def _start(node: Any) -> int:
    """Give the first line of the statement, or of the condition of one, that holds a node."""
    while node.parent is not None and node.parent.type not in HOLDERS:
        node = node.parent
    line: int = node.start_pos[0]
    return line


def sample(chosen: Sequence[str], number: int, seed: int) -> list[Mutant]:
    """Draw mutants: those with the smallest digests, so that a change of one module leaves the others as they are."""
    found = []
    for module in modules(chosen):
        lines = module.read_text("utf-8").splitlines()
        seen: Counter[str] = Counter()
        for mutant in mutants_of(module):
            change = f"{seed} {mutant.file} {mutant.operator} {lines[mutant.line - 1].strip()}"
            seen[change] += 1
            drawn = hashlib.sha256(f"{change} {seen[change]}".encode()).digest()
            found.append((drawn, mutant))
    found.sort(key=itemgetter(0))
    return [mutant for _, mutant in found[:number]]
