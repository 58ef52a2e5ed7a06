"""Builds the images of the Containerfile on this machine, without pulling one; ``make image`` runs it.

The base is a Debian root file system, pip takes packages from a folder, and the real programs come from the cache.  The
build itself has no network.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from kueue_dra_clusters.build_cache import cache, kept
from kueue_dra_clusters.errors import ClusterError, MissingTool
from kueue_dra_clusters.go_tool import progress
from kueue_dra_clusters.kind.node_image import debian_mirror
from kueue_dra_clusters.kind.provider import Provider, engine, run
from kueue_dra_clusters.portable import copy_programs

ROOT = Path(__file__).resolve().parents[1]
SUITE, PYTHON = "bookworm", "3.11"
PACKAGES = ("ca-certificates", "python3", "python3-venv")
BASE = "localhost/kueue-dra/base"
NO_GO = "localhost/kueue-dra/no-go:1"
"""Gives the folder where Go would be: every program is in the cache before the build."""
NAME = "localhost/kueue-dra"
TARGETS = {"kueue-dra": "", "kueue-dra-kueue": "-kueue"}
"""The targets of the Containerfile, with what follows the version in their tags."""
SECONDS = 900.0
WHEELS, CACHE = "/wheels", "/cache"
BUILT = "label=dev.kueue-dra.built=yes"
"""The label of every layer that a build of the Containerfile makes."""


def build(minors: Sequence[str]) -> dict[str, str]:
    """Build both images, with the Kueues of some minors in the second; give their names by target.

    Layers that no image has any more, of this build and of earlier ones, are deleted.

    Raises:
        ClusterError: a tool is missing, or the build fails.

    """
    used = engine()
    with tempfile.TemporaryDirectory(prefix="kueue-dra-image-") as temporary:
        work = Path(temporary)
        progress("image: packages, programs and base")
        copy_programs(work / "cache", minors)
        options = _options(_base(used), _no_go(used, work / "go"), minors)
        volumes = {wheels(): WHEELS, work / "cache": CACHE}
        for folder, place in volumes.items():
            options += ["--volume", f"{folder}:{place}:ro"]
        found = {}
        for target, suffix in TARGETS.items():
            found[target] = f"{NAME}:{version('kueue-dra-conformance')}{suffix}"
            progress(f"image: {found[target]}")
            words = ["--target", target, "--tag", found[target], str(ROOT)]
            used.run("build", "--quiet", *options, *words, within=SECONDS)
    used.run("image", "prune", "--force", "--filter", BUILT)
    return found


def left_over(used: Provider) -> list[str]:
    """Give the images without a name that builds have left."""
    listed = used.run("image", "ls", "--quiet", "--filter", "dangling=true", "--filter", BUILT)
    return listed.split()


def wheels() -> Path:
    """Give a folder with the locked packages and what builds the project; download them once."""
    locks = [ROOT / "locks" / name for name in ("run.txt", "differential.txt")]
    digest = hashlib.sha256(b"".join(lock.read_bytes() for lock in locks)).hexdigest()[:16]

    def download(folder: Path) -> None:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", str(folder)]
        only = ["--only-binary=:all:", f"--python-version={PYTHON}"]
        listed = [word for lock in locks for word in ("-r", str(lock))]
        run([*pip, *only, "--require-hashes", *listed], within=SECONDS)
        run([*pip, *only, f"hatchling=={version('hatchling')}"], within=SECONDS)

    return kept(f"wheels-{PYTHON}-{digest}", download)


def _options(base: str, no_go: str, minors: Sequence[str]) -> list[str]:
    arguments = {
        "PYTHON": base,
        "GO": no_go,
        "PIP_FIND_LINKS": WHEELS,
        "PIP_NO_INDEX": "1",
        "KUEUE": " ".join(minors),
    }
    options = ["--file", str(ROOT / "Containerfile"), "--network", "none"]
    for name, value in arguments.items():
        options += ["--build-arg", f"{name}={value}"]
    return options


def _base(used: Provider) -> str:
    """Give the name of the base image: Debian with Python, nothing else."""
    digest = hashlib.sha256(" ".join((SUITE, *PACKAGES)).encode()).hexdigest()[:12]
    ref = f"{BASE}:{digest}"
    if used.has_image(ref):
        return ref
    if os.geteuid() != 0:
        raise MissingTool("building the base image takes root (debootstrap)")
    archive = kept(f"image-base-{SUITE}-{digest}", _debootstrap) / "root.tar"
    with tempfile.TemporaryDirectory(prefix="base-", dir=cache()) as temporary:
        folder = Path(temporary)
        shutil.copy(archive, folder / "root.tar")
        (folder / "Containerfile").write_text("FROM scratch\nADD root.tar /\n", "utf-8")
        used.build(folder, ref)
    return ref


def _debootstrap(folder: Path) -> None:
    progress(f"debootstrap {SUITE} (once, a minute)")
    root = folder / "root"
    included = f"--include={','.join(PACKAGES)}"
    run(["debootstrap", "--variant=minbase", included, SUITE, str(root), *debian_mirror()], within=SECONDS)
    for name in ("var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/man", "usr/share/locale"):
        shutil.rmtree(root / name, ignore_errors=True)
    excluded = [f"--exclude=./{name}/*" for name in ("proc", "sys", "dev", "run", "tmp")]
    run(["tar", "-C", str(root), *excluded, "--numeric-owner", "-cf", str(folder / "root.tar"), "."])
    shutil.rmtree(root)


def _no_go(used: Provider, folder: Path) -> str:
    (folder / "tree/usr/local/go").mkdir(parents=True)
    (folder / "Containerfile").write_text("FROM scratch\nCOPY tree /\n", "utf-8")
    used.build(folder, NO_GO)
    return NO_GO


def main(minors: Sequence[str]) -> int:
    """Build the images and print their names, or the reason why not."""
    try:
        for ref in build(minors).values():
            print(ref)
    except (ClusterError, subprocess.SubprocessError) as trouble:
        print(f"kueue-dra: {trouble}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["0.19"]))
