"""What a cluster built from source needs of the operating system.

``python -m kueue_dra_clusters.kind.packages`` installs what is missing on Debian and Ubuntu, as root, and prints it;
on other systems it lists what is missing.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from kueue_dra_clusters.build_cache import program
from kueue_dra_clusters.errors import ClusterError, MissingTool
from kueue_dra_clusters.go_tool import progress
from kueue_dra_clusters.kind.components import PAUSE
from kueue_dra_clusters.kind.images import containerfile
from kueue_dra_clusters.kind.provider import engine, run

ENGINE: Mapping[str, str] = {
    "podman": "podman",
    "runc": "runc",
    "conmon": "conmon",
    "catatonit": "catatonit",
    "/usr/lib/podman/netavark": "netavark",
    "/usr/lib/podman/aardvark-dns": "aardvark-dns",
}
"""Programs of podman's, and the packages that have them."""
BUILDING: Mapping[str, str] = {
    "debootstrap": "debootstrap",
    "iptables": "iptables",
    "jq": "jq",
}
"""Programs with which the node image is built and the network is closed."""
INSTALL_SECONDS = 600.0
TRIAL = "localhost/kueue-dra/trial:1"


def prepare() -> None:
    """Have an engine and everything else, or say what is missing.

    Raises:
        MissingTool: something is missing and cannot be installed from here.

    """
    wanted = dict(BUILDING)
    try:
        engine()
    except MissingTool:
        wanted |= ENGINE
    missing = sorted(
        {package for program, package in wanted.items() if not _is_there(program)}
    )
    if missing:
        _install(missing)
    trial()


def trial() -> None:
    """Start a privileged container, as every node is one: an engine that answers may still not be able to.

    Raises:
        ClusterTrouble: it does not start.

    """
    used = engine()
    with tempfile.TemporaryDirectory(prefix="kueue-dra-trial-") as name:
        folder = Path(name)
        containerfile(folder, {"/trial": program(PAUSE)}, entrypoint="/trial")
        used.build(folder, TRIAL)
    started = used.run(
        "run", "--detach", "--rm", "--privileged", "--network", "none", TRIAL
    ).strip()
    used.run("rm", "--force", started)
    used.succeeds("rmi", TRIAL)


def _is_there(program: str) -> bool:
    return (
        os.access(program, os.X_OK)
        if program.startswith("/")
        else shutil.which(program) is not None
    )


def _install(packages: list[str]) -> None:
    words = " ".join(packages)
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise MissingTool(
            f"missing: {words}; install them (they are installed by themselves on Debian as root)"
        )
    progress(f"installing with apt-get: {words}")
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    run(["apt-get", "update", "-qq"], env=quiet, within=INSTALL_SECONDS)
    run(
        ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages],
        env=quiet,
        within=INSTALL_SECONDS,
    )


def main() -> int:
    """Prepare this machine, and say in one line why it cannot be where it cannot."""
    try:
        prepare()
    except ClusterError as trouble:
        print(
            f"kueue-dra: no cluster with nodes on this machine: {trouble}",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
