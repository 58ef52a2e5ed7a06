"""Records once, by coverage, which cases reach which line of the reference, and which lines the import runs."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from kueue_dra_differential.mutants.places import PACKAGE, ROOT
from tests.mutants.arguments import BEHAVIOURS, CASES, arguments
from tests.mutants.at_once import at_once
from tests.mutants.messages import Record
from tests.mutants.reach import Reach
from tests.mutants.servers import Server

SOURCES = (PACKAGE, ROOT / CASES, ROOT / "fixtures", ROOT / "reports", ROOT / "tests" / "golden")
"""What a recording and a result depend on."""
SUFFIXES = frozenset({".gz", ".jsonl", ".py", ".toml", ".yaml"})


class NotGreen(Exception):
    """The cases of a behaviour do not pass unchanged; the message names them."""


def state(*more: str) -> str:
    """Tell one state of the sources, and of anything more, from another."""
    found = hashlib.sha256("".join(more).encode())
    for folder in SOURCES:
        for file in sorted(folder.rglob("*.*")):
            if file.suffix in SUFFIXES:
                found.update(file.read_bytes())
    return found.hexdigest()[:8]


def recorded(folder: Path, servers: Sequence[Server], jobs: int) -> list[Reach]:
    """Give what each behaviour reaches, recorded first where that has not been done for these sources.

    Raises:
        NotGreen: a case fails unchanged.

    """
    now = state()
    files = {}
    for server in servers:
        files[server.name] = folder / f"{server.name}-{now}"

    def record(server: Server) -> None:
        _record(files[server.name], server)

    list(at_once(jobs, record, servers))
    return [Reach(server, files[server.name]) for server in servers]


def _record(file: Path, server: Server) -> None:
    if file.exists():
        return
    print(f"recording which cases of {server.name} reach which line ...", flush=True)
    part = file.with_name(f"{file.name}.part")
    part.unlink(missing_ok=True)
    answer = server.ask(Record(str(part)))
    failed = answer.failed if answer else "the process that ran them ended early"
    if failed:
        raise NotGreen(f"the cases of {server.name} do not pass unchanged: {failed}")
    _keep(part, file)


def _keep(part: Path, file: Path) -> None:
    """Put a new recording in the place of an older one."""
    name, _, _ = file.name.rpartition("-")
    for old in file.parent.glob(f"{name}-*"):
        if old != part:
            old.unlink()
    part.rename(file)


def at_import(folder: Path) -> Path:
    """Give the lines that run when the cases are collected, recorded once."""
    file = folder / f"import-{state()}"
    if not file.exists():
        part = file.with_name(f"{file.name}.part")
        _record_import(part)
        _keep(part, file)
    return file


def _record_import(file: Path) -> None:
    options = [
        "--rcfile=",
        f"--data-file={file}",
        f"--source={PACKAGE}",
    ]
    measured = [sys.executable, "-m", "coverage", "run", *options]
    collected = ["-m", "pytest", "--collect-only", *arguments(BEHAVIOURS[0])]
    subprocess.run(
        [*measured, *collected],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
