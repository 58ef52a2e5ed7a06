"""The system packages that a cluster built from source needs.

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
"""The programs of podman, and their packages."""
BUILDING: Mapping[str, str] = {
    "debootstrap": "debootstrap",
    "iptables": "iptables",
    "jq": "jq",
}
"""The programs that build the node image and close the network."""
INSTALL_SECONDS = 600.0
TRIAL = "localhost/kueue-dra/trial:1"


def prepare() -> None:
    """Install an engine and everything else that is missing.

    Raises:
        MissingTool: something is missing and cannot be installed.

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
    """Start a privileged container, as every node is one: a running engine may still not be able to.

    Raises:
        ClusterError: it does not start.

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
    if program.startswith("/"):
        return os.access(program, os.X_OK)
    return shutil.which(program) is not None


def _install(packages: list[str]) -> None:
    words = " ".join(packages)
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise MissingTool(
            f"missing: {words}; install them (on Debian, as root, this is automatic)"
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
    """Prepare this machine, or print the reason why it cannot run a cluster."""
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
