"""Container images made here from nothing but programs, and archives of them that kind can load."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from kueue_dra_clusters.build_cache import kept
from kueue_dra_clusters.kind.provider import Provider, run

BUSYBOX = "localhost/kueue-dra/busybox:1"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def containerfile(
    folder: Path,
    programs: Mapping[str, Path],
    *,
    entrypoint: str = "",
    tree: bool = False,
    user: str = "",
) -> None:
    """Fill the folder of an image that is nothing but programs at given paths, and a ``tree`` that lies there."""
    lines = ["FROM scratch", f"ENV PATH={PATH}"]
    if tree:
        lines.append("COPY tree /")
    for path, source in programs.items():
        shutil.copy(source, folder / Path(path).name)
        lines.append(f"COPY {Path(path).name} {path}")
    if user:
        lines.append(f"USER {user}")
    if entrypoint:
        lines.append(f'ENTRYPOINT ["{entrypoint}"]')
    (folder / "Containerfile").write_text("\n".join(lines) + "\n", encoding="utf-8")


def busybox(folder: Path, program: Path, *more: Path) -> None:
    """Fill the folder of an image that is busybox under all of its names, and files beside it."""
    names = folder / "tree" / "bin"
    names.mkdir(parents=True)
    (folder / "tree" / "tmp").mkdir()
    (folder / "tree" / "tmp").chmod(0o1777)
    shutil.copy(program, names / "busybox")
    for name in run([str(program), "--list"]).split():
        if name != "busybox":
            (names / name).symlink_to("busybox")
    for file in more:
        shutil.copy(file, folder / "tree" / file.name)
    containerfile(folder, {}, tree=True)


def archive_of(
    engine: Provider, ref: str, path: str, source: Path, *, user: str = ""
) -> Path:
    """Have an archive of an image that is one program; made once for each program and name."""

    def fill(folder: Path) -> None:
        containerfile(folder, {path: source}, entrypoint=path, user=user)

    digest = hashlib.sha256(
        f"{ref} {path} {source.parent.name} {user}".encode()
    ).hexdigest()[:12]
    return _archive(engine, ref, f"image-{source.name}-{digest}", fill)


def busybox_archive(engine: Provider, program: Path) -> Path:
    """Have an archive of the busybox image, which the Jobs of the suite run."""
    return _archive(
        engine, BUSYBOX, "image-busybox-2", lambda folder: busybox(folder, program)
    )


def _archive(
    engine: Provider, ref: str, name: str, fill: Callable[[Path], None]
) -> Path:
    """Have an archive in the cache of an image whose folder is filled when it has to be made."""

    def make(folder: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="image-", dir=folder) as context:
            fill(Path(context))
            engine.build(Path(context), ref)
        engine.save(folder / "image.tar", ref)

    return kept(name, make) / "image.tar"
