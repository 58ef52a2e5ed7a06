"""Runs the Go tool on the pinned modules of the real components, telling who waits how it goes."""

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

TELL_EVERY_SECONDS = 5.0
END_SECONDS = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """A program to be had from pinned Go modules; in ``ldflags`` ``{version}`` (v1.2.3), ``{major}``, ``{minor}``."""

    name: str
    folder: str
    module: str
    package: str
    ldflags: str = "-s -w"
    sources: tuple[str, ...] = ()
    """Files of ours in the folder that shape the program."""

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
        pinned = [
            (PINNED / self.folder / name).read_bytes()
            for name in ("go.mod", "go.sum", *self.sources)
        ]
        return hashlib.sha256(
            b"\0".join([*pinned, *(word.encode() for word in more)])
        ).hexdigest()[:16]


def go(component: Component, words: Sequence[str], *, what: str, log: Path) -> None:
    """Run the Go tool in a component's folder, telling how long it takes."""
    if not (tool := shutil.which("go")):
        raise MissingTool(
            _stop_signals(f"{what}: no Go toolchain (the command go) is on PATH")
        )
    progress(what)
    with (
        tempfile.TemporaryDirectory(
            dir=log.parent, ignore_cleanup_errors=True
        ) as scratch,
        log.open("wb") as output,
        log.with_suffix(".err").open("wb") as complaints,
    ):
        environment = os.environ | {
            "CGO_ENABLED": "0",
            "GOWORK": "off",
            "GOTMPDIR": scratch,
        }
        process = subprocess.Popen(
            [tool, *words],
            cwd=PINNED / component.folder,
            env=environment,
            stdout=output,
            stderr=complaints,
            preexec_fn=die_with_parent,
        )
        try:
            _watch(process, what)
        finally:
            _end(process)
    if process.returncode:
        said = tail(log.with_suffix(".err"))
        raise MissingTool(
            _stop_signals(
                f"{what}: go ended with exit code {process.returncode}:\n{said}"
            )
        )


def _watch(process: subprocess.Popen[bytes], what: str) -> None:
    """Wait for a process, saying every few seconds that it goes on."""
    begin = time.monotonic()
    while True:
        try:
            process.wait(TELL_EVERY_SECONDS)
            return
        except subprocess.TimeoutExpired:
            progress(f"{what}: {time.monotonic() - begin:.0f} s")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process, if it still runs, as Ctrl-C would: Go then ends its compilers too."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(END_SECONDS)
        process.kill()
        process.wait()


def _stop_signals(problem: str) -> str:
    """Say a problem with the two ways to get at the real components."""
    return (
        f"{problem}\nEither install Go 1.26 or newer (https://go.dev/dl) so that the pinned modules can be built, "
        "or set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver, KUEUE_BIN to a Kueue binary and "
        "KUEUE_MANIFESTS to a folder with that release's config/components."
    )


def progress(text: str) -> None:
    """Say something to who waits."""
    print(f"kueue-dra: {text}", file=sys.stderr, flush=True)
