"""The two ways to have the parts of a cluster: as released, by name and digest; or built here, nothing pulled."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from kueue_dra_clusters.build_cache import program
from kueue_dra_clusters.kind.components import DRIVER
from kueue_dra_clusters.kind.images import BUSYBOX, archive_of, busybox_archive
from kueue_dra_clusters.kind.node_image import base, node_image
from kueue_dra_clusters.kind.provider import Provider
from kueue_dra_clusters.releases import Release

PINS = Path(__file__).parent / "released.toml"
"""Every image of the released way, by the part that it plays."""
KUEUE_USER = "65532:65532"


@dataclass(frozen=True, slots=True, kw_only=True)
class Images:
    """The images of a cluster: of its nodes, of Kueue, of the driver, and of the Jobs."""

    node: str
    kueue: str
    driver: str
    job: str


class ImageSource(Protocol):
    """A way to have the parts."""

    @property
    def name(self) -> str:
        """The way's name."""

    def images(self) -> Images:
        """Have them, or know that the engine and the nodes will pull them."""

    def archives(self) -> Sequence[Path]:
        """Give archives to load into the nodes before anything is asked to run."""

    @property
    def closed(self) -> bool:
        """Whether nothing needs to leave the nodes' network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """Published images; from another registry, or out of archives, where the site has no way out."""

    release: Release
    registry: str = ""
    preload: tuple[Path, ...] = ()
    name: str = "released"

    def images(self) -> Images:
        """Name the published images, in the registry that is asked for."""
        found = released(self.release)
        if not self.registry:
            return found
        return replace(
            found,
            **{part: moved(getattr(found, part), self.registry) for part in PARTS},
        )

    def archives(self) -> Sequence[Path]:
        """Give the archives that the user has named."""
        return self.preload

    @property
    def closed(self) -> bool:
        """The nodes pull what was not preloaded."""
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class FromSource:
    """Everything built from pinned Go modules and Debian packages, under the names that the charts know."""

    engine: Provider
    release: Release
    name: str = "source"

    def images(self) -> Images:
        """Build the node image, and name the others as they are when released."""
        return replace(
            released(self.release), node=node_image(self.engine), job=BUSYBOX
        )

    def archives(self) -> Sequence[Path]:
        """Build the archives of Kueue, of the driver and of busybox."""
        names = released(self.release)
        return (
            archive_of(
                self.engine,
                names.kueue,
                "/manager",
                program(self.release.component),
                user=KUEUE_USER,
            ),
            archive_of(
                self.engine, names.driver, f"/usr/bin/{DRIVER.name}", program(DRIVER)
            ),
            busybox_archive(self.engine, base() / "usr/bin/busybox"),
        )

    @property
    def closed(self) -> bool:
        """What is missing has to fail, not to be fetched."""
        return True


def supply(
    way: str,
    release: Release,
    engine: Provider,
    *,
    registry: str = "",
    preload: Sequence[str] = (),
) -> FromSource | Released:
    """Give the way of a name: source, or released."""
    if way == "source":
        return FromSource(engine=engine, release=release)
    return Released(
        release=release, registry=registry, preload=tuple(map(Path, preload))
    )


PARTS = ("node", "kueue", "driver", "job")


def released(release: Release) -> Images:
    """Read the published images for a release of Kueue."""
    pins = tomllib.loads(PINS.read_text(encoding="utf-8"))
    kueue = f"{pins['kueue']}:{release.component.version}"
    return Images(
        node=pins["node"],
        kueue=kueue,
        driver=f"{pins['driver']}:{DRIVER.version}",
        job=pins["job"],
    )


def moved(ref: str, registry: str) -> str:
    """Name an image as it is called in another registry: the host changes, the rest stays."""
    host, _, rest = ref.partition("/")
    named = "." in host or ":" in host or host == "localhost"
    return f"{registry.rstrip('/')}/{rest if named else ref}"
