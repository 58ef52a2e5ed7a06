"""What a kind cluster changes on the machine outside its containers: said before it is done, and put back at the end.

A kubelet sets kernel parameters of the whole machine; many pods want more inotify instances; and where all images
were built here, whatever leaves the nodes' network is dropped, so that a missing piece fails instead of being fetched.
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
NETWORK_TOLD = dict.fromkeys(
    ("KIND_EXPERIMENTAL_PODMAN_NETWORK", "KIND_EXPERIMENTAL_DOCKER_NETWORK"), NETWORK
)
"""What kind has to be told to use our network."""
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
    """The machine, as far as a kind cluster touches it."""

    engine: Provider
    proc: Path = Path("/proc/sys")

    def prepare(self, *, closed: bool) -> None:
        """Remember the kernel parameters, and make the network; a ``closed`` one lets nothing out."""
        saved = _saved_file()
        if not saved.exists():
            before = {name: self._read(name) for name in TOUCHED}
            saved.write_text(json.dumps(before), encoding="utf-8")
        progress(
            f"this machine: a network {NETWORK}; the nodes set {', '.join(TOUCHED[:4])}; all is put back at the end"
        )
        if os.geteuid() == 0:
            Path("/lib/modules").mkdir(
                exist_ok=True
            )  # kind mounts it, and a kernel without modules has none
            if int(self._read(INOTIFY) or INOTIFY_NEEDED) < INOTIFY_NEEDED:
                self._write(INOTIFY, str(INOTIFY_NEEDED))
        if not self.engine.succeeds("network", "inspect", NETWORK):
            self.engine.run("network", "create", NETWORK)
        if closed:
            self._close()

    def restore(self) -> None:
        """Put everything back as it was before the first cluster."""
        self._open()
        self.engine.succeeds("network", "rm", NETWORK)
        saved = _saved_file()
        if saved.exists():
            for name, value in json.loads(saved.read_text(encoding="utf-8")).items():
                if value is not None and self._read(name) != value:
                    self._write(name, value)
            saved.unlink()

    def _close(self) -> None:
        """Drop what leaves the network, before any rule that would let it pass."""
        if os.geteuid() != 0 or not shutil.which("iptables"):
            progress(
                "nothing keeps the nodes from reaching out: that takes root and iptables"
            )
            return
        told = json.loads(self.engine.run("network", "inspect", NETWORK))[0]
        bridge = told.get("network_interface") or f"br-{told.get('Id', '')[:12]}"
        rule = [
            "FORWARD",
            "-i",
            bridge,
            "!",
            "-o",
            bridge,
            "-m",
            "comment",
            "--comment",
            COMMENT,
            "-j",
            "DROP",
        ]
        if not succeeds(lambda: run(["iptables", "-t", "mangle", "-C", *rule])):
            run(["iptables", "-t", "mangle", "-I", *rule])
            progress(
                f"this machine: what leaves {bridge} is dropped (iptables, table mangle), until the cluster is gone"
            )

    def _open(self) -> None:
        """Take our rules away."""
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
