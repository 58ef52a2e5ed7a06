"""Where a driver's chart and program come from: a Go module, pinned by this project or not, or a folder."""

from __future__ import annotations

import hashlib
import json
import shutil
import tarfile
import tempfile
from pathlib import Path

from kueue_dra_clusters.build_cache import cache, kept, parts, program
from kueue_dra_clusters.errors import ClusterError
from kueue_dra_clusters.go_tool import go_in
from kueue_dra_clusters.kind.components import DRIVER
from kueue_dra_clusters.kind.driver_description import Build, DriverDescription

ADVICE = "Fix `source` and `image.build` of the driver file, or name an archive."


class DriverFileError(ClusterError):
    """A driver file does not fit what is there; the message names file and field."""

    def __init__(self, driver: DriverDescription, field: str, problem: str) -> None:
        super().__init__(f"{driver.file or driver.name}: {field}: {problem}")


def is_module(source: str) -> bool:
    """Whether a source is a Go module with a version, such as example.com/driver@v1.2.3."""
    return "@v" in source


def chart_of(driver: DriverDescription) -> Path:
    """Give the chart of a driver: a folder, or an archive that helm reads.

    Raises:
        DriverFileError: there is none.

    """
    if _is_pinned(driver):
        return parts(DRIVER, "chart", [driver.chart]) / driver.chart
    place = _within(driver, driver.chart)
    is_chart = place.is_file() or (place / "Chart.yaml").is_file()
    if not is_chart:
        found = "a folder without Chart.yaml" if place.is_dir() else "nothing"
        raise DriverFileError(
            driver,
            "install.chart",
            f"found {found} at {place}, expected a chart: a folder or a .tgz",
        )
    return place


def manifests_of(driver: DriverDescription) -> list[Path]:
    """Give the files of rendered manifests.

    Raises:
        DriverFileError: there are none.

    """
    place = _within(driver, driver.manifests)
    found = [place] if place.is_file() else sorted(place.rglob("*.y*ml"))
    if not found:
        raise DriverFileError(
            driver,
            "install.manifests",
            f"found no YAML file at {place}, expected a file or a folder with some",
        )
    return found


def archive_file(driver: DriverDescription) -> Path:
    """Give the image archive of a driver.

    Raises:
        DriverFileError: there is none.

    """
    place = driver.folder / driver.archive
    if not place.is_file():
        raise DriverFileError(
            driver, "image.archive", f"found no file {place}, expected an image archive"
        )
    names = _names_in(driver, place)
    if driver.image not in names:
        listed = ", ".join(names) or "no name"
        problem = f"found {listed} in {place}, expected {driver.image}, as image.reference says"
        raise DriverFileError(driver, "image.archive", problem)
    return place


def _names_in(driver: DriverDescription, archive: Path) -> list[str]:
    """Give the names of the images in an archive of docker's format."""
    try:
        with tarfile.open(archive) as opened:
            member = opened.extractfile("manifest.json")
            images = json.load(member) if member else []
    except (tarfile.TarError, KeyError, ValueError):
        problem = f"found {archive}, expected an archive as `docker save` writes it"
        raise DriverFileError(driver, "image.archive", problem) from None
    return [name for each in images for name in each.get("RepoTags") or ()]


def program_of(driver: DriverDescription, build: Build) -> Path:
    """Build the program of a driver; what has not changed is not built again.

    Raises:
        MissingTool: it does not build, or there is no Go.

    """
    if _is_pinned(driver):
        return program(DRIVER)
    name = Path(build.path).name
    cache().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="driver-", dir=cache()) as folder:
        built = Path(folder) / name
        words = ["build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w"]
        go_in(
            _source_folder(driver),
            [*words, "-o", str(built), build.package],
            what=f"building {build.package} of {driver.source}",
            log=Path(folder) / "build.log",
            advice=ADVICE,
        )
        digest = hashlib.sha256(built.read_bytes()).hexdigest()[:16]
        place = kept(
            f"driver-{name}-{digest}", lambda target: _copied(built, target / name)
        )
        return place / name


def _copied(built: Path, target: Path) -> None:
    shutil.copy(built, target)


def _is_pinned(driver: DriverDescription) -> bool:
    """Whether the source is the module of the example driver that this project pins."""
    return driver.source == f"{DRIVER.module}@{DRIVER.version}"


def _within(driver: DriverDescription, path: str) -> Path:
    """Give a path inside the source; without a source, one next to the driver file."""
    return (_source_folder(driver) if driver.source else driver.folder) / path


def _source_folder(driver: DriverDescription) -> Path:
    """Give the folder of the source; download it if it is a module."""
    if is_module(driver.source):
        return _module_folder(driver)
    place = driver.folder / driver.source
    if not place.is_dir():
        raise DriverFileError(
            driver, "source", f"found no folder {place}, expected one or MODULE@VERSION"
        )
    return place


def _module_folder(driver: DriverDescription) -> Path:
    """Download a module with the Go tool, which checks its sum."""
    with tempfile.TemporaryDirectory(prefix="module-") as folder:
        log = Path(folder) / "download.log"
        go_in(
            Path(folder),
            ["mod", "download", "-json", driver.source],
            what=f"fetching {driver.source}",
            log=log,
            advice=ADVICE,
        )
        return Path(json.loads(log.read_text(encoding="utf-8"))["Dir"])
