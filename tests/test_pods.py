"""Runs in pods, without a cluster: the manifests, what a pod prints, how logs are joined, and wrong options."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kueue_dra_cli.on_cluster import joined
from kueue_dra_clusters.api_client import Answer, APIClient
from kueue_dra_clusters.errors import ClusterError
from kueue_dra_clusters.indexed_job import PodRun
from kueue_dra_clusters.pod_results import PodResults, pods_of
from kueue_dra_clusters.pod_status import image_errors, unschedulable, why_failed
from kueue_dra_clusters.portable import copy_programs
from kueue_dra_ref.target import Ref
from kueue_dra_reports.log_archive import NoResults, packed, unpacked
from tests.commands import ROOT, kueue_dra

CASES = "quota/test_fits"
IMAGE = "--image=registry.example/kueue-dra:1"


def worker(module: str, folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run what a pod runs."""
    command = [sys.executable, "-m", f"kueue_dra_cli.{module}", *arguments]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Give the logs of two pods that ran some cases on the reference."""
    found = []
    for index in ("0", "1"):
        folder = tmp_path_factory.mktemp("pod")
        ran = worker("pod_worker", folder, CASES, JOB_COMPLETION_INDEX=index, KUEUE_DRA_SHARDS="2")
        assert ran.returncode == 0, ran.stderr
        found.append(folder / "pod.log")
        found[-1].write_text(ran.stdout, "utf-8")
    return found


def test_the_logs_of_all_pods_make_the_report_of_a_whole_run(logs: list[Path], tmp_path: Path) -> None:
    """As `report merge` joins reports."""
    result = kueue_dra("report", "merge", *reversed(logs), "--report-dir", tmp_path / "joined")
    kueue_dra("run", CASES, "--report-dir", tmp_path / "whole")

    assert result.exit_code == 0, result.output
    reports = [tmp_path / name / "report.json" for name in ("whole", "joined")]
    assert kueue_dra("report", "diff", *reports).exit_code == 0


def test_a_part_without_log_is_red(logs: list[Path], tmp_path: Path) -> None:
    """It names the part, and why the pod failed."""
    pods = PodResults(run=a_run(pods=2), objects=APIClient(api=None), report=print)  # type: ignore[arg-type] # not used
    pods.logs[0] = logs[0].read_text("utf-8")
    pods.failures[1] = "pod kueue-dra-1-x: exit code 137"

    code, faults = joined(pods, tmp_path)

    assert code == 1
    assert faults == ["part 2 of 2: pod kueue-dra-1-x: exit code 137"]
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert "shard 2 of 2 is missing" in report["integrity"]["faults"]
    assert report["gate"]["result"] == "failed"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        pytest.param(lambda log: log[: len(log) // 2 + 2000], "only a part", id="cut"),
        pytest.param(lambda log: log.replace("AA", "AB", 1), "wrong digest", id="changed"),
        pytest.param(lambda log: log.replace("\nH4s", "\n!4s"), "damaged", id="no-base64"),
    ],
)
def test_a_damaged_log_is_answered(damage: Any, message: str, logs: list[Path], tmp_path: Path) -> None:
    """In one line that names the file."""
    file = tmp_path / "pod.log"
    mark = logs[0].read_text("utf-8").index("----- begin")
    text = logs[0].read_text("utf-8")
    file.write_text(text[:mark] + damage(text[mark:]), "utf-8")
    result = kueue_dra("report", "merge", file, "--report-dir", tmp_path)

    assert result.exit_code == 2
    assert result.stderr.startswith(f"{file}: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


@given(content=st.binary(max_size=4000), noise=st.text(alphabet="abc -\n", max_size=50))
def test_files_come_back_from_a_log(content: bytes, noise: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whatever the files hold, and whatever is printed around them."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "report.json").write_bytes(content)

    assert unpacked(f"{noise}\n{packed(folder, ['report.json', 'absent'])}{noise}") == {"report.json": content}


def test_a_log_without_results_is_answered() -> None:
    """A pod that died before the end."""
    with pytest.raises(NoResults, match="found no results"):
        unpacked("228 passed\n")


@pytest.mark.parametrize(
    ("arguments", "environment", "code", "message"),
    [
        pytest.param(["qouta"], {"JOB_COMPLETION_INDEX": "0", "KUEUE_DRA_SHARDS": "1"}, 2, "did you mean", id="suite"),
        pytest.param(["quota"], {}, 2, "expected JOB_COMPLETION_INDEX and KUEUE_DRA_SHARDS", id="no-pod"),
        pytest.param(["quota"], {"JOB_COMPLETION_INDEX": "4", "KUEUE_DRA_SHARDS": "2"}, 2, "5/2", id="index"),
    ],
)
def test_a_pod_that_cannot_run_prints_no_results(
    arguments: list[str], environment: dict[str, str], code: int, message: str, tmp_path: Path
) -> None:
    """Its exit code is that of the command, so that the Job does not try again what cannot work."""
    ran = worker("pod_worker", tmp_path, *arguments, **environment)

    assert ran.returncode == code
    assert message in ran.stdout + ran.stderr
    assert "kueue-dra results" not in ran.stdout


def a_run(**changed: Any) -> PodRun:
    """Give a run in pods."""
    fields = {"name": "kueue-dra-1", "image": "x", "pods": 4, "command": ["x"], "arguments": [], "requests": {}}
    return PodRun(**{**fields, **changed})


def test_the_manifests_have_a_job_with_a_pod_for_each_part() -> None:
    """Each part is tried again, wrong input is not; the pods have no token and no rights."""
    printed = kueue_dra("manifests", "--on-cluster=4", IMAGE, "--", "--target=kueue", "quota").stdout
    namespace, job = yaml.safe_load_all(printed)
    pod = job["spec"]["template"]["spec"]

    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    assert (job["spec"]["completions"], job["spec"]["completionMode"]) == (4, "Indexed")
    assert job["spec"]["backoffLimitPerIndex"] == 2
    assert job["spec"]["podFailurePolicy"]["rules"][0]["onExitCodes"]["values"] == [2]
    assert "kueue.x-k8s.io/queue-name" not in job["metadata"]["labels"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["containers"][0]["args"][:2] == ["quota", "--target=kueue"]


def test_a_queue_is_a_local_queue_of_the_run() -> None:
    """The Job names it, so that Kueue admits it with the quota of the ClusterQueue."""
    printed = kueue_dra("manifests", "--on-cluster=4", IMAGE, "--queue=ci", "-o", "json").stdout
    _, queue, job = json.loads(printed)["items"]

    assert queue["spec"] == {"clusterQueue": "ci"}
    assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == queue["metadata"]["name"]
    assert queue["metadata"]["namespace"] == job["metadata"]["namespace"]


def test_known_failures_come_along(tmp_path: Path) -> None:
    """As a file of the pods."""
    file = tmp_path / "known.yaml"
    file.write_text("- id: COUNT-006\n", "utf-8")
    printed = kueue_dra("manifests", "--on-cluster=2", IMAGE, "--", "--expected-failures", file).stdout
    _, config, job = yaml.safe_load_all(printed)
    (container,) = job["spec"]["template"]["spec"]["containers"]

    assert config["data"] == {"known-failures.yaml": "- id: COUNT-006\n"}
    assert "--expected-failures=/files/known-failures.yaml" in container["args"]
    assert {"name": "files", "mountPath": "/files"} in container["volumeMounts"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "--on-cluster=2"], "--on-cluster needs --image REF or KUEUE_DRA_IMAGE"),
        (["run", "--on-cluster=0", IMAGE], "0 is not in the range"),
        (["run", "--on-cluster=2", IMAGE, "--shard=1/2"], "--shard and --on-cluster exclude each other"),
        (["run", "--on-cluster=2", IMAGE, "--pod-requests=cpu"], "found 'cpu'; expected NAME=QUANTITY"),
        (["run", "--on-cluster=2", IMAGE, "--expected-failures=absent.yaml"], "absent.yaml: no such file"),
        (["run", "--on-cluster=2", IMAGE, "--intent=certify", "quota"], "--intent certify runs the whole suite"),
        (["run", "--on-cluster=2", IMAGE, "--context=absent", "--kubeconfig=absent"], "context absent"),
        (["run", "--queue=ci"], "--queue needs --on-cluster N"),
        (["matrix", "--queue=ci"], "--queue needs --on-cluster N"),
        (["matrix", "--on-cluster=2"], "--on-cluster needs --image"),
        (["manifests", IMAGE], "expected --on-cluster N, the number of pods, or --sonobuoy"),
        (["manifests", "--sonobuoy", "--queue=a", IMAGE], "--queue and --sonobuoy exclude each other"),
        (["manifests", "--on-cluster=2", IMAGE, "--", "--frobnicate"], "No such option"),
    ],
)
def test_wrong_options_are_answered(words: list[str], message: str) -> None:
    """Before anything is created."""
    result = kueue_dra(*words)

    assert result.exit_code == 2
    assert message in result.stderr


def test_a_matrix_runs_each_release_in_pods(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the options of the user."""
    called = []

    def child(arguments: list[str]) -> int:
        called.append(kueue_dra(*arguments[:-1], "--kubeconfig=absent"))
        return called[-1].exit_code

    monkeypatch.setattr("kueue_dra_cli.matrix.run_child", child)
    options = ("--on-cluster=2", IMAGE, "--queue=ci", "--context=absent", "--report-dir", tmp_path, "--kubeconfig=a")
    result = kueue_dra("matrix", "0.18", "0.19", *options)

    assert result.exit_code == 2
    assert [one.exit_code for one in called] == [2, 2]
    assert all("context absent" in one.stderr for one in called)


def test_a_pod_says_why_it_does_not_run() -> None:
    """The image, the scheduler, the log's tail, or the node."""
    waiting = {"reason": "ErrImagePull", "message": "not found"}
    condition = {"reason": "Unschedulable", "message": "0/1 nodes are available"}
    pulling = {"status": {"containerStatuses": [{"state": {"waiting": waiting}}], "conditions": [condition]}}
    ended = {"exitCode": 137, "message": "a\nb"}
    killed = {"metadata": {"name": "p"}, "status": {"containerStatuses": [{"state": {"terminated": ended}}]}}
    evicted = {"metadata": {"name": "p"}, "status": {"message": "The node was low on memory"}}

    assert list(image_errors(pulling)) == ["ErrImagePull: not found"]
    assert unschedulable(pulling) == "0/1 nodes are available"
    assert why_failed(killed) == "pod p: exit code 137\n  a\n  b"
    assert why_failed(evicted) == "pod p: The node was low on memory"


@pytest.mark.parametrize(("arguments", "code", "tests"), [([CASES], 0, 5), (["qouta"], 2, 1)])
def test_the_sonobuoy_plugin_leaves_results_and_says_that_it_is_done(
    arguments: list[str], code: int, tests: int, tmp_path: Path
) -> None:
    """Also when the run could not start: then the JUnit has an error."""
    definition = yaml.safe_load(kueue_dra("manifests", "--sonobuoy", IMAGE, "--", *arguments).stdout)
    assert definition["sonobuoy-config"] == {
        "driver": "Job",
        "plugin-name": "kueue-dra",
        "result-format": "junit",
    }
    module = definition["spec"]["command"][-1].rpartition(".")[2]
    results = tmp_path / "results"
    ran = worker(module, tmp_path, *definition["spec"]["args"], SONOBUOY_RESULTS_DIR=str(results))

    assert ran.returncode == code, ran.stderr
    with tarfile.open((results / "done").read_text("utf-8")) as archive:
        junit = archive.extractfile("junit.xml")
        assert junit is not None
        root = ElementTree.fromstring(junit.read())
    cases = list(root.iter("testcase"))
    assert len(cases) >= tests
    assert bool(list(root.iter("error"))) is (code != 0)


def test_the_images_are_built_from_every_package() -> None:
    """A package that .dockerignore leaves out would be missing in the image only."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")}

    assert {package.partition("/")[0] for package in packages} <= kept
    tags = re.findall(r"kueue-dra:([0-9.]+)", (ROOT / "Containerfile").read_text("utf-8"))
    assert set(tags) == {project["project"]["version"]}


class Cluster:
    """A cluster in memory: it answers with given pods, and records what is deleted."""

    def __init__(self, *states: list[dict[str, Any]], rejects: str = "") -> None:
        self.states, self.rejects = list(states), rejects
        self.deleted: list[str] = []
        self.created: list[str] = []

    def create(self, manifest: dict[str, Any]) -> Answer:
        """Accept an object, unless its kind is rejected."""
        if manifest["kind"] == self.rejects:
            return Answer(code=403, body={"message": "not allowed"})
        self.created.append(manifest["kind"])
        return Answer(code=201, body=manifest)

    def read(self, ref: Ref) -> dict[str, Any] | None:
        """Give the Job until it is deleted; it has ended when there is no other state."""
        if ref.kind in self.deleted or ref.kind not in self.created:
            return None
        ended = [] if len(self.states) > 1 else [{"type": "Complete", "status": "True"}]
        return {"spec": {}, "status": {"conditions": ended}}

    def list(self, *_: str, labels: str) -> list[dict[str, Any]]:
        """Give the pods of the next state."""
        assert labels == "kueue-dra.dev/run=kueue-dra-1"
        return self.states.pop(0) if len(self.states) > 1 else self.states[0]

    def path(self, ref: Ref) -> str:
        """Give the kind as the path."""
        return ref.kind

    def call(self, method: str, path: str, _: object = None) -> Answer:
        """Give the log of a pod, or delete an object."""
        if method == "DELETE":
            self.deleted.append(path)
        return Answer(code=200, body={"message": f"the log at {path}"})

    def delete(self, ref: Ref) -> Answer:
        """Delete an object."""
        self.deleted.append(ref.kind)
        return Answer(code=200, body={})


def a_pod(index: int, phase: str, **status: Any) -> dict[str, Any]:
    """Give a pod of the Job."""
    metadata = {"name": f"p{index}", "annotations": {"batch.kubernetes.io/job-completion-index": str(index)}}
    return {"metadata": metadata, "status": {"phase": phase, **status}}


def test_each_log_is_read_once_and_everything_is_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Job before its namespace, whose pods could keep a finalizer otherwise."""
    monkeypatch.setattr("kueue_dra_clusters.pod_results.POLL_SECONDS", 0)
    first = [a_pod(0, "Succeeded"), a_pod(1, "Running")]
    cluster = Cluster(first, [a_pod(0, "Succeeded"), a_pod(1, "Failed", message="evicted"), a_pod(1, "Succeeded")])
    lines: list[str] = []
    with pods_of(a_run(pods=2), cluster, lines.append) as pods:  # type: ignore[arg-type] # as much of it as is used
        pods.collect()

    assert sorted(pods.logs) == [0, 1]
    assert pods.failures == {1: "pod p1: evicted"}
    assert cluster.deleted == ["Job", "Namespace"]
    assert lines[1:3] == ["1 of 2 parts done, 1 running", "2 of 2 parts done, 0 running, 1 failed pods"]


def test_an_image_that_does_not_arrive_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a while; a registry may be slow."""
    monkeypatch.setattr("kueue_dra_clusters.pod_results.POLL_SECONDS", 0)
    monkeypatch.setattr("kueue_dra_clusters.pod_results.IMAGE_SECONDS", -1)
    waiting = {"state": {"waiting": {"reason": "ErrImagePull", "message": "not found"}}}
    cluster = Cluster([a_pod(0, "Pending", containerStatuses=[waiting])], [])
    with (
        pytest.raises(ClusterError, match="image x: ErrImagePull: not found"),
        pods_of(a_run(pods=1), cluster, print) as pods,  # type: ignore[arg-type] # as much of it as is used
    ):
        pods.collect()

    assert cluster.deleted == ["Job", "Namespace"]


def test_a_missing_permission_is_answered() -> None:
    """And a namespace that was not created is not deleted."""
    cluster = Cluster([], rejects="Namespace")
    with (
        pytest.raises(ClusterError, match="create Namespace: 403 not allowed"),
        pods_of(a_run(), cluster, print),  # type: ignore[arg-type] # as much of it as is used
    ):
        pytest.fail("not reached")

    assert cluster.deleted == []


def test_programs_of_a_release_are_copied_with_the_definitions_that_it_pins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Older releases queue fewer kinds of work; a folder of the cache is copied once."""
    asked: set[str] = set()

    def kept(name: str, _: object) -> Path:
        asked.add(name)
        folder = tmp_path / "cache" / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    monkeypatch.setattr("kueue_dra_clusters.build_cache.kept", kept)
    copy_programs(tmp_path / "to", ["0.14", "0.19"])

    assert {path.name for path in (tmp_path / "to" / "kueue-dra-conformance").iterdir()} == asked
    names = {name.partition("-v")[0] for name in asked}
    assert {"etcd", "kube-apiserver", "kueue", "jobset", "ray-operator"} <= names
    assert len([name for name in asked if name.startswith("kueue-v")]) == 4
