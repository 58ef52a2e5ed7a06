"""Builds container images from programs only, and archives of them that kind can load."""

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
    """Fill the folder of an image with programs at given paths, and with a ``tree`` that is there already."""
    lines = ["FROM scratch", f"ENV PATH={PATH}"]
    if tree:
        lines.append("COPY tree /")
    for path, source in programs.items():
        name = Path(path).name
        shutil.copy(source, folder / name)
        lines.append(f"COPY {name} {path}")
    if user:
        lines.append(f"USER {user}")
    if entrypoint:
        lines.append(f'ENTRYPOINT ["{entrypoint}"]')
    text = "\n".join(lines) + "\n"
    (folder / "Containerfile").write_text(text, encoding="utf-8")


def busybox(folder: Path, program: Path, *more: Path) -> None:
    """Fill the folder of an image with busybox under all of its names, and with further files."""
    tree = folder / "tree"
    names, temporary = tree / "bin", tree / "tmp"
    names.mkdir(parents=True)
    temporary.mkdir()
    temporary.chmod(0o1777)
    shutil.copy(program, names / "busybox")
    listed = run([str(program), "--list"])
    for name in listed.split():
        if name != "busybox":
            (names / name).symlink_to("busybox")
    for file in more:
        shutil.copy(file, tree / file.name)
    containerfile(folder, {}, tree=True)


def archive_of(
    engine: Provider,
    ref: str,
    path: str,
    source: Path,
    *,
    user: str = "",
    entrypoint: bool = True,
) -> Path:
    """Give an archive of an image with one program; built once for each program and name.

    Without ``entrypoint`` a container has to name the program in its command or as its first argument.
    """
    started = path if entrypoint else ""

    def fill(folder: Path) -> None:
        containerfile(folder, {path: source}, entrypoint=started, user=user)

    inputs = f"{ref} {path} {source.parent.name} {user}{'' if entrypoint else ' -'}"
    digest = hashlib.sha256(inputs.encode()).hexdigest()
    return _archive(engine, ref, f"image-{source.name}-{digest[:12]}", fill)


def busybox_archive(engine: Provider, program: Path) -> Path:
    """Give an archive of the busybox image, which the Jobs of the suite run."""
    return _archive(
        engine, BUSYBOX, "image-busybox-2", lambda folder: busybox(folder, program)
    )


def _archive(
    engine: Provider, ref: str, name: str, fill: Callable[[Path], None]
) -> Path:
    """Give an archive of an image from the cache; ``fill`` fills its folder if it has to be built."""

    def make(folder: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="image-", dir=folder) as context:
            fill(Path(context))
            engine.build(Path(context), ref)
        engine.save(folder / "image.tar", ref)

    return kept(name, make) / "image.tar"
