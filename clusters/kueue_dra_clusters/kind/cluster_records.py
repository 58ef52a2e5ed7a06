"""Records of clusters and their owners, written before a cluster is created, so that none is left behind."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from kueue_dra_clusters.build_cache import cache

PREFIX = "kueue-dra-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One cluster: its name, and the process that owns it; none if it is kept."""

    name: str
    pid: int
    started: int
    """When that process started, in the kernel's clock ticks, because process IDs are reused."""
    foreign: bool = False
    """Whether another tool created it, so that it is restored and not deleted."""

    @property
    def folder(self) -> Path:
        """The folder of its kubeconfig and its logs."""
        return place() / self.name

    @property
    def kept(self) -> bool:
        """Whether it outlives the process that created it."""
        return self.pid == 0

    @property
    def orphaned(self) -> bool:
        """Whether its owner is gone."""
        return not self.kept and _started(self.pid) != self.started

    def write(self) -> None:
        """Write the record; its folder appears together with it, so that no cluster seems to have no owner."""
        place().mkdir(parents=True, exist_ok=True)
        holder = self.folder if self.folder.exists() else _a_folder_aside()
        fresh = holder / "record.new"
        fresh.write_text(json.dumps(asdict(self)), encoding="utf-8")
        fresh.rename(holder / "record.json")
        if holder != self.folder:
            holder.rename(self.folder)

    def forget(self) -> None:
        """Remove the record at once: with half of it, the cluster would have no owner."""
        aside = _a_folder_aside()
        with suppress(FileNotFoundError):
            self.folder.rename(aside / self.name)
        shutil.rmtree(aside, ignore_errors=True)


def a_record(name: str, *, kept: bool, foreign: bool = False) -> Record:
    """Create the record of a cluster that this process will create or use."""
    pid = 0 if kept else os.getpid()
    return Record(
        name=name, pid=pid, started=_started(pid) if pid else 0, foreign=foreign
    )


def records() -> Iterator[Record]:
    """Read every record; an unreadable one has no owner, or is kept if its name is not that of a run."""
    for folder in sorted(filter(Path.is_dir, place().glob("*"))):
        try:
            yield Record(
                **json.loads((folder / "record.json").read_text(encoding="utf-8"))
            )
        except (OSError, ValueError, TypeError):
            yield Record(
                name=folder.name,
                pid=-1 if folder.name.startswith(PREFIX) else 0,
                started=0,
            )


def place() -> Path:
    """Give the folder of all records."""
    return cache() / "clusters"


def _a_folder_aside() -> Path:
    return Path(tempfile.mkdtemp(prefix="record-", dir=cache()))


def _started(pid: int) -> int:
    """Give the start time of a process; -1 if it does not exist."""
    if pid <= 0:
        return -1
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return -1 if not _exists(pid) else 0
    return int(stat.rpartition(")")[2].split()[19])


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
