"""Copies the programs of a node-less control plane into a folder, for an image or a machine without Go.

``python -m kueue_dra_clusters.portable FOLDER 0.18 0.19`` builds what is missing and copies etcd, kube-apiserver, the
Kueues of these minors (``--all``: of every pinned one) and the CRDs of the work that they manage.  With
``XDG_CACHE_HOME=FOLDER``, runs find them there.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from kueue_dra_clusters.binaries import API_SERVER, ETCD
from kueue_dra_clusters.build_cache import cache, parts, program
from kueue_dra_clusters.errors import ClusterError
from kueue_dra_clusters.job_definitions import definition_folders
from kueue_dra_clusters.manifests import MANIFEST_FOLDERS
from kueue_dra_clusters.releases import RELEASES, Release, release


def copy_programs(to: Path, minors: Iterable[str]) -> None:
    """Copy everything that runs on some minors need into a folder of the form of the cache."""
    for source in dict.fromkeys(_folders(minors)):
        target = to / cache().name / source.name
        shutil.copytree(source, target, dirs_exist_ok=True)


def _folders(minors: Iterable[str]) -> Iterator[Path]:
    """Give the folders of the cache; each is made if it does not exist."""
    yield program(ETCD).parent
    yield program(API_SERVER).parent
    for minor in minors:
        yield from _folders_of(release(minor))


def _folders_of(wanted: Release) -> Iterator[Path]:
    yield program(wanted.component).parent
    yield parts(wanted.component, "manifests", MANIFEST_FOLDERS)
    yield from definition_folders(wanted.folder)


def main(words: Sequence[str]) -> int:
    """Copy the programs, or print why they cannot be built."""
    if not words:
        print("usage: python -m kueue_dra_clusters.portable FOLDER [MINOR...|--all]")
        return 2
    folder, *minors = words
    wanted = list(RELEASES) if "--all" in minors or not minors else minors
    try:
        copy_programs(Path(folder), wanted)
    except ClusterError as trouble:
        print(f"kueue-dra: {trouble}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
