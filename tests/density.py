"""How much a line of code holds: ``python -m tests.density [PATH...]`` lists modules and functions above the limits.

- Density: syntax nodes of a module for each line of code. Imports, type annotations, docstrings and comments are not
  counted. Measured so, pluggy, click, tenacity, pytest and urllib3 have 5.3 to 5.8, and no module above 9.
- Complexity: decisions of a function, those in expressions counted (comprehensions, conditional expressions, boolean
  operators).
- Length: lines of a function without its docstring and its signature.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("kueue_dra_ref", "fixtures", "clusters", "reports", "controls", "differential", "vendor", "audit", "cli")
NODES_PER_LINE = 9.0
FEWEST_LINES = 15
"""Lines of code from which on the density of a module means something."""
COMPLEXITY = 10
LINES = 25
Function = ast.FunctionDef | ast.AsyncFunctionDef
_BLANK = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
_BRANCHES = (ast.If, ast.For, ast.While, ast.ExceptHandler, ast.IfExp, ast.match_case, ast.comprehension)


def density(source: str) -> float:
    """Give the syntax nodes for each line of code of a module, 0 for a module of very few lines."""
    tree = ast.parse(source)
    statements = list(_uncounted(tree))
    lines = _code_lines(source) - _lines_of(statements)
    skipped = {id(each) for each in (*statements, *_annotations(tree))}
    nodes = _size(tree, skipped)
    return nodes / len(lines) if len(lines) >= FEWEST_LINES else 0.0


def complexity(function: Function) -> int:
    """Give 1 and the number of decisions of a function, without those of functions inside it."""
    found = 1
    for node in _own(function):
        if isinstance(node, _BRANCHES):
            found += 1
        if isinstance(node, ast.BoolOp):
            found += len(node.values) - 1
        if isinstance(node, ast.comprehension):
            found += len(node.ifs)
    return found


def length(function: Function) -> int:
    """Give the lines of a function without its docstring and its signature."""
    body = function.body[1:] if ast.get_docstring(function) and len(function.body) > 1 else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1


def problems(path: Path) -> Iterator[str]:
    """Say what of a file is above a limit."""
    source = path.read_text("utf-8")
    name = path.relative_to(ROOT).as_posix()
    if (found := density(source)) > NODES_PER_LINE:
        yield f"{name}: {found:.1f} syntax nodes per line of code; at most {NODES_PER_LINE:g}"
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, Function):
            if (branches := complexity(node)) > COMPLEXITY:
                yield f"{name}:{node.lineno}: {node.name} has complexity {branches}; at most {COMPLEXITY}"
            if (lines := length(node)) > LINES:
                yield f"{name}:{node.lineno}: {node.name} has {lines} lines; at most {LINES}"
        if isinstance(node, ast.comprehension) and any(isinstance(each, ast.NamedExpr) for each in ast.walk(node)):
            yield f"{name}:{node.target.lineno}: a comprehension assigns with :="


def _own(function: Function) -> Iterator[ast.AST]:
    waiting: list[ast.AST] = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        if not isinstance(node, Function):
            yield node
            waiting += ast.iter_child_nodes(node)


def _size(node: ast.AST, skipped: set[int]) -> int:
    """Count the nodes of a tree without some of its branches."""
    if id(node) in skipped:
        return 0
    return 1 + sum(_size(child, skipped) for child in ast.iter_child_nodes(node))


def _annotations(tree: ast.Module) -> Iterator[ast.expr]:
    """Give the types that are written at arguments, results and variables."""
    for node in ast.walk(tree):
        found = getattr(node, "annotation", None) or getattr(node, "returns", None)
        if found is not None:
            yield found


def _uncounted(tree: ast.Module) -> Iterator[ast.stmt]:
    """Give imports and strings that stand alone."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node


def _lines_of(nodes: Iterable[ast.stmt]) -> set[int]:
    return {line for node in nodes for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


def _code_lines(source: str) -> set[int]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    counted = (token for token in tokens if token.type not in _BLANK)
    return {line for token in counted for line in range(token.start[0], token.end[0] + 1)}


def main(paths: list[str]) -> int:
    """Print every problem of some files or folders, or of all rooms; 1 if there is any."""
    found = 0
    for path in (Path(each).resolve() for each in paths or map(str, (ROOT / room for room in ROOMS))):
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            for problem in problems(file):
                print(problem)
                found += 1
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
