"""``--cel kubernetes``: selectors that the engine inside leaves undecided are answered by Kubernetes' own."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from kueue_dra_clusters.cel_oracle import VARIABLE, cel_oracle
from kueue_dra_fixtures.sources import a_capacity, a_mapping
from tests.commands import kueue_dra
from tests.test_cli_simulate import QUEUES

UNDECIDED = '"abc".find("(?i)ABC") == "abc"'
SOURCED = {
    "apiVersion": "config.kueue.x-k8s.io/v1beta2",
    "kind": "Configuration",
    "featureGates": {"KueueDRAIntegrationConsumableCapacity": True},
    "resources": {
        "deviceClassMappings": [
            a_mapping("whole-gpus", "gpu.example.com", a_capacity(driver="gpu.example.com", selector=UNDECIDED))
        ]
    },
}
DEVICES = """\
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.example.com}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: slice}
spec:
  driver: gpu.example.com
  allNodes: true
  pool: {name: pool, generation: 1, resourceSliceCount: 1}
  devices: [{name: d0, allowMultipleAllocations: true, capacity: {memory: {value: 1}}}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: job, labels: {kueue.x-k8s.io/queue-name: mine}}
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]
      containers: [{name: main, image: none, resources: {claims: [{name: gpu}]}}]
"""


@pytest.fixture
def world(tmp_path: Path) -> tuple[str, ...]:
    """A Job whose charge hangs on a selector that the engine inside does not decide."""
    queues = QUEUES.replace("count: 2", "count: 1").replace("name: two}", "name: one}")
    (tmp_path / "manifests.yaml").write_text(queues.rpartition("---")[0] + "---\n" + DEVICES, "utf-8")
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(SOURCED), "utf-8")
    return (
        "-f",
        str(tmp_path / "manifests.yaml"),
        "--config",
        str(tmp_path / "config.yaml"),
        "--behaviour",
        "kueue-0.19.2",
    )


def test_the_engine_inside_leaves_it_undecided(world: tuple[str, ...]) -> None:
    """The message names the selector, and says that nothing is guessed."""
    assert "undecided  find() of (?i)ABC" in kueue_dra("simulate", *world, "-o", "table").stdout


@pytest.mark.live
def test_kubernetes_own_engine_decides_it(world: tuple[str, ...]) -> None:
    """The device matches, and its memory is charged."""
    cel_oracle()
    assert "admitted" in kueue_dra("simulate", *world, "-o", "table", "--cel", "kubernetes").stdout
    assert "undecided" in kueue_dra("simulate", *world, "-o", "table").stdout


@pytest.mark.parametrize("program", ["/bin/false", "/not/there"])
def test_a_program_that_does_not_answer_is_named(
    world: tuple[str, ...], program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command ends with 2 and says which program was asked."""
    monkeypatch.setenv(VARIABLE, program)
    result = kueue_dra("simulate", *world, "--cel", "kubernetes")

    assert result.exit_code == 2
    assert "--cel kubernetes" in result.stderr
    assert program in result.stderr


@pytest.mark.parametrize("program", ["/bin/cat", "/bin/true"])
def test_another_program_is_told_from_an_oracle(
    world: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    """Whether it answers or not."""
    monkeypatch.setenv(VARIABLE, program)

    result = kueue_dra("simulate", *world, "--cel", "kubernetes")

    assert result.exit_code == 2
    assert f"--cel kubernetes: {program}: " in result.stderr
