"""The two sources of the images of a cluster: released, by name and digest; or built here, nothing pulled."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from kueue_dra_clusters.build_cache import program
from kueue_dra_clusters.kind.components import JOBSET
from kueue_dra_clusters.kind.driver_description import (
    EXAMPLE_DRIVER,
    DriverDescription,
)
from kueue_dra_clusters.kind.driver_source import (
    DriverFileError,
    archive_file,
    program_of,
)
from kueue_dra_clusters.kind.images import BUSYBOX, archive_of, busybox_archive
from kueue_dra_clusters.kind.node_image import base, node_image
from kueue_dra_clusters.kind.provider import Provider
from kueue_dra_clusters.releases import Release

PINS = Path(__file__).parent / "released.toml"
"""The released images, by their purpose."""
KUEUE_USER = "65532:65532"


@dataclass(frozen=True, slots=True, kw_only=True)
class Images:
    """The images of a cluster: of its nodes, of Kueue, of the driver, of the Jobs, and of JobSet's controller."""

    node: str
    kueue: str
    driver: str
    job: str
    job_set: str


class ImageSource(Protocol):
    """A source of images."""

    @property
    def name(self) -> str:
        """The name of the source."""

    @property
    def driver(self) -> DriverDescription:
        """The driver whose image is among them."""

    def images(self) -> Images:
        """Build the images, or name those that the engine and the nodes pull."""

    def archives(self) -> Sequence[Path]:
        """Give archives to load into the nodes first."""

    @property
    def closed(self) -> bool:
        """Whether the nodes need no other network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """Published images; on a site without internet from another registry or from archives."""

    release: Release
    registry: str = ""
    preload: tuple[Path, ...] = ()
    driver: DriverDescription = EXAMPLE_DRIVER
    name: str = "released"

    def images(self) -> Images:
        """Give the published images, in the requested registry."""
        found = released(self.release, self.driver)
        if not self.registry:
            return found
        parts = [each for each in PARTS if each != "driver" or not self.driver.archive]
        return replace(
            found,
            **{part: moved(getattr(found, part), self.registry) for part in parts},
        )

    def archives(self) -> Sequence[Path]:
        """Give the archives that the user names, and the one of the driver if it has one."""
        if self.driver.archive:
            return (*self.preload, archive_file(self.driver))
        return self.preload

    @property
    def closed(self) -> bool:
        """Whether the nodes need no other network: they pull images that were not preloaded."""
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class FromSource:
    """Images built from pinned Go modules and Debian packages, under the names in the charts."""

    engine: Provider
    release: Release
    driver: DriverDescription = EXAMPLE_DRIVER
    name: str = "source"

    def images(self) -> Images:
        """Build the node image, and give the released names of the others."""
        return replace(
            released(self.release, self.driver),
            node=node_image(self.engine),
            job=BUSYBOX,
        )

    def archives(self) -> Sequence[Path]:
        """Build the archives of Kueue, of the driver and of busybox."""
        names = released(self.release, self.driver)
        return (
            self._driver_archive(),
            archive_of(
                self.engine,
                names.kueue,
                "/manager",
                program(self.release.component),
                user=KUEUE_USER,
            ),
            busybox_archive(self.engine, base() / "usr/bin/busybox"),
        )

    def _driver_archive(self) -> Path:
        """Give the driver's own archive, else build its image."""
        driver = self.driver
        if driver.archive:
            return archive_file(driver)
        if not driver.build:
            problem = "found a reference only; with images from source, expected build or archive"
            raise DriverFileError(driver, "image", problem)
        return archive_of(
            self.engine,
            driver.image,
            driver.build.path,
            program_of(driver, driver.build),
            entrypoint=driver.build.entrypoint,
        )

    @property
    def closed(self) -> bool:
        """Whether the nodes need no other network: a missing image fails."""
        return True


def supply(
    way: str,
    release: Release,
    engine: Provider,
    *,
    registry: str = "",
    preload: Sequence[str] = (),
    driver: DriverDescription = EXAMPLE_DRIVER,
) -> FromSource | Released:
    """Give the source of a name: source, or released."""
    if way == "source":
        return FromSource(engine=engine, release=release, driver=driver)
    return Released(
        release=release,
        registry=registry,
        preload=tuple(map(Path, preload)),
        driver=driver,
    )


PARTS = ("node", "kueue", "driver", "job", "job_set")


def released(release: Release, driver: DriverDescription = EXAMPLE_DRIVER) -> Images:
    """Read the published images for a release of Kueue, with the one of a driver."""
    pins = tomllib.loads(PINS.read_text(encoding="utf-8"))
    kueue = f"{pins['kueue']}:{release.component.version}"
    return Images(
        node=pins["node"],
        kueue=kueue,
        driver=driver.image,
        job=pins["job"],
        job_set=f"{pins['jobset']}:{JOBSET.version}",
    )


def moved(ref: str, registry: str) -> str:
    """Give the name of an image in another registry: only the host changes."""
    host, _, rest = ref.partition("/")
    named = "." in host or ":" in host or host == "localhost"
    return f"{registry.rstrip('/')}/{rest if named else ref}"
