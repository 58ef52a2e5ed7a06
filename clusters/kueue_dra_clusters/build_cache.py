"""Builds pinned Go modules into a cache of the user's: once, even if several processes ask, and never partly."""

from __future__ import annotations

import fcntl
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kueue_dra_clusters.go_tool import Component, go, progress

PARTIAL = ".partial-"


def program(component: Component) -> Path:
    """Give a component's program; build it if it is not in the cache."""
    digest = component.digest(
        component.flags, component.package, sys.platform, platform.machine()
    )

    def build(folder: Path) -> None:
        what = f"building {component.name} {component.version} from pinned Go modules (once, some minutes)"
        flags = [
            "-buildvcs=false",
            "-ldflags",
            component.flags,
            "-o",
            str(folder / component.name),
        ]
        go(
            component,
            ["build", *flags, component.package],
            what=what,
            log=folder / "build.log",
        )

    return (
        kept(f"{component.name}-{component.version}-{digest}", build) / component.name
    )


def parts(component: Component, name: str, folders: Sequence[str]) -> Path:
    """Give some folders of a component's module; download them if they are not in the cache."""

    def copy(folder: Path) -> None:
        log = folder / "download.log"
        what = f"fetching the {name} of {component.name} {component.version}"
        go(
            component,
            ["mod", "download", "-json", component.module],
            what=what,
            log=log,
        )
        module = Path(json.loads(log.read_text(encoding="utf-8"))["Dir"])
        for part in folders:
            shutil.copytree(module / part, folder / part, copy_function=shutil.copyfile)
        for directory in folder.rglob("*/"):
            directory.chmod(0o755)  # Go's module cache is read-only, directories too

    return kept(
        f"{component.name}-{component.version}-{name}-{component.digest(*folders)}",
        copy,
    )


def cache() -> Path:
    """Give the folder of the cache."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "kueue-dra-conformance"


def kept(name: str, make: Callable[[Path], None]) -> Path:
    """Give a folder of the cache; make it if it does not exist, completely or not at all."""
    place = cache() / name
    if place.is_dir():
        return place
    with _alone(name):
        if not place.is_dir():
            _discard_partial(name)
            partial = Path(tempfile.mkdtemp(prefix=f"{name}{PARTIAL}", dir=cache()))
            try:
                make(partial)
                partial.chmod(0o755)
                partial.rename(place)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
            progress(f"kept in {place}")
    return place


@contextmanager
def _alone(name: str) -> Iterator[None]:
    """Hold the lock of a folder of the cache; other processes wait."""
    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / f"{name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            progress(f"waiting for another process that makes {name}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _discard_partial(name: str) -> None:
    """Remove the remains of a killed build; the caller holds the lock, so no other build runs."""
    for leftover in cache().glob(f"{name}{PARTIAL}*"):
        shutil.rmtree(leftover, ignore_errors=True)
