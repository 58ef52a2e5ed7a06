"""Builds pinned Go modules into a cache of the user's: once, however many ask at once, and never half-made."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from clusters.supervisor import die_with_parent
from clusters.troubles import MissingTool, tail

PINNED = Path(__file__).parent / "binaries"
"""One folder for each real component, with the go.mod and go.sum that pin it."""

TELL_EVERY_SECONDS = 5.0
PARTIAL = ".partial-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """A program to be had from pinned Go modules; in ``ldflags`` ``{version}`` (v1.2.3), ``{major}``, ``{minor}``."""

    name: str
    folder: str
    module: str
    package: str
    ldflags: str = "-s -w"

    @property
    def version(self) -> str:
        """The version that the component's go.mod pins."""
        pinned = (PINNED / self.folder / "go.mod").read_text(encoding="utf-8")
        found = re.search(rf"{re.escape(self.module)} (v\S+)", pinned)
        assert found, f"{self.folder}/go.mod does not require {self.module}"
        return found[1]

    @property
    def flags(self) -> str:
        """The linker flags with the version filled in."""
        major, minor, _ = self.version.removeprefix("v").split(".", 2)
        return self.ldflags.format(version=self.version, major=major, minor=minor)

    def digest(self, *more: str) -> str:
        """Tell this build from others: what is pinned, and ``more`` of what shapes the result."""
        pinned = [(PINNED / self.folder / name).read_bytes() for name in ("go.mod", "go.sum")]
        return hashlib.sha256(b"\0".join([*pinned, *(word.encode() for word in more)])).hexdigest()[:16]


def program(component: Component) -> Path:
    """Have a component's program, built now unless it is in the cache."""
    digest = component.digest(component.flags, component.package, sys.platform, platform.machine())

    def build(folder: Path) -> None:
        what = f"building {component.name} {component.version} from pinned Go modules (once, some minutes)"
        flags = ["-buildvcs=false", "-ldflags", component.flags, "-o", str(folder / component.name)]
        _go(component, ["build", *flags, component.package], what=what, log=folder / "build.log")

    return _cached(f"{component.name}-{component.version}-{digest}", build) / component.name


def parts(component: Component, name: str, folders: Sequence[str]) -> Path:
    """Have some folders of a component's module, which are data of its release."""

    def copy(folder: Path) -> None:
        log = folder / "download.log"
        what = f"fetching the {name} of {component.name} {component.version}"
        _go(component, ["mod", "download", "-json", component.module], what=what, log=log)
        module = Path(json.loads(log.read_text(encoding="utf-8"))["Dir"])
        for part in folders:
            shutil.copytree(module / part, folder / part, copy_function=shutil.copyfile)
        for directory in folder.rglob("*/"):
            directory.chmod(0o755)  # Go's module cache is read-only, directories too

    return _cached(f"{component.name}-{component.version}-{name}-{component.digest(*folders)}", copy)


def cache() -> Path:
    """Name the folder that holds everything built."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "kueue-dra-conformance"


def _cached(name: str, make: Callable[[Path], None]) -> Path:
    """Have a folder of the cache, made now unless it is there; it appears whole or not at all."""
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
            _tell(f"kept in {place}")
    return place


@contextmanager
def _alone(name: str) -> Iterator[None]:
    """Be the only one who makes a folder of the cache; others wait."""
    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / f"{name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            _tell(f"waiting for another process that makes {name}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _discard_partial(name: str) -> None:
    """Remove what a build that was killed has left; called under the lock, so nobody writes there."""
    for leftover in cache().glob(f"{name}{PARTIAL}*"):
        shutil.rmtree(leftover, ignore_errors=True)


def _go(component: Component, words: Sequence[str], *, what: str, log: Path) -> None:
    """Run the Go tool in a component's folder, telling how long it takes."""
    if not (tool := shutil.which("go")):
        raise MissingTool(_two_ways_out(f"{what}: no Go toolchain (the command go) is on PATH"))
    _tell(what)
    folder = PINNED / component.folder
    environment = os.environ | {"CGO_ENABLED": "0", "GOWORK": "off"}
    with log.open("wb") as output, (log.with_suffix(".err")).open("wb") as complaints:
        process = subprocess.Popen(
            [tool, *words], cwd=folder, env=environment, stdout=output, stderr=complaints, preexec_fn=die_with_parent
        )
        try:
            _watch(process, what)
        finally:
            process.kill()
            process.wait()
    if process.returncode:
        said = tail(log.with_suffix(".err"))
        raise MissingTool(_two_ways_out(f"{what}: go ended with exit code {process.returncode}:\n{said}"))


def _watch(process: subprocess.Popen[bytes], what: str) -> None:
    """Wait for a process, saying every few seconds that it goes on."""
    begin = time.monotonic()
    while True:
        try:
            process.wait(TELL_EVERY_SECONDS)
            return
        except subprocess.TimeoutExpired:
            _tell(f"{what}: {time.monotonic() - begin:.0f} s")


def _two_ways_out(problem: str) -> str:
    """Say a problem with the two ways to get at the real components."""
    return (
        f"{problem}\nEither install Go 1.26 or newer (https://go.dev/dl) so that the pinned modules can be built, "
        "or set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver, KUEUE_BIN to a Kueue binary and "
        "KUEUE_MANIFESTS to a folder with that release's config/components."
    )


def _tell(text: str) -> None:
    """Say something to who waits."""
    print(f"kueue-dra: {text}", file=sys.stderr, flush=True)
