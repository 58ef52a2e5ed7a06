"""The container engine of kind: the user's choice, else docker if it answers, else podman.

podman gets settings and a storage of its own through environment variables: the user's own do not change.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kueue_dra_clusters.build_cache import cache
from kueue_dra_clusters.errors import ClusterError, MissingTool, tail_of

PROVIDER_VARIABLE = "KIND_EXPERIMENTAL_PROVIDER"
"""kind's own variable: docker or podman."""

CAP_SYS_RESOURCE = 1 << 24
NPROC = 30000

CONTAINERS_CONF = """\
[containers]
log_driver = "k8s-file"
pids_limit = 0
[engine]
{runtime}cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
network_config_dir = "{home}/networks"
"""
STORAGE_CONF = """\
[storage]
driver = "overlay"
graphroot = "{home}/storage"
runroot = "{home}/run"
"""
SHIM = """\
#!/bin/sh
# podman sets hard limits above our own by default, which is not allowed here: so this sets them.
case ${{1-}} in run) shift; set -- run --ulimit nofile={nofile}:{nofile} --ulimit nproc={nproc}:{nproc} "$@" ;; esac
exec {podman} "$@"
"""


class ProviderError(ClusterError):
    """A command of the container engine failed; the message has its output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """docker or podman, with the environment variables for each use, kind included."""

    name: str
    environment: Mapping[str, str] = field(default_factory=dict)

    def run(self, *words: str, within: float = 300.0) -> str:
        """Run the engine and give its output.

        Raises:
            ProviderError: it fails, or takes longer than ``within`` seconds.

        """
        return run([self.name, *words], env=self.environment, within=within)

    def has_image(self, ref: str) -> bool:
        """Whether an image is in the engine's storage."""
        return self.succeeds("image", "inspect", ref)

    def succeeds(self, *words: str) -> bool:
        """Whether a command of the engine succeeds."""
        return succeeds(lambda: self.run(*words))

    def build(self, folder: Path, *refs: str) -> None:
        """Build an image from a folder with a Containerfile, under each of its names; pull nothing."""
        tags = [word for ref in refs for word in ("-t", ref)]
        self.run("build", "-q", "-f", str(folder / "Containerfile"), *tags, str(folder))

    def save(self, archive: Path, *refs: str) -> None:
        """Write images into one archive in docker's format."""
        archive.unlink(missing_ok=True)
        words = ["--format", "docker-archive", "-m"] if self.name == "podman" else []
        self.run("save", *words, "-o", str(archive), *refs)


def run(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    within: float = 300.0,
    stdin: str = "",
) -> str:
    """Run a program and give its output; ``env`` is added to the environment.

    Raises:
        ProviderError: it fails, or takes longer than ``within`` seconds.

    """
    what = " ".join(argv[:6])
    try:
        done = subprocess.run(
            argv,
            env=os.environ | dict(env or {}),
            capture_output=True,
            text=True,
            timeout=within,
            input=stdin,
        )
    except FileNotFoundError:
        raise MissingTool(f"{argv[0]}: there is no such program") from None
    except subprocess.TimeoutExpired:
        raise ProviderError(f"{what} ...: not done after {within:g} s") from None
    if done.returncode:
        output = tail_of((done.stderr or done.stdout).strip())
        raise ProviderError(f"{what} ...: exit code {done.returncode}\n{output}")
    return done.stdout


def succeeds(act: Callable[[], object]) -> bool:
    """Whether a program succeeds."""
    try:
        act()
    except ProviderError:
        return False
    return True


def engine() -> Provider:
    """Find the engine.

    Raises:
        MissingTool: the one that the user chose does not work, or there is none.

    """
    chosen = os.environ.get(PROVIDER_VARIABLE, "")
    if chosen not in ("", "docker", "podman"):
        raise MissingTool(
            f"{PROVIDER_VARIABLE}: found {chosen!r}, expected docker or podman"
        )
    found = [
        each for each in (_docker(), _podman()) if each and chosen in ("", each.name)
    ]
    for each in found:
        if each.succeeds("info"):
            return each
    raise MissingTool(_why_none(chosen, found))


def _docker() -> Provider | None:
    return Provider(name="docker") if shutil.which("docker") else None


def _podman() -> Provider | None:
    """Podman with settings of its own, unless the user names some."""
    if not (podman := shutil.which("podman")):
        return None
    home = cache() / "podman"
    (home / "networks").mkdir(parents=True, exist_ok=True)
    environment = {PROVIDER_VARIABLE: "podman"} | _settings(home)
    if not _may_raise_limits():
        environment["PATH"] = (
            f"{_shim(home, podman)}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        )
    return Provider(name="podman", environment=environment)


def _settings(home: Path) -> dict[str, str]:
    if os.environ.get("CONTAINERS_CONF"):
        return {}
    runtime = "" if shutil.which("crun") else 'runtime = "runc"\n'
    files = {
        "CONTAINERS_CONF": CONTAINERS_CONF,
        "CONTAINERS_STORAGE_CONF": STORAGE_CONF,
    }
    for name, text in files.items():
        (home / name.lower()).write_text(
            text.format(home=home, runtime=runtime), encoding="utf-8"
        )
    return {name: str(home / name.lower()) for name in files}


def _may_raise_limits() -> bool:
    """Whether we have CAP_SYS_RESOURCE, without which podman starts privileged containers with `SHIM` only."""
    status = Path("/proc/self/status")
    if os.geteuid() != 0 or not status.exists():
        return True  # rootless podman leaves limits alone
    effective = next(
        line.split()[1]
        for line in status.read_text().splitlines()
        if line.startswith("CapEff")
    )
    return bool(int(effective, 16) & CAP_SYS_RESOURCE)


def _shim(home: Path, podman: str) -> Path:
    """Write the program named podman that precedes the real one in PATH."""
    folder = home / "bin"
    folder.mkdir(exist_ok=True)
    nofile = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    fresh = folder / f"podman.{os.getpid()}"
    fresh.write_text(
        SHIM.format(nofile=nofile, nproc=NPROC, podman=podman), encoding="utf-8"
    )
    fresh.chmod(0o755)
    fresh.rename(folder / "podman")
    return folder


def _why_none(chosen: str, found: Sequence[Provider]) -> str:
    tried = (
        ", ".join(f"{each.name} does not answer `{each.name} info`" for each in found)
        or "neither is in PATH"
    )
    wanted = f"{PROVIDER_VARIABLE}={chosen}" if chosen else "docker or podman"
    return (
        f"no container engine for kind: expected {wanted}; {tried}.\nInstall one (`make e2e` does so on "
        f"Debian and Ubuntu, as root), or set {PROVIDER_VARIABLE} to the one that works."
    )
