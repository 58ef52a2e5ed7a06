"""The page docs/reference/requirements.md, every requirement with its cases: ``python -m tests.requirements_page``."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path

from kueue_dra_ref.requirements.catalogue import Requirement, catalogue
from kueue_dra_ref.requirements.coverage import cases_by_id
from kueue_dra_ref.requirements.ranges import compact

SUITES = Path(__file__).parent.parent / "suites"
SHOWN = 3
"""How many cases a row names; the others are counted."""
INTRODUCTION = """\
# Requirements

One row per testable sentence. IDs are permanent.

- **Level** is the strength of the sentence in its text: MUST, SHOULD or MAY. INFERRED means that the text is silent and
  Kueue decides, so a difference is a question, not a violation. A text that an entry does not list under *Sources* is
  silent on it, so there the level is INFERRED too.
- **Holds** lists the behaviours in which the sentence is true. `kueue-..` is every minor of Kueue that the project
  knows, `kueue-0.18..` is 0.18 and later, `kueue-..0.17` is 0.17 and earlier.
- **Cases** lists the cases that cite the requirement, below the folder of the conformance suites. A row names up to
  three; `+N` counts the rest (`kueue-dra run -k NAME` runs one). `none:` gives the reason why no case can cite it.

Where two texts differ, or a text and Kueue differ, each has a requirement of its own
([differences](../explanation/differences.md)).

`kueue-0.20.0` is provisional: its requirements follow change notes and documentation, because no release could be run
([details](../how-to/run-on-a-real-kueue.md#a-provisional-minor)). It is the last minor of every range without an end.

This page is generated: `make docs` writes it, `python -m tests.requirements_page` prints it.
"""
COLUMNS = ("ID", "Level", "Holds", "Text", "Sources", "Cases")


def page(requirements: Mapping[str, Requirement], cited: Mapping[str, Collection[str]]) -> str:
    """Render the catalogue as Markdown, one table per file; ``cited`` gives the IDs that each case cites."""
    cases = cases_by_id(requirements, cited)
    return "\n".join([INTRODUCTION, *_tables(requirements.values(), cases)])


def cited(suites: Path = SUITES) -> dict[str, tuple[str, ...]]:
    """Read from the sources which IDs each case cites with ``covers``, by ``folder/file.py::test``."""
    found: dict[str, tuple[str, ...]] = {}
    for path in sorted(suites.rglob("conformance/**/test_*.py")):
        name = path.as_posix().rpartition("/conformance/")[2]
        for case, ids in _cited_in(ast.parse(path.read_text("utf-8")), suites).items():
            found[f"{name}::{case}"] = ids
    return found


def _cited_in(module: ast.Module, suites: Path) -> dict[str, tuple[str, ...]]:
    """Give the IDs of each test function: its own, and those of the tables of rows that it names."""
    tables = dict(_tables_of_rows(module))
    for node in module.body:
        if isinstance(node, ast.ImportFrom) and (shared := _in_suites(node, suites)):
            tables |= _tables_of_rows(ast.parse(shared.read_text("utf-8")))
    return {
        node.name: tuple(dict.fromkeys([*_ids(node), *_ids_of_tables(node, tables)]))
        for node in module.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def _in_suites(node: ast.ImportFrom, suites: Path) -> Path | None:
    """Give the module of the suites from which a case imports rows; None for another module."""
    path = suites.joinpath(*str(node.module).split(".")).with_suffix(".py")
    return path if path.is_file() else None


def _tables_of_rows(module: ast.Module) -> dict[str, tuple[str, ...]]:
    """Give the IDs that the tables of a module cite, and the rows and tables that they name."""
    tables: dict[str, tuple[str, ...]] = {}
    for node in module.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            ids = (*_ids(node), *_ids_of_tables(node, tables))
            tables |= {target.id: ids for target in targets if isinstance(target, ast.Name)}
    return tables


def _ids(node: ast.AST) -> Iterator[str]:
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "covers":
            yield from (str(one.value) for one in call.args if isinstance(one, ast.Constant))


def _ids_of_tables(node: ast.AST, tables: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    for name in ast.walk(node):
        if isinstance(name, ast.Name):
            yield from tables.get(name.id, ())


def _tables(requirements: Iterable[Requirement], cases: Mapping[str, Collection[str]]) -> Iterator[str]:
    for file, group in groupby(requirements, key=lambda r: r.file):
        yield f"## {file.removesuffix('.toml').replace('-', ' ').capitalize()}\n"
        yield _row(COLUMNS)
        yield _row(["---"] * len(COLUMNS))
        for r in group:
            yield _row(
                [r.id, r.level, ", ".join(compact(r.holds)), r.text, "; ".join((r.source, *r.also)), _cases(r, cases)]
            )
        yield ""


def _cases(r: Requirement, cases: Mapping[str, Collection[str]]) -> str:
    if r.excluded:
        return f"none: {r.excluded}"
    names = [f"`{case}`" for case in cases.get(r.id, ())]
    more = [f"+{len(names) - SHOWN}"] if len(names) > SHOWN else []
    return ", ".join([*names[:SHOWN], *more])


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    print(page(catalogue(), cited()), end="")
