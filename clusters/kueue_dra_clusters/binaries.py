"""Finds the real components: the user's own binaries if named, else built once from pinned Go modules.

``KUBEBUILDER_ASSETS`` names a folder with ``etcd`` and ``kube-apiserver``, ``KUEUE_BIN`` a Kueue binary, and
``KUEUE_MANIFESTS`` a folder with that release's ``config/components``; ``KUEUE_SRC`` names a checkout of Kueue to build
instead of both.  ``python -m kueue_dra_clusters.binaries`` builds the others and prints all paths; ``0.18 0.19`` for
those minors, with ``--all`` for every pinned one.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kueue_dra_clusters.build_cache import parts, program
from kueue_dra_clusters.errors import ClusterError, MissingTool
from kueue_dra_clusters.go_tool import Component, progress
from kueue_dra_clusters.kubernetes_gates import MINOR_VARIABLE
from kueue_dra_clusters.manager_config import version
from kueue_dra_clusters.manifests import MANIFEST_FOLDERS, components
from kueue_dra_clusters.own_build import (
    PROGRAM,
    SOURCE_VARIABLE,
    build_facts,
    checkout,
    own_build,
)
from kueue_dra_clusters.releases import (
    NEWEST,
    RELEASES,
    Release,
    release,
    release_of_any,
)

ASSETS_VARIABLE = "KUBEBUILDER_ASSETS"
KUEUE_VARIABLE = "KUEUE_BIN"
MANIFESTS_VARIABLE = "KUEUE_MANIFESTS"
RELEASE_VARIABLE = "KUEUE_DRA_RELEASE"
"""The minor whose pinned release runs, whatever the behaviour: for comparisons with it."""

STAMP = "-X k8s.io/component-base/version.git"

ETCD = Component(
    name="etcd", folder="etcd", module="go.etcd.io/etcd/server/v3", package="."
)
API_SERVER = Component(
    name="kube-apiserver",
    folder="kubernetes",
    module="k8s.io/kubernetes",
    package="k8s.io/kubernetes/cmd/kube-apiserver",
    ldflags=f"-s -w {STAMP}Version={{version}} {STAMP}Major={{major}} {STAMP}Minor={{minor}}",
)
API_SERVERS: Mapping[str, Component] = {
    "1.36": API_SERVER,
    "1.37": replace(API_SERVER, folder="kubernetes-1.37"),
}
"""The API servers that are pinned, by their minor; the first one runs unless another is chosen."""

MINOR = re.compile(r"v0\.[1-9]\d*\.\d+$")
"""A version of a release; a custom build may have any version, such as v0.19.2-41-gff69552e79."""
PROGRAMS = ("etcd", "kube_apiserver", "kueue", "kueue_module")


@dataclass(frozen=True, slots=True, kw_only=True)
class Binaries:
    """The programs of a control plane, and the folder whose ``config/components`` holds Kueue's manifests."""

    etcd: Path
    kube_apiserver: Path
    kueue: Path
    kueue_module: Path
    release: Release


def binaries(kueue: str = NEWEST) -> Binaries:
    """Give all programs for a minor of Kueue; the first time this may build for minutes, with progress shown.

    Raises:
        MissingTool: one of them is missing and cannot be built.

    """
    if other := os.environ.get(RELEASE_VARIABLE):
        return _of_release(release(other))
    _take_own_build()
    own = named(KUEUE_VARIABLE)
    if own is None:
        return _of_release(release(kueue))
    wanted = release_of_any(kueue)
    return Binaries(
        etcd=_asset(ETCD),
        kube_apiserver=_asset(api_server()),
        kueue=own,
        kueue_module=_manifests(wanted),
        release=wanted,
    )


def _of_release(wanted: Release) -> Binaries:
    """Give the programs of a pinned release."""
    return Binaries(
        etcd=_asset(ETCD),
        kube_apiserver=_asset(api_server()),
        kueue=program(wanted.component),
        kueue_module=_manifests(wanted),
        release=wanted,
    )


def _take_own_build() -> None:
    """Build the checkout that a variable names, and name its program instead, so that all processes run this build."""
    source = os.environ.get(SOURCE_VARIABLE)
    if not source:
        return
    for variable in (KUEUE_VARIABLE, MANIFESTS_VARIABLE):
        if os.environ.get(variable):
            raise MissingTool(
                f"{SOURCE_VARIABLE} and {variable} are both set; expected one Kueue"
            )
    found = checkout(source)
    folder = own_build(found)
    progress(f"the Kueue under test is {found}")
    os.environ[KUEUE_VARIABLE] = str(folder / PROGRAM)
    os.environ[MANIFESTS_VARIABLE] = str(folder)
    del os.environ[SOURCE_VARIABLE]


def insist_on_release(found: Binaries) -> None:
    """Check that Kueue has the expected minor; a build of a checkout, or between releases, may have any.

    Raises:
        MissingTool: its version is of another minor.

    """
    if os.environ.get(RELEASE_VARIABLE) or build_facts(found.kueue):
        return
    actual = version(found.kueue)
    if MINOR.match(actual) and not actual.startswith(f"v{found.release.minor}."):
        raise MissingTool(
            f"{KUEUE_VARIABLE}={found.kueue}: it is Kueue {actual}, expected a {found.release.minor}"
        )


def api_server() -> Component:
    """Give the pinned API server of the minor that is chosen for this process."""
    return API_SERVERS.get(os.environ.get(MINOR_VARIABLE, ""), API_SERVER)


def api_server_minor() -> str:
    """Give the minor of Kubernetes of the API server that a control plane runs, such as 1.36."""
    own = named(ASSETS_VARIABLE, API_SERVER.name)
    text = api_server().version
    if own is not None:
        run = subprocess.run(
            [own, "--version"], capture_output=True, text=True, check=False
        )
        text = run.stdout.split()[-1] if run.stdout.split() else ""
    return ".".join(text.removeprefix("v").split(".")[:2])


def _asset(component: Component) -> Path:
    """Give etcd or the API server."""
    return named(ASSETS_VARIABLE, component.name) or program(component)


def named(variable: str, name: str = "") -> Path | None:
    """Give the program that an environment variable names; None when the variable is not set."""
    if not (value := os.environ.get(variable)):
        return None
    path = (Path(value) / name).absolute()
    if not path.is_file():
        raise MissingTool(f"{variable}={value}: there is no file {path}")
    if not os.access(path, os.X_OK):
        raise MissingTool(f"{variable}={value}: {path} is not executable")
    return path


def _manifests(wanted: Release) -> Path:
    """Give the folder with Kueue's manifests, of the user's or of the pinned release."""
    is_comparison = os.environ.get(RELEASE_VARIABLE)
    if not is_comparison and (value := os.environ.get(MANIFESTS_VARIABLE)):
        try:
            components(Path(value).absolute())
        except MissingTool as trouble:
            raise MissingTool(f"{MANIFESTS_VARIABLE}={value}: {trouble}") from None
        return Path(value).absolute()
    if wanted.minor not in RELEASES:
        raise MissingTool(
            f"{KUEUE_VARIABLE} runs with the behaviour of Kueue {wanted.minor}, which is not pinned: "
            f"set {MANIFESTS_VARIABLE} to the folder with its config/components"
        )
    return parts(wanted.component, "manifests", MANIFEST_FOLDERS)


def main(minors: Sequence[str]) -> int:
    """Build or find all programs of some minors, and print their paths."""
    try:
        wanted = RELEASES if "--all" in minors else minors or [NEWEST]
        for found in map(binaries, wanted):
            print("\n".join(f"{name}: {getattr(found, name)}" for name in PROGRAMS))
    except ClusterError as trouble:
        print(f"kueue-dra: {trouble}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("kueue-dra: interrupted; nothing half-made is left", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
