"""The real components come from the paths of the user, or are built once; a missing one is reported."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kueue_dra_clusters.binaries import ETCD, binaries
from kueue_dra_clusters.build_cache import cache, parts, program
from kueue_dra_clusters.errors import MissingTool
from kueue_dra_clusters.manifests import MANIFEST_FOLDERS
from kueue_dra_clusters.releases import NEWEST, release
from kueue_dra_clusters.waiting import NotYet, eventually

ROOT = Path(__file__).parents[2]
VARIABLES = ("KUBEBUILDER_ASSETS", "KUEUE_BIN", "KUEUE_MANIFESTS")

FAKE_GO = """#!/bin/sh
echo "$@" >> "$CALLS"
[ -n "$GO_FAILS" ] && { echo "go: $GO_FAILS" >&2; exit 1; }
[ -n "$GO_HANGS" ] && exec sleep 300
[ "$1" = mod ] && { printf '{"Dir": "%s"}' "$MODULE"; exit; }
sleep 0.2
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\\n' > "$2"
chmod +x "$2"
"""


@pytest.fixture(autouse=True)
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have an empty cache, no variable set and a stand-in for Go that writes down how it is called."""
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    go = tmp_path / "tools" / "go"
    go.parent.mkdir()
    go.write_text(FAKE_GO)
    go.chmod(0o755)
    monkeypatch.setenv("PATH", f"{go.parent}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("MODULE", str(a_module(tmp_path / "module")))
    return tmp_path / "calls"


def a_module(folder: Path) -> Path:
    """Lay out a Kueue module with empty manifests, read-only as Go's module cache is."""
    components = folder / "config" / "components"
    for file in ("crd/bases/queues.yaml", "crd/kustomization.yaml", "rbac/role.yaml", "webhook/manifests.yaml"):
        (components / file).parent.mkdir(parents=True, exist_ok=True)
        (components / file).touch(mode=0o444)
    for directory in folder.rglob("*/"):
        directory.chmod(0o555)
    return folder


def a_program(path: Path, mode: int = 0o755) -> Path:
    """Write something that can be executed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    path.chmod(mode)
    return path


@pytest.mark.parametrize("variable", ["KUBEBUILDER_ASSETS", "KUEUE_BIN"])
def test_a_named_program_that_is_missing_is_told(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variable and the path are named; nothing is built in its stead."""
    monkeypatch.setenv(variable, str(tmp_path / "nowhere"))

    with pytest.raises(MissingTool, match=rf"{variable}=.*nowhere: there is no file .*nowhere"):
        binaries()


def test_a_named_program_that_cannot_be_executed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file without the right to execute it is no program."""
    a_program(tmp_path / "assets" / "etcd", mode=0o644)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path / "assets"))

    with pytest.raises(MissingTool, match=r"KUBEBUILDER_ASSETS=.*: .*assets/etcd is not executable"):
        binaries()


def test_incomplete_manifests_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable and each missing path are named."""
    monkeypatch.setenv("KUEUE_MANIFESTS", str(tmp_path))

    with pytest.raises(MissingTool, match=r"KUEUE_MANIFESTS=.* missing: .*config/components/crd/bases"):
        binaries()


def test_named_programs_and_manifests_need_no_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: Path) -> None:
    """Everything that is named is used as it is."""
    for name in ("etcd", "kube-apiserver", "kueue"):
        a_program(tmp_path / "assets" / name)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path / "assets"))
    monkeypatch.setenv("KUEUE_BIN", str(tmp_path / "assets" / "kueue"))
    monkeypatch.setenv("KUEUE_MANIFESTS", str(tmp_path / "module"))

    found = binaries()

    assert found.kube_apiserver == tmp_path / "assets" / "kube-apiserver"
    assert found.kueue_module == tmp_path / "module"
    assert not calls.exists()


def test_a_missing_go_names_both_ways_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """One can install Go, or name one's own binaries."""
    monkeypatch.setenv("PATH", "/nonexistent")

    with pytest.raises(MissingTool, match=r"(?s)no Go toolchain.*install Go 1\.26.*KUBEBUILDER_ASSETS.*KUEUE_BIN"):
        binaries()


def test_several_at_once_build_once(calls: Path) -> None:
    """All get the same program from one build, and nothing else lies in the cache."""
    with ThreadPoolExecutor(4) as workers:
        found = {job.result() for job in [workers.submit(program, ETCD) for _ in range(4)]}

    assert len(found) == 1
    assert len(calls.read_text().splitlines()) == 1
    assert [path.name for path in cache().iterdir() if path.is_dir()] == [found.pop().parent.name]


def test_what_is_built_needs_no_go_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second run finds programs and manifests in the cache."""
    built = binaries()
    monkeypatch.setenv("PATH", "/nonexistent")

    assert binaries() == built
    assert (built.kueue_module / "config" / "components" / "rbac" / "role.yaml").exists()


def test_the_pinned_version_is_built_in(calls: Path) -> None:
    """Kueue reports the version that its go.mod pins."""
    program(release(NEWEST).component)

    assert "-X sigs.k8s.io/kueue/pkg/version.GitVersion=v0.19.2" in calls.read_text()


def test_a_failed_build_leaves_nothing_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """Go's own words are shown, and the next try starts from nothing."""
    monkeypatch.setenv("GO_FAILS", "module requires go >= 1.26.0")

    with pytest.raises(MissingTool, match=r"(?s)etcd v.*exit code 1.*requires go >= 1\.26\.0.*install Go"):
        program(ETCD)
    assert not [path for path in cache().iterdir() if path.is_dir()]


@pytest.mark.parametrize("blow", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_build_leaves_no_half_made_program(
    blow: signal.Signals, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After Ctrl-C and after kill -9 the next caller gets a complete program."""
    words = [
        sys.executable,
        "-c",
        "from kueue_dra_clusters import binaries, build_cache; build_cache.program(binaries.ETCD)",
    ]
    with subprocess.Popen(words, cwd=ROOT, env=os.environ | {"GO_HANGS": "1"}, stderr=subprocess.DEVNULL) as builder:
        eventually(lambda: called(calls), within=10, what="the build to begin")
        builder.send_signal(blow)

    assert program(ETCD).read_text() == "#!/bin/sh\n"
    assert len([path for path in cache().iterdir() if path.is_dir()]) == 1


def called(calls: Path) -> None:
    """Pass once Go was called."""
    if not calls.exists():
        raise NotYet("Go was not called")


def test_copied_manifests_can_be_removed_by_their_owner() -> None:
    """Go's module cache is read-only; the copy is not."""
    copied = parts(release(NEWEST).component, "manifests", MANIFEST_FOLDERS)

    assert all(directory.stat().st_mode & 0o200 for directory in copied.rglob("*/"))
