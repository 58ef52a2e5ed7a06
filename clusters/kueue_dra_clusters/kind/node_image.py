"""Builds a kind node image from Debian packages, kind's own files and pinned Go modules; pulls nothing."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from kueue_dra_clusters.build_cache import cache, kept, program
from kueue_dra_clusters.errors import MissingTool
from kueue_dra_clusters.go_tool import progress
from kueue_dra_clusters.kind.components import (
    AS_IMAGES,
    KUBECTL,
    ON_THE_NODE,
    kind_files,
)
from kueue_dra_clusters.kind.images import PATH, busybox, containerfile
from kueue_dra_clusters.kind.provider import Provider, run

HERE = Path(__file__).parent / "node"
REPOSITORY = "localhost/kueue-dra/node"
NETWORK_IMAGE = "localhost/kueue-dra/node-network:1"
SUITE = "trixie"
PACKAGES = (
    *(
        "systemd",
        "systemd-sysv",
        "dbus",
        "containerd",
        "runc",
        "containernetworking-plugins",
        "iptables",
        "nftables",
    ),
    *(
        "iproute2",
        "conntrack",
        "ethtool",
        "socat",
        "util-linux",
        "mount",
        "kmod",
        "procps",
        "ca-certificates",
        "jq",
    ),
    *("curl", "libseccomp2", "pigz", "e2fsprogs", "busybox-static"),
)
BUILD_SECONDS = 900.0
RUNTIME_FOLDERS = ("proc", "sys", "dev", "run", "tmp")

NODE = f"""\
FROM scratch
ADD root.tar /
ENV container=docker PATH={PATH}
STOPSIGNAL SIGRTMIN+3
ENTRYPOINT ["/usr/local/bin/entrypoint", "/sbin/init"]
"""


def node_image(engine: Provider) -> str:
    """Give the name of the node image in the engine's storage; build it if any of its inputs changed.

    Raises:
        MissingTool: a program for it is missing, or it takes root to build.

    """
    programs = {each.name: program(each) for each in ON_THE_NODE}
    images = {name: program(each) for name, each in AS_IMAGES.items()}
    ref = f"{REPOSITORY}:{KUBECTL.version}-{_digest(programs, images)}"
    if not engine.has_image(ref):
        _insist_on_root()
        with tempfile.TemporaryDirectory(
            prefix="node-", dir=cache(), ignore_cleanup_errors=True
        ) as work:
            _build(engine, ref, Path(work), programs, images)
    return ref


def base() -> Path:
    """Give the Debian root file system, the base of the image."""

    def make(folder: Path) -> None:
        progress(f"debootstrap {SUITE} (once, a minute)")
        words = [
            "--variant=minbase",
            f"--include={','.join(PACKAGES)}",
            SUITE,
            str(folder / "root"),
            *debian_mirror(),
        ]
        run(["debootstrap", *words], within=BUILD_SECONDS)

    packages = hashlib.sha256(" ".join((SUITE, *PACKAGES)).encode()).hexdigest()[:16]
    return kept(f"node-base-{SUITE}-{packages}", make) / "root"


def _build(
    engine: Provider,
    ref: str,
    work: Path,
    programs: Mapping[str, Path],
    images: Mapping[str, Path],
) -> None:
    """Assemble the root file system in a folder, and build an image from it with the engine."""
    root = work / "root"
    _assemble(root, work / "ours", programs)
    archives = _component_archives(engine, work, root, images)
    alone = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
    run([*alone, str(HERE / "import.sh"), str(root), str(archives)])
    progress("node image: into the engine's storage")
    final = work / "image"
    final.mkdir()
    excluded = [f"--exclude=./{name}/*" for name in RUNTIME_FOLDERS]
    archive = str(final / "root.tar")
    run(["tar", "-C", str(root), *excluded, "--numeric-owner", "-cf", archive, "."])
    (final / "Containerfile").write_text(NODE, encoding="utf-8")
    _forget_older(engine)
    engine.build(final, ref)


def _assemble(root: Path, ours: Path, programs: Mapping[str, Path]) -> None:
    files = kind_files()
    source = base()
    progress("node image: root file system")
    run(["cp", "-a", "--reflink=auto", str(source), str(root)])
    _lay_out(ours, programs)
    run([str(HERE / "assemble.sh"), str(root), str(files), str(ours), KUBECTL.version])


def _component_archives(
    engine: Provider, work: Path, root: Path, images: Mapping[str, Path]
) -> Path:
    """Build the images of kubeadm's components and of the node network, and give the folder of their archives."""
    progress("node image: the images of kubeadm's components")
    archives = work / "archives"
    archives.mkdir()
    for name, refs in _wanted(root).items():
        _component_image(engine, work / f"{name}-image", root, name, images[name], refs)
        engine.save(archives / f"{name}.tar", *refs)
    _network_image(engine, work / "network", root)
    engine.save(archives / "node-network.tar", NETWORK_IMAGE)
    return archives


def _lay_out(ours: Path, programs: Mapping[str, Path]) -> None:
    """Copy our own files to where the assembling script expects them."""
    (ours / "bin").mkdir(parents=True)
    (ours / "manifests").mkdir()
    for name, path in programs.items():
        shutil.copy(path, ours / "bin" / name)
    for name in ("default-cni.yaml", "default-storage.yaml"):
        shutil.copy(HERE / name, ours / "manifests")


def _wanted(root: Path) -> dict[str, list[str]]:
    """Give the images that kubeadm and containerd start, by the last part of the name."""
    version = KUBECTL.version
    command = ["kubeadm", "config", "images", "list"]
    listed = run(["chroot", str(root), *command, f"--kubernetes-version={version}"])
    refs = listed.split()
    config = (root / "etc/containerd/config.toml").read_text(encoding="utf-8")
    for line in config.splitlines():
        if line.strip().startswith("sandbox_image"):
            refs.append(line.split('"')[1])
    wanted: dict[str, list[str]] = {}
    for ref in dict.fromkeys(refs):
        wanted.setdefault(ref.rpartition("/")[2].partition(":")[0], []).append(ref)
    if strange := sorted(wanted.keys() - AS_IMAGES.keys()):
        raise MissingTool(
            f"kubeadm {version} wants images that are not built here: {', '.join(strange)}"
        )
    return wanted


def _component_image(
    engine: Provider, folder: Path, root: Path, name: str, binary: Path, refs: list[str]
) -> None:
    """Build the image of one of kubeadm's components: its program, and for kube-proxy the programs that it calls."""
    folder.mkdir()
    if name == "kube-proxy":
        run([str(HERE / "proxy-tree.sh"), str(root), str(folder / "tree")])
    path = f"/{name}" if name in ("coredns", "pause") else f"/usr/local/bin/{name}"
    containerfile(folder, {path: binary}, entrypoint=path, tree=name == "kube-proxy")
    engine.build(folder, *refs)


def _network_image(engine: Provider, folder: Path, root: Path) -> None:
    """Build the image that sets up the pods' network: busybox and a script; kubectl is the node's."""
    busybox(folder, root / "usr/bin/busybox", HERE / "node-network.sh")
    engine.build(folder, NETWORK_IMAGE)


def _digest(programs: Mapping[str, Path], images: Mapping[str, Path]) -> str:
    """Identify a node image by all of its inputs."""
    names = [path.parent.name for path in (*programs.values(), *images.values())]
    ours = [path.read_bytes() for path in sorted(HERE.iterdir())]
    whole = b"\0".join([*ours, " ".join((*names, SUITE, *PACKAGES, NODE)).encode()])
    return hashlib.sha256(whole).hexdigest()[:12]


def _forget_older(engine: Provider) -> None:
    """Remove node images of other versions, unless a cluster uses them."""
    for ref in engine.run("images", "--format", "{{.Repository}}:{{.Tag}}").split():
        if ref.startswith(f"{REPOSITORY}:"):
            engine.succeeds("rmi", ref)


def _insist_on_root() -> None:
    if os.geteuid() != 0:
        raise MissingTool(
            "building the node image takes root (debootstrap, chroot); or use --images released"
        )


def debian_mirror() -> list[str]:
    """Give the archive that apt uses on this machine if it is Debian; empty for debootstrap's default."""
    try:
        listed = run(
            ["apt-get", "indextargets", "--format", "$(ORIGIN) $(CODENAME) $(REPO_URI)"]
        )
    except MissingTool:
        return []
    lines = [line.split() for line in listed.splitlines()]
    return [
        line[2]
        for line in lines
        if len(line) == 3 and line[0] == "Debian" and "-" not in line[1]
    ][:1]
