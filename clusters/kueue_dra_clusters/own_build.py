"""A Kueue that the user builds: the checkout that ``KUEUE_SRC`` names, built once for each state of its files.

A build is a folder of the cache: the program ``kueue``, the manifests of the checkout below ``config/components``, and
``build.json``, which says what was built.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kueue_dra_clusters.build_cache import cache, kept
from kueue_dra_clusters.errors import MissingTool
from kueue_dra_clusters.go_tool import go_in
from kueue_dra_clusters.manifests import MANIFEST_FOLDERS, components

SOURCE_VARIABLE = "KUEUE_SRC"
MODULE = "sigs.k8s.io/kueue"
PACKAGE = "./cmd/kueue"
PROGRAM = "kueue"
FACTS = "build.json"
SOURCES = ("*.go", "go.mod", "go.sum", "modules.txt", "*.yaml")
"""The files that decide what a checkout without git builds."""
KEPT = 4
"""Builds of one's own that stay in the cache; older ones are removed after a new build."""
UNKNOWN = "unknown"
ADVICE = (
    "Fix the checkout, or install the Go that it needs (https://go.dev/dl); "
    "without KUEUE_SRC (--kueue-src) a pinned release runs."
)
TOO_OLD = re.compile(r"requires go >= (\S+) \(running go (\S+?)[;)]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """The state of a checkout of Kueue."""

    folder: Path
    version: str
    """What ``git describe`` says, such as v0.19.2-41-gff69552e79; ``unknown`` without git."""
    commit: str
    """Empty without git."""
    changed: tuple[str, ...]
    """The files that differ from the commit, or that it does not have."""
    digest: str
    """Identifies the content."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """Give what the report says of the build."""
        return {
            "source": self.folder.name,
            "version": self.version,
            "commit": self.commit or UNKNOWN,
            "dirty": bool(self.changed),
            "changed": list(self.changed),
        }

    def __str__(self) -> str:
        """Give the version, the commit, and the changed files if there are any."""
        commit = f"commit {self.commit[:10]}" if self.commit else "no commit known"
        text = f"Kueue {self.version}, {commit}"
        if not self.changed:
            return text
        shown = ", ".join(self.changed[:3])
        more = len(self.changed) - 3
        rest = f" and {more} more" if more > 0 else ""
        return f"{text}, dirty: {shown}{rest}"


def checkout(named: str) -> Checkout:
    """Read the state of a checkout of Kueue.

    Raises:
        MissingTool: the folder is no checkout of Kueue.

    """
    folder = Path(named).expanduser().absolute()
    _insist_on_kueue(named, folder)
    if _is_repository(folder):
        return _by_git(folder)
    return Checkout(
        folder=folder,
        version=UNKNOWN,
        commit="",
        changed=(),
        digest=_digest(folder, _source_files(folder)),
    )


def own_build(found: Checkout) -> Path:
    """Give the folder with the program and the manifests of a checkout; build it if it is not in the cache.

    Raises:
        MissingTool: it does not build, or Go is missing or too old.

    """

    def build(folder: Path) -> None:
        stamp = f"-s -w -X {MODULE}/pkg/version.GitVersion={found.version}"
        program = str(folder / PROGRAM)
        words = ["build", "-trimpath", "-buildvcs=false", "-ldflags", stamp]
        _build([*words, "-o", program, PACKAGE], found, folder)
        for part in MANIFEST_FOLDERS:
            source = found.folder / part
            shutil.copytree(source, folder / part, copy_function=shutil.copyfile)
        text = json.dumps(found.facts, indent=2)
        (folder / FACTS).write_text(f"{text}\n", encoding="utf-8")

    place = kept(f"kueue-own-{found.digest}", build)
    os.utime(place)
    _remove_old(place)
    return place


def build_facts(program: Path) -> Mapping[str, Any]:
    """Give what is known of a program that was built from a checkout; empty for any other."""
    try:
        text = (program.parent / FACTS).read_text(encoding="utf-8")
    except OSError:
        return {}
    facts: Mapping[str, Any] = json.loads(text)
    return facts


def _build(words: Sequence[str], found: Checkout, folder: Path) -> None:
    what = f"building {found} from {found.folder}"
    log = folder / "build.log"
    try:
        go_in(found.folder, words, what=what, log=log, advice=ADVICE)
    except MissingTool as trouble:
        if old := TOO_OLD.search(str(trouble)):
            needed, running = old.groups()
            raise MissingTool(
                f"{SOURCE_VARIABLE}={found.folder}: its go.mod requires Go {needed} or newer, "
                f"and the command go is {running}"
            ) from None
        raise


def _insist_on_kueue(named: str, folder: Path) -> None:
    prefix = f"{SOURCE_VARIABLE}={named}"
    if not folder.is_dir():
        raise MissingTool(f"{prefix}: there is no folder {folder}")
    module = _module(folder)
    if module != MODULE:
        state = f"its go.mod is of {module}" if module else "it has no go.mod"
        raise MissingTool(f"{prefix}: {state}; expected a checkout of {MODULE}")
    if not (folder / PACKAGE).is_dir():
        raise MissingTool(f"{prefix}: there is no {PACKAGE}, the program to build")
    try:
        components(folder)
    except MissingTool as trouble:
        raise MissingTool(f"{prefix}: {trouble}") from None


def _module(folder: Path) -> str:
    """Give the module that a go.mod declares; empty without one."""
    try:
        text = (folder / "go.mod").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    found = re.search(r"^module\s+(\S+)", text, re.MULTILINE)
    return found[1] if found else "no module"


def _is_repository(folder: Path) -> bool:
    """Whether the folder itself is the root of a working tree, not a part of another one."""
    top = _git(folder, "rev-parse", "--show-toplevel").strip()
    if not top or Path(top).resolve() != folder.resolve():
        return False
    return bool(_git(folder, "rev-parse", "--verify", "--quiet", "HEAD"))


def _by_git(folder: Path) -> Checkout:
    commit = _git(folder, "rev-parse", "HEAD").strip()
    described = _git(folder, "describe", "--tags", "--always", "--dirty", "--match=v*")
    changed = tuple(_changed(folder))
    return Checkout(
        folder=folder,
        version=described.strip() or commit[:10],
        commit=commit,
        changed=changed,
        digest=_digest(folder, changed, commit),
    )


def _changed(folder: Path) -> Iterator[str]:
    """Name the files that differ from the commit: changed, deleted, staged or new; ignored files do not count."""
    tracked = _git(folder, "diff", "--name-only", "-z", "HEAD")
    new = _git(folder, "ls-files", "--others", "--exclude-standard", "-z")
    yield from sorted({*tracked.split("\0"), *new.split("\0")} - {""})


def _git(folder: Path, *words: str) -> str:
    """Run git in a folder; empty if it fails or is not installed."""
    try:
        run = subprocess.run(
            ["git", "-C", str(folder), *words],
            capture_output=True,
            text=True,
            errors="surrogateescape",
            check=False,
        )
    except OSError:
        return ""
    return run.stdout if run.returncode == 0 else ""


def _source_files(folder: Path) -> list[str]:
    found: set[str] = set()
    for pattern in SOURCES:
        found.update(str(file.relative_to(folder)) for file in folder.rglob(pattern))
    return sorted(found)


def _digest(folder: Path, names: Sequence[str], commit: str = "") -> str:
    """Identify a content by a commit and by files that it does not have as they are."""
    total = hashlib.sha256(f"{folder}\0{commit}".encode())
    for name in names:
        file = folder / name
        total.update(os.fsencode(name) + b"\0")
        if file.is_file():
            total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()[:16]


def _remove_old(newest: Path) -> None:
    """Remove the oldest builds of one's own from the cache."""
    builds = [path for path in cache().glob("kueue-own-*") if (path / FACTS).is_file()]
    builds.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for old in builds[KEPT:]:
        if old != newest:
            shutil.rmtree(old, ignore_errors=True)
