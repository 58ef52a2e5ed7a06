"""The import contracts hold for every package, and each is caught when it is broken: by an import, or by a string."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = (
    "kueue_dra_ref",
    *("suites", "fixtures", "clusters", "reports", "controls", "differential", "vendor", "audit", "cli"),
)
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
CONTRACTS = SETTINGS["importlinter"]["contracts"]
LAYERS = [
    {package.strip() for package in layer.split("|")}
    for contract in CONTRACTS
    if contract["id"] == "rooms"
    for layer in contract["layers"]
]
"""The packages of the rooms, from the top to the reference."""

PLANTED = {
    "rooms": ("kueue_dra_ref/verdict.py", "import kueue_dra_reports.ledger"),
    "reference": ("kueue_dra_ref/rules/dra/mapper.py", "import kueue_dra_ref.controlplane.store"),
    "rules": ("kueue_dra_ref/rules/dra/mapper.py", "import kueue_dra_ref.rules.dra.charges"),
    "cases": (
        "suites/kueue_dra_suites/conformance/quota/test_fits.py",
        "import kueue_dra_ref.rules.flavorassigner.fits_resource_quota",
    ),
    "tests": ("cli/kueue_dra_cli/run.py", "import tests.toys"),
    "pure": ("kueue_dra_ref/rules/dra/mapper.py", "import yaml"),
}
"""For each contract, the file and the import that break it."""


def test_each_contract_has_a_violation_to_plant() -> None:
    """No contract is left without proof that it can be broken."""
    assert set(PLANTED) == {contract["id"] for contract in CONTRACTS}


@pytest.mark.parametrize("contract", sorted(PLANTED))
def test_a_planted_violation_is_caught(contract: str, tmp_path: Path) -> None:
    """import-linter fails on the planted import and names the contract that it breaks."""
    for room in ROOMS:
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__", "binaries"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    file, line = PLANTED[contract]
    with (tmp_path / file).open("a", encoding="utf-8") as planted:
        planted.write(f"\n{line}  # noqa\n")

    run = _lint(tmp_path)
    name = next(found["name"] for found in CONTRACTS if found["id"] == contract)

    assert run.returncode == 1
    assert f"{name} BROKEN" in " ".join(run.stdout.split())


def test_every_package_is_in_the_contract_about_rooms() -> None:
    """A room that is added is installed and gets its place among the layers."""
    packages = {path.parent.name for path in ROOT.glob("*/kueue_dra_*/__init__.py")} | {"kueue_dra_ref"}
    wheel = SETTINGS["hatch"]["build"]["targets"]["wheel"]["packages"]

    assert set().union(*LAYERS) == packages
    assert set(SETTINGS["importlinter"]["root_packages"]) == packages
    assert {Path(package).name for package in wheel} == packages
    assert set(SETTINGS["mypy"]["packages"]) == packages | {"tests"}


def test_every_package_inside_the_reference_has_a_layer() -> None:
    """import-linter itself refuses a new one, because the contract says that its layers are all there are."""
    assert next(contract for contract in CONTRACTS if contract["id"] == "reference")["exhaustive"] is True


def test_no_string_gets_around_a_contract() -> None:
    """No room names a module of a room above it, or imports by a computed name outside its own package."""
    found = [problem for room in ROOMS for path in sorted((ROOT / room).rglob("*.py")) for problem in _by_string(path)]

    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param('importlib.import_module("kueue_dra_cli.run")', id="import-module"),
        pytest.param("importlib.import_module(name)", id="computed-name"),
        pytest.param("__import__(name)", id="builtin"),
        pytest.param('pytest_plugins = ["kueue_dra_fixtures.plugin"]', id="plugin"),
        pytest.param('subprocess.run([sys.executable, "-m", "kueue_dra_cli"])', id="program"),
    ],
)
def test_an_import_by_string_is_found(line: str, tmp_path: Path) -> None:
    """In a module of the reports, say."""
    module = tmp_path / "reports" / "kueue_dra_reports" / "planted.py"
    module.parent.mkdir(parents=True)
    module.write_text(f"{line}\n", "utf-8")

    assert [problem for problem in _by_string(module) if "planted.py:1" in problem]


def _by_string(path: Path) -> Iterator[str]:
    """Say which lines of a file import by a string what its room may not import."""
    own = next(part for part in reversed(path.parts[:-1]) if part.startswith("kueue_dra_") and part in _RANKS)
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        where = f"{path}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.Call) and _imports(node) and not _stays_inside(node):
            yield f"{where}: imports by a name that it computes"
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            named, *_ = node.value.partition(".")
            if _RANKS.get(named, _RANKS[own] + 1) <= _RANKS[own] and named != own:
                yield f"{where}: names {node.value}, which {own} may not import"


def _imports(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in ("import_module", "__import__")


def _stays_inside(call: ast.Call) -> bool:
    """Whether the name that is imported begins with the importing package: ``f"{__name__}...."``."""
    match call.args[0]:
        case ast.JoinedStr(
            values=[ast.FormattedValue(value=ast.Name(id="__name__")), ast.Constant(value=str(rest)), *_]
        ):
            return rest.startswith(".")
    return False


_RANKS = {package: rank for rank, layer in enumerate(LAYERS) for package in layer}


def _lint(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", "--no-logo"]
    path = os.pathsep.join(str(folder / room) for room in ROOMS)
    env = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
