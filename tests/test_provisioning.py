"""`simulate` and `explain` with ProvisioningRequests: what is asked for, what passes unasked, what a dump answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from kueue_dra_ref.api.metadata import owners_of
from kueue_dra_ref.api.provisioning import attempt_of, request_name, template_name
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.reference.target import ReferenceTarget
from tests.commands import kueue_dra

GROUND = [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}},
    {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu.example.com"}, "spec": {}},
]
CONFIGURATION = """
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
resources:
  deviceClassMappings:
  - {name: whole-gpus, deviceClassNames: [gpu.example.com]}
"""
CONFIG = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ProvisioningRequestConfig
metadata: {name: capacity}
spec:
  provisioningClassName: check-capacity.autoscaling.x-k8s.io
  managedResources: [whole-gpus, example.com/card]
"""
CLUSTER = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: spot}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: nodes}
spec:
  controllerName: kueue.x-k8s.io/provisioning-request
  parameters: {apiGroup: kueue.x-k8s.io, kind: ProvisioningRequestConfig, name: capacity}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq}
spec:
  namespaceSelector: {}
  admissionChecksStrategy: {admissionChecks: [{name: nodes}]}
  resourceGroups:
  - coveredResources: [whole-gpus, example.com/card]
    flavors:
    - name: spot
      resources: [{name: whole-gpus, nominalQuota: 4}, {name: example.com/card, nominalQuota: 4}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: lq, namespace: default}
spec: {clusterQueue: cq}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one, namespace: default}
spec: {spec: {devices: {requests: [{name: g, exactly: {deviceClassName: gpu.example.com}}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: claims, namespace: default, labels: {kueue.x-k8s.io/queue-name: lq}}
spec:
  template:
    spec:
      restartPolicy: Never
      resourceClaims: [{name: g, resourceClaimTemplateName: one}]
      containers: [{name: c, image: x, resources: {claims: [{name: g}]}}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: cards, namespace: default, labels: {kueue.x-k8s.io/queue-name: lq}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: x, resources: {limits: {example.com/card: 1}}}]
"""


@pytest.fixture
def given(tmp_path: Path) -> Path:
    """A file with a check that asks for one extended resource, and two Jobs."""
    file = tmp_path / "cluster.yaml"
    file.write_text("---".join([CONFIGURATION, CONFIG, CLUSTER]), encoding="utf-8")
    return file


def test_simulate_admits_claims_unasked(given: Path) -> None:
    """A pod set with claims alone is in no request; the other one waits with its quota."""
    found = kueue_dra("simulate", given, "-o", "json")
    workloads = {
        each["metadata"]["ownerReferences"][0]["name"]: each
        for each in json.loads(found.stdout)["items"]
        if each["kind"] == "Workload"
    }
    (claims,), (cards,) = (workloads[name]["status"]["admissionChecks"] for name in ("claims", "cards"))
    assert (claims["state"], claims["message"]) == ("Ready", "the provisioning request is not needed")
    assert (cards["state"], cards["message"]) == ("Pending", "")
    assert "what the cluster autoscaler answers to ProvisioningRequests" in found.stderr


def test_explain_says_what_is_asked_for(given: Path) -> None:
    """By pod set, with the requirements."""
    lines = kueue_dra("explain", "-f", given).stdout
    assert "admission check nodes: a ProvisioningRequest asks for the nodes of main" in lines
    assert "admission check nodes: the provisioning request is not needed   [PROV-003, PROV-004, PROV-005]" in lines


def test_an_answer_explains_no_request_away() -> None:
    """Work whose request was answered was asked for, and goes on saying so."""
    target = ReferenceTarget(behaviour("kueue-0.19.2"))
    configuration, *objects = yaml.safe_load_all("---".join([CONFIGURATION, CONFIG, CLUSTER]))
    assert target.start(configuration) == ()
    target.apply([*GROUND, *objects])
    target.settle()
    (request,) = target.store.every("ProvisioningRequest")
    done = {"type": "Provisioned", "status": "True", "reason": "Done", "message": "done"}

    target.store.put({**request, "status": {"conditions": [{**done, "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})
    target.settle()

    assert target.manager is not None
    (owner,) = owners_of(request)
    *_, last = target.manager.kueue.decisions["default", owner["name"]]
    assert last.text == "admission check nodes: a ProvisioningRequest asks for the nodes of main"


def test_a_missing_configuration_is_an_error(tmp_path: Path) -> None:
    """With the field that names it."""
    file = tmp_path / "cluster.yaml"
    file.write_text("---".join([CONFIGURATION, CLUSTER]), encoding="utf-8")
    found = kueue_dra("simulate", file)
    assert found.exit_code == 2
    assert "AdmissionCheck nodes: spec.parameters.name: Not found" in found.stderr
    assert "expected a ProvisioningRequestConfig capacity, and there is none" in found.stderr


def test_long_names_have_a_hash() -> None:
    """As Kueue cuts them, so that the attempt is found in names that are short enough alone."""
    long = request_name("w" * 200, "c" * 60, 1)
    assert len(long) == 253
    assert long[:247] == f"{'w' * 200}-{'c' * 46}"
    assert template_name(long, "main") != template_name(long, "other")
    assert attempt_of(request_name("work", "nodes", 12), "work", "nodes") == 12
    assert attempt_of(long, "w" * 200, "c" * 60) == 1
    assert attempt_of("work-nodes-x", "work", "nodes") == 0
    assert attempt_of("other-nodes-1", "work", "nodes") == 0
