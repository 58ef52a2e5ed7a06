"""The changes of a kind cluster to the machine outside its containers: announced first, and undone at the end.

A kubelet sets kernel parameters of the whole machine; many pods need more inotify instances; and if all images are
built here, a firewall rule drops packets that leave the nodes' network, so that a missing image is not pulled.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from kueue_dra_clusters.build_cache import cache
from kueue_dra_clusters.go_tool import progress
from kueue_dra_clusters.kind.provider import Provider, run, succeeds

NETWORK = "kueue-dra"
NETWORK_VARIABLES = dict.fromkeys(
    ("KIND_EXPERIMENTAL_PODMAN_NETWORK", "KIND_EXPERIMENTAL_DOCKER_NETWORK"), NETWORK
)
"""kind's environment variables for our network."""
COMMENT = "kueue-dra-closed"
INOTIFY = "fs.inotify.max_user_instances"
INOTIFY_NEEDED = 1024
TOUCHED = (
    "vm.overcommit_memory",
    "kernel.panic",
    "kernel.panic_on_oops",
    "net.ipv4.ip_forward",
    INOTIFY,
)
"""The kernel parameters that a node, the pod network or we change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The settings of the machine that a kind cluster changes."""

    engine: Provider
    proc: Path = Path("/proc/sys")

    def prepare(self, *, closed: bool) -> None:
        """Save the kernel parameters, and create the network; a ``closed`` one drops outgoing packets."""
        saved = _saved_file()
        if not saved.exists():
            before = {name: self._read(name) for name in TOUCHED}
            saved.write_text(json.dumps(before), encoding="utf-8")
        progress(
            f"this machine: a network {NETWORK}; the nodes set {', '.join(TOUCHED[:4])}; all is restored at the end"
        )
        if os.geteuid() == 0:
            # kind mounts it, but it does not exist with a kernel without modules.
            Path("/lib/modules").mkdir(exist_ok=True)
            if int(self._read(INOTIFY) or INOTIFY_NEEDED) < INOTIFY_NEEDED:
                self._write(INOTIFY, str(INOTIFY_NEEDED))
        if not self.engine.succeeds("network", "inspect", NETWORK):
            self.engine.run("network", "create", NETWORK)
        if closed:
            self._close()

    def restore(self) -> None:
        """Restore everything as it was before the first cluster."""
        self._open()
        self.engine.succeeds("network", "rm", NETWORK)
        saved = _saved_file()
        if saved.exists():
            for name, value in json.loads(saved.read_text(encoding="utf-8")).items():
                if value is not None and self._read(name) != value:
                    self._write(name, value)
            saved.unlink()

    def _close(self) -> None:
        """Drop packets that leave the network, before any rule that accepts them."""
        if os.geteuid() != 0 or not shutil.which("iptables"):
            progress(
                "the nodes can reach the internet: closing their network takes root and iptables"
            )
            return
        network = json.loads(self.engine.run("network", "inspect", NETWORK))[0]
        bridge = network.get("network_interface") or f"br-{network.get('Id', '')[:12]}"
        leaving = ["-i", bridge, "!", "-o", bridge]
        comment = ["-m", "comment", "--comment", COMMENT]
        rule = ["FORWARD", *leaving, *comment, "-j", "DROP"]
        if not succeeds(lambda: run(["iptables", "-t", "mangle", "-C", *rule])):
            run(["iptables", "-t", "mangle", "-I", *rule])
            progress(
                f"this machine: drops packets that leave {bridge} (iptables, table mangle), until the cluster is gone"
            )

    def _open(self) -> None:
        """Remove our rules."""
        if os.geteuid() != 0 or not shutil.which("iptables-save"):
            return
        for line in run(["iptables-save", "-t", "mangle"]).splitlines():
            if line.startswith("-A") and COMMENT in line:
                run(["iptables", "-t", "mangle", "-D", *line.split()[1:]])

    def _read(self, name: str) -> str | None:
        path = self.proc / name.replace(".", "/")
        return path.read_text().strip() if path.exists() else None

    def _write(self, name: str, value: str) -> None:
        try:
            (self.proc / name.replace(".", "/")).write_text(value)
        except OSError as trouble:
            progress(
                f"this machine: {name} could not be set to {value}: {trouble.strerror}"
            )


def _saved_file() -> Path:
    cache().mkdir(parents=True, exist_ok=True)
    return cache() / "host-before.json"
