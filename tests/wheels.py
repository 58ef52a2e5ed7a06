"""The wheel of this checkout in a fresh environment, as a user installs it; nothing is downloaded."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OURS = ("kueue", "_editable_impl")
"""How the names begin that this checkout has in its own environment."""


def build(folder: Path) -> Path:
    """Build the wheel into a folder, and give its path."""
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], ROOT)
    return next(folder.glob("*.whl"))


def dependencies(folder: Path) -> Path:
    """Fill a folder with all packages of this environment but this project, to import from."""
    for each in Path(sysconfig.get_path("purelib")).iterdir():
        if not each.name.startswith(OURS) and each.suffix != ".pth":
            (folder / each.name).symlink_to(each)
    return folder


def offline(wheel: Path, packages: Path) -> Mapping[str, str]:
    """Give the variables with which pip finds the wheel and its dependencies on this machine alone."""
    settings = {"NO_INDEX": "1", "FIND_LINKS": str(wheel.parent), "DISABLE_PIP_VERSION_CHECK": "1"}
    return {"PYTHONPATH": str(packages)} | {f"PIP_{name}": value for name, value in settings.items()}


def install(wheel: Path, packages: Path, folder: Path) -> Path:
    """Install the wheel into a fresh environment, and give its folder of programs."""
    venv.create(folder, with_pip=True, symlinks=True)
    programs = folder / "bin"
    run([str(programs / "python"), "-m", "pip", "install", "--quiet", str(wheel)], folder, **offline(wheel, packages))
    # A line of a .pth file is a folder to import from.
    site = next(folder.glob("lib/python*/site-packages"))
    (site / "dependencies.pth").write_text(f"{packages}\n", "utf-8")
    return programs


def clean(environment: Mapping[str, str]) -> dict[str, str]:
    """Give the variables of this process without those of Python and pytest, and with others."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "PYTHON"))}
    return kept | dict(environment)


def run(command: list[str], folder: Path, **environment: str) -> str:
    """Run a command that succeeds, and give its standard output."""
    ran = subprocess.run(command, cwd=folder, env=clean(environment), capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-4000:]
    return ran.stdout
