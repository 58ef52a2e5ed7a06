"""MultiKueue outside the cases: targets without workers, and what `simulate` and `explain` say of the manager."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from kueue_dra_fixtures.forwarding_target import ForwardingTarget
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.target import NoWorkers, Target, workers_of
from tests.commands import kueue_dra

OBJECTS = """
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
resources: {deviceClassMappings: [{name: cards, deviceClassNames: [gpu.example.com]}]}
SETTINGS
---
apiVersion: v1
kind: Namespace
metadata: {name: team}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: pool}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: shared}
spec:
  namespaceSelector: {}
  admissionChecksStrategy: {admissionChecks: [{name: workers}]}
  resourceGroups:
  - {coveredResources: [cards], flavors: [{name: pool, resources: [{name: cards, nominalQuota: 2}]}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: main, namespace: team}
spec: {clusterQueue: shared}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: workers}
spec:
  controllerName: kueue.x-k8s.io/multikueue
  parameters: {apiGroup: kueue.x-k8s.io, kind: MultiKueueConfig, name: both}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: MultiKueueConfig
metadata: {name: both}
spec: {clusters: [east]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: MultiKueueCluster
metadata: {name: east}
spec: {clusterSource: {kubeConfig: {location: east, locationType: Secret}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one, namespace: team}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu.example.com}}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: team, labels: {kueue.x-k8s.io/queue-name: main}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: i, resources: {claims: [{name: d}]}}]
      resourceClaims: [{name: d, resourceClaimTemplateName: one}]
"""


def written(tmp_path: Path, settings: str = "") -> Path:
    """A file with a manager of MultiKueue, its queue and a Job."""
    file = tmp_path / "manager.yaml"
    file.write_text(OBJECTS.replace("SETTINGS", settings), encoding="utf-8")
    return file


def test_the_answer_is_that_of_the_manager(tmp_path: Path) -> None:
    """The manager charges its own template; what the workers decide is not considered, and each answer says so."""
    file = written(tmp_path)

    table = kueue_dra("simulate", "-f", file, "-o", "table")
    text = kueue_dra("explain", "-f", file, "train")

    assert (table.exit_code, text.exit_code) == (0, 0)
    assert "what the workers of MultiKueue decide" in table.stdout
    assert "what these objects decide is not considered: MultiKueueConfig both, MultiKueueCluster east" in table.stderr
    assert "reserved, it waits for admission checks: workers" in text.stdout
    assert text.stdout.rstrip().endswith("not considered: what the workers of MultiKueue decide")


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ("featureGates: {MultiKueue: false}", "featureGates.MultiKueue"),
        ("multiKueue: {dispatcherName: kueue.x-k8s.io/multikueue-dispatcher-incremental}", "multiKueue.dispatcherName"),
    ],
)
def test_settings_of_the_manager_that_are_not_decided_are_named(tmp_path: Path, settings: str, field: str) -> None:
    """A note names each of them."""
    found = kueue_dra("explain", "-f", written(tmp_path, settings), "train")

    assert found.exit_code == 0
    assert f"{field}: Not decided" in found.stderr


def test_a_gate_of_earlier_releases_that_needs_workers_is_named(tmp_path: Path) -> None:
    """Cases decide it, as they have workers; `explain` has none."""
    file = written(
        tmp_path, "featureGates: {MultiKueueWaitForWorkloadAdmitted: false, DynamicResourceAllocation: true}"
    )

    found = kueue_dra("explain", "-f", file, "train", "--behaviour", "kueue-0.17")

    assert found.exit_code == 0
    assert "reserved, it waits for admission checks: workers" in found.stdout
    assert "featureGates.MultiKueueWaitForWorkloadAdmitted: Not decided" in found.stderr


class OneCluster:
    """A target with the name of a live one, and nothing that it can dispatch to."""

    name = "kueue"


def test_a_target_without_workers_says_so() -> None:
    """A case that needs workers does not run there, for this reason; a wrapped target says the same."""
    alone = cast("Target", OneCluster())

    for target in (alone, ForwardingTarget(alone)):
        with pytest.raises(NoWorkers, match="the target kueue has no other clusters"):
            workers_of(target)


def test_a_worker_has_no_part_in_the_next_case() -> None:
    """A reference that was cleaned is one cluster again."""
    target = ReferenceTarget(behaviour("kueue-0.19.2"))
    first = workers_of(target)
    target.clean()
    assert target.start({"apiVersion": "config.kueue.x-k8s.io/v1beta2"}) == ()
    assert target.manager is not None
    assert target.manager.multikueue is None

    second = workers_of(target)
    assert target.start({"apiVersion": "config.kueue.x-k8s.io/v1beta2"}) == ()

    assert target.manager.multikueue is not None
    assert {each.kubeconfig for each in first} == {each.kubeconfig for each in second}
    assert not {id(each.target) for each in first} & {id(each.target) for each in second}
