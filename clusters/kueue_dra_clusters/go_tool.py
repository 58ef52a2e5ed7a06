"""Runs the Go tool on the pinned modules of the real components, and reports progress."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kueue_dra_clusters.errors import MissingTool, tail
from kueue_dra_clusters.supervisor import die_with_parent

PINNED = Path(__file__).parent / "binaries"
"""One folder for each real component, with the go.mod and go.sum that pin it."""

REPORT_EVERY_SECONDS = 5.0
END_SECONDS = 3.0
SETTINGS = {"CGO_ENABLED": "0", "GOWORK": "off"}
ADVICE = (
    "Either install Go 1.26 or newer (https://go.dev/dl) so that the pinned modules can be built, "
    "or set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver, KUEUE_BIN to a Kueue binary and "
    "KUEUE_MANIFESTS to a folder with that release's config/components."
)
"""The two ways to get the real components."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """A program from pinned Go modules; ``ldflags`` may have ``{version}`` (v1.2.3), ``{major}``, ``{minor}``."""

    name: str
    folder: str
    module: str
    package: str
    ldflags: str = "-s -w"
    sources: tuple[str, ...] = ()
    """Our own source files in the folder."""

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
        """Identify this build: by what is pinned, and by ``more`` inputs."""
        files = ("go.mod", "go.sum", *self.sources)
        inputs = [(PINNED / self.folder / name).read_bytes() for name in files]
        inputs += [each.encode() for each in more]
        return hashlib.sha256(b"\0".join(inputs)).hexdigest()[:16]


def go(component: Component, words: Sequence[str], *, what: str, log: Path) -> None:
    """Run the Go tool in a component's folder, and report progress."""
    go_in(PINNED / component.folder, words, what=what, log=log, advice=ADVICE)


def go_in(
    folder: Path, words: Sequence[str], *, what: str, log: Path, advice: str
) -> None:
    """Run the Go tool in a folder, and report progress.

    Raises:
        MissingTool: there is no Go, or it fails; with its last lines and the advice.

    """
    tool = shutil.which("go")
    if not tool:
        problem = f"{what}: no Go toolchain (the command go) is on PATH"
        raise MissingTool(f"{problem}\n{advice}")
    progress(what)
    code = _run([tool, *words], folder, what, log)
    if code:
        problem = f"{what}: go ended with exit code {code}"
        raise MissingTool(f"{problem}:\n{tail(_errors(log))}\n{advice}")


def _errors(log: Path) -> Path:
    """Give the file for what a command writes to its standard error."""
    return log.with_suffix(".err")


def _run(words: Sequence[str], folder: Path, what: str, log: Path) -> int:
    scratch = tempfile.TemporaryDirectory(dir=log.parent, ignore_cleanup_errors=True)
    with (
        scratch as temporary,
        log.open("wb") as output,
        _errors(log).open("wb") as complaints,
    ):
        process = subprocess.Popen(
            words,
            cwd=folder,
            env=os.environ | SETTINGS | {"GOTMPDIR": temporary},
            stdout=output,
            stderr=complaints,
            preexec_fn=die_with_parent,
        )
        try:
            _watch(process, what)
        finally:
            _end(process)
    return process.returncode


def _watch(process: subprocess.Popen[bytes], what: str) -> None:
    """Wait for a process, and report every few seconds that it runs."""
    begin = time.monotonic()
    while True:
        try:
            process.wait(REPORT_EVERY_SECONDS)
            return
        except subprocess.TimeoutExpired:
            progress(f"{what}: {time.monotonic() - begin:.0f} s")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Stop a process with SIGINT if it still runs: Go then stops its compilers too."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(END_SECONDS)
        process.kill()
        process.wait()


def progress(text: str) -> None:
    """Print a line of progress."""
    print(f"kueue-dra: {text}", file=sys.stderr, flush=True)
