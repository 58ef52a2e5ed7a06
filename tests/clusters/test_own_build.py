"""A checkout of Kueue is built once for each state of its files, and named by version, commit and changes."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from kueue_dra_cli import run
from kueue_dra_cli.repeat import command_of
from kueue_dra_clusters.binaries import RELEASE_VARIABLE, binaries, insist_on_release
from kueue_dra_clusters.build_cache import cache
from kueue_dra_clusters.errors import MissingTool
from kueue_dra_clusters.go_tool import PINNED
from kueue_dra_clusters.own_build import KEPT, SOURCE_VARIABLE, build_facts, checkout, own_build
from kueue_dra_clusters.releases import release
from tests.commands import kueue_dra

VARIABLES = ("KUBEBUILDER_ASSETS", "KUEUE_BIN", "KUEUE_MANIFESTS", "KUEUE_SRC", RELEASE_VARIABLE)
FAKE_GO = """#!/bin/sh
echo "$@" >> "$CALLS"
[ -n "$GO_FAILS" ] && { printf '%b\\n' "$GO_FAILS" >&2; exit 1; }
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\\n' > "$2"
chmod +x "$2"
"""
MANIFESTS = ("crd/bases/queues.yaml", "crd/kustomization.yaml", "rbac/role.yaml", "webhook/manifests.yaml")


@pytest.fixture(autouse=True)
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have an empty cache, programs for the API server, and a stand-in for Go that writes down how it is called."""
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    go = tmp_path / "tools" / "go"
    for program in (go, tmp_path / "tools" / "etcd", tmp_path / "tools" / "kube-apiserver"):
        program.parent.mkdir(exist_ok=True)
        program.write_text(FAKE_GO)
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{go.parent}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(go.parent))
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    return tmp_path / "calls"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder that has what a checkout of Kueue has, without git."""
    folder = tmp_path / "kueue"
    for name in MANIFESTS:
        file = folder / "config" / "components" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    (folder / "cmd" / "kueue").mkdir(parents=True)
    (folder / "cmd" / "kueue" / "main.go").write_text("package main\n")
    (folder / "go.mod").write_text("module sigs.k8s.io/kueue\n\ngo 1.26.0\n")
    return folder


def git(folder: Path, *words: str) -> str:
    """Run git with a made-up author."""
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    run = subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True, text=True)
    return run.stdout.strip()


@pytest.fixture
def cloned(source: Path) -> Path:
    """The same under git, with a tag and one commit after it."""
    git(source, "init", "--quiet")
    git(source, "add", "--all")
    git(source, "commit", "--quiet", "--message=first")
    git(source, "tag", "v0.19.2")
    (source / "README.md").write_text("more\n")
    git(source, "add", "--all")
    git(source, "commit", "--quiet", "--message=second")
    return source


def test_a_checkout_is_named_by_version_and_commit(cloned: Path) -> None:
    """The version is what git describes, and nothing has changed."""
    found = checkout(str(cloned))

    assert found.commit == git(cloned, "rev-parse", "HEAD")
    assert found.version == f"v0.19.2-1-g{found.commit[:7]}"
    assert str(found) == f"Kueue {found.version}, commit {found.commit[:10]}"
    assert found.facts["dirty"] is False


def test_a_dirty_tree_is_named_with_its_files(cloned: Path) -> None:
    """A changed file, a deleted one and a new one; an ignored one does not count."""
    (cloned / "cmd" / "kueue" / "main.go").write_text("package main // changed\n")
    (cloned / "README.md").unlink()
    (cloned / "pkg.go").write_text("package pkg\n")
    (cloned / ".git" / "info" / "exclude").write_text("bin/\n")
    (cloned / "bin").mkdir()
    (cloned / "bin" / "manager").touch()
    found = checkout(str(cloned))

    assert found.changed == ("README.md", "cmd/kueue/main.go", "pkg.go")
    assert found.version.endswith("-dirty")
    assert str(found).endswith("dirty: README.md, cmd/kueue/main.go, pkg.go")


def test_a_folder_without_git_is_built_too(source: Path) -> None:
    """Its commit is unknown, and its digest follows from its files."""
    before = checkout(str(source))
    (source / "cmd" / "kueue" / "main.go").write_text("package main // changed\n")

    assert str(before) == "Kueue unknown, no commit known"
    assert checkout(str(source)).digest != before.digest


def test_each_state_is_built_once(cloned: Path, calls: Path) -> None:
    """The same state is found in the cache; a changed one is built again."""
    first = own_build(checkout(str(cloned)))
    again = own_build(checkout(str(cloned)))
    (cloned / "cmd" / "kueue" / "main.go").write_text("package main // changed\n")
    changed = own_build(checkout(str(cloned)))

    assert first == again != changed
    assert len(calls.read_text().splitlines()) == 2
    assert build_facts(first / "kueue")["dirty"] is False
    assert build_facts(changed / "kueue")["changed"] == ["cmd/kueue/main.go"]
    assert f"GitVersion={build_facts(changed / 'kueue')['version']}" in calls.read_text()


def test_old_builds_leave_the_cache(source: Path) -> None:
    """The last ones stay."""
    built = []
    for number in range(KEPT + 2):
        (source / "cmd" / "kueue" / "main.go").write_text(f"package main // {number}\n")
        built.append(own_build(checkout(str(source))))
        os.utime(built[-1], (number, number))

    assert len(list(cache().glob("kueue-own-*/build.json"))) == KEPT
    assert (built[-1] / "kueue").is_file()


@pytest.mark.parametrize("minor", ["0.19", "0.20"])
def test_a_checkout_runs_with_any_behaviour(cloned: Path, minor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with a provisional one; children of this process run the same build, whatever happens to the checkout."""
    monkeypatch.setenv("KUEUE_SRC", str(cloned))
    found = binaries(minor)
    (cloned / "cmd" / "kueue" / "main.go").write_text("package main // changed\n")
    insist_on_release(found)

    assert binaries(minor) == found
    assert found.release.minor == minor
    assert (PINNED / found.release.folder / "go.mod").is_file()  # of JobSet and other kinds of Jobs
    assert (found.kueue_module / "config" / "components" / "rbac" / "role.yaml").is_file()
    assert json.loads((found.kueue.parent / "build.json").read_text())["commit"] == git(cloned, "rev-parse", "HEAD")


def test_a_provisional_minor_has_no_release_of_its_own() -> None:
    """Without a checkout nothing can run it."""
    with pytest.raises(MissingTool, match="is provisional"):
        release("0.20")


def test_two_kueues_are_one_too_many(cloned: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkout and a binary exclude each other."""
    monkeypatch.setenv("KUEUE_SRC", str(cloned))
    monkeypatch.setenv("KUEUE_BIN", str(cloned / "kueue"))

    with pytest.raises(MissingTool, match="KUEUE_SRC and KUEUE_BIN are both set"):
        binaries()


def test_a_binary_of_a_provisional_minor_needs_its_manifests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pinned ones are of other minors."""
    monkeypatch.setenv("KUEUE_BIN", str(tmp_path / "tools" / "etcd"))

    with pytest.raises(MissingTool, match=r"set KUEUE_MANIFESTS to the folder with its config/components"):
        binaries("0.20")


def test_the_compiler_has_the_last_word(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build that fails shows its last lines, and leaves nothing in the cache."""
    monkeypatch.setenv("GO_FAILS", "# sigs.k8s.io/kueue/cmd/kueue\ncmd/kueue/main.go:3:2: undefined: x")

    with pytest.raises(MissingTool, match=r"(?s)exit code 1:.*main.go:3:2: undefined: x\nFix the checkout"):
        own_build(checkout(str(source)))
    assert not list(cache().glob("kueue-own-*/"))


def test_a_go_that_is_too_old_is_named(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the version that the checkout needs, in one line."""
    monkeypatch.setenv("GO_FAILS", "go: go.mod requires go >= 1.27.0 (running go 1.26.8; GOTOOLCHAIN=local)")

    with pytest.raises(MissingTool, match=r"requires Go 1\.27\.0 or newer, and the command go is 1\.26\.8$"):
        own_build(checkout(str(source)))


def test_a_missing_go_is_named(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the command go nothing is built."""
    found = checkout(str(source))
    monkeypatch.setenv("PATH", "/nonexistent")

    with pytest.raises(MissingTool, match="no Go toolchain"):
        own_build(found)


def test_the_command_that_repeats_a_run_names_the_checkout(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report of each run has that command."""
    monkeypatch.setenv(SOURCE_VARIABLE, "to be restored")
    words = ["--target=kueue", "--kueue-src", str(source), "--behaviour=kueue-0.20"]
    with run.command.make_context("run", words) as context:
        repeated = command_of(context, ["quota"], "kueue-0.20.0")

    assert f"--kueue-src={source}" in repeated.split()


@pytest.mark.parametrize(
    ("removed", "expected"),
    [
        pytest.param("go.mod", "it has no go.mod; expected a checkout of sigs.k8s.io/kueue", id="module"),
        pytest.param("cmd/kueue/main.go", "there is no ./cmd/kueue", id="program"),
        pytest.param("config/components/webhook/manifests.yaml", "manifests are incomplete", id="manifests"),
    ],
)
def test_what_is_no_checkout_of_kueue_is_refused(source: Path, removed: str, expected: str) -> None:
    """One line on standard error, and exit code 2."""
    (source / removed).unlink()
    if removed.startswith("cmd"):
        (source / "cmd" / "kueue").rmdir()
    result = kueue_dra("run", "--target", "kueue", "--kueue-src", str(source))

    assert result.exit_code == 2
    assert expected in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(("--target=kueue", "--kueue-src=nowhere"), "there is no folder", id="no-folder"),
        pytest.param(("--target=kueue", "--against=kueue-0.3"), "no such release is pinned", id="release"),
        pytest.param(("--against=kueue-0.19.2",), "--against needs --target kueue", id="reference"),
        pytest.param(
            ("--target=kueue", "--context=a", "--against=kueue-0.19.2"),
            "--against and --context exclude each other",
            id="cluster",
        ),
    ],
)
def test_options_that_make_no_sense_are_refused(words: tuple[str, ...], expected: str) -> None:
    """Before anything is built."""
    result = kueue_dra("run", *words)

    assert result.exit_code == 2
    assert expected in result.stderr
