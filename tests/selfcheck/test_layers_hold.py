"""The import contracts: one violation of each, planted in a copy of the tree, is caught and named."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("kueue_dra_ref", "suites", "fixtures", "clusters", "reports", "controls", "differential", "cli")
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]

PLANTED = {
    "rooms": ("kueue_dra_ref/verdict.py", "import kueue_dra_reports.ledger"),
    "reference": ("kueue_dra_ref/rules/dra/mapper.py", "import kueue_dra_ref.controlplane.store"),
    "rules": ("kueue_dra_ref/rules/dra/mapper.py", "import kueue_dra_ref.rules.dra.charges"),
    "cases": (
        "suites/kueue_dra_suites/conformance/quota/test_fits.py",
        "import kueue_dra_ref.rules.flavorassigner.fits_resource_quota",
    ),
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


def _lint(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", "--no-logo"]
    path = os.pathsep.join(str(folder / room) for room in ROOMS)
    env = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
