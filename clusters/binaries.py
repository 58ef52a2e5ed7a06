"""Where the real components come from: the user's own binaries where named, else built once from pinned Go modules.

``KUBEBUILDER_ASSETS`` names a folder with ``etcd`` and ``kube-apiserver``, ``KUEUE_BIN`` a Kueue binary, and
``KUEUE_MANIFESTS`` a folder with that release's ``config/components``.  ``python -m clusters.binaries`` builds what
is not named, and prints where everything lies.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from clusters.building import parts, program
from clusters.gotool import Component
from clusters.manifests import components
from clusters.troubles import ClusterTrouble, MissingTool

ASSETS_VARIABLE = "KUBEBUILDER_ASSETS"
KUEUE_VARIABLE = "KUEUE_BIN"
MANIFESTS_VARIABLE = "KUEUE_MANIFESTS"

STAMP = "-X k8s.io/component-base/version.git"

ETCD = Component(name="etcd", folder="etcd", module="go.etcd.io/etcd/server/v3", package=".")
API_SERVER = Component(
    name="kube-apiserver",
    folder="kubernetes",
    module="k8s.io/kubernetes",
    package="k8s.io/kubernetes/cmd/kube-apiserver",
    ldflags=f"-s -w {STAMP}Version={{version}} {STAMP}Major={{major}} {STAMP}Minor={{minor}}",
)
KUEUES = {
    "0.19": Component(
        name="kueue",
        folder="kueue-0.19",
        module="sigs.k8s.io/kueue",
        package="sigs.k8s.io/kueue/cmd/kueue",
        ldflags="-s -w -X sigs.k8s.io/kueue/pkg/version.GitVersion={version}",
    )
}
"""The Kueue minors that are pinned."""

MANIFEST_FOLDERS = tuple(f"config/components/{part}" for part in ("crd", "rbac", "webhook"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Binaries:
    """The programs of a control plane, and the folder whose ``config/components`` holds Kueue's manifests."""

    etcd: Path
    kube_apiserver: Path
    kueue: Path
    kueue_module: Path


def binaries(kueue: str = "0.19") -> Binaries:
    """Have all programs; the first time this may build for minutes, with progress on standard error."""
    wanted = KUEUES[kueue]
    return Binaries(
        etcd=_asset(ETCD),
        kube_apiserver=_asset(API_SERVER),
        kueue=named(KUEUE_VARIABLE) or program(wanted),
        kueue_module=_manifests(wanted),
    )


def _asset(component: Component) -> Path:
    """Have etcd or the API server."""
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


def _manifests(component: Component) -> Path:
    """Have the folder with Kueue's manifests, of the user's or of the pinned release."""
    if value := os.environ.get(MANIFESTS_VARIABLE):
        try:
            components(Path(value).absolute())
        except MissingTool as trouble:
            raise MissingTool(f"{MANIFESTS_VARIABLE}={value}: {trouble}") from None
        return Path(value).absolute()
    return parts(component, "manifests", MANIFEST_FOLDERS)


def main() -> int:
    """Have all programs and print where they lie."""
    try:
        found = binaries()
    except ClusterTrouble as trouble:
        print(f"kueue-dra: {trouble}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("kueue-dra: interrupted; nothing half-made is left", file=sys.stderr)
        return 130
    for name in Binaries.__dataclass_fields__:
        print(f"{name}: {getattr(found, name)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
