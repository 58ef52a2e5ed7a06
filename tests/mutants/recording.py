"""Records once, by coverage, which cases reach which line of the reference, and which lines the import runs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from kueue_dra_differential.mutants.places import PACKAGE, ROOT
from kueue_dra_reports.shards import Shard
from tests.mutants.arguments import BEHAVIOURS, arguments
from tests.mutants.at_once import at_once
from tests.mutants.messages import Record
from tests.mutants.reach import Reach
from tests.mutants.servers import Server
from tests.mutants.settings import Settings
from tests.mutants.sources import state

PARTS = 6
"""How many runs record one behaviour, so that all cores have work until the end."""


class NotGreen(Exception):
    """The cases of a behaviour do not pass unchanged; the message names them."""


@dataclass(frozen=True, slots=True)
class Share:
    """A part of the cases of one behaviour, and the file for what it reaches."""

    server: Server
    part: Shard
    file: Path

    @property
    def text(self) -> str:
        """Name it."""
        return f"{self.server.name}, part {self.part.index} of {self.part.of}"


def recorded(settings: Settings, servers: Sequence[Server]) -> list[Reach]:
    """Give what each behaviour reaches, recorded first where that has not been done for these sources.

    Raises:
        NotGreen: a case fails unchanged.

    """
    folder, now = settings.folder, state(settings.stories)
    shares: list[Share] = []
    for server in servers:
        shares += _shares(server, folder / f"{server.name}-{now}")
    missing = [share for share in shares if not share.file.exists()]
    if missing:
        click.echo("recording which cases reach which line ...")
    done = at_once(settings.jobs, _record, missing)
    for number, share in enumerate(done, 1):
        click.echo(f"recorded {share.text}: {number} of {len(missing)}")
    reaches = []
    for server in servers:
        _forget_older(folder, server.name, now)
        files = [share.file for share in shares if share.server is server]
        reaches.append(Reach.of(server, files))
    return reaches


def _shares(server: Server, file: Path) -> Iterator[Share]:
    for index in range(1, PARTS + 1):
        part = Shard(index, PARTS)
        yield Share(server, part, file.with_name(f"{file.name}.{index}-of-{PARTS}"))


def _record(share: Share) -> Share:
    unfinished = share.file.with_name(f"{share.file.name}.part")
    unfinished.unlink(missing_ok=True)
    answer = share.server.ask(Record(str(unfinished), share.part))
    failed = answer.failed if answer else "the process that ran them ended early"
    if failed:
        raise NotGreen(f"the cases of {share.server.name} do not pass unchanged: {failed}")
    unfinished.rename(share.file)
    return share


def _forget_older(folder: Path, name: str, now: str) -> None:
    """Remove what was recorded of other sources."""
    for old in folder.glob(f"{name}-*"):
        if not old.name.startswith(f"{name}-{now}"):
            old.unlink()


def at_import(settings: Settings) -> Path:
    """Give the lines that run when the cases are collected, recorded once."""
    folder, now = settings.folder, state(settings.stories)
    file = folder / f"import-{now}"
    if not file.exists():
        part = file.with_name(f"{file.name}.part")
        _record_import(part, settings.stories)
        part.rename(file)
    _forget_older(folder, "import", now)
    return file


def _record_import(file: Path, stories: str) -> None:
    options = [
        "--rcfile=",
        f"--data-file={file}",
        f"--source={PACKAGE}",
    ]
    measured = [sys.executable, "-m", "coverage", "run", *options]
    collected = ["-m", "pytest", "--collect-only", *arguments(BEHAVIOURS[0], stories)]
    subprocess.run(
        [*measured, *collected],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
