"""The audit on a real Kueue: nothing on a sound cluster, and what is broken through the API server is found."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.controlplane import ControlPlane
from kueue_dra_clusters.dump import dump
from kueue_dra_clusters.live_target import LiveTarget
from kueue_dra_clusters.waiting import NotYet, eventually, let_pass
from kueue_dra_ref.target import Manifest, Ref
from tests.clusters_live.manifests import GPU, KUEUE, RESOURCE, a_job, a_template, a_world, an_object
from tests.clusters_live.test_existing_cluster import a_kubeconfig
from tests.commands import kueue_dra

MIG = "mig.example.com"
POD = Ref(api_version="v1", kind="Pod", name="solo", namespace="team")
_SELECTOR = {"cel": {"expression": "true"}}
_SOURCE = {"counter": {"name": "memory", "driver": MIG, "deviceSelector": _SELECTOR}}
MEMORY = {"name": "gpu-memory", "deviceClassNames": [MIG], "sources": [_SOURCE]}
WHOLE = {"name": "whole-gpus", "deviceClassNames": [GPU]}
CONFIGURATION: Manifest = {"resources": {"deviceClassMappings": [WHOLE, MEMORY]}}
GATES = ("KueueDRAIntegration", "KueueDRAIntegrationExtendedResource", "KueueDRAIntegrationPartitionableDevices")
OFF: Manifest = {"featureGates": dict.fromkeys(GATES, False), "resources": {"deviceClassMappings": [WHOLE]}}
RENAMED: Manifest = {"resources": {"deviceClassMappings": [{**WHOLE, "name": "big-gpus"}, MEMORY]}}


@pytest.fixture
def cluster(target: LiveTarget, plane: ControlPlane) -> Iterator[LiveTarget]:
    """Have work that is admitted, pending, deactivated, finished and without a template, and counters."""
    assert target.start(CONFIGURATION) == ()
    assert target.apply(_objects()) == []
    for work in (a_job("zeta", "gpus-2"), a_job("done"), a_job("part", "part"), a_job("omega", "gpus-1")):
        assert target.apply([work]) == []
        target.settle()
    done = {"status": {"conditions": [{"type": "Complete", "status": "True"}], "succeeded": 1}}
    assert target.apply([a_job("done") | done]) == []
    target.settle()
    _deactivate(target, "omega")
    assert target.apply([a_job("alpha", "gpus-3"), a_job("lost", "no-such-template")]) == []
    target.settle()
    yield target
    APIClient(api=plane.api).delete(POD)


def _objects() -> list[Manifest]:
    world = a_world(gpus=4)
    for each in world:
        if each["kind"] == "ClusterQueue":
            (group,) = each["spec"]["resourceGroups"]
            group["coveredResources"].append("gpu-memory")
            group["flavors"][0]["resources"].append({"name": "gpu-memory", "nominalQuota": "80Gi"})
    return [*world, *map(_a_class, (GPU, MIG)), *_slices(), a_template("part", device_class=MIG)]


def _a_class(name: str) -> Manifest:
    selector = {"cel": {"expression": f"device.driver == '{name}'"}}
    return an_object(RESOURCE, "DeviceClass", name, spec={"selectors": [selector]})


def _slices() -> list[Manifest]:
    counters = {"memory": {"value": "80Gi"}}
    consumed = [{"counterSet": "gpu-0", "counters": {"memory": {"value": "20Gi"}}}]
    bodies: dict[str, Any] = {
        "counters": {"sharedCounters": [{"name": "gpu-0", "counters": counters}]},
        "parts": {"devices": [{"name": f"part-{index}", "consumesCounters": consumed} for index in range(2)]},
    }
    pool = {"name": "node-1", "generation": 1, "resourceSliceCount": 2}
    spec = {"driver": MIG, "nodeName": "node-1", "pool": pool}
    return [an_object(RESOURCE, "ResourceSlice", f"audit-{name}", spec=spec | body) for name, body in bodies.items()]


def _deactivate(target: LiveTarget, job: str) -> None:
    workload = _workload(target, job)
    plain = {key: workload[key] for key in ("apiVersion", "kind")}
    meta = {"name": workload["metadata"]["name"], "namespace": "team"}
    assert target.apply([plain | {"metadata": meta, "spec": workload["spec"] | {"active": False}}]) == []
    target.settle()


def _workload(target: LiveTarget, job: str) -> Manifest:
    found = target.list(KUEUE, "Workload", "team")
    return next(each for each in found if each["metadata"]["ownerReferences"][0]["name"] == job)


class Cluster:
    """A live cluster that is broken on purpose."""

    def __init__(self, target: LiveTarget, plane: ControlPlane) -> None:
        self.target = target
        self.objects = APIClient(api=plane.api)

    def delete(self, kind: str, *names: str, namespace: str = "") -> None:
        """Delete objects of resource.k8s.io."""
        for name in names:
            assert self.objects.delete(Ref(api_version=RESOURCE, kind=kind, name=name, namespace=namespace)).ok


def _nothing(_: Cluster) -> None:
    pass


def _class(cluster: Cluster) -> None:
    cluster.delete("DeviceClass", GPU)


def _withdrawn(cluster: Cluster) -> None:
    cluster.delete("ResourceSlice", "audit-parts", "audit-counters")


def _template(cluster: Cluster) -> None:
    let_pass(1.1)  # Kubernetes counts seconds
    cluster.delete("ResourceClaimTemplate", "gpus-2", namespace="team")
    assert cluster.objects.create(a_template("gpus-2", count=1)).ok


def _mapping(cluster: Cluster) -> None:
    assert cluster.target.start(RENAMED) == ()


def _lowered(cluster: Cluster) -> None:
    def replaced() -> None:
        if not _is_lowered(cluster):
            raise NotYet("Kueue has written the ClusterQueue meanwhile")

    eventually(replaced, within=10, what="a ClusterQueue with less quota")


def _is_lowered(cluster: Cluster) -> bool:
    queue = cluster.objects.read(Ref(api_version=KUEUE, kind="ClusterQueue", name="team"))
    assert queue is not None
    resources = queue["spec"]["resourceGroups"][0]["flavors"][0]["resources"]
    next(each for each in resources if each["name"] == "whole-gpus")["nominalQuota"] = 1
    return cluster.objects.replace(queue).ok


def _pod(cluster: Cluster) -> None:
    labels = {"kueue.x-k8s.io/managed": "true", "kueue.x-k8s.io/queue-name": "main"}
    spec = {"containers": [{"name": "main", "image": "none.invalid/none"}], "restartPolicy": "Never"}
    pod = an_object(POD.api_version, POD.kind, POD.name, POD.namespace, spec=spec)
    pod["metadata"]["labels"] = labels
    assert cluster.objects.create(pod).ok


def _gate_off(cluster: Cluster) -> None:
    assert cluster.target.start(OFF) == ()


Break = Callable[[Cluster], None]
BREAKAGES: dict[str, tuple[Break, Manifest, set[tuple[str, str]]]] = {
    "sound": (_nothing, CONFIGURATION, set()),
    "class-deleted": (_class, CONFIGURATION, {("CLASS-001", "certain")}),
    "slices-withdrawn": (_withdrawn, CONFIGURATION, {("DEVICE-012", "certain")}),
    "template-replaced": (_template, CONFIGURATION, {("COUNT-006", "template changed since")}),
    "stale-mapping": (_mapping, RENAMED, {("COUNT-006", "certain")}),
    "quota-lowered": (_lowered, CONFIGURATION, {("QUOTA-002", "quota changed since")}),
    "pod-ungated": (_pod, CONFIGURATION, {("STATUS-024", "certain")}),
    "gate-off": (_gate_off, OFF, {("GATE-005", "certain")}),
}


@pytest.mark.live
@pytest.mark.parametrize("name", BREAKAGES)
def test_what_is_broken_is_found(cluster: LiveTarget, plane: ControlPlane, tmp_path: Path, name: str) -> None:
    """With two dumps a few seconds apart; on the sound cluster there is no finding."""
    broken, configuration, expected = BREAKAGES[name]
    broken(Cluster(cluster, plane))
    cluster.settle()

    found = _audited(plane, configuration, tmp_path)

    assert {(each["requirement"], each["sure"]) for each in found} == expected, found


def _audited(plane: ControlPlane, configuration: Manifest, folder: Path) -> list[dict[str, str]]:
    config = folder / "config.yaml"
    document = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", **configuration}
    config.write_text(yaml.safe_dump(document), "utf-8")
    files = [folder / "first.yaml", folder / "later.yaml"]
    for file in files:
        read = dump(APIClient(api=plane.api), lambda kind: None)
        file.write_text(yaml.safe_dump_all(read.documents()), "utf-8")
        let_pass(2)
    done = kueue_dra("audit", files[0], "--again", files[1], "--config", config, "-o", "json")
    found: list[dict[str, str]] = json.loads(done.stdout)["findings"]
    assert done.exit_code == (1 if found else 0), done.stderr
    return found


@pytest.mark.live
def test_a_context_is_audited_without_writing(
    cluster: LiveTarget, plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sound cluster is read once, a broken one twice; both through a kubeconfig."""
    settings = plane.api.configuration
    token = settings.auth_settings()["BearerToken"]["value"].removeprefix("Bearer ")
    file = a_kubeconfig(tmp_path, settings.host, settings.ssl_ca_cert, token)
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(file))
    config = tmp_path / "config.yaml"
    document = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", **CONFIGURATION}
    config.write_text(yaml.safe_dump(document), "utf-8")
    command = ("audit", "--context", "mine", "--config", config, "--wait", "1")

    sound = kueue_dra(*command)
    Cluster(cluster, plane).delete("DeviceClass", GPU)
    broken = kueue_dra(*command)

    assert sound.exit_code == 0, sound.output
    assert broken.exit_code == 1
    assert "CLASS-001" in broken.stdout
