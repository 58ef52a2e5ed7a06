"""Kinds of work other than Jobs on the command line: charged, explained, skipped, and refused with their place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from kueue_dra_ref.api.job_kinds import JOB_KINDS
from kueue_dra_ref.apiserver.schema_jobs import CUSTOM
from tests.commands import kueue_dra

LABELS = {"kueue.x-k8s.io/queue-name": "main"}
POD = {
    "containers": [{"name": "c", "image": "i", "resources": {"claims": [{"name": "gpu"}]}}],
    "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one"}],
}
CARDS = {
    "containers": [
        {
            "name": "c",
            "image": "i",
            "resources": {"requests": {"example.com/gpu": "1"}, "limits": {"example.com/gpu": "1"}},
        }
    ]
}
"""Pods that request by name, since claims of an AppWrapper are not charged."""
QUEUES = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: default}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq}
spec:
  namespaceSelector: {}
  resourceGroups:
  - {coveredResources: [gpus], flavors: [{name: default, resources: [{name: gpus, nominalQuota: 4}]}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: main, namespace: default}
spec: {clusterQueue: cq}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.example.com}
spec: {extendedResourceName: example.com/gpu}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one, namespace: default}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com}}]}}}
"""
RUNTIME = """
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: three}
spec:
  mlPolicy: {numNodes: 3}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec: {template: {spec: {containers: [{name: node, image: i, resources: {claims: [{name: gpu}]}}],
            resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]}}}
"""
SPECS: dict[str, Any] = {
    "JobSet": {
        "replicatedJobs": [
            {"name": "a", "replicas": 3, "template": {"spec": {"template": {"spec": POD}}}},
        ]
    },
    "PyTorchJob": {"pytorchReplicaSpecs": {"Worker": {"replicas": 3, "template": {"spec": POD}}}},
    "TFJob": {"tfReplicaSpecs": {"Worker": {"replicas": 3, "template": {"spec": POD}}}},
    "XGBoostJob": {"xgbReplicaSpecs": {"Worker": {"replicas": 3, "template": {"spec": POD}}}},
    "PaddleJob": {"paddleReplicaSpecs": {"Worker": {"replicas": 3, "template": {"spec": POD}}}},
    "JAXJob": {"jaxReplicaSpecs": {"Worker": {"replicas": 3, "template": {"spec": POD}}}},
    "MPIJob": {
        "mpiReplicaSpecs": {
            "Launcher": {"template": {"spec": POD}},
            "Worker": {"replicas": 2, "template": {"spec": POD}},
        }
    },
    "RayCluster": {
        "headGroupSpec": {"rayStartParams": {}, "template": {"spec": POD}},
        "workerGroupSpecs": [{"groupName": "w", "replicas": 2, "rayStartParams": {}, "template": {"spec": POD}}],
    },
}
SPECS["RayJob"] = {
    "rayClusterSpec": SPECS["RayCluster"],
    "shutdownAfterJobFinishes": True,
    "submissionMode": "HTTPMode",
}
SPECS["AppWrapper"] = {
    "components": [
        {
            "template": {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "metadata": {"name": "w"},
                "spec": {"parallelism": 3, "template": {"spec": CARDS}},
            }
        }
    ]
}
SPECS["SparkApplication"] = {
    "type": "Scala",
    "mode": "cluster",
    "sparkVersion": "4.0.0",
    "mainApplicationFile": "local:///opt/spark/app.jar",
    "driver": {},
    "executor": {"instances": 3, "sidecars": CARDS["containers"]},
}
SPECS["TrainJob"] = {"runtimeRef": {"name": "three"}}
SPECS["RayService"] = {"rayClusterConfig": SPECS["RayCluster"]}
"""Three pods of each kind, each with one device."""


def ask(command: str, tmp_path: Path, work: Any, frameworks: list[str], *more: str) -> Any:
    """Write the input and run a command on it."""
    (tmp_path / "queues.yaml").write_text(QUEUES + RUNTIME, "utf-8")
    (tmp_path / "work.yaml").write_text(yaml.safe_dump(work), "utf-8")
    gates = {kind.gate: True for kind in JOB_KINDS.values() if kind.gate}
    mapped = [{"name": "gpus", "deviceClassNames": ["gpu.example.com"]}]
    configuration = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "integrations": {"frameworks": frameworks},
        "featureGates": gates,
        "resources": {"deviceClassMappings": mapped},
    }
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(configuration), "utf-8")
    files = ("-f", tmp_path / "queues.yaml", "-f", tmp_path / "work.yaml", "--config", tmp_path / "config.yaml")
    return kueue_dra(command, *map(str, files), *more)


def work_of(kind: str, spec: Any) -> dict[str, Any]:
    """An object of a kind in the queue."""
    meta = {"name": "x", "namespace": "default", "labels": LABELS}
    return {"apiVersion": JOB_KINDS[kind].api_version, "kind": kind, "metadata": meta, "spec": spec}


def test_each_kind_has_a_shape_and_a_spec_here() -> None:
    """A kind without a shape would lose its fields, and one without a spec here would not be tested."""
    assert set(SPECS) == set(CUSTOM) - {"LeaderWorkerSet"} == set(JOB_KINDS) - {"Job", "Pod"}


@pytest.mark.parametrize("kind", SPECS)
def test_each_kind_is_charged_and_explained(tmp_path: Path, kind: str) -> None:
    """Three pods take three devices; the kind and its plural name it."""
    frameworks = ["batch/job", JOB_KINDS[kind].framework]
    work = work_of(kind, SPECS[kind])
    table = ask("simulate", tmp_path, work, frameworks, "-o", "table")
    explained = ask("explain", tmp_path, work, frameworks, f"{JOB_KINDS[kind].plural}/x")

    assert (table.exit_code, table.stderr) == (0, "")
    assert table.stdout.splitlines()[-1].split()[-2:] == ["gpus", "3"]
    assert explained.exit_code == 0
    assert explained.stdout.startswith("default/x → ClusterQueue cq: admitted\n")


@pytest.mark.parametrize("kind", SPECS)
def test_a_kind_without_its_framework_is_skipped_and_named(tmp_path: Path, kind: str) -> None:
    """Its devices are missing from the table, and a note says why."""
    found = ask("simulate", tmp_path, work_of(kind, SPECS[kind]), ["batch/job"], "-o", "table")

    assert found.exit_code == 0
    assert found.stderr == (
        f"note: {kind} default/x is of a kind that integrations.frameworks does not name "
        f"({JOB_KINDS[kind].framework}), so Kueue does not manage it\n"
    )
    assert "gpus" not in found.stdout


def test_jobs_are_skipped_without_their_framework(tmp_path: Path) -> None:
    """They are on only if integrations.frameworks is empty, or names them."""
    job = work_of("Job", {"template": {"spec": {**POD, "restartPolicy": "Never"}}, "parallelism": 3})
    found = ask("simulate", tmp_path, job, [JOB_KINDS["JobSet"].framework], "-o", "table")

    assert found.exit_code == 0
    assert "Job default/x is of a kind that integrations.frameworks does not name (batch/job)" in found.stderr
    assert "gpus" not in found.stdout


@pytest.mark.parametrize(
    ("kind", "spec", "exit_code", "message"),
    [
        pytest.param("JobSet", {"replicatedJobs": "x"}, 2, ": spec.replicatedJobs: Invalid value", id="type"),
        pytest.param("JobSet", {"replicatedJobs": [{}]}, 2, "template.spec.template.spec.containers: ", id="empty"),
        pytest.param("JobSet", {"replicatedJobs": []}, 0, "has no pods that Kueue reads", id="no-pods"),
        pytest.param("JobSet", None, 0, "has no pods that Kueue reads", id="no-spec"),
        pytest.param(
            "PyTorchJob", {"pytorchReplicaSpecs": {"Chief": {}}}, 0, "has no pods that Kueue reads", id="other-type"
        ),
        pytest.param(
            "TrainJob",
            {"runtimeRef": {"name": "other"}},
            2,
            "spec.runtimeRef: Not found: runtime 'other' not found",
            id="no-runtime",
        ),
        pytest.param("PyTorchJob", {"runPolicy": "x"}, 2, ": spec.runPolicy: Invalid value", id="run-policy"),
        pytest.param("RayCluster", {"workerGroupSpecs": [{}]}, 2, "spec.headGroupSpec.template.spec", id="no-head"),
        pytest.param(
            "RayCluster",
            {**SPECS["RayCluster"], "enableInTreeAutoscaling": True},
            2,
            "spec.enableInTreeAutoscaling: Invalid value: ",
            id="autoscaling",
        ),
        pytest.param(
            "JobSet",
            {"replicatedJobs": [{**SPECS["JobSet"]["replicatedJobs"][0], "replica": 2}]},
            0,
            'unknown field "spec.replicatedJobs[0].replica"',
            id="unknown-field",
        ),
    ],
)
def test_bad_input_is_answered_with_its_place(
    tmp_path: Path, kind: str, spec: Any, exit_code: int, message: str
) -> None:
    """What is wrong names the field of that kind; what is only useless is a note."""
    found = ask("simulate", tmp_path, work_of(kind, spec), [JOB_KINDS[kind].framework], "-o", "table")

    assert found.exit_code == exit_code
    assert message in found.stderr


def test_claims_of_an_app_wrapper_are_named_as_not_charged(tmp_path: Path) -> None:
    """Kueue admits it as if it had none."""
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "w"}, "spec": {"template": {"spec": POD}}}
    work = work_of("AppWrapper", {"components": [{"template": job}]})
    found = ask("simulate", tmp_path, work, [JOB_KINDS["AppWrapper"].framework], "-o", "table")

    assert found.exit_code == 0
    field = "spec.components[0].template.spec.template.spec.resourceClaims"
    assert f"{field}: Not charged: Kueue reads the pods of an AppWrapper without their claims" in found.stderr
    assert "gpus" not in found.stdout


def test_claims_of_a_spark_application_are_named_as_not_charged(tmp_path: Path) -> None:
    """Kueue reads no spec of its templates."""
    spec = {**SPECS["SparkApplication"], "executor": {"instances": 3, "template": {"spec": POD}}}
    work = work_of("SparkApplication", spec)
    found = ask("simulate", tmp_path, work, [JOB_KINDS["SparkApplication"].framework], "-o", "table")

    assert found.exit_code == 0
    assert "spec.executor.template.spec.resourceClaims: Not charged: Kueue builds the pods" in found.stderr
    assert "gpus" not in found.stdout


def test_a_gate_that_is_off_is_named(tmp_path: Path) -> None:
    """The framework alone does not help: Kueue would not start."""
    work = work_of("SparkApplication", SPECS["SparkApplication"])
    gate = JOB_KINDS["SparkApplication"].gate
    frameworks = ["batch/job", JOB_KINDS["SparkApplication"].framework]
    found = ask("simulate", tmp_path, work, frameworks, "-o", "table", "--feature-gates", f"{gate}=false")

    assert f"Kueue does not start with {frameworks[1]} while the gate {gate} is off" in found.stderr


def test_work_of_a_running_cluster_holds_its_quota(tmp_path: Path) -> None:
    """An admitted JobSet of a dump keeps what it holds, and `explain` names it to the Job that waits for it."""
    meta = {"namespace": "default", "labels": LABELS, "creationTimestamp": "2026-01-01T00:00:00Z"}
    running = {
        **work_of("JobSet", {**SPECS["JobSet"], "suspend": False}),
        "metadata": {**meta, "name": "js", "uid": "u-1"},
    }
    owner = {"apiVersion": running["apiVersion"], "kind": "JobSet", "name": "js", "uid": "u-1", "controller": True}
    reached = {
        "status": "True",
        "reason": "QuotaReserved",
        "message": "m",
        "lastTransitionTime": "2026-01-01T00:00:01Z",
    }
    assignment = {"name": "a", "count": 3, "flavors": {"gpus": "default"}, "resourceUsage": {"gpus": "3"}}
    workload = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {**meta, "name": "jobset-js-abcde", "uid": "u-2", "ownerReferences": [owner]},
        "spec": {
            "queueName": "main",
            "active": True,
            "podSets": [{"name": "a", "count": 3, "template": {"spec": POD}}],
        },
        "status": {
            "conditions": [{"type": kind, **reached} for kind in ("QuotaReserved", "Admitted")],
            "admission": {"clusterQueue": "cq", "podSetAssignments": [assignment]},
        },
    }
    later = {
        **work_of("Job", {"parallelism": 2, "completions": 2, "template": {"spec": {**POD, "restartPolicy": "Never"}}}),
        "apiVersion": "batch/v1",
    }
    objects = {"apiVersion": "v1", "kind": "List", "items": [running, workload, later]}
    found = ask("explain", tmp_path, objects, ["batch/job", "jobset.x-k8s.io/jobset"], "job/x")

    assert found.exit_code == 0
    holder = "JobSet default/js (Workload jobset-js-abcde)"
    assert f"{holder} holds 3 of 4 gpus in flavor default of ClusterQueue cq\n" in found.stdout
    assert f"it would be admitted if {holder} ends\n" in found.stdout
