"""The parts of a kind cluster that need no cluster: names, records, the machine, configurations, evidence."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from kueue_dra_clusters.build_cache import cache
from kueue_dra_clusters.errors import MissingTool
from kueue_dra_clusters.kind import cluster_records
from kueue_dra_clusters.kind import provider as engines
from kueue_dra_clusters.kind.artifacts import redacted
from kueue_dra_clusters.kind.charts import images_of
from kueue_dra_clusters.kind.create import kind_config
from kueue_dra_clusters.kind.driver_description import EXAMPLE_DRIVER
from kueue_dra_clusters.kind.host import INOTIFY, NETWORK, TOUCHED, Host
from kueue_dra_clusters.kind.image_source import moved, released
from kueue_dra_clusters.kind.profiles import PROFILES
from kueue_dra_clusters.kind.provider import Provider, ProviderError, run
from kueue_dra_clusters.releases import release
from kueue_dra_fixtures.on_nodes import devices_in


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep out of the user's cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnEngine(Provider):
    """An engine that does nothing and remembers what it was asked."""

    asked: list[Sequence[str]] = field(default_factory=list)

    def run(self, *words: str, within: float = 1.0) -> str:
        """Take note."""
        self.asked.append(words)
        if words[:2] == ("network", "inspect"):
            raise ProviderError("there is no such network")
        return ""


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        pytest.param("kindest/node:v1@sha256:1", "corp.example/m/kindest/node:v1@sha256:1", id="no-host"),
        pytest.param("registry.example.com/a/b:v1", "corp.example/m/a/b:v1", id="a-host"),
        pytest.param("localhost/a:v1", "corp.example/m/a:v1", id="this-host"),
        pytest.param("host:5000/a:v1", "corp.example/m/a:v1", id="a-port"),
    ],
)
def test_an_image_moves_to_another_registry(ref: str, expected: str) -> None:
    """Only the host changes."""
    assert moved(ref, "corp.example/m/") == expected


def test_released_images_are_pinned() -> None:
    """The node image by its digest, the others by the versions that are built here too."""
    found = released(release("0.18"))

    assert "@sha256:" in found.node
    assert found.kueue.endswith(f":{release('0.18').component.version}")
    assert all(ref.rpartition(":")[2] for ref in (found.kueue, found.driver, found.job, found.job_set))


def test_the_images_of_manifests_are_found() -> None:
    """Of every container, and of the initial ones, each once."""
    pod = {"initContainers": [{"image": "a:1"}], "containers": [{"image": "b:1"}, {"image": "a:1"}]}

    assert images_of([{"kind": "Service"}, {"spec": {"template": {"spec": pod}}}]) == ["a:1", "b:1"]


@pytest.mark.parametrize(("nodes", "roles"), [(1, ["control-plane"]), (3, ["control-plane", "worker", "worker"])])
def test_kind_is_told_the_nodes(nodes: int, roles: list[str]) -> None:
    """One control plane, whatever their number, and the features that devices need."""
    found = kind_config(nodes)

    assert [each["role"] for each in found["nodes"]] == roles
    assert found["featureGates"]["DRAConsumableCapacity"] is True
    assert [yaml.safe_load(each)["kind"] for each in found["kubeadmConfigPatches"]] == ["ClusterConfiguration"] * 2
    assert "cgroupDriver: cgroupfs" in kind_config(nodes, cgroupfs=True)["kubeadmConfigPatches"][0]


@pytest.mark.parametrize("name", PROFILES)
def test_the_configuration_of_a_profile_can_be_printed(name: str) -> None:
    """Each is a document that goes into a ConfigMap."""
    found = json.loads(json.dumps(PROFILES[name].configuration()))

    assert found["kind"] == "Configuration"


def test_a_run_that_was_killed_leaves_an_orphan() -> None:
    """A record counts its owner as gone when the process is, or another has its number."""
    alive = cluster_records.a_record("kueue-dra-a", kept=False)
    again = cluster_records.Record(name="kueue-dra-b", pid=alive.pid, started=alive.started - 1)
    gone = cluster_records.Record(name="kueue-dra-c", pid=2**22 + 1, started=1)
    kept = cluster_records.a_record("kueue-dra-d", kept=True)
    for each in (alive, again, gone, kept):
        each.write()

    assert {each.name: each.orphaned for each in cluster_records.records()} == {
        "kueue-dra-a": False,
        "kueue-dra-b": True,
        "kueue-dra-c": True,
        "kueue-dra-d": False,
    }
    gone.forget()
    assert "kueue-dra-c" not in [each.name for each in cluster_records.records()]


def test_a_cluster_is_found_whatever_it_is_called() -> None:
    """A cluster with a name of the user is found by that name."""
    cluster_records.a_record("mine", kept=True).write()

    assert [each.name for each in cluster_records.records()] == ["mine"]


def test_nothing_is_left_of_what_was_forgotten() -> None:
    """A record goes with its folder and all that lies in it; what is not there is forgotten already."""
    record = cluster_records.a_record("mine", kept=False, foreign=True)
    record.write()
    (record.folder / "kubeconfig").write_text("")

    record.forget()
    record.forget()

    assert [each.name for each in cache().iterdir()] == ["clusters"]
    assert not list(cluster_records.records())


@pytest.mark.parametrize(
    ("name", "orphaned"),
    [pytest.param("kueue-dra-x", True, id="a-run's"), pytest.param("my-cluster", False, id="a-person's")],
)
def test_a_record_that_cannot_be_read(name: str, orphaned: bool) -> None:
    """An unfinished record of a run is found; a cluster that a person named never counts as orphaned."""
    folder = cluster_records.place() / name
    folder.mkdir(parents=True)
    (folder / "record.json").write_text("{")

    assert [(each.name, each.orphaned) for each in cluster_records.records()] == [(name, orphaned)]


def test_the_machine_is_put_back(tmp_path: Path, own_cache: Path) -> None:
    """The settings of the machine are as before the first cluster, also after a second one."""
    proc = tmp_path / "proc"
    for name in TOUCHED:
        (proc / name.replace(".", "/")).parent.mkdir(parents=True, exist_ok=True)
        (proc / name.replace(".", "/")).write_text("1\n")
    used = AnEngine(name="podman")
    host = Host(engine=used, proc=proc)

    host.prepare(closed=False)
    (proc / "kernel/panic").write_text("10\n")
    host.prepare(closed=False)
    host.restore()

    assert {name: (proc / name.replace(".", "/")).read_text().strip() for name in TOUCHED} == dict.fromkeys(
        TOUCHED, "1"
    )
    assert ("network", "create", NETWORK) in used.asked
    assert ("network", "rm", NETWORK) in used.asked
    assert INOTIFY in TOUCHED


def test_secrets_are_left_out() -> None:
    """Values of secret names are masked at every depth; references and numbers stay."""
    found: Any = redacted({"token": "abc", "list": [{"clientSecret": "x", "count": 1}], "secretName": {"name": "n"}})

    assert found == {
        "token": "REDACTED",
        "list": [{"clientSecret": "REDACTED", "count": 1}],
        "secretName": {"name": "n"},
    }


def test_devices_are_read_from_a_log() -> None:
    """Only the variables that name a device count."""
    log = ["GPU_DEVICE_0=gpu-0", "GPU_DEVICE_0_SHARING_STRATEGY=TimeSlicing", "GPU_DEVICE_11=gpu-11", "PATH=/bin"]

    assert devices_in(log, EXAMPLE_DRIVER.environment) == {"gpu-0", "gpu-11"}


def a_program(folder: Path, name: str, script: str) -> None:
    """Write a program."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(stat.S_IRWXU)


def test_the_engine_that_answers_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Docker that does not answer gives way to podman."""
    a_program(tmp_path / "bin", "docker", "exit 1")
    a_program(tmp_path / "bin", "podman", "exit 0")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv(engines.PROVIDER_VARIABLE, raising=False)

    assert engines.engine().name == "podman"


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        pytest.param("docker", "docker does not answer", id="does-not-answer"),
        pytest.param("nerdctl", "found 'nerdctl', expected docker or podman", id="unknown"),
    ],
)
def test_the_users_choice_is_insisted_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: str, message: str
) -> None:
    """Another engine is never taken instead of the chosen one."""
    a_program(tmp_path / "bin", "docker", "exit 1")
    a_program(tmp_path / "bin", "podman", "exit 0")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv(engines.PROVIDER_VARIABLE, chosen)

    with pytest.raises(MissingTool, match=message):
        engines.engine()


def test_a_program_that_fails_is_quoted() -> None:
    """Its exit code and its own words are in the error."""
    with pytest.raises(ProviderError, match=r"exit code 3\n  no such thing"):
        run(["sh", "-c", "echo no such thing >&2; exit 3"])
