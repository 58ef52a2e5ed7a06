"""Runs in pods of a kind cluster: the joined report, pods that die, interrupts, and what is left behind."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.kind.cluster import NodeCluster
from kueue_dra_clusters.preflight import RUN_LABEL
from kueue_dra_clusters.waiting import NotYet, eventually
from kueue_dra_ref.api.topologies import JOB_PODS
from kueue_dra_ref.target import Manifest, Ref
from tests.commands import kueue_dra
from tests.on_cluster.conftest import KUEUE, QUEUE

pytestmark = [pytest.mark.live, pytest.mark.pods]
SMALL = "--pod-requests=cpu=100m,memory=256Mi"
SUITE = ("quota", "-k", "test_fits or test_pod_sets")
FOREIGN = {
    "v1": ("Namespace", "ConfigMap", "Secret", "ServiceAccount", "Service"),
    "apps/v1": ("Deployment", "DaemonSet"),
    "rbac.authorization.k8s.io/v1": ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
    "apiextensions.k8s.io/v1": ("CustomResourceDefinition",),
    "resource.k8s.io/v1": ("DeviceClass", "ResourceSlice"),
    KUEUE: ("ClusterQueue", "ResourceFlavor", "LocalQueue", "Workload", "Cohort"),
}
"""What a run in pods must not touch."""


def run_of(kubeconfig: Path, pods: int, image: str, folder: Path, *more: str) -> list[str]:
    """Give the command that runs the cases in pods."""
    words = [f"--on-cluster={pods}", f"--image={image}", f"--kubeconfig={kubeconfig}", f"--report-dir={folder}"]
    return [sys.executable, "-m", "kueue_dra_cli", "run", *more, *words, SMALL]


@contextmanager
def started(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Start a command, and end it if the test fails before."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def pods_of(objects: APIClient) -> list[Manifest]:
    """Give the pods of runs."""
    return objects.list("v1", "Pod", labels=RUN_LABEL)


def running(objects: APIClient, number: int) -> list[Manifest]:
    """Wait until some pods run, and give them."""

    def found() -> list[Manifest]:
        pods = [pod for pod in pods_of(objects) if pod["status"].get("phase") == "Running"]
        if len(pods) < number:
            raise NotYet(f"{len(pods)} pods run")
        return pods

    return eventually(found, within=60, every=0.2, at_most=0.5, what=f"{number} running pods")


def foreign(objects: APIClient) -> Mapping[str, Any]:
    """Give the identity and generation of every object that belongs to others."""
    found = {}
    for version, kinds in FOREIGN.items():
        for kind in kinds:
            for one in objects.list(version, kind):
                meta = one["metadata"]
                found[f"{kind} {meta.get('namespace', '')}/{meta['name']}"] = (meta["uid"], meta.get("generation"))
    return found


def whole(folder: Path, *more: str) -> Path:
    """Run the cases on the reference of this machine in one part, and give the report."""
    assert kueue_dra("run", *more, "--report-dir", folder).exit_code == 0
    return folder / "report.json"


def test_four_pods_with_a_real_kueue_each_make_the_report_of_a_whole_run(
    kubeconfig: Path, objects: APIClient, images: Mapping[str, str], tmp_path: Path
) -> None:
    """Admitted by the cluster's Kueue; a pod that is killed is run again; nothing of others changes."""
    before = foreign(objects)
    joined = tmp_path / "joined"
    options = (*SUITE, "--target=kueue", f"--queue={QUEUE}")
    with started(run_of(kubeconfig, 4, images["kueue-dra-kueue"], joined, *options)) as process:
        killed = running(objects, 4)[0]["metadata"]
        workload = objects.list(KUEUE, "Workload", killed["namespace"])[0]
        objects.call("DELETE", f"/api/v1/namespaces/{killed['namespace']}/pods/{killed['name']}?gracePeriodSeconds=0")
        output, _ = process.communicate(timeout=280)

    assert process.returncode == 0, output
    assert workload["status"]["admission"]["clusterQueue"] == QUEUE
    assert "4 of 4 parts done" in output
    assert "failed pods" in output
    report = json.loads((joined / "report.json").read_text("utf-8"))
    assert report["target"]["name"] == "kueue"
    assert kueue_dra("report", "validate", joined).exit_code == 0
    same = kueue_dra("report", "diff", whole(tmp_path / "whole", *SUITE), joined / "report.json")
    assert same.exit_code == 0, same.output
    assert pods_of(objects) == []
    assert foreign(objects) == before


def test_logs_of_applied_manifests_are_joined_and_a_missing_part_is_red(
    kind_cluster: NodeCluster, objects: APIClient, images: Mapping[str, str], tmp_path: Path
) -> None:
    """With kubectl alone, as a pipeline of others does it."""
    options = ("--on-cluster=3", f"--image={images['kueue-dra']}", SMALL)
    printed = kueue_dra("manifests", *options, "--", "quota").stdout
    namespace = next(yaml.safe_load_all(printed))["metadata"]["name"]
    try:
        kind_cluster.kubectl("apply", "-f", "-", stdin=printed)
        kind_cluster.kubectl("-n", namespace, "wait", "--for=condition=Complete", "job/kueue-dra", "--timeout=100s")
        logs = []
        for pod in pods_of(objects):
            logs.append(tmp_path / f"{pod['metadata']['annotations'][JOB_PODS]}.log")
            logs[-1].write_text(kind_cluster.kubectl("-n", namespace, "logs", pod["metadata"]["name"]), "utf-8")
    finally:
        kind_cluster.kubectl("delete", "namespace", namespace)
    joined = kueue_dra("report", "merge", *logs, "--report-dir", tmp_path / "joined")
    lacking = kueue_dra("report", "merge", *sorted(logs)[:2], "--report-dir", tmp_path / "lacking")

    assert joined.exit_code == 0, joined.output
    whole_report = whole(tmp_path / "whole", "quota")
    assert kueue_dra("report", "diff", whole_report, tmp_path / "joined/report.json").exit_code == 0
    assert lacking.exit_code == 1
    assert "shard 3 of 3 is missing" in lacking.output


def test_generated_scenarios_of_four_pods_are_those_of_one_seed(
    kubeconfig: Path, objects: APIClient, images: Mapping[str, str], tmp_path: Path
) -> None:
    """Each pod runs its part on a Kueue of its own; one that is killed is run again; the results are joined."""
    words = ("--seed=7", "--worlds=8", "--together=2", "-n1", "--on-cluster=4", f"--image={images['kueue-dra-kueue']}")
    folders = (f"--kubeconfig={kubeconfig}", f"--report-dir={tmp_path}", f"--log={tmp_path}/campaigns.jsonl")
    with started([sys.executable, "-m", "kueue_dra_cli", "differential", *words, *folders, SMALL]) as process:
        killed = running(objects, 4)[0]["metadata"]
        objects.call("DELETE", f"/api/v1/namespaces/{killed['namespace']}/pods/{killed['name']}?gracePeriodSeconds=0")
        output, _ = process.communicate(timeout=280)

    assert process.returncode == 0, output
    assert "failed pods" in output
    assert "8 scenarios, " in output
    assert "in 4 parts; seed 7" in output
    summary = json.loads((tmp_path / "summary.json").read_text("utf-8"))
    assert (summary["worlds"], summary["parts"], summary["missing"]) == (8, 4, [])
    assert json.loads((tmp_path / "campaigns.jsonl").read_text("utf-8")) == summary
    assert pods_of(objects) == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_leaves_nothing(
    number: signal.Signals,
    code: int,
    kubeconfig: Path,
    objects: APIClient,
    images: Mapping[str, str],
    tmp_path: Path,
) -> None:
    """Its namespace is gone when the command ends, and there is no report."""
    with started(run_of(kubeconfig, 2, images["kueue-dra"], tmp_path)) as process:
        namespace = running(objects, 1)[0]["metadata"]["namespace"]
        process.send_signal(number)
        output, _ = process.communicate(timeout=100)

    assert process.returncode == code, output
    assert objects.read(Ref(api_version="v1", kind="Namespace", name=namespace)) is None
    assert not (tmp_path / "report.json").exists()


def test_wrong_input_is_not_tried_again(
    kubeconfig: Path, objects: APIClient, images: Mapping[str, str], tmp_path: Path
) -> None:
    """The message of the pods is that of the command."""
    command = run_of(kubeconfig, 2, images["kueue-dra"], tmp_path, "qouta")
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    assert ran.returncode == 2
    assert "unknown suite qouta; known: " in ran.stderr
    assert "did you mean quota?" in ran.stderr
    assert pods_of(objects) == []


def test_an_unknown_queue_is_answered(kubeconfig: Path, images: Mapping[str, str], tmp_path: Path) -> None:
    """Before anything is created."""
    command = run_of(kubeconfig, 2, images["kueue-dra"], tmp_path, "--queue=nowhere")
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert ran.returncode == 2
    assert "--queue nowhere: found no ClusterQueue of that name" in ran.stderr
